/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pair_medians.c - an open hash table that doubles up to its bound, and the
 * medians of its pairs by node, which are computed on request.
 */

#include "probes/sampling/pair_medians.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/rng.h"
#include "common/robust.h"
#include "common/xalloc.h"

#define SLOTS_FIRST 64 /* a power of two, as every later size */
/* Two quantiles of the good side, and how far they are apart in a normal. */
#define GOOD_SIDE   0.25
#define GOOD_MOST   0.05
#define GOOD_SIGMAS 0.97

struct slot {
	int a, b;
	uint64_t n; /* 0: free */
	float kept[PAIR_MEDIANS_KEPT];
};

struct pair_medians {
	struct slot *slots;
	uint32_t size; /* slots */
	uint32_t used;
	uint32_t max;
	uint64_t dropped;
	int low_is_bad;
	struct rng rng;
	/* Medians by node: of[start[i]] up to of[start[i + 1]] are node i's. */
	int nodes; /* 0: not made since the last median came */
	uint32_t *start;
	double *of;
	int *with; /* the partner in each of them */
	uint8_t
	    *slow; /* by node: 1 if slow with most of its partners; or NULL */
};

struct pair_medians *
pair_medians_new(int low_is_bad, int nodes, uint64_t seed)
{
	struct pair_medians *p = xcalloc(1, sizeof(*p));
	int64_t max = (int64_t)nodes * PAIR_MEDIANS_PARTNERS / 2;

	p->low_is_bad = low_is_bad;
	p->max = max < PAIR_MEDIANS_LEAST ? PAIR_MEDIANS_LEAST
	    : max > PAIR_MEDIANS_MOST     ? PAIR_MEDIANS_MOST
					  : (uint32_t)max;
	p->size = SLOTS_FIRST;
	p->slots = xcalloc(p->size, sizeof(*p->slots));
	rng_seed(&p->rng, seed);
	return p;
}

void
pair_medians_free(struct pair_medians *p)
{
	if (p == NULL)
		return;
	free(p->slots);
	free(p->start);
	free(p->of);
	free(p->with);
	free(p->slow);
	free(p);
}

/* The pair's slot, or the free one where it belongs. */
static struct slot *
pair_medians_find(const struct pair_medians *p, int a, int b)
{
	uint64_t h = ((uint64_t)(uint32_t)a << 32 | (uint32_t)b) *
	    0x9e3779b97f4a7c15;
	uint32_t i = (uint32_t)(h >> 32) & (p->size - 1);

	while (p->slots[i].n > 0 && (p->slots[i].a != a || p->slots[i].b != b))
		i = (i + 1) & (p->size - 1);
	return &p->slots[i];
}

void
pair_medians_add(struct pair_medians *p, int a, int b, double median)
{
	struct slot *s, *old = p->slots;
	uint32_t size = p->size;
	uint64_t at;

	if (a == b)
		return;
	p->nodes = 0;
	s = pair_medians_find(p, a < b ? a : b, a < b ? b : a);
	if (s->n == 0 && p->used == p->max) {
		p->dropped++;
		return;
	}
	if (s->n == 0 && 4 * (p->used + 1) > 3 * p->size) {
		p->size *= 2;
		p->slots = xcalloc(p->size, sizeof(*p->slots));
		for (uint32_t i = 0; i < size; i++)
			if (old[i].n > 0)
				*pair_medians_find(p, old[i].a,
				    old[i].b) = old[i];
		free(old);
		s = pair_medians_find(p, a < b ? a : b, a < b ? b : a);
	}
	if (s->n == 0) {
		s->a = a < b ? a : b;
		s->b = a < b ? b : a;
		p->used++;
	}
	/* every median seen has the same chance to be among those kept */
	at = s->n++;
	if (at >= PAIR_MEDIANS_KEPT)
		at = rng_below(&p->rng, s->n);
	if (at < PAIR_MEDIANS_KEPT)
		s->kept[at] = (float)median;
}

uint64_t
pair_medians_dropped(const struct pair_medians *p)
{
	return p->dropped;
}

