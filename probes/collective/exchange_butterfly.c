/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange_butterfly.c - stages in which all pairs of a round exchange:
 * all-gather, reduce-scatter as its reverse, and all-reduce of all of the data
 * in each round.
 *
 * Swing exchanges blocks that are not side by side. It moves them in work, in
 * an order in which they are.
 */
#include "probes/collective/exchange_butterfly.h"

#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "probes/collective/exchange.h"

#define OWN   254
#define NEVER 255

struct butterfly {
	struct rounds r;
	uint8_t *got;    /* by place and block's place: the round, OWN, NEVER */
	uint32_t *order; /* places, as their blocks lie */
	uint32_t *lies;  /* by rank: where its block lies */
	uint16_t buf;    /* in it */
	int apart;       /* not in the order of ranks */
};

/* Of a pair both get what only the other has. */
static void
exchange_butterfly_flood(struct butterfly *f)
{
	uint32_t n = f->r.active;

	f->got = xcalloc(n, n);
	memset(f->got, NEVER, (size_t)n * n);
	for (uint32_t v = 0; v < n; v++)
		f->got[(size_t)v * n + v] = OWN;
	for (uint32_t i = 0; i < f->r.count; i++)
		for (uint32_t v = 0; v < n; v++) {
			uint32_t w = rounds_partner(&f->r, v, i);
			uint8_t *a = f->got + (size_t)v * n;
			uint8_t *b = f->got + (size_t)w * n;

			for (uint32_t k = 0; w > v && k < n; k++)
				if (a[k] == NEVER && b[k] != NEVER)
					a[k] = (uint8_t)i;
				else if (b[k] == NEVER && a[k] != NEVER)
					b[k] = (uint8_t)i;
		}
}

/* Add what place v knows after so many rounds, as it gets to know it: what
 * pairs exchange then is side by side. */
static void
exchange_butterfly_arrange(struct butterfly *f, uint32_t v, uint32_t rounds,
    uint8_t *seen, uint32_t *count)
{
	if (rounds > 0) {
		exchange_butterfly_arrange(f, v, rounds - 1, seen, count);
		exchange_butterfly_arrange(f,
		    rounds_partner(&f->r, v, rounds - 1), rounds - 1, seen,
		    count);
	} else if (!seen[v]) {
		seen[v] = 1;
		f->order[(*count)++] = v;
	}
}

static struct butterfly
exchange_butterfly_make(const struct exchange *x, uint16_t buf)
{
	uint32_t n = x->p->ranks, at = 0, count = 0;
	struct butterfly f = { .buf = buf,
		.r = rounds_make(x->kind, ROUNDS_GATHER, n) };

	exchange_butterfly_flood(&f);
	f.order = xcalloc(f.r.active, sizeof(*f.order));
	f.lies = xcalloc(n, sizeof(*f.lies));
	f.apart = f.r.farthest_first && n > 2;
	if (f.apart) {
		uint8_t *seen = xcalloc(f.r.active, sizeof(*seen));

		exchange_butterfly_arrange(&f, 0, f.r.count, seen, &count);
		free(seen);
		f.buf = x->work;
	}
	for (uint32_t i = 0; i < f.r.active; i++) {
		uint32_t v = f.apart ? f.order[i] : i;
		uint32_t folded = rounds_folded(&f.r, v);

		f.order[i] = v;
		f.lies[rounds_rank(&f.r, v)] = at++;
		if (folded != ROUNDS_NONE)
			f.lies[folded] = at++;
	}
	return f;
}

static void
exchange_butterfly_free(struct butterfly *f)
{
	free(f->got);
	free(f->order);
	free(f->lies);
}

static struct plan_place
exchange_butterfly_home(const struct exchange *x, const struct butterfly *f,
    uint32_t block)
{
	return exchange_at(x, f->buf, f->lies[block]);
}

/* ---- all-gather ---- */

/* Messages of a round from place w to its partner v; sent: out of send, of
 * the one block that a rank has. */
