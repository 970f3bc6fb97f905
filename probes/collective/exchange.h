/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange.h - collectives whose ranks exchange in pairs, in rounds (rounds.h),
 * in place of a composition. Blocks that lie side by side travel as one
 * message, so that short data costs few messages.
 *
 * Stages: a collective is one of them or two, each adds its rows behind those
 * before it. Broadcast, reduce, gather and scatter follow a tree from the root;
 * the other three are butterflies. A reduction is the gathering backwards.
 * Inputs are combined as (own, received), which has the same bits on both
 * sides of a pair.
 */
#ifndef PROBES_COLLECTIVE_EXCHANGE_H
#define PROBES_COLLECTIVE_EXCHANGE_H

#include "probes/collective/compose.h"
#include "probes/collective/rounds.h"
#include "probes/plan/plan.h"

/* A butterfly holds a table of ranks by ranks. */
#define EXCHANGE_RANKS_MAX 4096

struct exchange {
	struct plan *p;
	const struct compose_shape *shape; /* for its transports, type and op */
	enum rounds_kind kind;
	uint32_t root;
	uint64_t block; /* bytes */
	uint16_t send, recv, work, temp;
	uint32_t step; /* the first of the next stage */
};

/* ---- stages ---- */

/* Bring all blocks of the root's send, or with in_place of its recv, to every
 * recv. */
void exchange_broadcast(struct exchange *x, int in_place);
/* Reduce all blocks of send into buffer to of the root. */
void exchange_reduce(struct exchange *x, uint16_t to);
/* Where a block is between stages. */
enum exchange_spot {
	EXCHANGE_OWN,     /* its rank's: of send, or the start of recv */
	EXCHANGE_SPREAD,  /* its rank's: in its place in recv */
	EXCHANGE_IN_WORK, /* in its place in work, at the root in recv */
	EXCHANGE_KEPT, /* where exchange_allgather moves it, not yet unfolded */
};
/* Reduce each block of send to its rank: own, in work or kept. */
void exchange_reduce_scatter(struct exchange *x, enum exchange_spot to);
/* Bring each rank's block, which is own, spread or kept, to every recv. */
void exchange_allgather(struct exchange *x, enum exchange_spot from);
/* Reduce all blocks of send into every recv, exchanging all in each round. */
void exchange_allreduce(struct exchange *x);
/* Bring every rank its block of the root's buffer from: own or spread. */
void exchange_scatter(struct exchange *x, uint16_t from, enum exchange_spot to);
/* Bring the block of each rank, own or in work, to the root's recv. */
void exchange_gather(struct exchange *x, enum exchange_spot from);

/* ---- rows, for the stages ---- */

/* A row that is not complete: pieces that continue it in all their places
 * become part of it. */
struct exchange_row {
	uint32_t src, dst; /* the same: a local operation */
	uint32_t step;
	uint8_t inputs; /* of a local operation; 2: it reduces from and with */
	struct plan_place from, with, to;
	uint64_t bytes; /* 0: none yet */
};
/* Continue row by piece, or add it to the plan and begin another. */
void exchange_put(struct exchange *x, struct exchange_row *row,
    const struct exchange_row *piece);
/* Add row to the plan, unless it is empty, and empty it. */
void exchange_end(struct exchange *x, struct exchange_row *row);

/* A place of a block, and room in temp, each call another. */
struct plan_place exchange_at(const struct exchange *x, uint16_t buf,
    uint32_t block);
struct plan_place exchange_room(struct exchange *x, uint32_t rank,
    uint64_t bytes);
/* A row of its own. */
void exchange_send(struct exchange *x, uint32_t step, uint32_t src,
    struct plan_place from, uint32_t dst, struct plan_place to, uint64_t bytes);
void exchange_copy(struct exchange *x, uint32_t step, uint32_t rank,
    struct plan_place from, struct plan_place to, uint64_t bytes);
void exchange_fold(struct exchange *x, uint32_t step, uint32_t rank,
    struct plan_place own, struct plan_place received, struct plan_place to,
    uint64_t bytes);

#endif
