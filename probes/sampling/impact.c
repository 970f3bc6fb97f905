/* SPDX-License-Identifier: Apache-2.0 */
/*
 * impact.c - the ratio of two phases, and its interval from how it differs
 * between pairs of visits.
 */
#include "probes/sampling/sampling.h"

#include <errno.h>
#include <math.h>

#include "common/robust.h"

#define ALTERNATES_MIN 6 /* pairs from which their alternation is taken out */

const char *const impact_names[IMPACT_OF_MAX] = { "mean", "p99" };

/* Rounds first .. end - 1: a visit. */
struct span {
	int first, end;
};

/* What is asked, and which visits both phases have: a test that timed out may
 * lack some. */
struct pairs {
	const struct impact_ask *ask;
	enum impact_of of;
	int count;
	struct span quiet[TALLY_ROUNDS_MAX];
	struct span loaded[TALLY_ROUNDS_MAX];
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
			p->loaded[p->count++] = b;
		}
		if (off <= 0)
			a = impact_next_visit(quiet, a.end);
		if (off >= 0)
			b = impact_next_visit(loaded, b.end);
	}
}

/* Log of the statistic of one side, the worse the larger: of the rounds in
 * only, or of all rounds but those in without. NULL: no such condition. */
static double
impact_log_of(const struct pairs *p, const struct tally *t,
    const struct span *only, const struct span *without)
{
	uint64_t bucket[HIST_BUCKETS] = { 0 }, n = 0;
	int low = p->ask->low_is_bad;
	double sum = 0, inverse = 0, value;

	for (int i = 0; i < t->count; i++) {
		const struct tally_round *r = &t->rounds[i];

		if ((only != NULL && (i < only->first || i >= only->end)) ||
		    (without != NULL && i >= without->first &&
			i < without->end))
			continue;
		n += r->n;
		sum += r->sum;
		inverse += r->inverse;
		for (int k = 0; k < r->len; k++)
			bucket[r->lo + k] += r->bucket[k];
	}
	if (p->of == IMPACT_MEAN)
		value = inverse > 0 ? (double)n / inverse : sum / (double)n;
	else
		value = hist_quantile_of(bucket, n, low ? 0.01 : 0.99);
	return low ? -log(value) : log(value);
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

/* The mean of the pairs' log ratios; returns its standard error. */
static double
impact_of_each(const struct pairs *p, double *ret_at, int *ret_degrees)
{
	double x[TALLY_ROUNDS_MAX], sum, swing = 0;
	int k = p->count, degrees = k - 1;

	for (int i = 0; i < k; i++) {
		x[i] = impact_log_of(p, p->ask->loaded, &p->loaded[i], NULL) -
		    impact_log_of(p, p->ask->quiet, &p->quiet[i], NULL);
		swing += (i % 2 == 0 ? x[i] : -x[i]) / k;
	}
	sum = impact_scatter(x, k, ret_at);
	if (k >= ALTERNATES_MIN && k % 2 == 0) {
		sum -= k * swing * swing;
		degrees--;
	}
	*ret_degrees = degrees;
	return sum <= 0 ? 0 : sqrt(sum / degrees / k);
}

/* Variance of the statistic of one side by leaving out a round at a time. */
static double
impact_jackknife_rounds(const struct pairs *p, const struct tally *t)
{
	double x[TALLY_ROUNDS_MAX], mean;

	for (int i = 0; i < t->count; i++) {
		struct span without = { i, i + 1 };

		x[i] = impact_log_of(p, t, NULL, &without);
	}
	return impact_scatter(x, t->count, &mean) * (t->count - 1) / t->count;
}

/* The log ratio of all samples; returns its standard error, from leaving out a
 * pair at a time, or of a single pair a round. */
static double
impact_of_all(const struct pairs *p, double *ret_at, int *ret_degrees)
{
	const struct tally *quiet = p->ask->quiet, *loaded = p->ask->loaded;
	double x[TALLY_ROUNDS_MAX], mean;
	int k = p->count;

	*ret_at = impact_log_of(p, loaded, NULL, NULL) -
	    impact_log_of(p, quiet, NULL, NULL);
	*ret_degrees = k - 1;
	if (k >= 2) {
		for (int i = 0; i < k; i++)
			x[i] = impact_log_of(p, loaded, NULL, &p->loaded[i]) -
			    impact_log_of(p, quiet, NULL, &p->quiet[i]);
		return sqrt(impact_scatter(x, k, &mean) * (k - 1) / k);
	}
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
	return (double)n * 0.01 < IMPACT_TAIL_MIN;
}

int
impact_take(const struct impact_ask *ask, enum impact_of of, struct impact *ret)
{
	struct pairs p = { .ask = ask, .of = of };
	double at, reach = NAN;
	int thin = 0;

	if (ask->quiet->total.count == 0 || ask->loaded->total.count == 0)
		return -ENODATA;
	impact_find_pairs(&p);
	for (int i = 0; i < p.count && of == IMPACT_P99; i++)
		thin |= impact_is_thin(ask->quiet, &p.quiet[i]) ||
		    impact_is_thin(ask->loaded, &p.loaded[i]);
	/* The wider of the two, each by its own degrees of freedom. */
	for (int all = p.count < 2; all <= (p.count < 2 || thin); all++) {
		int degrees;
		double error = (all ? impact_of_all : impact_of_each)(&p, &at,
		    &degrees);

		if (degrees >= 1)
			reach = fmax(reach,
			    error *
				robust_t_quantile((1 + ask->level) / 2,
				    degrees));
	}
	ret->value = exp(at);
	ret->lo = exp(at - reach);
	ret->hi = exp(at + reach);
	return 0;
}
