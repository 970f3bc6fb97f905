/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inflight.h - which of the ready transfers may start, and which of two ranks
 * of a node performs a copy between them.
 *
 * Transfers that share a link all complete together, late: a pipeline loses its
 * overlap, and many senders to one receiver overflow the queue in front of it.
 * So pieces take turns. A ready turn is held while, of the preceding turns in
 * its group, two or more are active and have at least a given number of bytes.
 * Two may be active so that one is always in preparation. The lowest turn of
 * those held goes first.
 *
 * Turns wait only for lower ones. If the ranks number their turns so that both
 * ends of a transfer come after the same transfers (exec_make.c), the lowest
 * incomplete transfer is never held. So a deadlock is impossible.
 *
 * In a transfer by ipc either end may copy. If each rank has a core, the copies
 * are spread: receivers fetch from a rank that sends to many in one step, and
 * many senders put to one receiver. Where ranks share cores, the single rank
 * copies short pieces instead, since it is awake anyway: waking another rank
 * takes longer than the copy, and takes the core from ranks that serve the
 * network.
 *
 * Pure; no locking. Each operation takes O(log turns).
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
/* Return the next transfer that may start, which is active from now on;
 * INFLIGHT_NONE: none. */
uint32_t inflight_take(struct inflight *w);
/* One that was taken is over. */
void inflight_land(struct inflight *w, uint32_t turn);

/* Return by row of the plan, for each transport: 1 if the receiver gets, 0 if
 * the sender puts. Made from all rows, so that both ends decide the same. The
 * caller frees it. */
uint8_t *inflight_gets(const struct plan *p, int cores_are_shared);

#endif