static double
pair_medians_median_of(const struct slot *s)
{
	double x[PAIR_MEDIANS_KEPT];
	size_t n = s->n < PAIR_MEDIANS_KEPT ? (size_t)s->n : PAIR_MEDIANS_KEPT;

	for (size_t i = 0; i < n; i++)
		x[i] = s->kept[i];
	return robust_median(x, n);
}

/* Is x worse than y? Ties by name, so that one seed gives one order. */
static int
pair_medians_worse(const struct pair_medians *p,
    const struct pair_medians_row *x, const struct pair_medians_row *y)
{
	if (x->p50 != y->p50)
		return (x->p50 > y->p50) != p->low_is_bad;
	return x->a != y->a ? x->a < y->a : x->b < y->b;
}

int
pair_medians_worst(const struct pair_medians *p, struct pair_medians_row *ret,
    int cap)
{
	int count = 0;

	for (uint32_t i = 0; i < p->size; i++) {
		const struct slot *s = &p->slots[i];
		struct pair_medians_row row = { s->a, s->b, s->n, 0 };
		int at;

		if (s->n == 0)
			continue;
		row.p50 = pair_medians_median_of(s);
		at = count;
		while (at > 0 && pair_medians_worse(p, &row, &ret[at - 1]))
			at--;
		if (at == cap)
			continue;
		if (count < cap)
			count++;
		memmove(&ret[at + 1], &ret[at],
		    (size_t)(count - 1 - at) * sizeof(*ret));
		ret[at] = row;
	}
	return count;
}

double
pair_medians_median(const struct pair_medians *p, int a, int b)
{
	const struct slot *s = pair_medians_find(p, a < b ? a : b,
	    a < b ? b : a);

	return s->n > 0 ? pair_medians_median_of(s) : NAN;
}

/* A node's are asked for one after the other: to look at all pairs for each of
 * 10,000 nodes would take longer than the round did. */
static size_t
pair_medians_of_node(struct pair_medians *p, int node, const double **ret)
{
	uint32_t *at;

	if (p->nodes == 0) {
		for (uint32_t i = 0; i < p->size; i++)
			if (p->slots[i].n > 0 && p->slots[i].b >= p->nodes)
				p->nodes = p->slots[i].b + 1;
		free(p->start);
		free(p->of);
		free(p->with);
		free(p->slow);
		p->slow = NULL;
		p->start = xcalloc((size_t)p->nodes + 2, sizeof(*p->start));
		p->of = xcalloc(2 * (size_t)p->used + 1, sizeof(*p->of));
		p->with = xcalloc(2 * (size_t)p->used + 1, sizeof(*p->with));
		at = p->start + 1; /* a step ahead, until all are in place */
		for (uint32_t i = 0; i < p->size; i++) {
			if (p->slots[i].n == 0)
				continue;
			at[p->slots[i].a + 1]++;
			at[p->slots[i].b + 1]++;
		}
		for (int i = 0; i < p->nodes; i++)
			at[i + 1] += at[i];
		for (uint32_t i = 0; i < p->size; i++) {
			const struct slot *s = &p->slots[i];

			if (s->n == 0)
				continue;
			p->of[at[s->a]] = p->of[at[s->b]] =
			    pair_medians_median_of(s);
			p->with[at[s->a]++] = s->b;
			p->with[at[s->b]++] = s->a;
		}
	}
	if (node >= p->nodes)
		return 0;
	*ret = &p->of[p->start[node]];
	return p->start[node + 1] - p->start[node];
}

double
pair_medians_quantile(struct pair_medians *p, int node, double q)
{
	const double *of = NULL;
	size_t n = pair_medians_of_node(p, node, &of);
	double *x = xcalloc(n + 1, sizeof(*x)), at;

	for (size_t i = 0; i < n; i++)
		x[i] = of[i];
	at = robust_quantile_outer(x, n, q);
	free(x);
	return at;
}

/* The quartile on the good side of a node's pairs. Where a quarter of its
 * partners or more is slow, only pairs with the others count, if there are any.
 * Where these are less than half, a better quantile is taken, since few pairs
 * are easily slow by chance. */
