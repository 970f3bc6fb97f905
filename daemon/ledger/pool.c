/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.c - effects of one kind of job, pooled: jobs are the units, placebos say
 * what is chance.
 *
 * Two things must agree before a kind is blamed. Its mean must be larger than
 * means of as many random moments are; these know the noise of the network, but
 * not how jobs of a kind differ. And the interval over its jobs must be above
 * zero; it knows that, but has few jobs.
 */
#include <math.h>
#include <stdlib.h>

#include "common/rng.h"
#include "common/robust.h"
#include "common/xalloc.h"
#include "daemon/ledger/ledger.h"

#define CONFIDENCE 0.975
#define SETS       200
#define JOBS_MIN   3 /* fewer say nothing of how they differ */

/* The mean over the steps of each job, jobs one after the other: how many, and
 * the sum of 1/steps, which a mean of means has for its variance. */
struct means {
	double *x;
	size_t count;
	double inverse;
};

static int
job_compare(const void *a, const void *b)
{
	const struct ledger_row *x = a, *y = b;

	return (x->job > y->job) - (x->job < y->job);
}

/* Sorts rows. */
static struct means
means_of(struct ledger_row *rows, size_t count)
{
	struct means m = { xcalloc(count + 1, sizeof(double)), 0, 0 };
	size_t to;

	if (count > 0)
		qsort(rows, count, sizeof(rows[0]), job_compare);
	for (size_t from = 0; from < count; from = to) {
		double sum = 0;

		for (to = from; to < count && rows[to].job == rows[from].job;
		     to++)
			sum += rows[to].sign * rows[to].log_ratio;
		m.x[m.count++] = sum / (double)(to - from);
		m.inverse += 1 / (double)(to - from);
	}
	return m;
}

static double
mean_of(const double *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return sum / (double)n;
}

static double
sd_of(const double *x, size_t n)
{
	double m = mean_of(x, n), sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (x[i] - m) * (x[i] - m);
	return n < 2 ? NAN : sqrt(sum / (double)(n - 1));
}

/* Sets log_ratio, lo, hi and is_blamed. */
static void
judge(const struct means *m, size_t families, struct ledger_pooled *ret)
{
	double df = (double)ret->placebos - 1, k = (double)m->count;
	/* of a mean of as many random moments */
	double chance = ret->placebo_sd * sqrt(m->inverse) / k;
	double half = robust_t_quantile(CONFIDENCE, df) * chance;

	ret->log_ratio = mean_of(m->x, m->count);
	if (m->count >= JOBS_MIN)
		half = fmax(robust_normal_quantile(CONFIDENCE) * chance,
		    robust_t_quantile(CONFIDENCE, k - 1) *
			sd_of(m->x, m->count) / sqrt(k));
	ret->lo = ret->log_ratio - half;
	ret->hi = ret->log_ratio + half;
	ret->is_blamed = ret->lo > 0 &&
	    ret->log_ratio >= log1p(LEDGER_COST_MIN) &&
	    ret->log_ratio > chance *
		    robust_t_quantile(1 - LEDGER_ALPHA / (double)families, df);
}

/* Placebos in place of the effects, as many for each job. */
static void
placebo_sets(const struct ledger_row *rows, size_t count,
    const double *placebos, size_t families, uint64_t seed,
    struct ledger_pooled *ret)
{
	struct ledger_row *set = xcalloc(count + 1, sizeof(*set));
	struct ledger_pooled p = *ret;
	struct rng rng;

	rng_seed(&rng, seed);
	for (; ret->sets < SETS; ret->sets++) {
		struct means m;

		for (size_t i = 0; i < count; i++) {
			set[i] = rows[i];
			set[i].log_ratio =
			    placebos[rng_below(&rng, ret->placebos)];
		}
		m = means_of(set, count);
		judge(&m, families, &p);
		ret->sets_blamed += p.is_blamed;
		free(m.x);
	}
	free(set);
}

void
ledger_pool(const struct ledger_row *rows, size_t count, size_t families,
    uint64_t seed, struct ledger_pooled *ret)
{
	struct ledger_row *own = xcalloc(count + 1, sizeof(*own));
	double *placebos = xcalloc(count + 1, sizeof(*placebos));
	struct means m;

	*ret = (struct ledger_pooled){ .log_ratio = NAN,
		.lo = NAN,
		.hi = NAN,
		.placebo_sd = NAN };
	for (size_t i = 0; i < count; i++)
		if (rows[i].job == LEDGER_NONE)
			placebos[ret->placebos++] = rows[i].log_ratio;
		else
			own[ret->steps++] = rows[i];
	m = means_of(own, ret->steps);
	ret->jobs = m.count;
	if (m.count > 0)
		ret->log_ratio = mean_of(m.x, m.count);
	if (m.count > 0 && ret->placebos >= LEDGER_PLACEBOS_MIN) {
		ret->placebo_sd = sd_of(placebos, ret->placebos);
		judge(&m, families, ret);
		placebo_sets(own, ret->steps, placebos, families, seed, ret);
	}
	free(m.x);
	free(own);
	free(placebos);
}
