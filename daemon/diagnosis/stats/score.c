/* SPDX-License-Identifier: Apache-2.0 */
/*
 * score.c - convert one round to distances: the typical node of each kind,
 * leaves whose nodes are slow together, and the distance of each node from its
 * peers.
 */
#include "daemon/diagnosis/stats/score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/robust.h"
#include "common/xalloc.h"

/* A leaf is judged separately if this share of its places is slow. Not all need
 * to be slow, since a place that met a node of its own leaf had a good partner.
 * In a small leaf half of the nodes may have independent faults; in a large
 * leaf this is unlikely. */
#define LEAF_SHARE       (2.0 / 3)
#define LEAF_LARGE       8
#define LEAF_LARGE_SHARE 0.5
#define SLOW_Z           1.5 /* a place that counts as slow for this */
#define LEAF_Z           3.0 /* minimum for the median of all its places */
/* A leaf that is at least this share of its peers is compared with the others
 * only; the first value is for a small leaf, the second for a large one. Its
 * own slow nodes widen the scatter, by a fifth if they are an eighth and to
 * double if they are a third. The median of a large leaf is exact enough to
 * tolerate the former. */
#define LEAF_OUT_SHARE       0.125
#define LEAF_OUT_LARGE_SHARE (1.0 / 3)

struct peers {
	size_t count;
	double median, sigma;
};

struct score {
	double *x; /* scratch, partly sorted by each use */
	size_t x_cap;
	struct peers *peers;
	size_t peers_cap, peers_count;
	struct score_leaf *leaves; /* by number, later packed */
	size_t leaves_cap, leaves_count;
	uint32_t *slow; /* slow places, by leaf */
	uint8_t *apart; /* by leaf */
	/* Observations by leaf: start[leaf] .. start[leaf + 1] of order. */
	uint32_t *start;
	uint32_t *order;
	size_t order_cap;
};

struct score *
score_new(void)
{
	return xcalloc(1, sizeof(struct score));
}

void
score_free(struct score *s)
{
	if (s == NULL)
		return;
	free(s->x);
	free(s->peers);
	free(s->leaves);
	free(s->slow);
	free(s->apart);
	free(s->start);
	free(s->order);
	free(s);
}

static void
score_swap(double *a, double *b)
{
	double t = *a;

	*a = *b;
	*b = t;
}

/* Hoare's selection: afterwards x[k] is the k-th smallest, with smaller values
 * before it. Sorting 10,000 places for their median would take most of a
 * round's time. */
static double
score_kth(double *x, size_t n, size_t k)
{
	size_t lo = 0, hi = n - 1;

	while (lo < hi) {
		double pivot = x[lo + (hi - lo) / 2];
		size_t i = lo, j = hi;

		for (;;) {
			while (x[i] < pivot)
				i++;
			while (x[j] > pivot)
				j--;
			if (i >= j)
				break;
			score_swap(&x[i++], &x[j--]);
		}
		if (k <= j)
			hi = j;
		else
			lo = j + 1;
	}
	return x[k];
}

static double
score_median_of(double *x, size_t n)
{
	double high, low;

	if (n == 0)
		return NAN;
	high = score_kth(x, n, n / 2);
	if (n % 2 != 0)
		return high;
	low = x[0];
	for (size_t i = 1; i < n / 2; i++)
		if (x[i] > low)
			low = x[i];
	return (low + high) / 2;
}

double
score_quantile(double *x, size_t n, double q)
{
	double at = q * (double)(n - 1), low, high;
	size_t k = (size_t)at;

	if (n == 0)
		return NAN;
	low = high = score_kth(x, n, k);
	if (k + 1 < n) {
		high = INFINITY;
		for (size_t i = k + 1; i < n; i++)
			high = fmin(high, x[i]);
	}
	return low + (at - (double)k) * (high - low);
}

