/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_FAKE_CLOCK_H
#define TESTS_FAKE_CLOCK_H

#include <stdint.h>

/* Stop the monotonic clock of this thread, for the program and for libevent.
 * Only fake.made_ns advances it, so no deadline of the event loop expires on a
 * slow machine. Other threads keep the real clock, which their timed waits
 * need. */
void fake_clock_stop(void);
/* Restore the real clock. */
void fake_clock_start(void);
/* Return the real monotonic clock. */
uint64_t fake_clock_real_ns(void);

#endif
