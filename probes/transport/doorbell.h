/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doorbell.h - sleep until another process of this host has written a word.
 *
 * A doorbell lies in memory that all of them map. A writer rings afterwards. A
 * waiter reads how often it has rung, looks at the words, and sleeps unless it
 * has rung since: no ring is lost between the look and the sleep. Where nobody
 * sleeps a ring costs no system call.
 */
#ifndef PROBES_TRANSPORT_DOORBELL_H
#define PROBES_TRANSPORT_DOORBELL_H

#include <stdatomic.h>

/* All zeros: it has never rung. On a cache line of its own. */
struct doorbell {
	_Alignas(64) atomic_uint rings;
	atomic_uint sleepers;
	atomic_uint many;  /* its only sleeper sleeps through rings */
	atomic_uint until; /* ... below this number */
};

void doorbell_ring(struct doorbell *b);
unsigned int doorbell_rings(struct doorbell *b);
/* Until it has rung more often than that, or for some milliseconds: whoever
 * should ring may have died. 0: it has not rung. */
int doorbell_sleep(struct doorbell *b, unsigned int rings);
/* Likewise until it has rung `more` times more often. For a doorbell at which
 * nobody else sleeps. */
int doorbell_sleep_many(struct doorbell *b, unsigned int rings,
    unsigned int more);

#endif
