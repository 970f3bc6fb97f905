/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doorbell.h - sleep until another process of this host has written a word.
 *
 * A doorbell is in memory that all of them map. A writer rings it after the
 * write. A waiter reads the number of rings, checks the words, and sleeps
 * unless the number has changed: no ring is lost between the check and the
 * sleep. Without sleepers a ring costs no system call.
 */
#ifndef PROBES_TRANSPORT_DOORBELL_H
#define PROBES_TRANSPORT_DOORBELL_H

#include <stdatomic.h>

/* All zeros initially. On a separate cache line. */
struct doorbell {
	_Alignas(64) atomic_uint rings;
	atomic_uint sleepers;
	atomic_uint many;  /* its only sleeper sleeps through rings */
	atomic_uint until; /* ... below this number */
};

void doorbell_ring(struct doorbell *b);
unsigned int doorbell_rings(struct doorbell *b);
/* Sleep until the doorbell rings again, or for some milliseconds, since the
 * ringing process may have died. Return 0 if it did not ring. */
int doorbell_sleep(struct doorbell *b, unsigned int rings);
/* Sleep until it has rung `more` times more. For a doorbell with a single
 * sleeper. */
int doorbell_sleep_many(struct doorbell *b, unsigned int rings,
    unsigned int more);

#endif
