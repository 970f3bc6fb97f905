/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doorbell.h - sleep until another process of this host has written a word.
 *
 * A doorbell is in memory that all of the processes map. A writer rings it
 * after the write. A waiter reads the number of rings, checks the words, and
 * sleeps unless the number has changed: no ring is lost between the check and
 * the sleep. Without sleepers a ring costs no system call.
 */
#ifndef PROBES_TRANSPORT_DOORBELL_H
#define PROBES_TRANSPORT_DOORBELL_H

#include <stdatomic.h>

/* A doorbell. Begins as all zeros, and is alone in its cache line. */
struct doorbell {
	_Alignas(64) atomic_uint rings;
	atomic_uint sleepers;
	atomic_uint many;  /* 1: the only sleeper sleeps through rings ... */
	atomic_uint until; /* ... until their number reaches this one */
};

/* Increment the number of rings and wake the sleepers. */
void doorbell_ring(struct doorbell *b);
/* Return the number of rings, for doorbell_sleep. */
unsigned int doorbell_rings(struct doorbell *b);
/* Sleep until the number of rings is no longer `rings`, or for some
 * milliseconds, because the ringing process may have died. Return 1 if it rang,
 * 0 if not. */
int doorbell_sleep(struct doorbell *b, unsigned int rings);
/* Sleep until the doorbell has rung `more` more times. Only for a doorbell with
 * a single sleeper. The result is as for doorbell_sleep. */
int doorbell_sleep_many(struct doorbell *b, unsigned int rings,
    unsigned int more);

#endif