static void
exchange_butterfly_give(struct exchange *x, const struct butterfly *f,
    uint32_t round, uint32_t v, int sent)
{
	uint32_t n = f->r.active, w = rounds_partner(&f->r, v, round);
	struct exchange_row row = { 0 },
			    piece = { .step = x->step + round,
				    .src = rounds_rank(&f->r, w),
				    .dst = rounds_rank(&f->r, v),
				    .bytes = x->block };

	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = f->order[i];
		uint32_t blocks[] = { rounds_rank(&f->r, k),
			rounds_folded(&f->r, k) };

		if (f->got[(size_t)v * n + k] != round)
			continue;
		for (int b = 0; b < 2 && blocks[b] != ROUNDS_NONE; b++) {
			piece.to = exchange_butterfly_home(x, f, blocks[b]);
			piece.from = sent ? exchange_at(x, x->send, 0)
					  : piece.to;
			exchange_put(x, &row, &piece);
		}
	}
	exchange_end(x, &row);
}

/* Blocks into the order of ranks, then all to those that are folded. */
static void
exchange_butterfly_unfold(struct exchange *x, const struct butterfly *f,
    int spread)
{
	uint32_t n = x->p->ranks;

	for (uint32_t v = 0; f->apart && v < f->r.active; v++) {
		struct exchange_row row = { 0 };

		for (uint32_t b = 0; b < n; b++)
			exchange_put(x, &row,
			    &(struct exchange_row){
				.src = rounds_rank(&f->r, v),
				.dst = rounds_rank(&f->r, v),
				.step = x->step,
				.inputs = 1,
				.from = exchange_butterfly_home(x, f, b),
				.to = exchange_at(x, x->recv, b),
				.bytes = x->block });
		exchange_end(x, &row);
	}
	x->step += f->apart != 0;
	for (uint32_t v = 0; v < f->r.active; v++) {
		uint32_t to = rounds_folded(&f->r, v);
		struct plan_place all = exchange_at(x, x->recv, 0), rest;

		if (to == ROUNDS_NONE)
			break;
		rest = exchange_at(x, x->recv, to + 1);
		/* a spread block is there already */
		exchange_send(x, x->step, rounds_rank(&f->r, v), all, to, all,
		    x->block * (spread ? to : n));
		if (spread)
			exchange_send(x, x->step, rounds_rank(&f->r, v), rest,
			    to, rest, x->block * (n - to - 1));
	}
	x->step += f->r.active < n;
}

void
exchange_allgather(struct exchange *x, enum exchange_spot from)
{
	struct butterfly f = exchange_butterfly_make(x, x->recv);
	int folds = f.r.active < x->p->ranks && from != EXCHANGE_KEPT;

	for (uint32_t v = 0; v < f.r.active; v++) {
		uint32_t rank = rounds_rank(&f.r, v);
		uint32_t folded = rounds_folded(&f.r, v);
		struct plan_place own = exchange_at(x, x->send, 0);

		if (from == EXCHANGE_OWN)
			exchange_copy(x, x->step, rank, own,
			    exchange_butterfly_home(x, &f, rank), x->block);
		if (folded == ROUNDS_NONE || from == EXCHANGE_KEPT)
			continue;
		if (from == EXCHANGE_SPREAD)
			own = exchange_at(x, x->recv, folded);
		exchange_send(x, x->step, folded, own, rank,
		    exchange_butterfly_home(x, &f, folded), x->block);
	}
	x->step += folds != 0;
	for (uint32_t i = 0; i < f.r.count; i++)
		for (uint32_t v = 0; v < f.r.active; v++)
			exchange_butterfly_give(x, &f, i, v,
			    from == EXCHANGE_OWN && i == 0 && !folds);
	x->step += f.r.count;
	x->step += x->step == 0; /* of one rank */
	exchange_butterfly_unfold(x, &f, from == EXCHANGE_SPREAD);
	exchange_butterfly_free(&f);
}

/* ---- reduce-scatter ---- */

