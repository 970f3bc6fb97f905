/* SPDX-License-Identifier: Apache-2.0 */
/*
 * impact.c - the ratio of two phases, and its interval from how it differs
 * between pairs of visits.
 */
#include "probes/sampling/impact.h"

#include <errno.h>
#include <math.h>

#include "common/robust.h"
#include "probes/job/settings.h"
#include "probes/sampling/tally.h"

#define SPLIT 16 /* parts of a bucket by which samples are moved */
#define ORDERED_MIN                                                            \
	6 /* pairs from which the effect of their order is fitted              \
	   */

const char *const impact_names[IMPACT_OF_MAX] = { "mean", "p99" };

/* Rounds first .. end - 1: a visit. */
struct span {
	int first, end;
};

/* The request, and the visits that both phases have: after a timeout some may
 * be missing. */
struct pairs {
	const struct impact_ask *ask;
	enum impact_of of;
	int count;
	struct span quiet[TALLY_ROUNDS_MAX];
	struct span loaded[TALLY_ROUNDS_MAX];
	int order[TALLY_ROUNDS_MAX]; /* 1: loaded came first, else -1 */
	/* Log of each visit's median, of a tail of few samples: quiet, loaded.
	 */
	double level[2][TALLY_ROUNDS_MAX];
};

static struct span
impact_next_visit(const struct tally *t, int first)
{
	struct span s = { first, first };

	while (s.end < t->count &&
	    t->rounds[s.end].visit == t->rounds[first].visit)
		s.end++;
	return s;
}

static void
impact_find_pairs(struct pairs *p)
{
	const struct tally *quiet = p->ask->quiet, *loaded = p->ask->loaded;
	struct span a = impact_next_visit(quiet, 0),
		    b = impact_next_visit(loaded, 0);

	while (a.first < quiet->count && b.first < loaded->count) {
		int off = quiet->rounds[a.first].visit -
		    loaded->rounds[b.first].visit;

		if (off == 0) {
			p->quiet[p->count] = a;
			p->loaded[p->count] = b;
			p->order[p->count++] =
			    settings_loaded_first(p->ask->seed,
				quiet->rounds[a.first].visit)
			    ? 1
			    : -1;
		}
		if (off <= 0)
			a = impact_next_visit(quiet, a.end);
		if (off >= 0)
			b = impact_next_visit(loaded, b.end);
	}
}

/* A round's samples, moved by some buckets and parts of one. */
static void
impact_add(uint64_t *bucket, const struct tally_round *r, double shift)
{
	int whole = (int)floor(shift);
	uint64_t part = (uint64_t)((shift - whole) * SPLIT);

	for (int k = 0; k < r->len; k++) {
		int at = r->lo + k + whole;

		if (at < 0 || at >= HIST_BUCKETS - 1)
			at = at < 0 ? 0 : HIST_BUCKETS - 2;
		bucket[at] += r->bucket[k] * (SPLIT - part);
		bucket[at + 1] += r->bucket[k] * part;
	}
}

/* Log of the statistic of one side, the worse the larger: of the rounds in
 * only, or of all rounds but number without. NULL, -1: no such condition. */
static double
impact_log_of(const struct pairs *p, const struct tally *t,
    const struct span *only, int without)
{
	uint64_t bucket[HIST_BUCKETS] = { 0 }, n = 0;
	int low = p->ask->low_is_bad;
	double sum = 0, inverse = 0, value;

	for (int i = 0; i < t->count; i++) {
		const struct tally_round *r = &t->rounds[i];

		if (i == without ||
		    (only != NULL && (i < only->first || i >= only->end)))
			continue;
		n += r->n;
		sum += r->sum;
		inverse += r->inverse;
		impact_add(bucket, r, 0);
	}
	if (p->of == IMPACT_MEAN)
		value = inverse > 0 ? (double)n / inverse : sum / (double)n;
	else
		value = hist_quantile_of(bucket, n * SPLIT, low ? 0.01 : 0.99);
	return low ? -log(value) : log(value);
}

static double
impact_log_median(const struct tally *t, const struct span *visit)
{
	uint64_t bucket[HIST_BUCKETS] = { 0 }, n = 0;

	for (int i = visit->first; i < visit->end; i++) {
		impact_add(bucket, &t->rounds[i], 0);
		n += t->rounds[i].n;
	}
	return log(hist_quantile_of(bucket, n * SPLIT, 0.5));
}

/* The log ratio of the tails of all pairs but count of them from first on,
 * which continue at pair 0: the mean ratio of the visits' medians, and the
 * ratio of the tails of all samples, each over its visit's median. So a machine
 * that is slower in one visit makes no tail. */
static double
impact_pooled(const struct pairs *p, int first, int count)
{
	uint64_t bucket[2][HIST_BUCKETS] = { { 0 } }, n[2] = { 0 };
	int k = p->count, low = p->ask->low_is_bad;
	double at = 0, q = low ? 0.01 : 0.99;

	for (int i = 0; i < k; i++) {
		if ((i - first + k) % k < count)
			continue;
		at += (p->level[1][i] - p->level[0][i]) / (k - count);
		for (int side = 0; side < 2; side++) {
			const struct tally *t = side ? p->ask->loaded
						     : p->ask->quiet;
			struct span v = side ? p->loaded[i] : p->quiet[i];

			for (int r = v.first; r < v.end; r++) {
				impact_add(bucket[side], &t->rounds[r],
				    -p->level[side][i] * HIST_PER_OCTAVE /
					log(2));
				n[side] += t->rounds[r].n;
			}
		}
	}
	at += log(hist_quantile_of(bucket[1], n[1] * SPLIT, q) /
	    hist_quantile_of(bucket[0], n[0] * SPLIT, q));
	return low ? -at : at;
}

