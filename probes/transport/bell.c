/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/transport/bell.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SLEEP_NS_MAX 10000000

/* Not FUTEX_PRIVATE_FLAG: sleepers are other processes. */
static int
futex(atomic_uint *word, int op, unsigned int value, struct timespec *most)
{
	return (int)syscall(SYS_futex, word, op, value, most, NULL, 0);
}

/* A sleeper counts itself before the kernel compares rings, so one of the two
 * sees the other. */
void
bell_ring(struct bell *b)
{
	atomic_fetch_add(&b->rings, 1);
	if (atomic_load(&b->sleepers) > 0)
		futex(&b->rings, FUTEX_WAKE, INT_MAX, NULL);
}

unsigned int
bell_rings(struct bell *b)
{
	return atomic_load(&b->rings);
}

int
bell_sleep(struct bell *b, unsigned int rings)
{
	struct timespec most = { .tv_nsec = SLEEP_NS_MAX };
	int late;

	atomic_fetch_add(&b->sleepers, 1);
	late = futex(&b->rings, FUTEX_WAIT, rings, &most) < 0 &&
	    errno == ETIMEDOUT;
	atomic_fetch_sub(&b->sleepers, 1);
	return !late;
}