/* Return 1.4826 median |x - m|, times n / (n - 0.8) to correct the bias of
 * small samples (Croux and Rousseeuw 1992). */
static double
score_sigma_of(double *x, size_t n, double m)
{
	double sigma;

	for (size_t i = 0; i < n; i++)
		x[i] = fabs(x[i] - m);
	sigma = 1.482602218505602 * score_median_of(x, n) * (double)n /
	    ((double)n - 0.8);
	return sigma > SCORE_SIGMA_MIN ? sigma : SCORE_SIGMA_MIN;
}

double
score_tail(double z)
{
	return 0.5 * erfc(z / sqrt(2));
}

double
score_normal(double t, size_t n)
{
	double df = 0.37 * ((double)n - 1), z;

	if (n > 2000) /* changes the result by less than 1 % */
		return t;
	z = sqrt(df * log1p(t * t / df)) * (8 * df + 1) / (8 * df + 3);
	return t < 0 ? -z : z;
}

double
score_student(double z, size_t n)
{
	double df = 0.37 * ((double)n - 1), x;

	if (n > 2000)
		return z;
	x = z * (8 * df + 3) / (8 * df + 1);
	return copysign(sqrt(df * expm1(fmin(x * x / df, 60))), z);
}

double
score_fdr(double *p, size_t count, size_t tests, double q)
{
	double last = -1;

	robust_sort(p, count);
	for (size_t i = 0; i < count; i++)
		if (p[i] <= (double)(i + 1) * q / (double)tests)
			last = p[i];
	return last;
}

static void *
score_grow(void *list, size_t *cap, size_t want, size_t bytes)
{
	if (want <= *cap)
		return list;
	*cap = want + want / 2;
	return xreallocarray(list, *cap, bytes);
}

static void
score_make_room(struct score *s, const struct score_obs *obs, size_t count)
{
	size_t cap = s->leaves_cap, peers = 0, leaves = 0;

	for (size_t i = 0; i < count; i++) {
		if (obs[i].peers >= peers)
			peers = obs[i].peers + (size_t)1;
		if (obs[i].leaf != SCORE_NO_LEAF && obs[i].leaf >= leaves)
			leaves = obs[i].leaf + (size_t)1;
	}
	s->x = score_grow(s->x, &s->x_cap, count, sizeof(*s->x));
	s->order = score_grow(s->order, &s->order_cap, count,
	    sizeof(*s->order));
	s->peers = score_grow(s->peers, &s->peers_cap, peers,
	    sizeof(*s->peers));
	s->peers_count = peers;
	s->leaves = score_grow(s->leaves, &s->leaves_cap, leaves + 1,
	    sizeof(*s->leaves));
	if (s->leaves_cap != cap) {
		cap = s->leaves_cap;
		s->slow = xreallocarray(s->slow, cap, sizeof(*s->slow));
		s->apart = xreallocarray(s->apart, cap, sizeof(*s->apart));
		s->start = xreallocarray(s->start, cap + 1, sizeof(*s->start));
	}
	s->leaves_count = leaves;
	memset(s->apart, 0, leaves + 1);
}

/* Counting sort by leaf. */
static void
score_sort_leaves(struct score *s, const struct score_obs *obs, size_t count)
{
	uint32_t sum = 0;

	memset(s->start, 0, (s->leaves_count + 2) * sizeof(*s->start));
	for (size_t i = 0; i < count; i++)
		if (obs[i].leaf != SCORE_NO_LEAF)
			s->start[obs[i].leaf]++;
	for (size_t l = 0; l <= s->leaves_count; l++) {
		uint32_t here = s->start[l];

		s->start[l] = sum;
		sum += here;
	}
	for (size_t i = 0; i < count; i++)
		if (obs[i].leaf != SCORE_NO_LEAF)
			s->order[s->start[obs[i].leaf]++] = (uint32_t)i;
	/* Each start is now the next leaf's start. */
	memmove(s->start + 1, s->start, s->leaves_count * sizeof(*s->start));
	s->start[0] = 0;
}

