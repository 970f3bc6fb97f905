/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange_tree.c - stages over a tree of pairs: whoever has the data sends it
 * to the partner of the round, the farthest first; backwards towards the root.
 */
#include "probes/collective/exchange_tree.h"

#include <stdlib.h>

#include "common/xalloc.h"
#include "probes/collective/exchange.h"

/* The message that first brings rank dst something, by round. */
struct edge {
	uint32_t round, src, dst;
	uint32_t *blocks; /* of dst and of those behind it, ascending */
	uint32_t count;
};

struct tree {
	struct edge *edges; /* ranks - 1, rising by round */
	uint32_t count, rounds;
	uint32_t *up; /* by rank: its edge; of the root none */
};

static void
exchange_tree_grow(struct exchange *x, struct tree *t, uint32_t round,
    uint32_t src, uint32_t dst)
{
	struct edge *e = &t->edges[t->count];

	e->round = round;
	e->src = (src + x->root) % x->p->ranks;
	e->dst = (dst + x->root) % x->p->ranks;
	t->up[e->dst] = t->count++;
}

static void
exchange_tree_make(struct exchange *x, struct tree *t)
{
	uint32_t n = x->p->ranks, folded;
	struct rounds r = rounds_make(x->kind, ROUNDS_TREE, n);
	uint8_t *has = xcalloc(n, sizeof(*has));

	*t = (struct tree){ .edges = xcalloc(n, sizeof(*t->edges)),
		.up = xcalloc(n, sizeof(*t->up)),
		.rounds = r.count };
	has[0] = 1;
	for (uint32_t i = 0; i < r.count; i++)
		for (uint32_t v = 0; v < r.active; v++) {
			uint32_t w = rounds_partner(&r, v, i);

			if (w == ROUNDS_NONE || w < v || has[v] == has[w])
				continue;
			exchange_tree_grow(x, t, i,
			    rounds_rank(&r, has[v] ? v : w),
			    rounds_rank(&r, has[v] ? w : v));
			has[v] = has[w] = 1;
		}
	for (uint32_t v = 0; v < r.active; v++) {
		folded = rounds_folded(&r, v);
		if (folded == ROUNDS_NONE)
			continue;
		exchange_tree_grow(x, t, r.count, rounds_rank(&r, v), folded);
		t->rounds = r.count + 1;
	}
	free(has);
}

/* Each block passes all edges from the root to its rank. */
static void
exchange_tree_make_blocks(struct exchange *x, struct tree *t)
{
	exchange_tree_make(x, t);
	for (uint32_t b = 0; b < x->p->ranks; b++)
		for (uint32_t at = b; at != x->root;) {
			struct edge *e = &t->edges[t->up[at]];

			e->blocks = xmore(e->blocks, e->count,
			    sizeof(*e->blocks));
			e->blocks[e->count++] = b;
			at = e->src;
		}
}

static void
exchange_tree_free(struct tree *t)
{
	for (uint32_t i = 0; i < t->count; i++)
		free(t->edges[i].blocks);
	free(t->edges);
	free(t->up);
}

/* The next stage starts behind it; a copy alone is a step too. */
static void
exchange_tree_done(struct exchange *x, struct tree *t)
{
	x->step += t->rounds > 0 ? t->rounds : 1;
	exchange_tree_free(t);
}

void
exchange_broadcast(struct exchange *x, int in_place)
{
	uint64_t bytes = x->block * x->p->ranks;
	struct plan_place there = exchange_at(x, x->recv, 0);
	struct plan_place first = in_place ? there : exchange_at(x, x->send, 0);
	struct tree t;

	exchange_tree_make(x, &t);
	if (!in_place)
		exchange_copy(x, x->step, x->root, first, there, bytes);
	for (uint32_t i = 0; i < t.count; i++) {
		const struct edge *e = &t.edges[i];

		exchange_send(x, x->step + e->round, e->src,
		    e->src == x->root ? first : there, e->dst, there, bytes);
	}
	exchange_tree_done(x, &t);
}

