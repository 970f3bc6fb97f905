/* SPDX-License-Identifier: Apache-2.0 */
/* Equal runs, equal days and equal nodes differ in at most one of twenty
 * comparisons, though runs in a row resemble each other. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/rng.h"
#include "common/robust.h"
#include "common/str.h"
#include "ctl/lib/spread.h"

#define SD        0.1  /* between runs, of logarithms */
#define WITHIN    0.03 /* scatter within a run, known from its own interval */
#define MARGIN    0.05
#define TRIALS    2000
#define ROWS      12
#define RUNS_MAX  600
#define DAY_RUNS  288
#define NODES     1000
#define ERROR_MAX 0.055 /* 0.05 plus the scatter of this many trials */

static double
normal(struct rng *r)
{
	return robust_normal_quantile(rng_unit(r) * 0.999998 + 0.000001);
}

/* A series of runs with that lag-1 correlation. */
static void
series(struct rng *r, double correlation, double *x, size_t n)
{
	double now = SD * normal(r);

	for (size_t i = 0; i < n; i++) {
		x[i] = now;
		now = correlation * now +
		    SD * sqrt(1 - correlation * correlation) * normal(r);
	}
}

static struct estimate
measured(double x)
{
	struct estimate e = { "p99", "s", exp(x), exp(x - 2 * WITHIN),
		exp(x + 2 * WITHIN), 0.95 };

	return e;
}

static int
any_found(struct compare_row *rows, size_t n)
{
	int found = 0;

	spread_holm(rows, n, MARGIN);
	for (size_t i = 0; i < n; i++)
		found |= rows[i].found;
	return found;
}

/* The share of comparisons of two runs, apart by the length of the history,
 * in which any row differs; the second run is slower by shift. */
static double
runs_differ(double correlation, size_t history, double shift)
{
	static double x[2 * RUNS_MAX];
	int differ = 0;
	struct rng r;

	rng_seed(&r, 11);
	for (int trial = 0; trial < TRIALS; trial++) {
		struct compare_row rows[ROWS];

		for (size_t i = 0; i < ROWS; i++) {
			struct estimate a, b;

			series(&r, correlation, x, 2 * history);
			a = measured(x[history]);
			b = measured(x[2 * history - 1] + shift);
			rows[i].ratio = ratio_take(&a, &b);
			rows[i].level = 0.95;
			rows[i].doubt = spread_of_runs(x, history);
		}
		differ += any_found(rows, ROWS);
	}
	print_message("runs: correlation %g, %zu before, shift %g: %.3f\n",
	    correlation, history, shift, (double)differ / TRIALS);
	return (double)differ / TRIALS;
}

static void
test_equal_runs(void **state)
{
	(void)state;
	assert_true(runs_differ(0, 8, 0) <= ERROR_MAX);
	assert_true(runs_differ(0.5, 8, 0) <= ERROR_MAX);
	assert_true(runs_differ(0.5, 40, 0) <= ERROR_MAX);
	assert_true(runs_differ(0.9, 8, 0) <= ERROR_MAX);
	assert_true(runs_differ(0.9, 40, 0) <= ERROR_MAX);
	assert_true(runs_differ(0.9, 200, 0) <= ERROR_MAX);
}

static void
test_what_differs_is_found(void **state)
{
	(void)state;
	assert_true(runs_differ(0.5, 40, log(2)) > 0.9);
	assert_true(runs_differ(0.9, 200, log(2)) > 0.9);
}

static double
days_differ(double correlation, double shift)
{
	static double x[2 * DAY_RUNS];
	int differ = 0;
	struct rng r;

	rng_seed(&r, 12);
	for (int trial = 0; trial < TRIALS; trial++) {
		struct blocks day[2] = { 0 };
		struct compare_row row = { .level = 0.95 };

		series(&r, correlation, x, 2 * DAY_RUNS);
		for (size_t i = 0; i < 2 * (size_t)DAY_RUNS; i++)
			blocks_add(&day[i / DAY_RUNS],
			    i * (86400 / DAY_RUNS) * UINT64_C(1000000000),
			    x[i] + (i < DAY_RUNS ? 0 : shift));
		blocks_end(&day[0]);
		blocks_end(&day[1]);
		assert_true(day[0].n == 4 && day[1].runs == DAY_RUNS);
		row.ratio.value = exp(day[1].mean - day[0].mean);
		row.ratio.lo = row.ratio.hi = row.ratio.value;
		row.doubt = spread_of_blocks(&day[0], &day[1]);
		differ += any_found(&row, 1);
	}
	print_message("days: correlation %g, shift %g: %.3f\n", correlation,
	    shift, (double)differ / TRIALS);
	return (double)differ / TRIALS;
}

static void
test_equal_days(void **state)
{
	(void)state;
	assert_true(days_differ(0.5, 0) <= ERROR_MAX);
	assert_true(days_differ(0.9, 0) <= ERROR_MAX);
	assert_true(days_differ(0.9, log(1.3)) > 0.9);
}

