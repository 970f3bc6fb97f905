/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pair_medians.c - an open hash table that doubles up to its bound.
 */
#include "probes/sampling/pair_medians.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/rng.h"
#include "common/robust.h"
#include "common/xalloc.h"

#define SLOTS_FIRST 64 /* a power of two, as every later size */

struct slot {
	int a, b;
	uint64_t n; /* 0: free */
	float kept[PAIR_MEDIANS_KEPT];
};

struct pair_medians {
	struct slot *slots;
	uint32_t size; /* slots */
	uint32_t used;
	uint64_t dropped;
	int low_is_bad;
	struct rng rng;
};

struct pair_medians *
pair_medians_new(int low_is_bad, uint64_t seed)
{
	struct pair_medians *p = xcalloc(1, sizeof(*p));

	p->low_is_bad = low_is_bad;
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
	free(p);
}

/* The pair's slot, or the free one where it belongs. */
static struct slot *
find(const struct pair_medians *p, int a, int b)
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
	s = find(p, a < b ? a : b, a < b ? b : a);
	if (s->n == 0 && p->used == PAIR_MEDIANS_MAX) {
		p->dropped++;
		return;
	}
	if (s->n == 0 && 4 * (p->used + 1) > 3 * p->size) {
		p->size *= 2;
		p->slots = xcalloc(p->size, sizeof(*p->slots));
		for (uint32_t i = 0; i < size; i++)
			if (old[i].n > 0)
				*find(p, old[i].a, old[i].b) = old[i];
		free(old);
		s = find(p, a < b ? a : b, a < b ? b : a);
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
median_of(const struct slot *s)
{
	double x[PAIR_MEDIANS_KEPT];
	size_t n = s->n < PAIR_MEDIANS_KEPT ? (size_t)s->n : PAIR_MEDIANS_KEPT;

	for (size_t i = 0; i < n; i++)
		x[i] = s->kept[i];
	return robust_median(x, n);
}

/* Is x worse than y? Ties by name, so that one seed gives one order. */
static int
worse(const struct pair_medians *p, const struct pair_medians_row *x,
    const struct pair_medians_row *y)
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
		row.p50 = median_of(s);
		at = count;
		while (at > 0 && worse(p, &row, &ret[at - 1]))
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
	const struct slot *s = find(p, a < b ? a : b, a < b ? b : a);

	return s->n > 0 ? median_of(s) : NAN;
}

double
pair_medians_quantile(const struct pair_medians *p, int node, double q)
{
	double *x = xcalloc(p->used + 1, sizeof(*x)), at;
	size_t n = 0;

	for (uint32_t i = 0; i < p->size; i++) {
		const struct slot *s = &p->slots[i];

		if (s->n > 0 && (s->a == node || s->b == node))
			x[n++] = median_of(s);
	}
	at = robust_quantile(x, n, q);
	free(x);
	return at;
}

double
pair_medians_typical(const struct pair_medians *p)
{
	double *x = xcalloc(p->used + 1, sizeof(*x)), at;
	size_t n = 0;

	for (uint32_t i = 0; i < p->size; i++)
		if (p->slots[i].n > 0)
			x[n++] = median_of(&p->slots[i]);
	at = robust_median(x, n);
	free(x);
	return at;
}

int
pair_medians_partners(const struct pair_medians *p, int node, double typical,
    int *ret_slow)
{
	double bound = p->low_is_bad ? typical / (1 + PAIR_MEDIANS_SLOW)
				     : typical * (1 + PAIR_MEDIANS_SLOW);
	int count = 0, slow = 0;

	for (uint32_t i = 0; i < p->size; i++) {
		const struct slot *s = &p->slots[i];

		if (s->n == 0 || (s->a != node && s->b != node))
			continue;
		count++;
		slow += p->low_is_bad ? median_of(s) < bound
				      : median_of(s) > bound;
	}
	*ret_slow = slow;
	return count;
}
