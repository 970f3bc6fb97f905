/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accept_judge.c - one-sided t tests with a scatter that is shared by a class
 * of paths, Holm's steps over all of them, then the parts.
 */
#include "ctl/accept/accept_judge.h"

#include <math.h>
#include <stdlib.h>

#include "common/robust.h"
#include "common/xalloc.h"

/* Timers and the size of messages leave this scatter at least. */
#define SCATTER_MIN 0.003
/* With this many paths one that scatters more does not count for others. */
#define PATHS_ROBUST 8
/* A path whose variance is this many times that of its class has its own. */
#define VARIANCE_TIMES 9.0

const char *const accept_states[ACCEPT_STATE_MAX] = {
	[ACCEPT_OPEN] = "undetermined",
	[ACCEPT_HOLDS] = "holds",
	[ACCEPT_FAILS] = "fails",
};

void
accept_path_add(struct accept_path *p, double x, double doubt, size_t *count)
{
	if (!isfinite(x) || p->n == ACCEPT_RUNS_MAX)
		return;
	p->x[p->n++] = x;
	p->doubt += doubt;
	++*count;
}

/* Mean and variance of one path, or the variance of a class. */
struct moments {
	double mean, variance, df;
};

static struct moments
accept_judge_moments(const struct accept_path *p)
{
	struct moments m = { 0, 0, (double)p->n - 1 };

	for (size_t i = 0; i < p->n; i++)
		m.mean += p->x[i] / (double)p->n;
	for (size_t i = 0; i < p->n; i++)
		m.variance += (p->x[i] - m.mean) * (p->x[i] - m.mean);
	m.variance = p->n > 1 ? m.variance / m.df : 0;
	return m;
}

/* The median of n - 1 squared normal deviations, as a share of their mean
 * (Wilson and Hilferty 1931). */
static double
accept_judge_chi_median(double df)
{
	double x = 1 - 2 / (9 * df);

	return x * x * x;
}

static struct moments
accept_judge_class(const struct accept_path *paths, size_t count, size_t class)
{
	double *v = xcalloc(count + 1, sizeof(*v)), sum = 0;
	struct moments ret = { 0, 0, 0 }, m;
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		if (paths[i].class != class || paths[i].n < 2)
			continue;
		m = accept_judge_moments(&paths[i]);
		ret.df += m.df;
		sum += m.variance * m.df;
		v[n++] = m.variance / accept_judge_chi_median(m.df);
	}
	if (n >= PATHS_ROBUST) {
		ret.variance = robust_median(v, n);
		ret.df /= 2; /* a median uses less than half of the data */
	} else if (n > 0) {
		ret.variance = sum / ret.df;
	}
	ret.variance = fmax(ret.variance, SCATTER_MIN * SCATTER_MIN);
	free(v);
	return ret;
}

/* A path's mean, standard error and degrees of freedom. df 0: not known. */
static struct moments
accept_judge_estimate(const struct accept_path *p, const struct moments *class)
{
	struct moments m = accept_judge_moments(p), ret = *class;

	ret.mean = m.mean;
	if (m.df >= 2 && m.variance > VARIANCE_TIMES * class->variance)
		ret = m;
	ret.variance = sqrt(ret.variance / (double)p->n);
	return ret;
}

static double
accept_judge_look_error(const struct accept_options *o)
{
	return o->error / ACCEPT_LOOKS;
}

/* A quantile of t takes some microseconds, and neighbours in a list have the
 * same degrees of freedom. */
struct quantile {
	double p, df, value;
};

static double
accept_judge_quantile(struct quantile *last, double p, double df)
{
	if (last->p != p || last->df != df)
		*last = (struct quantile){ p, df, robust_t_quantile(p, df) };
	return last->value;
}

/* What waiting for cores explains does not fail. */
static double
accept_judge_mean(const struct accept_path *p, const struct moments *e,
    int sign)
{
	return e->mean + (sign < 0 && p->n > 0 ? p->doubt / (double)p->n : 0);
}

/* Holm's steps: the paths that are at or above the share (sign 1), or below it
 * (sign -1). */
static void
accept_judge_holm(const struct accept_options *o, struct accept_path *paths,
    const struct moments *e, size_t count, int sign)
{
	size_t left = o->paths > count ? o->paths : count, before;
	struct quantile last = { 0 };

	do {
		double q = 1 - accept_judge_look_error(o) / (double)left;

		before = left;
		for (size_t i = 0; i < count && left > 0; i++) {
			double z = sign *
			    (accept_judge_mean(&paths[i], &e[i], sign) -
				log(o->share));

			if (paths[i].state != ACCEPT_OPEN || paths[i].n == 0 ||
			    !(e[i].df >= 1) ||
			    z < accept_judge_quantile(&last, q, e[i].df) *
				    e[i].variance)
				continue;
			paths[i].state = sign > 0 ? ACCEPT_HOLDS : ACCEPT_FAILS;
			left--;
		}
	} while (left > 0 && left < before);
}

static struct moments *
accept_judge_estimates(const struct accept_path *paths, size_t count)
{
	struct moments *e = xcalloc(count + 1, sizeof(*e)), m = { 0 };

	for (size_t i = 0; i < count; i++) {
		if (i == 0 || paths[i].class != paths[i - 1].class)
			m = accept_judge_class(paths, count, paths[i].class);
		if (paths[i].n > 0)
			e[i] = accept_judge_estimate(&paths[i], &m);
	}
	return e;
}

