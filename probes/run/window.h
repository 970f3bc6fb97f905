/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window.h - which of the transfers that could start may do so.
 *
 * Whoever shares a link among all that he has under way ends all of it
 * together, late: a pipeline of pieces is none then, and many senders that
 * meet at one receiver overflow the queue before it. So pieces take turns. A
 * turn that is ready is held until, of certain turns before it, less than a
 * number of bytes or less than two are under way; two, so that there is always
 * one in preparation. The lowest turn of those held goes first.
 *
 * Turns only ever wait for lower ones. Where the ranks number theirs so that
 * what both ends of a transfer come after is the same (exec_make.c), the first
 * of all transfers that are not complete is held by nobody, and so nobody can
 * wait in a circle.
 *
 * Pure; no locking. Holding, taking and landing cost O(log turns).
 */
#ifndef PROBES_RUN_WINDOW_H
#define PROBES_RUN_WINDOW_H

#include <stdint.h>

#include "common/heap.h"

#define WINDOW_NONE UINT32_MAX

/* Turn i counts those of [lo, hi), where hi <= i. */
struct window_turn {
	uint64_t bytes;
	uint32_t lo, hi;
};

struct window_sum {
	uint64_t bytes;
	uint32_t count;
};

struct window {
	const struct window_turn *turns; /* by reference */
	uint32_t count;
	uint64_t limit_bytes;
	struct window_sum *under_way; /* binary indexed tree, from 1 */
	struct heap held;
};

void window_init(struct window *w, const struct window_turn *turns,
    uint32_t count, uint64_t limit_bytes);
void window_clear(struct window *w); /* frees */

/* A turn is ready; each once until it has landed. */
void window_hold(struct window *w, uint32_t turn);
/* The next that may start now, under way from here on; WINDOW_NONE: none. */
uint32_t window_take(struct window *w);
/* One that was taken is over. */
void window_land(struct window *w, uint32_t turn);

#endif