static double
pair_medians_score_of(const struct pair_medians *p, int node)
{
	uint32_t from = p->start[node], all = p->start[node + 1] - from;
	double *x = xcalloc(all + (size_t)1, sizeof(*x)), q = GOOD_SIDE;
	size_t n = 0;

	for (uint32_t i = 0; p->slow != NULL && i < all; i++)
		if (!p->slow[p->with[from + i]])
			x[n++] = p->of[from + i];
	if (n == 0 || 4 * (all - n) < all) {
		memcpy(x, &p->of[from], all * sizeof(*x));
		n = all;
	} else {
		q *= fmin(1, 2 * (double)n / all);
	}
	q = robust_quantile_outer(x, n, p->low_is_bad ? 1 - q : q);
	free(x);
	return q;
}

/* Set p->slow for nodes far beyond the good side of all nodes. Many nodes may
 * be busy, so the slower half is not taken as normal. */
static void
pair_medians_need_slow(struct pair_medians *p)
{
	const double *of;
	double *x, *sorted, good, most, off;
	uint8_t *slow;
	size_t n = 0;

	(void)pair_medians_of_node(p, 0, &of);
	if (p->slow != NULL)
		return;
	x = xcalloc((size_t)p->nodes + 1, sizeof(*x));
	sorted = xcalloc((size_t)p->nodes + 1, sizeof(*x));
	slow = xcalloc((size_t)p->nodes + 1, 1);

	for (int i = 0; i < p->nodes; i++) {
		x[i] = pair_medians_score_of(p, i);
		if (!isnan(x[i]))
			sorted[n++] = x[i];
	}
	good = robust_quantile(sorted, n,
	    p->low_is_bad ? 1 - GOOD_SIDE : GOOD_SIDE);
	most = robust_quantile(sorted, n,
	    p->low_is_bad ? 1 - GOOD_MOST : GOOD_MOST);
	off = fmax(PAIR_MEDIANS_SLOW * good,
	    PAIR_MEDIANS_SIGMAS * fabs(good - most) / GOOD_SIGMAS);
	for (int i = 0; i < p->nodes; i++)
		slow[i] = p->low_is_bad ? x[i] < good - off : x[i] > good + off;
	p->slow = slow;
	free(sorted);
	free(x);
}

double
pair_medians_score(struct pair_medians *p, int node)
{
	const double *of = NULL;

	if (pair_medians_of_node(p, node, &of) == 0)
		return NAN;
	pair_medians_need_slow(p);
	return pair_medians_score_of(p, node);
}

/* The median of all pairs' medians, and their scatter; of those whose ends are
 * not slow themselves, if there are any. */
static double
pair_medians_typical_of(struct pair_medians *p, int with_slow,
    double *ret_sigma)
{
	double *x = xcalloc(p->used + 1, sizeof(*x)), at;
	size_t n = 0;

	pair_medians_need_slow(p);
	for (int all = with_slow; all < 2 && n == 0; all++)
		for (uint32_t i = 0; i < p->size; i++) {
			const struct slot *s = &p->slots[i];

			if (s->n > 0 &&
			    (all || (!p->slow[s->a] && !p->slow[s->b])))
				x[n++] = pair_medians_median_of(s);
		}
	at = robust_median(x, n);
	*ret_sigma = robust_mad(x, n, at);
	free(x);
	return at;
}

double
pair_medians_typical(struct pair_medians *p)
{
	double sigma;

	return pair_medians_typical_of(p, 1, &sigma);
}

double
pair_medians_bound(struct pair_medians *p)
{
	double sigma, typical = pair_medians_typical_of(p, 0, &sigma), off;

	off = fmax(PAIR_MEDIANS_SLOW, PAIR_MEDIANS_SIGMAS * sigma / typical);
	return p->low_is_bad ? typical / (1 + off) : typical * (1 + off);
}

int
pair_medians_partners(struct pair_medians *p, int node, double bound,
    int *ret_slow)
{
	const double *of = NULL;
	size_t n = pair_medians_of_node(p, node, &of),
	       at = n > 0 ? p->start[node] : 0;
	int count = 0;

	*ret_slow = 0;
	pair_medians_need_slow(p);
	for (int all = 0; all < 2 && count == 0; all++)
		for (size_t i = 0; i < n; i++) {
			if (!all && p->slow[p->with[at + i]])
				continue;
			count++;
			*ret_slow += p->low_is_bad ? of[i] < bound
						   : of[i] > bound;
		}
	return count;
}