static void
accept_judge_path_judge(const struct accept_options *o,
    struct accept_path *paths, size_t count)
{
	struct moments *e = accept_judge_estimates(paths, count);
	double m = (double)(o->paths > count ? o->paths : count);
	struct quantile last = { 0 };

	for (size_t i = 0; i < count; i++) {
		double reach = INFINITY;

		paths[i].state = ACCEPT_OPEN;
		paths[i].value = paths[i].lo = paths[i].hi = NAN;
		if (paths[i].n == 0)
			continue;
		paths[i].value = exp(e[i].mean);
		if (!(e[i].df >= 1))
			continue;
		reach = e[i].variance *
		    accept_judge_quantile(&last,
			1 - accept_judge_look_error(o) / m, e[i].df);
		paths[i].lo = exp(e[i].mean - reach);
		paths[i].hi = exp(e[i].mean + reach);
	}
	accept_judge_holm(o, paths, e, count, 1);
	accept_judge_holm(o, paths, e, count, -1);
	for (size_t i = 0; i < count; i++)
		paths[i].is_excused = paths[i].state == ACCEPT_OPEN &&
		    paths[i].doubt > 0 && paths[i].hi < o->share;
	free(e);
}

/* The part's value is the value of its fastest path. */
static void
accept_judge_part_take(struct accept_part *part, const struct accept_path *p)
{
	if (p->n == 0)
		return;
	part->paths++;
	part->slow += p->state == ACCEPT_FAILS;
	part->excused += (size_t)p->is_excused;
	if (p->state == ACCEPT_HOLDS)
		part->state = ACCEPT_HOLDS;
	if (isnan(part->value) || p->value > part->value) {
		part->value = p->value;
		part->lo = p->lo;
		part->hi = p->hi;
	}
}

/* A part that is slow on all of its paths, one of which has no other part that
 * could be the cause. */
static void
accept_judge_part_blame(const struct accept_path *p, struct accept_part *parts)
{
	size_t suspects = 0, at = 0;

	if (p->state != ACCEPT_FAILS)
		return;
	for (size_t k = 0; k < p->part_count; k++)
		if (parts[p->parts[k]].state != ACCEPT_HOLDS) {
			suspects++;
			at = p->parts[k];
		}
	if (suspects == 1)
		parts[at].state = ACCEPT_FAILS;
}

void
accept_blame(const struct accept_path *paths, size_t path_count,
    struct accept_part *parts)
{
	for (size_t i = 0; i < path_count; i++)
		accept_judge_part_blame(&paths[i], parts);
}

void
accept_judge(const struct accept_options *o, struct accept_path *paths,
    size_t path_count, struct accept_part *parts, size_t part_count)
{
	accept_judge_path_judge(o, paths, path_count);
	for (size_t i = 0; i < part_count; i++)
		parts[i] = (struct accept_part){ .state = ACCEPT_OPEN,
			.value = NAN,
			.lo = NAN,
			.hi = NAN };
	for (size_t i = 0; i < path_count; i++)
		for (size_t k = 0; k < paths[i].part_count; k++)
			accept_judge_part_take(&parts[paths[i].parts[k]],
			    &paths[i]);
	accept_blame(paths, path_count, parts);
}

double
accept_detects(const struct accept_options *o, const struct accept_path *paths,
    size_t path_count, size_t class, double probability)
{
	struct moments m = accept_judge_class(paths, path_count, class);
	size_t least = 0, all = o->paths > path_count ? o->paths : path_count;

	for (size_t i = 0; i < path_count; i++)
		if (paths[i].class == class && paths[i].n > 0 &&
		    (least == 0 || paths[i].n < least))
			least = paths[i].n;
	if (least == 0 || m.df < 1)
		return NAN;
	return o->share *
	    exp(-(robust_t_quantile(1 -
			  accept_judge_look_error(o) / (double)all,
		      m.df) +
		    robust_t_quantile(probability, m.df)) *
		sqrt(m.variance / (double)least));
}

size_t
accept_runs(const struct accept_options *o, double scatter, double found_share,
    double probability)
{
	double effect = log(o->share / found_share);
	double z = robust_normal_quantile(
		       1 - accept_judge_look_error(o) / (double)o->paths) +
	    robust_normal_quantile(probability);
	double n = ceil(z * z * scatter * scatter / (effect * effect));

	if (!(effect > 0) || !(n < ACCEPT_RUNS_MAX))
		return ACCEPT_RUNS_MAX;
	return n < 2 ? 2 : (size_t)n;
}

double
accept_typical(const struct accept_path *paths, size_t path_count, size_t class,
    double quantile)
{
	double *x = xcalloc(path_count + 1, sizeof(*x)), ret;
	size_t n = 0;

	for (size_t i = 0; i < path_count; i++)
		if (paths[i].class == class && paths[i].n > 0)
			x[n++] = accept_judge_moments(&paths[i]).mean;
	ret = n == 0 ? NAN : fmin(0, robust_quantile(x, n, quantile));
	free(x);
	return ret;
}

void
accept_shift(struct accept_path *paths, size_t path_count, size_t class,
    double by)
{
	for (size_t i = 0; i < path_count; i++)
		for (size_t k = 0; paths[i].class == class && k < paths[i].n;
		     k++)
			paths[i].x[k] -= by;
}
