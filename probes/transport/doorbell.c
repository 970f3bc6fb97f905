/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doorbell.c - a futex on a counter: sleepers register before the kernel
 * compares it, so no ring is lost.
 */
#include "probes/transport/doorbell.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/clk.h"

#define SLEEP_NS_MAX (10 * CLK_NS_PER_MS)
#define LONG_NS_MAX  (100 * CLK_NS_PER_MS)

/* Not FUTEX_PRIVATE_FLAG: sleepers are other processes. */
static int
doorbell_futex(atomic_uint *word, int op, unsigned int value,
    struct timespec *most)
{
	return (int)syscall(SYS_futex, word, op, value, most, NULL, 0);
}

/* Rings wrap. */
static int
doorbell_is_before(unsigned int rings, unsigned int until)
{
	return (int)(rings - until) < 0;
}

/* A sleeper counts itself before the kernel compares rings, so one of the two
 * sees the other. */
void
doorbell_ring(struct doorbell *b)
{
	unsigned int rings = atomic_fetch_add(&b->rings, 1) + 1;

	if (atomic_load(&b->sleepers) == 0)
		return;
	if (atomic_load(&b->many) &&
	    doorbell_is_before(rings, atomic_load(&b->until)))
		return;
	doorbell_futex(&b->rings, FUTEX_WAKE, INT_MAX, NULL);
}

unsigned int
doorbell_rings(struct doorbell *b)
{
	return atomic_load(&b->rings);
}

/* 0: as long as one may. */
static int
doorbell_wait_for_ring(struct doorbell *b, unsigned int rings, uint64_t most_ns)
{
	struct timespec most = { .tv_nsec = (long)most_ns };

	return doorbell_futex(&b->rings, FUTEX_WAIT, rings, &most) == 0 ||
	    errno != ETIMEDOUT;
}

int
doorbell_sleep(struct doorbell *b, unsigned int rings)
{
	int rang;

	atomic_fetch_add(&b->sleepers, 1);
	rang = doorbell_wait_for_ring(b, rings, SLEEP_NS_MAX);
	atomic_fetch_sub(&b->sleepers, 1);
	return rang;
}

/* Rings while it falls asleep wake it up, but do not end this call. */
int
doorbell_sleep_many(struct doorbell *b, unsigned int rings, unsigned int more)
{
	unsigned int now;
	int rang = 1;

	atomic_store(&b->until, rings + more);
	atomic_store(&b->many, 1);
	atomic_fetch_add(&b->sleepers, 1);
	while (
	    rang && doorbell_is_before(now = doorbell_rings(b), rings + more))
		rang = doorbell_wait_for_ring(b, now, LONG_NS_MAX);
	atomic_fetch_sub(&b->sleepers, 1);
	atomic_store(&b->many, 0);
	return rang;
}
