/* SPDX-License-Identifier: Apache-2.0 */
/* The interval of a ratio covers the true ratio as often as its level, for
 * skewed rounds such as latencies; verdicts. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/rng.h"
#include "common/robust.h"
#include "ctl/lib/ratio.h"

#define ROUNDS 24
#define TRIALS 4000

/* The mean of ROUNDS lognormal rounds around e^mu, with its t interval. */
static struct estimate
measure(struct rng *r, double mu, double sigma)
{
	struct estimate e = { "mean", "s", 0, 0, 0, 0.95 };
	double sum = 0, squares = 0, half;

	for (int i = 0; i < ROUNDS; i++) {
		double u = (rng_unit(r) * 0.999998) + 0.000001;
		double x = exp(mu + sigma * robust_normal_quantile(u));

		sum += x;
		squares += x * x;
	}
	e.value = sum / ROUNDS;
	half = robust_t_quantile(0.975, ROUNDS - 1) *
	    sqrt((squares / ROUNDS - e.value * e.value) / (ROUNDS - 1));
	e.lo = e.value - half;
	e.hi = e.value + half;
	return e;
}

static double
coverage(struct rng *r, double truth, double sigma)
{
	int inside = 0;

	for (int i = 0; i < TRIALS; i++) {
		struct estimate a = measure(r, 0, sigma);
		struct estimate b = measure(r, log(truth), sigma);
		struct ratio q = ratio_take(&a, &b);

		inside += q.lo <= truth && truth <= q.hi;
	}
	return (double)inside / TRIALS;
}

static void
test_coverage(void **state)
{
	static const double truths[] = { 1, 1.3, 20 };
	struct rng r;

	(void)state;
	rng_seed(&r, 7);
	for (size_t i = 0; i < 3; i++) {
		double got = coverage(&r, truths[i], 0.3);

		print_message("ratio %g: %.3f\n", truths[i], got);
		assert_true(got > 0.93 && got < 0.98);
	}
}

static void
test_one_exact_side(void **state)
{
	/* With an exact a the interval is b's own, scaled. */
	struct estimate a = { "p99", "s", 2, 2, 2, 0.95 };
	struct estimate b = { "p99", "s", 6, 5, 8, 0.95 };
	struct ratio q = ratio_take(&a, &b);

	(void)state;
	assert_true(fabs(q.value - 3) < 1e-12);
	assert_true(fabs(q.lo - 2.5) < 1e-12);
	assert_true(fabs(q.hi - 4) < 1e-12);
}

static void
test_what_is_not_known(void **state)
{
	struct estimate a = { "p99", "s", 2, NAN, NAN, NAN };
	struct estimate b = { "p99", "s", 6, 5, 8, 0.95 };
	struct ratio q = ratio_take(&a, &b);

	(void)state;
	assert_true(fabs(q.value - 3) < 1e-12);
	assert_true(isnan(q.lo) && isnan(q.hi));
	assert_string_equal(ratio_verdict(&q, "s", 0.05), "unknown");
	a.value = 0;
	assert_true(isnan(ratio_take(&a, &b).value));
}

static void
test_verdicts(void **state)
{
	static const struct {
		double lo, hi;
		const char *unit, *want;
	} cases[] = {
		{ 1.06, 1.5, "s", "worse" },
		{ 1.06, 1.5, "B/s", "better" },
		{ 0.5, 0.95, "s", "better" },
		{ 0.5, 0.95, "B/s", "worse" },
		{ 0.98, 1.04, "s", "same" },
		{ 1.01, 1.04, "s", "same" }, /* no 1, but negligible */
		{ 1.01, 1.2, "s", "unclear" },
		{ 0.5, 2, "x", "unclear" },
		{ 1.06, 1.5, "x", "worse" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ratio q = { 1, cases[i].lo, cases[i].hi };

		assert_string_equal(ratio_verdict(&q, cases[i].unit, 0.05),
		    cases[i].want);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_coverage),
		cmocka_unit_test(test_one_exact_side),
		cmocka_unit_test(test_what_is_not_known),
		cmocka_unit_test(test_verdicts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