/* Sum of squared distances from the mean, which is left in ret_mean. */
static double
impact_scatter(const double *x, int n, double *ret_mean)
{
	double mean = 0, sum = 0;

	for (int i = 0; i < n; i++)
		mean += x[i] / n;
	for (int i = 0; i < n; i++)
		sum += (x[i] - mean) * (x[i] - mean);
	*ret_mean = mean;
	return sum;
}

/* Return the standard error of the mean of the pairs' log ratios. From
 * ORDERED_MIN pairs on the mean is the intercept of a least-squares line over
 * their order: the effect of a drift on a pair has the sign of its order. */
static double
impact_of_each(struct pairs *p, double *ret_at, int *ret_degrees)
{
	double x[TALLY_ROUNDS_MAX], order = 0, slope = 0, sum, lean;
	int k = p->count;

	for (int i = 0; i < k; i++) {
		x[i] = impact_log_of(p, p->ask->loaded, &p->loaded[i], -1) -
		    impact_log_of(p, p->ask->quiet, &p->quiet[i], -1);
		order += (double)p->order[i] / k;
		slope += p->order[i] * x[i];
	}
	sum = impact_scatter(x, k, ret_at);
	*ret_degrees = k - 1;
	lean = 1 - order * order; /* variance of the orders: 0 if all alike */
	if (k < ORDERED_MIN || lean < 1.0 / k)
		return sum <= 0 ? 0 : sqrt(sum / *ret_degrees / k);
	slope = (slope / k - order * *ret_at) / lean;
	*ret_at -= slope * order;
	*ret_degrees = k - 2;
	sum -= k * lean * slope * slope;
	return sum <= 0 ? 0 : sqrt(sum / *ret_degrees / k / lean);
}

/* The log ratio of tails of few samples; returns its standard error by the
 * jackknife: the larger of omitting one pair at a time, and a third of them,
 * since a quantile may depend on samples that only a few of them have (Shao and
 * Wu 1989). */
static double
impact_of_tails(struct pairs *p, double *ret_at, int *ret_degrees)
{
	double x[TALLY_ROUNDS_MAX], mean, variance = 0;
	int k = p->count, some = (k + 2) / 3;

	for (int i = 0; i < k; i++) {
		p->level[0][i] = impact_log_median(p->ask->quiet, &p->quiet[i]);
		p->level[1][i] = impact_log_median(p->ask->loaded,
		    &p->loaded[i]);
	}
	*ret_at = impact_pooled(p, 0, 0);
	*ret_degrees = k - 1;
	for (int omit = 1; omit <= some; omit += some > 1 ? some - 1 : 1) {
		for (int i = 0; i < k; i++)
			x[i] = impact_pooled(p, i, omit);
		variance = fmax(variance,
		    impact_scatter(x, k, &mean) / k * (k - omit) / omit);
	}
	return sqrt(variance);
}

/* Variance of the statistic of one side by omitting a round at a time. */
static double
impact_jackknife_rounds(const struct pairs *p, const struct tally *t)
{
	double x[TALLY_ROUNDS_MAX], mean;

	for (int i = 0; i < t->count; i++)
		x[i] = impact_log_of(p, t, NULL, i);
	return impact_scatter(x, t->count, &mean) * (t->count - 1) / t->count;
}

/* The log ratio of a single pair of visits; returns its standard error. */
static double
impact_of_rounds(struct pairs *p, double *ret_at, int *ret_degrees)
{
	const struct tally *quiet = p->ask->quiet, *loaded = p->ask->loaded;

	*ret_at = impact_log_of(p, loaded, NULL, -1) -
	    impact_log_of(p, quiet, NULL, -1);
	*ret_degrees = (quiet->count < loaded->count ? quiet : loaded)->count -
	    1;
	if (*ret_degrees < 1)
		return 0;
	return sqrt(impact_jackknife_rounds(p, quiet) +
	    impact_jackknife_rounds(p, loaded));
}

static int
impact_is_thin(const struct tally *t, const struct span *visit)
{
	uint64_t n = 0;

	for (int i = visit->first; i < visit->end; i++)
		n += t->rounds[i].n;
	return n < IMPACT_TAIL_SAMPLES;
}

int
impact_take(const struct impact_ask *ask, enum impact_of of, struct impact *ret)
{
	struct pairs p = { .ask = ask, .of = of };
	double at, error, reach = NAN;
	int thin = 0, degrees;

	if (ask->quiet->total.count == 0 || ask->loaded->total.count == 0)
		return -ENODATA;
	if (of == IMPACT_P99 && !ask->exact &&
	    (ask->quiet->total.count < IMPACT_TAIL_SAMPLES ||
		ask->loaded->total.count < IMPACT_TAIL_SAMPLES))
		return -ERANGE;
	impact_find_pairs(&p);
	for (int i = 0; i < p.count && of == IMPACT_P99; i++)
		thin |= impact_is_thin(ask->quiet, &p.quiet[i]) ||
		    impact_is_thin(ask->loaded, &p.loaded[i]);
	error = (p.count < 2 ? impact_of_rounds
		: thin       ? impact_of_tails
			     : impact_of_each)(&p, &at, &degrees);
	if (degrees >= 1)
		reach = error *
		    robust_t_quantile((1 + ask->level) / 2, degrees);
	ret->value = exp(at);
	ret->lo = exp(at - reach);
	ret->hi = exp(at + reach);
	return 0;
}