struct scatter {
	struct butterfly f;
	enum exchange_spot to;
	uint16_t result;  /* of kept blocks */
	uint8_t *at_home; /* by place and block's place: not in send any more */
	struct plan_place *folded; /* by place: result of the folded rank */
};

/* Where the block of a rank ends up: on it, or kept for it. */
static struct plan_place
exchange_butterfly_result(const struct exchange *x, const struct scatter *s,
    uint32_t rank)
{
	if (s->to == EXCHANGE_OWN)
		return exchange_at(x, x->recv, 0);
	if (s->to == EXCHANGE_IN_WORK)
		return exchange_at(x, rank == x->root ? x->recv : x->work,
		    rank);
	return exchange_at(x, s->result, s->f.lies[rank]);
}

/* What pairs exchange goes to its place: of folded ranks with theirs. */
static void
exchange_butterfly_fold(struct exchange *x, struct scatter *s)
{
	const struct butterfly *f = &s->f;
	uint32_t n = x->p->ranks, places = f->r.active;

	for (uint32_t v = 0; v < places; v++) {
		uint32_t rank = rounds_rank(&f->r, v);
		uint32_t folded = rounds_folded(&f->r, v);
		struct plan_place room = { 0 };
		struct exchange_row row = { 0 };

		if (folded != ROUNDS_NONE) {
			room = exchange_room(x, rank, n * x->block);
			exchange_send(x, x->step, folded,
			    exchange_at(x, x->send, 0), rank, room,
			    n * x->block);
		} else if (!f->apart) {
			continue;
		}
		memset(s->at_home + (size_t)v * places, 1, places);
		for (uint32_t b = 0; b < n; b++)
			exchange_put(x, &row,
			    &(struct exchange_row){ .src = rank,
				.dst = rank,
				.step = x->step,
				.inputs = folded != ROUNDS_NONE ? 2 : 1,
				.from = exchange_at(x, x->send, b),
				.with = { room.off + b * x->block, room.buf },
				.to = exchange_butterfly_home(x, f, b),
				.bytes = x->block });
		exchange_end(x, &row);
	}
	x->step += f->apart || places < n;
}

/* What place v got of place w in a round of the all-gather, it sends it in the
 * reverse, where w adds it to its own. */
static void
exchange_butterfly_take(struct exchange *x, struct scatter *s, uint32_t round,
    uint32_t v)
{
	const struct butterfly *f = &s->f;
	uint32_t n = f->r.active, w = rounds_partner(&f->r, v, round);
	uint32_t from = rounds_rank(&f->r, v), at = rounds_rank(&f->r, w);
	uint32_t step = x->step + f->r.count - 1 - round;
	struct exchange_row message = { 0 }, sum = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = f->order[i];
		uint32_t blocks[] = { rounds_rank(&f->r, k),
			rounds_folded(&f->r, k) };
		uint8_t *there = &s->at_home[(size_t)w * n + k];
		uint8_t here = s->at_home[(size_t)v * n + k];

		if (f->got[(size_t)v * n + k] != round)
			continue;
		for (int b = 0; b < 2 && blocks[b] != ROUNDS_NONE; b++) {
			struct plan_place room = exchange_room(x, at, x->block);
			struct plan_place home = exchange_butterfly_home(x, f,
			    blocks[b]);
			struct plan_place sent = exchange_at(x, x->send,
			    blocks[b]);
			struct plan_place to = home;

			if (round == 0)
				to = b == 0 || s->to == EXCHANGE_KEPT
				    ? exchange_butterfly_result(x, s, blocks[b])
				    : s->folded[w];
			exchange_put(x, &message,
			    &(struct exchange_row){ .src = from,
				.dst = at,
				.step = step,
				.from = here ? home : sent,
				.to = room,
				.bytes = x->block });
			exchange_put(x, &sum,
			    &(struct exchange_row){ .src = at,
				.dst = at,
				.step = step,
				.inputs = 2,
				.from = *there ? home : sent,
				.with = room,
				.to = to,
				.bytes = x->block });
		}
		*there = 1;
	}
	exchange_end(x, &message);
	exchange_end(x, &sum);
}

