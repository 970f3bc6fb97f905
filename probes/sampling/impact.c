/* SPDX-License-Identifier: Apache-2.0 */
/*
 * impact.c - the ratio of two phases, and its interval from blocks and rounds
 * drawn anew.
 */
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

/* The interval of the logarithm around at: the middle of all draws, with as
 * much left out on each side as the level asks for. NAN where there is but one
 * unit to draw: a block, or with one block a round of the side with fewer. */
static void
bracket(const struct impact_ask *ask, enum impact_of of, struct resample *rs,
    double at, struct impact *ret)
{
	double x[IMPACT_DRAWS], out = (1 - ask->level) / 2, k = rs->count;

	ret->lo = ret->hi = NAN;
	if (rs->count == 1)
		k = fmin(rs->blocks->quiet.count, rs->blocks->loaded.count);
	if (k < 2)
		return;
	rng_seed3(&rs->rng, ask->seed, STREAM_IMPACT, (uint64_t)of);
	for (int n = 0; n < IMPACT_DRAWS; n++) {
		memset(&rs->quiet, 0, sizeof(rs->quiet));
		memset(&rs->loaded, 0, sizeof(rs->loaded));
		for (int i = 0; i < rs->count; i++) {
			const struct block *b = &rs->blocks[rng_below(&rs->rng,
			    (uint64_t)rs->count)];

			draw_rounds(&rs->rng, ask->quiet, &b->quiet,
			    &rs->quiet);
			draw_rounds(&rs->rng, ask->loaded, &b->loaded,
			    &rs->loaded);
		}
		x[n] = log_ratio(ask, of, &rs->quiet, &rs->loaded);
	}
	ret->lo = at -
	    reach(ask, of, k, at - robust_quantile(x, IMPACT_DRAWS, out));
	ret->hi = at +
	    reach(ask, of, k, robust_quantile(x, IMPACT_DRAWS, 1 - out) - at);
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
	double at;

	if (ask->quiet->total.count == 0 || ask->loaded->total.count == 0)
		return -ENODATA;
	rs = xcalloc(1, sizeof(*rs));
	rs->blocks = xcalloc((size_t)ask->visits, sizeof(*rs->blocks));
	/* visits that both phases have; a timed-out test may lack some */
	for (int v = 0; v < ask->visits; v++) {
		struct block b = { visit_span(ask->quiet, v),
			visit_span(ask->loaded, v) };

		if (b.quiet.count > 0 && b.loaded.count > 0)
			rs->blocks[rs->count++] = b;
	}
	take_all(ask->quiet, &rs->quiet);
	take_all(ask->loaded, &rs->loaded);
	at = log_ratio(ask, of, &rs->quiet, &rs->loaded);
	bracket(ask, of, rs, at, ret);
	ret->value = exp(at);
	ret->lo = exp(ret->lo);
	ret->hi = exp(ret->hi);
	free(rs->blocks);
	free(rs);
	return 0;
}
