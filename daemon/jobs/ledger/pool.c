/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.c - pool effects of one kind of job: jobs are the units, placebos show
 * the size of chance effects.
 *
 * A kind is blamed if two conditions hold. Its mean must be larger than means
 * of as many random moments: these include the noise of the network, but not
 * the differences between jobs of a kind. And the interval over its jobs must
 * be above zero: it includes these differences, but is based on few jobs.
 */
#include <math.h>
#include <stdlib.h>

#include "daemon/jobs/ledger/pool.h"
#include "common/rng.h"
#include "common/robust.h"
#include "common/xalloc.h"
#include "daemon/jobs/ledger/ledger.h"

#define CONFIDENCE 0.975
#define SETS       200
#define SETS_MIN   20
#define SETS_STEPS 1000000 /* of all sets together: takes milliseconds */
#define JOBS_MIN   3       /* minimum to estimate differences between jobs */

/* Means over the steps of each job; rows are grouped by job. Counts the jobs,
 * and sums 1/steps for the variance of a mean of means. */
struct means {
	double *x; /* room for all rows */
	size_t count;
	double inverse;
};

static int
pool_job_compare(const void *a, const void *b)
{
	const struct ledger_row *x = a, *y = b;

	return (x->job > y->job) - (x->job < y->job);
}

static void
pool_means_take(struct means *m, const struct ledger_row *rows, size_t count)
{
	size_t to;

	m->count = 0;
	m->inverse = 0;
	for (size_t from = 0; from < count; from = to) {
		double sum = 0;

		for (to = from; to < count && rows[to].job == rows[from].job;
		     to++)
			sum += rows[to].sign * rows[to].effect;
		m->x[m->count++] = sum / (double)(to - from);
		m->inverse += 1 / (double)(to - from);
	}
}

static double
pool_mean_of(const double *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return sum / (double)n;
}

static double
pool_sd_of(const double *x, size_t n)
{
	double m = pool_mean_of(x, n), sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (x[i] - m) * (x[i] - m);
	return n < 2 ? NAN : sqrt(sum / (double)(n - 1));
}

/* Limits for the mean of a given number of jobs, cached because the computation
 * of quantiles takes longer than everything else. */
struct rule {
	const struct ledger_chance *moments;
	double chance; /* deviation of a mean of as many random moments */
	double t_chance, t_blame, t_jobs; /* t_jobs NAN: too few of them */
};

/* Sets effect, lo, hi and is_blamed. */
static void
pool_judge(const struct means *m, const struct rule *r,
    struct ledger_pooled *ret)
{
	double half = r->t_chance * r->chance;

	ret->effect = pool_mean_of(m->x, m->count);
	if (m->count >= JOBS_MIN)
		half = fmax(robust_normal_quantile(CONFIDENCE) * r->chance,
		    r->t_jobs * pool_sd_of(m->x, m->count) /
			sqrt((double)m->count));
	ret->lo = ret->effect - half;
	ret->hi = ret->effect + half;
	ret->is_blamed = ret->lo > 0 && ret->effect >= log1p(LEDGER_COST_MIN) &&
	    ret->effect > r->chance * r->t_blame;
}

/* Replace the effects by random moments, as many for each job; overwrites rows.
 */
static void
pool_placebo_sets(struct ledger_row *rows, size_t count, const struct rule *r,
    struct means *m, struct ledger_pooled *ret)
{
	const struct ledger_chance *c = r->moments;
	size_t sets = SETS_STEPS / count;
	struct ledger_pooled p;
	struct rng rng;

	sets = sets < SETS_MIN ? SETS_MIN : sets > SETS ? SETS : sets;
	rng_seed(&rng, 1); /* equal requests get equal answers */
	for (; ret->sets < sets; ret->sets++) {
		for (size_t i = 0; i < count; i++)
			rows[i].effect = c->x[rng_below(&rng, c->count)];
		pool_means_take(m, rows, count);
		pool_judge(m, r, &p);
		ret->sets_blamed += p.is_blamed;
	}
}

struct ledger_chance
ledger_chance_of(const double *x, size_t count)
{
	return (struct ledger_chance){ x, count, pool_sd_of(x, count) };
}

void
ledger_pool(struct ledger_row *rows, size_t count,
    const struct ledger_chance *chance, size_t families,
    struct ledger_pooled *ret)
{
	struct means m = { xcalloc(count + 1, sizeof(double)), 0, 0 };
	struct rule r;

	*ret = (struct ledger_pooled){ .steps = count,
		.effect = NAN,
		.lo = NAN,
		.hi = NAN };
	if (count > 0)
		qsort(rows, count, sizeof(rows[0]), pool_job_compare);
	pool_means_take(&m, rows, count);
	ret->jobs = m.count;
	if (m.count > 0)
		ret->effect = pool_mean_of(m.x, m.count);
	if (m.count > 0 && chance->count >= LEDGER_PLACEBOS_MIN) {
		double df = (double)chance->count - 1, k = (double)m.count;

		r = (struct rule){ chance, chance->sd * sqrt(m.inverse) / k,
			robust_t_quantile(CONFIDENCE, df),
			families == 0 ? INFINITY
				      : robust_t_quantile(1 -
						LEDGER_ALPHA / (double)families,
					    df),
			m.count < JOBS_MIN
			    ? NAN
			    : robust_t_quantile(CONFIDENCE, k - 1) };
		pool_judge(&m, &r, ret);
		if (families > 0)
			pool_placebo_sets(rows, count, &r, &m, ret);
	}
	free(m.x);
}