void
exchange_reduce_scatter(struct exchange *x, enum exchange_spot to)
{
	struct scatter s = { .f = exchange_butterfly_make(x, x->work),
		.to = to };
	uint32_t n = s.f.r.active;

	s.result = s.f.apart ? x->work : x->recv;
	s.at_home = xcalloc(n, n);
	s.folded = xcalloc(n, sizeof(*s.folded));
	/* apart from work, where a gathering may bring the block again */
	for (uint32_t v = 0; to != EXCHANGE_KEPT && v < x->p->ranks - n; v++)
		s.folded[v] = exchange_room(x, rounds_rank(&s.f.r, v),
		    x->block);
	exchange_butterfly_fold(x, &s);
	for (uint32_t i = s.f.r.count; i-- > 0;)
		for (uint32_t v = 0; v < n; v++)
			exchange_butterfly_take(x, &s, i, v);
	x->step += s.f.r.count;
	if (s.f.r.count == 0) /* of one rank */
		exchange_copy(x, x->step++, 0, exchange_at(x, x->send, 0),
		    exchange_butterfly_result(x, &s, 0), x->block);
	for (uint32_t v = 0; to != EXCHANGE_KEPT && v < x->p->ranks - n; v++) {
		uint32_t folded = rounds_folded(&s.f.r, v);

		exchange_send(x, x->step, rounds_rank(&s.f.r, v), s.folded[v],
		    folded, exchange_butterfly_result(x, &s, folded), x->block);
	}
	x->step += n < x->p->ranks && to != EXCHANGE_KEPT;
	free(s.at_home);
	free(s.folded);
	exchange_butterfly_free(&s.f);
}

/* ---- all-reduce ---- */

/* Both of a pair send what they have, and add the other's. */
static void
exchange_butterfly_meet(struct exchange *x, const struct rounds *r,
    uint32_t round, uint32_t v)
{
	uint64_t bytes = x->block * x->p->ranks;
	uint32_t rank = rounds_rank(r, v);
	int first = round == 0 && rounds_folded(r, v) == ROUNDS_NONE;
	int last = round + 1 == r->count;
	uint32_t w = rounds_partner(r, v, round);
	int theirs = round == 0 && rounds_folded(r, w) == ROUNDS_NONE;
	struct plan_place room = exchange_room(x, rank, bytes);

	exchange_send(x, x->step, rounds_rank(r, w),
	    exchange_at(x, theirs ? x->send : x->work, 0), rank, room, bytes);
	exchange_fold(x, x->step, rank,
	    exchange_at(x, first ? x->send : x->work, 0), room,
	    exchange_at(x, last ? x->recv : x->work, 0), bytes);
}

void
exchange_allreduce(struct exchange *x)
{
	uint32_t n = x->p->ranks;
	struct rounds r = rounds_make(x->kind, ROUNDS_WHOLE, n);
	struct plan_place sent = exchange_at(x, x->send, 0), room;
	uint64_t bytes = x->block * n;

	if (n == 1)
		exchange_copy(x, x->step++, 0, sent, exchange_at(x, x->recv, 0),
		    bytes);
	for (uint32_t v = 0; v < n - r.active; v++) {
		room = exchange_room(x, rounds_rank(&r, v), bytes);
		exchange_send(x, x->step, rounds_folded(&r, v), sent,
		    rounds_rank(&r, v), room, bytes);
		exchange_fold(x, x->step, rounds_rank(&r, v), sent, room,
		    exchange_at(x, x->work, 0), bytes);
	}
	x->step += r.active < n;
	for (uint32_t i = 0; i < r.count; i++, x->step++)
		for (uint32_t v = 0; v < r.active; v++)
			exchange_butterfly_meet(x, &r, i, v);
	for (uint32_t v = 0; v < n - r.active; v++)
		exchange_send(x, x->step, rounds_rank(&r, v),
		    exchange_at(x, x->recv, 0), rounds_folded(&r, v),
		    exchange_at(x, x->recv, 0), bytes);
	x->step += r.active < n;
}