/* Find median and scatter of each kind of peers, without separated leaves and
 * without places aside if enough places remain. If many are aside, the scatter
 * is measured on the slow side. */
static void
score_find_typical(struct score *s, const struct score_obs *obs, size_t count)
{
	for (size_t p = 0; p < s->peers_count; p++) {
		struct peers *g = &s->peers[p];
		size_t aside = 0;
		double upper;

		for (int all = 0; all < 2; all++) {
			g->count = aside = 0;
			for (size_t i = 0; i < count; i++) {
				if (obs[i].peers != p ||
				    (obs[i].leaf != SCORE_NO_LEAF &&
					s->apart[obs[i].leaf]))
					continue;
				aside += obs[i].aside;
				if (all || !obs[i].aside)
					s->x[g->count++] = obs[i].x;
			}
			if (g->count >= SCORE_PEERS_MIN)
				break;
		}
		g->median = score_median_of(s->x, g->count);
		if (g->count < SCORE_PEERS_MIN)
			continue;
		/* 90 % of a normal are below 1.28 sigma */
		upper = (score_kth(s->x, g->count, g->count * 9 / 10) -
			    g->median) /
		    1.2815515655446004;
		g->sigma = score_sigma_of(s->x, g->count, g->median);
		if ((double)aside >
		    SCORE_ASIDE_MANY * (double)(aside + g->count))
			g->sigma = fmax(g->sigma, upper);
	}
}

static void
score_compare_all(const struct score *s, struct score_obs *obs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct score_obs *o = &obs[i];
		const struct peers *g = &s->peers[o->peers];

		o->effect = o->z = NAN;
		o->excuse = 0;
		o->peer_count = g->count < SCORE_PEERS_MIN ? 0
							   : (uint32_t)g->count;
		if (o->peer_count == 0)
			continue;
		o->level = g->median;
		o->effect = o->x - g->median;
		o->z = score_normal(o->effect / g->sigma, g->count);
		if (o->aside && o->effect > 0)
			o->effect = o->z = NAN;
	}
}

/* Read median and z of one leaf; the z of a median of m is the z of one place
 * times sqrt(2 m / pi). Return 0 if fewer than two of its places are scored, or
 * a quarter of them is aside. */
static int
score_leaf_read(struct score *s, const struct score_obs *obs, uint32_t leaf,
    double effect_min, struct score_leaf *ret)
{
	size_t n = 0, slow = 0, aside = 0;
	double z;

	for (uint32_t k = s->start[leaf]; k < s->start[leaf + 1]; k++) {
		const struct score_obs *o = &obs[s->order[k]];

		aside += o->aside;
		if (isnan(o->z))
			continue;
		ret->level = o->level;
		slow += o->effect >= effect_min && o->z >= SLOW_Z;
		s->x[n++] = o->z;
	}
	/* In a leaf with many busy nodes the others have met these. */
	if (n < 2 || 4 * aside > s->start[leaf + 1] - s->start[leaf])
		return 0;
	z = score_median_of(s->x, n) * sqrt(2 * (double)n / acos(-1));
	n = 0;
	for (uint32_t k = s->start[leaf]; k < s->start[leaf + 1]; k++)
		if (!isnan(obs[s->order[k]].z))
			s->x[n++] = obs[s->order[k]].effect +
			    obs[s->order[k]].usual;
	ret->raw = score_median_of(s->x, n);
	n = 0;
	for (uint32_t k = s->start[leaf]; k < s->start[leaf + 1]; k++)
		if (!isnan(obs[s->order[k]].z))
			s->x[n++] = obs[s->order[k]].effect;
	ret->leaf = leaf;
	ret->places = (uint32_t)n;
	ret->slow = (uint32_t)slow;
	ret->z = z;
	ret->effect = score_median_of(s->x, n);
	ret->apart = (double)slow >=
		(double)n * (n < LEAF_LARGE ? LEAF_SHARE : LEAF_LARGE_SHARE) &&
	    z >= LEAF_Z && ret->effect >= effect_min;
	return 1;
}

