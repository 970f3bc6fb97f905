/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sort.c - the order of a listing, for millions of rows.
 *
 * Three passes of counting (receiver, sender, step) bring the rows of one pair
 * in one step together; those few are then sorted by place.
 */
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "probes/plan/plan.h"

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static int
place_compare(const struct plan *p, uint16_t a, uint64_t a_off, uint16_t b,
    uint64_t b_off)
{
	if (a != b)
		return strcmp(p->bufs[a].name, p->bufs[b].name);
	return ORDER(a_off, b_off);
}

static int
transfer_compare_cb(const void *va, const void *vb, void *arg)
{
	const struct plan_transfer *a = va, *b = vb;

	if (a->step != b->step)
		return ORDER(a->step, b->step);
	if (a->src != b->src)
		return ORDER(a->src, b->src);
	if (a->dst != b->dst)
		return ORDER(a->dst, b->dst);
	return place_compare(arg, a->to, a->to_off, b->to, b->to_off);
}

static int
local_compare_cb(const void *va, const void *vb, void *arg)
{
	const struct plan_local *a = va, *b = vb;

	if (a->step != b->step)
		return ORDER(a->step, b->step);
	if (a->rank != b->rank)
		return ORDER(a->rank, b->rank);
	return place_compare(arg, a->to, a->to_off, b->to, b->to_off);
}

enum sort_key { KEY_DST, KEY_SRC, KEY_STEP };

static uint32_t
key_of(const struct plan_transfer *t, enum sort_key key)
{
	return key == KEY_DST ? t->dst : key == KEY_SRC ? t->src : t->step;
}

/* One stable pass of counting over all rows; from and to are row numbers. */
static void
pass(const struct plan *p, enum sort_key key, const uint32_t *from,
    uint32_t *to)
{
	uint32_t values = key == KEY_STEP ? p->steps : p->ranks;
	size_t *at = xcalloc((size_t)values + 1, sizeof(*at));

	for (size_t i = 0; i < p->transfers_count; i++)
		at[key_of(&p->transfers[i], key) + 1]++;
	for (uint32_t v = 0; v < values; v++)
		at[v + 1] += at[v];
	for (size_t i = 0; i < p->transfers_count; i++)
		to[at[key_of(&p->transfers[from[i]], key)]++] = from[i];
	free(at);
}

/* Sort by place what lies between one pair in one step. */
static void
sort_pairs(struct plan *p)
{
	struct plan_transfer *t = p->transfers;
	size_t lo = 0, hi;

	for (; lo < p->transfers_count; lo = hi) {
		for (hi = lo + 1; hi < p->transfers_count; hi++)
			if (t[hi].step != t[lo].step ||
			    t[hi].src != t[lo].src || t[hi].dst != t[lo].dst)
				break;
		if (hi - lo > 1)
			qsort_r(t + lo, hi - lo, sizeof(*t),
			    transfer_compare_cb, p);
	}
}

/* Let row i be what row from[i] was, without a second list: round by round,
 * each row moves once. from is used up. */
static void
permute(struct plan_transfer *t, uint32_t *from, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct plan_transfer first = t[i];
		size_t at = i;

		while (from[at] != i) {
			size_t next = from[at];

			t[at] = t[next];
			from[at] = (uint32_t)at;
			at = next;
		}
		t[at] = first;
		from[at] = (uint32_t)at;
	}
}

static void
sort_transfers(struct plan *p)
{
	size_t n = p->transfers_count;
	uint32_t *a = xcalloc(n, sizeof(*a)), *b = xcalloc(n, sizeof(*b));

	for (size_t i = 0; i < n; i++)
		a[i] = (uint32_t)i;
	pass(p, KEY_DST, a, b);
	pass(p, KEY_SRC, b, a);
	pass(p, KEY_STEP, a, b);
	free(a);
	permute(p->transfers, b, n);
	free(b);
	sort_pairs(p);
}

static int
is_sorted(const struct plan *p)
{
	for (size_t i = 1; i < p->transfers_count; i++)
		if (transfer_compare_cb(&p->transfers[i - 1], &p->transfers[i],
			(void *)p) > 0)
			return 0;
	return 1;
}

void
plan_sort(struct plan *p)
{
	if (!is_sorted(p))
		sort_transfers(p);
	if (p->locals_count > 0)
		qsort_r(p->locals, p->locals_count, sizeof(*p->locals),
		    local_compare_cb, p);
}
