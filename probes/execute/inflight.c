/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inflight.c - what may start is decided from sums over turns, kept in a tree;
 * who copies, from what each rank has to do in a step.
 */
#include "probes/execute/inflight.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

#define AT_LEAST 2

/* Longer copies are worth a wake-up of another rank. With 48 ranks on two cores
 * a wake-up and its part of a copy of 16 KiB took 23 us of a core. */
#define SHORT_BYTES (64ULL << 10)

void
inflight_init(struct inflight *w, const struct inflight_turn *turns,
    uint32_t count, uint64_t limit_bytes)
{
	memset(w, 0, sizeof(*w));
	w->turns = turns;
	w->count = count;
	w->limit_bytes = limit_bytes;
	w->under_way = xcalloc(count + (size_t)1, sizeof(*w->under_way));
	w->held.items = xcalloc(count + (size_t)1, sizeof(*w->held.items));
}

void
inflight_clear(struct inflight *w)
{
	free(w->under_way);
	free(w->held.items);
	memset(w, 0, sizeof(*w));
}

/* ---- active turns ---- */

static void
inflight_mark(struct inflight *w, uint32_t turn, int sign)
{
	uint64_t bytes = w->turns[turn].bytes;

	for (uint32_t i = turn + 1; i <= w->count; i += i & -i) {
		w->under_way[i].count += (uint32_t)sign;
		w->under_way[i].bytes += sign > 0 ? bytes : -bytes;
	}
}

/* Of turns below hi. */
static struct inflight_sum
inflight_below(const struct inflight *w, uint32_t hi)
{
	struct inflight_sum s = { 0 };

	for (uint32_t i = hi; i > 0; i -= i & -i) {
		s.count += w->under_way[i].count;
		s.bytes += w->under_way[i].bytes;
	}
	return s;
}

/* ---- held turns ---- */

void
inflight_hold(struct inflight *w, uint32_t turn)
{
	assert(w->held.count < w->count && w->turns[turn].hi <= turn);
	heap_push(&w->held, turn);
}

uint32_t
inflight_take(struct inflight *w)
{
	struct inflight_sum hi, lo;
	uint32_t turn;

	if (w->held.count == 0)
		return INFLIGHT_NONE;
	hi = inflight_below(w, w->turns[w->held.items[0]].hi);
	lo = inflight_below(w, w->turns[w->held.items[0]].lo);
	if (hi.count - lo.count >= AT_LEAST &&
	    hi.bytes - lo.bytes >= w->limit_bytes)
		return INFLIGHT_NONE;
	turn = heap_pop(&w->held);
	inflight_mark(w, turn, 1);
	return turn;
}

void
inflight_land(struct inflight *w, uint32_t turn)
{
	inflight_mark(w, turn, -1);
}

/* ---- who copies ---- */

uint8_t *
inflight_gets(const struct plan *p, int cores_are_shared)
{
	uint8_t *gets = xcalloc(p->transfers_count + 1, sizeof(*gets));
	uint32_t *out = xcalloc(2 * (size_t)p->ranks, sizeof(*out));
	uint32_t *in = out + p->ranks;
	const struct plan_transfer *t = p->transfers;

	/* What each rank sends and receives in a step. */
	for (size_t lo = 0, hi; lo < p->transfers_count; lo = hi) {
		for (hi = lo;
		     hi < p->transfers_count && t[hi].step == t[lo].step;
		     hi++) {
			out[t[hi].src]++;
			in[t[hi].dst]++;
		}
		for (size_t i = lo; i < hi; i++)
			gets[i] = cores_are_shared && t[i].bytes <= SHORT_BYTES
			    ? in[t[i].dst] > out[t[i].src]
			    : out[t[i].src] > in[t[i].dst];
		for (size_t i = lo; i < hi; i++)
			out[t[i].src] = in[t[i].dst] = 0;
	}
	free(out);
	return gets;
}