/* Compare a leaf that is a large share of its own peers with the other leaves
 * only. The row does not change if the leaf is not a candidate. */
static int
score_leaf_out(struct score *s, struct score_obs *obs, size_t count,
    uint32_t leaf, double effect_min, struct score_leaf *row)
{
	uint32_t peers = obs[s->order[s->start[leaf]]].peer_count;
	double share = row->places < LEAF_LARGE ? LEAF_OUT_SHARE
						: LEAF_OUT_LARGE_SHARE;

	/* If half of the nodes are slow the median is between the halves. */
	if (row->apart || row->effect < effect_min / 2 ||
	    row->places < share * peers)
		return row->apart;
	s->apart[leaf] = 1;
	score_find_typical(s, obs, count);
	score_compare_all(s, obs, count);
	if (score_leaf_read(s, obs, leaf, effect_min, row) && row->apart)
		return 1;
	s->apart[leaf] = 0;
	score_find_typical(s, obs, count);
	score_compare_all(s, obs, count);
	return 0;
}

/* Separate leaves; return how many are new. */
static int
score_part_leaves(struct score *s, struct score_obs *obs, size_t count,
    double effect_min)
{
	struct score_leaf row;
	int news = 0;

	for (uint32_t l = 0; l < s->leaves_count; l++)
		if (!s->apart[l] &&
		    score_leaf_read(s, obs, l, effect_min, &row) &&
		    score_leaf_out(s, obs, count, l, effect_min, &row)) {
			s->apart[l] = 1;
			news++;
		}
	return news;
}

/* Subtract the part that the leaf explains: its places are compared with each
 * other, by their own scatter, which is wider in a slow leaf. */
static void
score_excuse(struct score *s, struct score_obs *obs,
    const struct score_leaf *leaf)
{
	double sigma;
	size_t n = 0;

	for (uint32_t k = s->start[leaf->leaf]; k < s->start[leaf->leaf + 1];
	     k++)
		if (!isnan(obs[s->order[k]].z))
			s->x[n++] = obs[s->order[k]].effect;
	sigma = score_sigma_of(s->x, n, leaf->effect);
	for (uint32_t k = s->start[leaf->leaf]; k < s->start[leaf->leaf + 1];
	     k++) {
		struct score_obs *o = &obs[s->order[k]];
		const struct peers *g = &s->peers[o->peers];

		if (isnan(o->z))
			continue;
		o->effect -= leaf->effect;
		o->excuse = leaf->effect;
		o->z = score_normal(o->effect / fmax(sigma, g->sigma),
		    g->count);
	}
}

size_t
score_round(struct score *s, struct score_obs *obs, size_t count,
    double effect_min, const struct score_leaf **ret_leaves)
{
	struct score_leaf row;
	size_t n = 0;

	score_make_room(s, obs, count);
	score_sort_leaves(s, obs, count);
	score_find_typical(s, obs, count);
	score_compare_all(s, obs, count);
	/* A slow leaf widens the scatter, which may hide another one. */
	for (int again = 0; again < 3; again++) {
		if (score_part_leaves(s, obs, count, effect_min) == 0)
			break;
		score_find_typical(s, obs, count);
		score_compare_all(s, obs, count);
	}
	for (uint32_t l = 0; l < s->leaves_count; l++) {
		int apart = s->apart[l];

		if (!score_leaf_read(s, obs, l, effect_min, &row))
			continue;
		row.apart = apart;
		s->leaves[n] = row;
		n++;
	}
	for (size_t i = 0; i < n; i++)
		if (s->leaves[i].apart)
			score_excuse(s, obs, &s->leaves[i]);
	*ret_leaves = s->leaves;
	return n;
}
