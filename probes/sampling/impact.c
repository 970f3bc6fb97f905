/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/sampling/impact.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/rng.h"
#include "common/robust.h"
#include "common/xalloc.h"

#define STREAM_IMPACT 2 /* of the seed */

const char *const impact_names[IMPACT_OF_MAX] = { "mean", "p99" };

/* Sums over the rounds drawn for one side. */
struct draw {
	uint64_t n;
	double sum;
	uint64_t bucket[HIST_BUCKETS];
};

/* The rounds of a visit: first and how many. */
struct span {
	int first;
	int count;
};

struct block {
	struct span quiet;
	struct span loaded;
};

static struct span
visit_span(const struct tally *t, int visit)
{
	struct span s = { 0, 0 };

	for (int i = 0; i < t->count; i++) {
		if (t->rounds[i].visit != visit)
			continue;
		if (s.count++ == 0)
			s.first = i;
	}
	return s;
}

/* Visits that both phases have; a timed-out test may lack some. */
static int
blocks_list(const struct impact_ask *ask, struct block *ret)
{
	int count = 0;

	for (int v = 0; v < ask->visits; v++) {
		struct block b = { visit_span(ask->quiet, v),
			visit_span(ask->loaded, v) };

		if (b.quiet.count > 0 && b.loaded.count > 0)
			ret[count++] = b;
	}
	return count;
}

static double
statistic(const struct draw *d, enum impact_of of, int low_is_bad)
{
	if (of == IMPACT_MEAN)
		return d->sum / (double)d->n;
	return tally_quantile_of(d->bucket, d->n, low_is_bad ? 0.01 : 0.99);
}

/* log of the impact of what was drawn. */
static double
log_ratio(const struct impact_ask *ask, enum impact_of of,
    const struct draw *quiet, const struct draw *loaded)
{
	double a = statistic(quiet, of, ask->low_is_bad);
	double b = statistic(loaded, of, ask->low_is_bad);

	return ask->low_is_bad ? log(a / b) : log(b / a);
}

static void
draw_rounds(struct rng *r, const struct tally *t, const struct span *from,
    struct draw *into)
{
	for (int i = 0; i < from->count; i++) {
		int pick = from->first +
		    (int)rng_below(r, (uint64_t)from->count);
		const struct tally_round *round = &t->rounds[pick];

		into->n += round->n;
		into->sum += round->sum;
		for (int k = 0; k < round->len; k++)
			into->bucket[round->lo + k] += round->bucket[k];
	}
}

struct resample {
	struct rng rng;
	struct block *blocks;
	int count;
	struct draw quiet;
	struct draw loaded;
};

static double
resample_once(const struct impact_ask *ask, enum impact_of of,
    struct resample *rs)
{
	memset(&rs->quiet, 0, sizeof(rs->quiet));
	memset(&rs->loaded, 0, sizeof(rs->loaded));
	for (int i = 0; i < rs->count; i++) {
		const struct block *b =
		    &rs->blocks[rng_below(&rs->rng, (uint64_t)rs->count)];

		draw_rounds(&rs->rng, ask->quiet, &b->quiet, &rs->quiet);
		draw_rounds(&rs->rng, ask->loaded, &b->loaded, &rs->loaded);
	}
	return log_ratio(ask, of, &rs->quiet, &rs->loaded);
}

/* The middle of all draws: what lies between, with as much left out on each
 * side as the level asks for. */
static void
draw_all(const struct impact_ask *ask, enum impact_of of, struct resample *rs,
    double *ret_lo, double *ret_hi)
{
	double x[IMPACT_DRAWS], out = (1 - ask->level) / 2;

	rng_seed3(&rs->rng, ask->seed, STREAM_IMPACT, (uint64_t)of);
	for (int i = 0; i < IMPACT_DRAWS; i++)
		x[i] = resample_once(ask, of, rs);
	*ret_lo = robust_quantile(x, IMPACT_DRAWS, out);
	*ret_hi = robust_quantile(x, IMPACT_DRAWS, 1 - out);
}

/* Units that were drawn: blocks, or with one block the rounds of the side that
 * has fewer. */
static int
units(const struct resample *rs)
{
	const struct block *b = rs->blocks;

	if (rs->count != 1)
		return rs->count;
	return b->quiet.count < b->loaded.count ? b->quiet.count
						: b->loaded.count;
}

/* How far an end of the interval is from the estimate, given how far the draws
 * reach on that side. A quantile is known to a bucket only, evenly within it:
 * that is 1/12 of the square of its width as variance, once for each phase. */
static double
reach(const struct impact_ask *ask, enum impact_of of, double k, double drawn)
{
	const double bucket = log(2) / HIST_PER_OCTAVE;
	double p = (1 + ask->level) / 2, z = robust_normal_quantile(p);
	double wide = robust_t_quantile(p, k - 1) / z * sqrt(k / (k - 1));
	double grain = of == IMPACT_P99 ? z * bucket * sqrt(2.0 / 12) : 0;

	return hypot(wide * (drawn > 0 ? drawn : 0), grain);
}

/* The interval of the logarithm around at; NAN where there is but one unit. */
static void
bracket(const struct impact_ask *ask, enum impact_of of, struct resample *rs,
    double at, double *ret_lo, double *ret_hi)
{
	double k = units(rs), lo, hi;

	*ret_lo = *ret_hi = NAN;
	if (k < 2)
		return;
	draw_all(ask, of, rs, &lo, &hi);
	*ret_lo = at - reach(ask, of, k, at - lo);
	*ret_hi = at + reach(ask, of, k, hi - at);
}

static void
take_all(const struct tally *t, struct draw *ret)
{
	ret->n = t->total.count;
	ret->sum = t->total.sum;
	memcpy(ret->bucket, t->total.bucket, sizeof(ret->bucket));
}

int
impact_take(const struct impact_ask *ask, enum impact_of of, struct impact *ret)
{
	struct resample *rs;
	double at, lo, hi;

	if (ask->quiet->total.count == 0 || ask->loaded->total.count == 0)
		return -ENODATA;
	rs = xcalloc(1, sizeof(*rs));
	rs->blocks = xcalloc((size_t)ask->visits, sizeof(*rs->blocks));
	rs->count = blocks_list(ask, rs->blocks);
	take_all(ask->quiet, &rs->quiet);
	take_all(ask->loaded, &rs->loaded);
	at = log_ratio(ask, of, &rs->quiet, &rs->loaded);
	bracket(ask, of, rs, at, &lo, &hi);
	ret->value = exp(at);
	ret->lo = exp(lo);
	ret->hi = exp(hi);
	free(rs->blocks);
	free(rs);
	return 0;
}
