/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inflight.h - which of the transfers that could start may do so, and which of
 * two ranks of a node copies what passes between them.
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
 * A transfer by ipc alone leaves open who copies. Where each rank has a core
 * the work is best spread: of a rank that sends to many in one step the
 * receivers fetch, and many put what one rank is to receive. Where ranks share
 * cores, short pieces are copied by the one instead, which is awake anyway: to
 * wake up one of the many for a piece takes longer than to copy it, and takes
 * its core from those who serve the network.
 *
 * Pure; no locking. Holding, taking and landing cost O(log turns).
 */
#ifndef PROBES_EXECUTE_INFLIGHT_H
#define PROBES_EXECUTE_INFLIGHT_H

#include <stdint.h>

#include "common/heap.h"
#include "probes/plan/plan.h"

#define INFLIGHT_NONE UINT32_MAX

/* Turn i counts those of [lo, hi), where hi <= i. */
struct inflight_turn {
	uint64_t bytes;
	uint32_t lo, hi;
};

struct inflight_sum {
	uint64_t bytes;
	uint32_t count;
};

struct inflight {
	const struct inflight_turn *turns; /* by reference */
	uint32_t count;
	uint64_t limit_bytes;
	struct inflight_sum *under_way; /* binary indexed tree, from 1 */
	struct heap held;
};

void inflight_init(struct inflight *w, const struct inflight_turn *turns,
    uint32_t count, uint64_t limit_bytes);
void inflight_clear(struct inflight *w); /* frees */

/* A turn is ready; each once until it has landed. */
void inflight_hold(struct inflight *w, uint32_t turn);
/* The next that may start now, under way from here on; INFLIGHT_NONE: none. */
uint32_t inflight_take(struct inflight *w);
/* One that was taken is over. */
void inflight_land(struct inflight *w, uint32_t turn);

/* By row of the plan, whatever its transport: 1 if the receiver gets, 0 if the
 * sender puts. Made from all rows, so that both ends decide alike. The caller
 * frees it. */
uint8_t *inflight_gets(const struct plan *p, int cores_are_shared);

#endif
