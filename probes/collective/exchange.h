/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange.h - build collectives whose ranks exchange data in pairs, in rounds
 * (rounds.h), as an alternative to a composition. Adjacent blocks travel as one
 * message, so that short data costs few messages.
 *
 * A collective is one or two stages; each stage adds its rows behind those of
 * the stage before. Broadcast, reduce, gather and scatter follow a tree from
 * the root. All-gather, reduce-scatter and all-reduce are butterflies. A
 * reduction is the corresponding gathering in reverse. Inputs are combined as
 * (own, received), which gives the same bits on both ranks of a pair.
 */
#ifndef PROBES_COLLECTIVE_EXCHANGE_H
#define PROBES_COLLECTIVE_EXCHANGE_H

#include "probes/collective/compose.h"
#include "probes/collective/rounds.h"
#include "probes/plan/plan.h"

/* Limit of ranks: a butterfly needs a table of ranks by ranks. */
#define EXCHANGE_RANKS_MAX 4096

/* An exchange under construction. */
struct exchange {
	struct plan *p;
	/* The transports, the type and op of the shape are used. */
	const struct compose_shape *shape;
	enum rounds_kind kind;
	uint32_t root;
	uint64_t block;                  /* bytes of a block */
	uint16_t send, recv, work, temp; /* buffers by their numbers */
	uint32_t step;                   /* first step of the next stage */
};

/* The place of a block between two stages. */
enum exchange_spot {
	/* The block is on its own rank: in send, or at the start of recv. */
	EXCHANGE_OWN,
	EXCHANGE_SPREAD,  /* on its own rank, at its offset in recv */
	EXCHANGE_IN_WORK, /* at its offset in work; on the root in recv */
	/* The block is where exchange_allgather will move it, before blocks of
	   folded ranks are delivered. */
	EXCHANGE_KEPT,
};

/* ---- rows, for the stages ---- */

/* A row that is not complete. A piece that continues the row at all of its
 * places is merged into it. */
struct exchange_row {
	uint32_t src, dst; /* equal: a local operation of this rank */
	uint32_t step;
	/* Number of inputs of a local operation; 2: it reduces from and with,
	 * 1: it copies from. */
	uint8_t inputs;
	struct plan_place from, with, to;
	uint64_t bytes; /* 0: the row is empty */
};
/* Extend row by piece; if piece does not continue it, add row to the plan and
 * start a new one with piece. */
void exchange_put(struct exchange *x, struct exchange_row *row,
    const struct exchange_row *piece);
/* Add row to the plan unless it is empty, and empty it. */
void exchange_end(struct exchange *x, struct exchange_row *row);

/* Return the place of a block in a buffer of all blocks. */
struct plan_place exchange_at(const struct exchange *x, uint16_t buf,
    uint32_t block);
/* Reserve bytes in the buffer temp of a rank. Return the place; every call
 * returns another one. */
struct plan_place exchange_room(struct exchange *x, uint32_t rank,
    uint64_t bytes);
/* Add a row that is complete: a transfer, a copy within a rank, or a reduction
 * of own and received into `to`. */
void exchange_send(struct exchange *x, uint32_t step, uint32_t src,
    struct plan_place from, uint32_t dst, struct plan_place to, uint64_t bytes);
void exchange_copy(struct exchange *x, uint32_t step, uint32_t rank,
    struct plan_place from, struct plan_place to, uint64_t bytes);
void exchange_fold(struct exchange *x, uint32_t step, uint32_t rank,
    struct plan_place own, struct plan_place received, struct plan_place to,
    uint64_t bytes);

#endif
