/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.c - row numbers by step, rank and place: two passes of counting, and
 * short sorts of what one rank does in one step.
 */
#include "probes/plan/index.h"

#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

struct key {
	uint32_t step, rank;
	uint16_t buf;
	uint64_t off;
};

static struct key
index_key_of(const struct index *x, uint32_t row)
{
	const struct plan_transfer *t;
	const struct plan_local *l;

	if (x->of == INDEX_LOCAL) {
		l = &x->p->locals[row];
		return (struct key){ l->step, l->rank, l->to, l->to_off };
	}
	t = &x->p->transfers[row];
	if (x->of == INDEX_SRC)
		return (struct key){ t->step, t->src, t->from, t->from_off };
	return (struct key){ t->step, t->dst, t->to, t->to_off };
}

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static int
index_place_compare_cb(const void *va, const void *vb, void *arg)
{
	struct key a = index_key_of(arg, *(const uint32_t *)va);
	struct key b = index_key_of(arg, *(const uint32_t *)vb);

	return a.buf != b.buf ? ORDER(a.buf, b.buf) : ORDER(a.off, b.off);
}

/* Stable counting sort of from into to, by rank or by step. starts gets the
 * first place of every value and, behind the last, the count. */
static void
index_count_sort(const struct index *x, int by_step, const uint32_t *from,
    uint32_t *to, size_t *starts)
{
	uint32_t values = by_step ? x->p->steps : x->p->ranks;
	size_t sum = 0;

	memset(starts, 0, ((size_t)values + 1) * sizeof(*starts));
	for (size_t i = 0; i < x->count; i++) {
		struct key k = index_key_of(x, from[i]);

		starts[by_step ? k.step : k.rank]++;
	}
	for (uint32_t v = 0; v <= values; v++) {
		size_t n = starts[v];

		starts[v] = sum;
		sum += n;
	}
	for (size_t i = 0; i < x->count; i++) {
		struct key k = index_key_of(x, from[i]);

		to[starts[by_step ? k.step : k.rank]++] = from[i];
	}
	/* each start has moved on to the next one's */
	memmove(starts + 1, starts, values * sizeof(*starts));
	starts[0] = 0;
}

struct index *
index_new(const struct plan *p, enum index_of of)
{
	struct index *x = xcalloc(1, sizeof(*x));
	uint32_t *other;
	size_t *ranks;

	x->p = p;
	x->of = of;
	x->count = of == INDEX_LOCAL ? p->locals_count : p->transfers_count;
	x->order = xcalloc(x->count + 1, sizeof(*x->order));
	x->steps = xcalloc((size_t)p->steps + 1, sizeof(*x->steps));
	other = xcalloc(x->count + 1, sizeof(*other));
	ranks = xcalloc((size_t)p->ranks + 1, sizeof(*ranks));
	for (size_t i = 0; i < x->count; i++)
		x->order[i] = (uint32_t)i;
	index_count_sort(x, 0, x->order, other, ranks);
	index_count_sort(x, 1, other, x->order, x->steps);
	free(other);
	free(ranks);
	/* what one rank does in one step, unless it is sorted already */
	for (size_t lo = 0, hi; lo < x->count; lo = hi) {
		struct key first = index_key_of(x, x->order[lo]);
		int sorted = 1;

		for (hi = lo + 1; hi < x->count; hi++) {
			struct key k = index_key_of(x, x->order[hi]);

			if (k.rank != first.rank || k.step != first.step)
				break;
			sorted &= index_place_compare_cb(&x->order[hi - 1],
				      &x->order[hi], x) <= 0;
		}
		if (!sorted)
			qsort_r(x->order + lo, hi - lo, sizeof(*x->order),
			    index_place_compare_cb, x);
	}
	return x;
}

void
index_free(struct index *x)
{
	if (x == NULL)
		return;
	free(x->order);
	free(x->steps);
	free(x);
}

void
index_step(const struct index *x, uint32_t step, size_t *ret_lo, size_t *ret_hi)
{
	*ret_lo = x->steps[step];
	*ret_hi = x->steps[step + 1];
}

void
index_group(struct index *x, uint32_t step, uint32_t rank, size_t *ret_lo,
    size_t *ret_hi)
{
	size_t hi;

	if (x->cursor < x->steps[step])
		x->cursor = x->steps[step];
	hi = x->cursor;
	while (hi < x->steps[step + 1] &&
	    index_key_of(x, x->order[hi]).rank == rank)
		hi++;
	*ret_lo = x->cursor;
	*ret_hi = x->cursor = hi;
}
