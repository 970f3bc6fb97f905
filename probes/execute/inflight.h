/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inflight.h - decide which of the ready transfers can start, and which of two
 * ranks of a node performs a copy between them.
 *
 * Transfers that share a link all complete together, late: a pipeline loses its
 * overlap, and many senders to one receiver overflow the queue in front of it.
 * Therefore transfers take turns. A ready turn is held while, of the preceding
 * turns in its group, two or more are active and together have at least a given
 * number of bytes. Two can be active so that one is always in preparation. Of
 * the held turns the lowest starts first.
 *
 * Turns wait only for lower ones. exec_make.c numbers the turns so that both
 * ends of a transfer come after the same transfers. Then the lowest incomplete
 * transfer is never held, and a deadlock is impossible.
 *
 * In a transfer by ipc either end can copy. If each rank has a core, the copies
 * are spread: receivers get from a rank that sends to many ranks in one step,
 * and many senders put to one receiver. If ranks share cores, the single rank
 * copies short pieces instead, because it is awake anyway: waking another rank
 * takes longer than the copy, and takes the core from ranks that serve the
 * network.
 *
 * The functions are pure and do no locking. Each operation takes O(log turns).
 */
#ifndef PROBES_EXECUTE_INFLIGHT_H
#define PROBES_EXECUTE_INFLIGHT_H

#include <stdint.h>

#include "common/heap.h"
#include "probes/plan/plan.h"

#define INFLIGHT_NONE UINT32_MAX /* no turn */

/* A turn. Its group is the turns lo to hi - 1; hi is at most the turn's own
 * number. */
struct inflight_turn {
	uint64_t bytes;
	uint32_t lo, hi;
};

/* Bytes and number of active turns. */
struct inflight_sum {
	uint64_t bytes;
	uint32_t count;
};

/* The turns of one direction of a transport. */
struct inflight {
	const struct inflight_turn *turns; /* must live as long */
	uint32_t count;
	uint64_t limit_bytes;
	/* Binary indexed tree over active turns, from index 1. */
	struct inflight_sum *under_way;
	struct heap held;
};

/* Begin without ready or active turns. */
void inflight_init(struct inflight *w, const struct inflight_turn *turns,
    uint32_t count, uint64_t limit_bytes);
void inflight_clear(struct inflight *w); /* frees what it owns */

/* Mark a turn as ready; call it once for each turn until inflight_land. */
void inflight_hold(struct inflight *w, uint32_t turn);
/* Return the next turn that can start, and mark it as active; INFLIGHT_NONE:
 * none can. */
uint32_t inflight_take(struct inflight *w);
/* Mark an active turn as complete. */
void inflight_land(struct inflight *w, uint32_t turn);

/* Return, by row of the plan, 1 if the receiver of an ipc transfer gets the
 * bytes, or 0 if the sender puts them. The result is computed from all rows, so
 * that both ends decide the same. The caller frees it. */
uint8_t *inflight_gets(const struct plan *p, int cores_are_shared);

#endif
