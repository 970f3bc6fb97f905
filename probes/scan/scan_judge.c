/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan_judge.c - effects of nodes, as coalctl preflight has them from records,
 * out of the pairs themselves.
 */
#include "probes/scan/scan_judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/robust.h"
#include "common/xalloc.h"

/* Minimum scatter of nodes' scores. Latencies depend on the number of switches
 * between nodes: less than 1.5 times is not a fault. */
#define SCATTER_RATE 0.02
#define SCATTER_TIME 0.135
/* The worst of n scores is that far off by chance in 1 of 1000 scans. */
#define CHANCE 1e-3
/* A rank that had a core for a smaller share of the time is not judged. */
#define CORE_LEAST 0.01

void
scan_judge_result_clear(struct scan_judge_result *r)
{
	free(r->pairs);
	free(r->nodes);
	memset(r, 0, sizeof(*r));
}

/* Return 1 if the test measures a rate, 0 if a time. */
static int
scan_judge_is_rate(enum canary_test test)
{
	return strcmp(names_tests[test].unit, "B/s") == 0;
}

double
scan_judge_log(enum canary_test test, double value)
{
	return scan_judge_is_rate(test) ? -log(value) : log(value);
}

double
scan_judge_value(enum canary_test test, double at)
{
	return exp(scan_judge_is_rate(test) ? -at : at);
}

void
scan_judge_typical(const struct scan_judge_result *r,
    struct scan_judge_typical *ret)
{
	double *x = xcalloc(r->nodes_count + 1, sizeof(*x)), at;
	double *waits = xcalloc(r->nodes_count + 1, sizeof(*waits));
	size_t n = 0;

	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < r->nodes_count; i++) {
		at = scan_judge_log(r->test, r->nodes[i].score);
		waits[i] = fmax(0, r->nodes[i].wait_ratio);
		if (isfinite(at))
			x[n++] = at;
	}
	ret->core = r->nodes_count == 0
	    ? 1
	    : fmax(CORE_LEAST, 1 - robust_median(waits, r->nodes_count));
	free(waits);
	/* Of two, neither is the measure of the other. */
	if (n > 2) {
		ret->known = 1;
		ret->median = robust_median(x, n);
		ret->scatter = fmax(scan_judge_is_rate(r->test) ? SCATTER_RATE
								: SCATTER_TIME,
				   robust_mad(x, n, ret->median)) *
		    robust_normal_quantile(1 - CHANCE / (double)n) /
		    robust_normal_quantile(1 - CHANCE);
	}
	free(x);
}

double
scan_judge_effect(const struct scan_judge_result *r,
    const struct scan_judge_node *node, const struct scan_judge_typical *t)
{
	return scan_judge_log(r->test, node->score) - t->median;
}

/* A rank that has a core for a quarter of the time is at most four times as
 * slow. Where all wait, as on hosts that share the cores of one machine, what
 * is typical has that in it. */
double
scan_judge_doubt(const struct scan_judge_typical *t, double wait_ratio)
{
	double core = fmax(CORE_LEAST, 1 - wait_ratio);

	return wait_ratio > 0 ? fmax(0, log(t->core / core)) : 0;
}

static void
scan_judge_worse(const struct bisect_options *o, double x, double spread,
    double *ret_effect, double *ret_spread)
{
	if (isnan(*ret_effect) ||
	    x - bisect_least(o, spread) >
		*ret_effect - bisect_least(o, *ret_spread)) {
		*ret_effect = x;
		*ret_spread = spread;
	}
}

void
scan_judge_group(const struct scan_judge_result *r,
    const struct scan_judge_typical *t, const struct bisect_options *o,
    double *effect, double *spread, double *doubt)
{
	if (r->cause == CAUSE_TIMEOUT)
		scan_judge_worse(o, INFINITY, 0, effect, spread);
	for (size_t i = 0; i < r->nodes_count; i++) {
		double x = scan_judge_effect(r, &r->nodes[i], t);

		*doubt = fmax(*doubt,
		    scan_judge_doubt(t, r->nodes[i].wait_ratio));
		if (t->known && isfinite(x))
			scan_judge_worse(o, x, t->scatter, effect, spread);
	}
}

struct scan_judge_interval
scan_judge_interval_of(const double *x, size_t n)
{
	struct scan_judge_interval ret = { n, NAN, -INFINITY, INFINITY };
	double sum = 0, squares = 0, half;

	for (size_t i = 0; i < n; i++)
		sum += x[i];
	if (n == 0)
		return ret;
	ret.mean = sum / (double)n;
	if (n < 2)
		return ret;
	for (size_t i = 0; i < n; i++)
		squares += (x[i] - ret.mean) * (x[i] - ret.mean);
	half = robust_t_quantile((1 + JUDGE_LEVEL) / 2, (double)(n - 1)) *
	    sqrt(squares / (double)(n - 1) / (double)n);
	ret.lo = ret.mean - half;
	ret.hi = ret.mean + half;
	return ret;
}

struct scan_judge_interval
scan_judge_node_interval(const struct scan_judge_result *r,
    const struct scan_judge_typical *t, int node, const unsigned char *is_good)
{
	double *x = xcalloc(r->nodes_count + 1, sizeof(*x)), at;
	struct scan_judge_interval ret;
	size_t n = 0;

	for (size_t i = 0; i < r->pairs_count && n < r->nodes_count; i++) {
		const struct scan_judge_pair *p = &r->pairs[i];
		int other = p->a == node ? p->b : p->a;

		if ((p->a != node && p->b != node) || !is_good[other])
			continue;
		at = scan_judge_log(r->test, p->p50) - t->median;
		if (isfinite(at))
			x[n++] = at;
	}
	ret = scan_judge_interval_of(x, n);
	free(x);
	return ret;
}

static int
scan_judge_sets_root(const int *up, int at)
{
	while (up[at] != at)
		at = up[at];
	return at;
}

int
scan_judge_sets(const struct scan_judge_result *r,
    const struct scan_judge_typical *t, double least, int n,
    const unsigned char *skip, int *ret_set)
{
	int *up = xcalloc((size_t)n + 1, sizeof(*up)), sets = 0;
	int *number = xcalloc((size_t)n + 1, sizeof(*number));
	int *size = xcalloc((size_t)n + 1, sizeof(*size));

	for (int i = 0; i < n; i++)
		up[i] = i;
	for (size_t i = 0; i < r->pairs_count; i++) {
		const struct scan_judge_pair *p = &r->pairs[i];
		double x = scan_judge_log(r->test, p->p50) - t->median;

		if (!skip[p->a] && !skip[p->b] && x <= least)
			up[scan_judge_sets_root(up, p->a)] =
			    scan_judge_sets_root(up, p->b);
	}
	for (int i = 0; i < n; i++)
		size[scan_judge_sets_root(up, i)]++;
	for (int i = 0; i < n; i++) {
		int root = scan_judge_sets_root(up, i);

		if (size[root] > 1 && number[root] == 0)
			number[root] = ++sets;
		ret_set[i] = size[root] > 1 ? number[root] - 1 : -1;
	}
	free(up);
	free(number);
	free(size);
	return sets;
}