void
exchange_reduce(struct exchange *x, uint16_t to)
{
	uint64_t bytes = x->block * x->p->ranks;
	struct plan_place own = exchange_at(x, x->send, 0), at;
	uint8_t *reduced = xcalloc(x->p->ranks, sizeof(*reduced));
	struct tree t;

	exchange_tree_make(x, &t);
	for (uint32_t i = t.count; i-- > 0;) {
		const struct edge *e = &t.edges[i];
		uint32_t step = x->step + t.rounds - 1 - e->round;
		struct plan_place room = exchange_room(x, e->src, bytes);

		at = exchange_at(x, x->work, 0);
		exchange_send(x, step, e->dst, reduced[e->dst] ? at : own,
		    e->src, room, bytes);
		if (e->src == x->root)
			at = exchange_at(x, to, 0);
		exchange_fold(x, step, e->src, reduced[e->src] ? at : own, room,
		    at, bytes);
		reduced[e->src] = 1;
	}
	if (t.count == 0)
		exchange_copy(x, x->step, x->root, own, exchange_at(x, to, 0),
		    bytes);
	free(reduced);
	exchange_tree_done(x, &t);
}

/* The blocks of an edge: at a leaf from or to its own place there. */
static void
exchange_tree_move(struct exchange *x, const struct edge *e, uint32_t step,
    uint16_t high, struct plan_place leaf, int towards_root)
{
	struct exchange_row row = { 0 };

	for (uint32_t i = 0; i < e->count; i++) {
		struct plan_place above = exchange_at(x, high, e->blocks[i]);
		struct plan_place below = e->count == 1
		    ? leaf
		    : exchange_at(x, x->work, e->blocks[i]);

		if (!towards_root)
			plan_buf_need(x->p, x->work, e->dst,
			    e->count == 1 ? 0 : below.off + x->block);
		exchange_put(x, &row,
		    &(struct exchange_row){ .src = towards_root ? e->dst
								: e->src,
			.dst = towards_root ? e->src : e->dst,
			.step = step,
			.from = towards_root ? below : above,
			.to = towards_root ? above : below,
			.bytes = x->block });
	}
	exchange_end(x, &row);
}

void
exchange_scatter(struct exchange *x, uint16_t from, enum exchange_spot to)
{
	struct tree t;

	exchange_tree_make_blocks(x, &t);
	exchange_copy(x, x->step, x->root, exchange_at(x, from, x->root),
	    exchange_at(x, x->recv, to == EXCHANGE_SPREAD ? x->root : 0),
	    x->block);
	for (uint32_t i = 0; i < t.count; i++) {
		const struct edge *e = &t.edges[i];
		struct plan_place own = exchange_at(x, x->recv,
		    to == EXCHANGE_SPREAD ? e->dst : 0);

		exchange_tree_move(x, e, x->step + e->round,
		    e->src == x->root ? from : x->work, own, 0);
		if (e->count > 1)
			exchange_copy(x, x->step + e->round, e->dst,
			    exchange_at(x, x->work, e->dst), own, x->block);
	}
	exchange_tree_done(x, &t);
}

void
exchange_gather(struct exchange *x, enum exchange_spot from)
{
	struct plan_place sent = exchange_at(x, x->send, 0);
	int own = from == EXCHANGE_OWN;
	struct tree t;

	exchange_tree_make_blocks(x, &t);
	if (own)
		exchange_copy(x, x->step, x->root, sent,
		    exchange_at(x, x->recv, x->root), x->block);
	for (uint32_t i = t.count; i-- > 0;) {
		const struct edge *e = &t.edges[i];
		struct plan_place placed = exchange_at(x, x->work, e->dst);

		if (own && e->count > 1)
			exchange_copy(x, x->step, e->dst, sent, placed,
			    x->block);
		exchange_tree_move(x, e, x->step + t.rounds - 1 - e->round,
		    e->src == x->root ? x->recv : x->work, own ? sent : placed,
		    1);
	}
	exchange_tree_done(x, &t);
}