static void
test_too_little(void **state)
{
	static const double runs[SPREAD_RUNS_MIN] = { 1, 2, 1, 3, 1, 2, 2, 1 };
	struct blocks a = { .n = 2, .square = 1 }, b = { .n = 9, .square = 1 };

	(void)state;
	assert_true(isnan(spread_of_runs(runs, SPREAD_RUNS_MIN - 1).se));
	assert_true(isfinite(spread_of_runs(runs, SPREAD_RUNS_MIN).se));
	assert_true(isnan(spread_of_blocks(&a, &b).se));
	a.n = 3;
	assert_true(isfinite(spread_of_blocks(&a, &b).se));
}

static void
test_nodes(void **state)
{
	static double z[NODES];
	int looks = 0, slow = 0;
	struct rng r;

	(void)state;
	rng_seed(&r, 13);
	for (int trial = 0; trial < 200; trial++) {
		for (size_t i = 0; i < NODES; i++)
			z[i] = normal(&r);
		looks += isfinite(spread_z_limit(z, NODES));
		z[7] = 6;
		slow += spread_z_limit(z, NODES) <= 6;
	}
	print_message("nodes: %d of 200 looks\n", looks);
	assert_true(looks <= 18); /* 10 and two standard deviations */
	assert_int_equal(slow, 200);
}

/* Runs of 2 to 8 ranks and 256 to 1024 KiB. Their overhead grows with the ranks
 * and is smaller relative to more bytes; some are outliers. The interval of
 * another run contains it, and is narrower than an interval that treats all
 * runs as equal: their median, and t times their deviation. */
static double
sized_run(struct rng *r, struct sized *x)
{
	x->sizes[0] = log(2 + (double)rng_below(r, 7));
	x->sizes[1] = log(2) * ((double)rng_below(r, 3) - 1);
	return x->log = 0.2 + 0.8 * (x->sizes[0] - 1.5) - 0.3 * x->sizes[1] +
	    0.1 * normal(r) * (rng_below(r, 20) == 0 ? 4 : 1);
}

static void
intervals(int count, double *ret_held, double *ret_width, double *ret_plain)
{
	int held = 0;
	struct rng r;

	*ret_width = *ret_plain = 0;
	rng_seed(&r, 17);
	for (int trial = 0; trial < TRIALS; trial++) {
		struct sized runs[64], asked;
		double x[64], truth = sized_run(&r, &asked), centre, reach, m;
		struct doubt d;

		for (int i = 0; i < count; i++) {
			x[i] = sized_run(&r, &runs[i]);
			for (int k = 0; k < SPREAD_SIZES; k++)
				runs[i].sizes[k] -= asked.sizes[k];
		}
		centre = spread_of_sizes(runs, (size_t)count, &d);
		reach = d.se * robust_t_quantile(0.975, d.df);
		held += fabs(truth - centre) <= reach;
		*ret_width += 2 * reach / TRIALS;
		m = robust_median(x, (size_t)count);
		*ret_plain += 2 * robust_t_quantile(0.975, count - 1) *
		    robust_mad(x, (size_t)count, m) *
		    sqrt(1 + M_PI / 2 / count) / TRIALS;
	}
	*ret_held = (double)held / TRIALS;
}

static void
test_runs_of_other_sizes(void **state)
{
	static const int counts[] = { 5, 6, 10, 20, 60 };
	struct sized same[6] = { { 1, { 0 } }, { 1.1, { 0 } }, { 0.9, { 0 } },
		{ 1, { 0 } }, { 1.05, { 0 } }, { 0.95, { 0 } } };
	double held, width, plain, near;
	struct doubt d;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
		intervals(counts[i], &held, &width, &plain);
		print_message("%d runs: %.1f %% held, %.2f wide, %.2f where "
			      "sizes do not count\n",
		    counts[i], 100 * held, width, plain);
		assert_true(held >= 0.94);
		assert_true(width < plain * (counts[i] < 10 ? 1.05 : 0.7));
	}
	/* of one size: it predicts nothing about another size, which may be far
	 * off */
	assert_true(fabs(spread_of_sizes(same, 6, &d) - 1) < 0.01);
	near = d.se;
	for (size_t i = 0; i < ARRAY_LEN(same); i++)
		same[i].sizes[0] = log(4);
	assert_true(fabs(spread_of_sizes(same, 6, &d) - 1) < 0.01);
	assert_true(d.se > 3 * near);
	assert_true(isnan(spread_of_sizes(same, 4, &d)) && isnan(d.se));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_runs),
		cmocka_unit_test(test_what_differs_is_found),
		cmocka_unit_test(test_equal_days),
		cmocka_unit_test(test_too_little),
		cmocka_unit_test(test_nodes),
		cmocka_unit_test(test_runs_of_other_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
