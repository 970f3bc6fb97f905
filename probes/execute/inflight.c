/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/execute/inflight.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

#define AT_LEAST 2

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

/* ---- what is under way ---- */

static void
mark(struct inflight *w, uint32_t turn, int sign)
{
	uint64_t bytes = w->turns[turn].bytes;

	for (uint32_t i = turn + 1; i <= w->count; i += i & -i) {
		w->under_way[i].count += (uint32_t)sign;
		w->under_way[i].bytes += sign > 0 ? bytes : -bytes;
	}
}

/* Of turns below hi. */
static struct inflight_sum
below(const struct inflight *w, uint32_t hi)
{
	struct inflight_sum s = { 0 };

	for (uint32_t i = hi; i > 0; i -= i & -i) {
		s.count += w->under_way[i].count;
		s.bytes += w->under_way[i].bytes;
	}
	return s;
}

static int
may_start(const struct inflight *w, uint32_t turn)
{
	const struct inflight_turn *t = &w->turns[turn];
	struct inflight_sum hi = below(w, t->hi), lo = below(w, t->lo);

	return hi.count - lo.count < AT_LEAST ||
	    hi.bytes - lo.bytes < w->limit_bytes;
}

/* ---- what is held ---- */

void
inflight_hold(struct inflight *w, uint32_t turn)
{
	assert(w->held.count < w->count && w->turns[turn].hi <= turn);
	heap_push(&w->held, turn);
}

uint32_t
inflight_take(struct inflight *w)
{
	uint32_t turn;

	if (w->held.count == 0 || !may_start(w, w->held.items[0]))
		return INFLIGHT_NONE;
	turn = heap_pop(&w->held);
	mark(w, turn, 1);
	return turn;
}

void
inflight_land(struct inflight *w, uint32_t turn)
{
	mark(w, turn, -1);
}
