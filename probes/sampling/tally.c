/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally.c - rounds of a test as sparse histograms, merged where they become too
 * many, and quantiles of all with rounds as clusters.
 */

#include "probes/sampling/tally.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/robust.h"
#include "common/xalloc.h"

void
tally_init(struct tally *t, int visits)
{
	memset(t, 0, sizeof(*t));
	t->visit = -1;
	t->per_visit = TALLY_ROUNDS_MAX / visits;
	assert(t->per_visit >= 2);
}

void
tally_clear(struct tally *t)
{
	for (int i = 0; i < t->count; i++)
		free(t->rounds[i].bucket);
	free(t->rounds);
	memset(t, 0, sizeof(*t));
}

/* Add from to into; from is emptied. */
static void
tally_merge(struct tally_round *into, struct tally_round *from)
{
	int lo = into->lo < from->lo ? into->lo : from->lo;
	int hi = into->lo + into->len;
	uint32_t *bucket;

	if (from->lo + from->len > hi)
		hi = from->lo + from->len;
	bucket = xcalloc((size_t)(hi - lo), sizeof(*bucket));
	for (int i = 0; i < into->len; i++)
		bucket[into->lo - lo + i] += into->bucket[i];
	for (int i = 0; i < from->len; i++)
		bucket[from->lo - lo + i] += from->bucket[i];
	free(into->bucket);
	free(from->bucket);
	into->bucket = bucket;
	into->lo = lo;
	into->len = hi - lo;
	into->n += from->n;
	into->sum += from->sum;
	into->inverse += from->inverse;
	into->merged += from->merged;
	from->bucket = NULL;
}

void
tally_add(struct tally *t, int visit, const struct hist *round, double inverse)
{
	struct tally_round r = { .visit = visit,
		.merged = 1,
		.len = HIST_BUCKETS,
		.n = round->count,
		.sum = round->sum,
		.inverse = inverse };
	int first, to;

	if (round->count == 0)
		return;
	assert(visit >= t->visit);
	if (visit > t->visit)
		t->stride = 1;
	t->visit = visit;
	t->measured++;
	hist_merge(&t->total, round);
	t->inverse += inverse;
	while (round->bucket[r.lo] == 0)
		r.lo++;
	while (round->bucket[r.len - 1] == 0)
		r.len--;
	r.len -= r.lo;
	r.bucket = xcalloc((size_t)r.len, sizeof(*r.bucket));
	for (int i = 0; i < r.len; i++)
		r.bucket[i] = (uint32_t)round->bucket[r.lo + i];
	for (first = t->count;
	     first > 0 && t->rounds[first - 1].visit == t->visit; first--)
		;
	to = first;
	if (t->count > first && t->rounds[t->count - 1].merged < t->stride) {
		tally_merge(&t->rounds[t->count - 1], &r);
		return;
	}
	if (t->count - first == t->per_visit) {
		/* merge neighbours of this visit two by two */
		for (int i = first; i < t->count; i += 2) {
			struct tally_round both = t->rounds[i];

			if (i + 1 < t->count)
				tally_merge(&both, &t->rounds[i + 1]);
			t->rounds[to++] = both;
		}
		t->count = to;
		t->stride *= 2;
	}
	t->rounds = xreallocarray(t->rounds, (size_t)t->count + 1,
	    sizeof(*t->rounds));
	t->rounds[t->count++] = r;
}

double
tally_mean(const struct tally *t)
{
	return t->inverse > 0 ? (double)t->total.count / t->inverse
			      : hist_mean(&t->total);
}

/* How far an interval reaches on the logit of the share of all samples below
 * the quantile x, which is a ratio of sums over clusters: rounds, or visits.
 * Its variance is linearised, with the usual R / (R - 1), and not less than the
 * binomial one. x lies at part (0..1) of its bucket. 0 with fewer clusters than
 * least. */
static double
tally_share_reach(const struct tally *t, double x, double q, double level,
    int by_visit, int least)
{
	double n = (double)t->total.count, sum = 0, cluster = 0, variance;
	int i = hist_index(x), at = i - HIST_FIRST, clusters = 0;
	double part = 1 + HIST_PER_OCTAVE * log2(x / hist_bound(i));

	for (int k = 0; k < t->count; k++) {
		const struct tally_round *r = &t->rounds[k];
		double below = 0;

		for (int b = 0; b < r->len && r->lo + b <= at; b++)
			below += r->lo + b < at ? r->bucket[b]
						: part * r->bucket[b];
		cluster += (below - q * (double)r->n) / n;
		if (by_visit && k + 1 < t->count && r[1].visit == r->visit)
			continue;
		sum += cluster * cluster;
		cluster = 0;
		clusters++;
	}
	if (clusters < least)
		return 0;
	variance = fmax(sum * clusters / (clusters - 1), q * (1 - q) / n);
	return robust_t_quantile((1 + level) / 2, clusters - 1) *
	    sqrt(variance) / (q * (1 - q));
}

int
tally_interval(const struct tally *t, double q, double level, double *ret_lo,
    double *ret_hi)
{
	double n = (double)t->total.count, x, reach, lo, hi;

	if (t->count < 2)
		return -ENODATA;
	x = hist_quantile_of(t->total.bucket, t->total.count, q);
	reach = fmax(tally_share_reach(t, x, q, level, 0, 2),
	    tally_share_reach(t, x, q, level, 1, TALLY_VISITS_MIN));
	/* The logit of a share has no end to run into. */
	lo = 1 / (1 + exp(-(log(q / (1 - q)) - reach)));
	hi = 1 / (1 + exp(-(log(q / (1 - q)) + reach)));
	if (lo * n < 1 || (1 - hi) * n < 1)
		return -ENODATA; /* beyond the outermost samples */
	*ret_lo = hist_quantile(&t->total, lo);
	*ret_hi = hist_quantile(&t->total, hi);
	return 0;
}
