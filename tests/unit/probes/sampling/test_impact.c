/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>

#include "probes/sampling/impact.h"
#include "probes/job/settings.h"

static void
add(struct tally *t, int visit, double value)
{
	struct hist h;

	hist_clear(&h);
	hist_add_many(&h, value, 990);
	hist_add_many(&h, value * 1.5, 10);
	tally_add(t, visit, &h, 0);
}

/* Values of a phase by visit, two rounds each. */
static void
fill(struct tally *t, int visits, const double *values)
{
	tally_init(t, visits);
	for (int v = 0; v < visits; v++) {
		add(t, v, values[v]);
		add(t, v, values[v] * 1.01);
	}
}

static void
test_value(void **state)
{
	static const double one[] = { 1, 1, 1, 1 }, four[] = { 4, 4, 4, 4 };
	struct tally a, b;
	struct impact_ask ask = { &a, &b, 0, 0.95, 0, 0 };
	struct impact im;

	(void)state;
	fill(&a, 4, one);
	fill(&b, 4, four);
	assert_int_equal(impact_take(&ask, IMPACT_MEAN, &im), 0);
	assert_true(fabs(im.value - 4) < 1e-9);
	assert_true(fabs(im.lo - 4) < 1e-9 && fabs(im.hi - 4) < 1e-9);
	assert_int_equal(impact_take(&ask, IMPACT_P99, &im), 0);
	assert_true(fabs(im.value - 4) < 0.1);
	ask.low_is_bad = 1; /* four times the bandwidth is not a slowdown */
	assert_int_equal(impact_take(&ask, IMPACT_MEAN, &im), 0);
	assert_true(fabs(im.value - 0.25) < 1e-9);
	tally_clear(&a);
	tally_clear(&b);
}

/* Variations common to both phases, visit by visit, do not widen the interval
 * of their ratio. */
static void
test_shared_drift(void **state)
{
	static const double slow[] = { 1, 2, 4, 8 }, half[] = { 2, 4, 8, 16 };
	static const double mixed[] = { 16, 2, 8, 4 };
	struct tally a, b, c;
	struct impact_ask ask = { &a, &b, 0, 0.95, 0, 0 };
	struct impact im;

	(void)state;
	fill(&a, 4, slow);
	fill(&b, 4, half);
	fill(&c, 4, mixed);
	impact_take(&ask, IMPACT_MEAN, &im);
	assert_true(im.lo > 1.9 && im.hi < 2.1);
	ask.loaded = &c; /* the same values, but not in pairs */
	impact_take(&ask, IMPACT_MEAN, &im);
	assert_true(im.lo < 1 && im.hi > 3);
	tally_clear(&a);
	tally_clear(&b);
	tally_clear(&c);
}

/* The effect of a steady drift on a pair's order is neither spread nor impact,
 * from six pairs on. */
static void
test_order(void **state)
{
	static const double one[] = { 1, 1, 1, 1, 1, 1, 1, 1 };
	double width[9], drift[8];
	struct tally a, b;
	struct impact_ask ask = { &a, &b, 0, 0.95, 7, 0 };
	struct impact im;

	(void)state;
	for (int i = 0; i < 8; i++)
		drift[i] = (settings_loaded_first(7, i) ? 0.9 : 1 / 0.9) *
		    (i % 3 == 0 ? 1.001 : 1);
	for (int k = 4; k <= 8; k++) {
		fill(&a, k, one);
		fill(&b, k, drift);
		impact_take(&ask, IMPACT_MEAN, &im);
		width[k] = log(im.hi / im.lo);
		if (k >= 6)
			assert_true(fabs(im.value - 1) < 0.002);
		tally_clear(&a);
		tally_clear(&b);
	}
	assert_true(width[6] < width[4] / 5 && width[6] < width[5] / 5);
	assert_true(width[7] < width[5] / 5 && width[8] < width[5] / 5);
}

/* Bytes over time: rates that only vary more are not faster. */
static void
test_rates(void **state)
{
	struct tally a, b;
	struct impact_ask ask = { &a, &b, 1, 0.95, 0, 0 };
	struct impact im;
	struct hist h;

	(void)state;
	tally_init(&a, 2);
	tally_init(&b, 2);
	for (int v = 0; v < 2; v++) {
		hist_clear(&h);
		hist_add_many(&h, 100, 10);
		tally_add(&a, v, &h, 0.1);
		hist_clear(&h);
		hist_add_many(&h, 400, 5); /* 225 on average */
		hist_add_many(&h, 50, 5);
		tally_add(&b, v, &h, 5 / 400.0 + 5 / 50.0);
	}
	assert_true(fabs(tally_mean(&b) - 20 / 0.225) < 1e-9);
	assert_int_equal(impact_take(&ask, IMPACT_MEAN, &im), 0);
	assert_true(fabs(im.value - 1.125) < 1e-9);
	tally_clear(&a);
	tally_clear(&b);
}

/* Add many samples of one value, and few twice as large. */
static void
add_samples(struct tally *t, int visit, double value, int many, int few)
{
	struct hist h;

	hist_clear(&h);
	hist_add_many(&h, value, (uint64_t)many);
	hist_add_many(&h, value * 2, (uint64_t)few);
	tally_add(t, visit, &h, 0);
}

/* Visits with too few samples for a tail: samples are pooled over their
 * medians, and a machine that is 8 times slower in one pair makes no tail. */
static void
test_thin(void **state)
{
	struct tally a, b;
	struct impact_ask ask = { &a, &b, 0, 0.95, 7, 0 };
	struct impact im;

	(void)state;
	tally_init(&a, 4);
	tally_init(&b, 4);
	for (int v = 0; v < 4; v++) {
		add_samples(&a, v, v == 3 ? 8 : 1, 300, 0);
		add_samples(&b, v, v == 3 ? 8 : 1, 290, 10);
	}
	assert_int_equal(impact_take(&ask, IMPACT_P99, &im), 0);
	assert_true(fabs(im.value - 2) < 0.1 && im.lo > 1.8 && im.hi < 2.2);
	tally_clear(&a);
	tally_clear(&b);
}

/* A p99 of fewer than 1,000 samples in a phase is undetermined, except if the
 * reference's number is requested. */
static void
test_few_samples(void **state)
{
	struct tally a, b;
	struct impact_ask ask = { &a, &b, 0, 0.95, 7, 0 };
	struct impact im = { 7, 7, 7 };

	(void)state;
	tally_init(&a, 2);
	tally_init(&b, 2);
	for (int v = 0; v < 2; v++) {
		add_samples(&a, v, 1, 499, v);
		add_samples(&b, v, 3, 500, 0);
	}
	assert_int_equal(a.total.count, IMPACT_TAIL_SAMPLES - 1);
	assert_int_equal(impact_take(&ask, IMPACT_P99, &im), -ERANGE);
	assert_true(im.value == 7);
	assert_int_equal(impact_take(&ask, IMPACT_MEAN, &im), 0);
	ask.exact = 1;
	assert_int_equal(impact_take(&ask, IMPACT_P99, &im), 0);
	assert_true(fabs(im.value - 3) < 0.2);
	ask.exact = 0;
	add_samples(&a, 1, 1, 1, 0);
	assert_int_equal(impact_take(&ask, IMPACT_P99, &im), 0);
	tally_clear(&a);
	tally_clear(&b);
}

/* A visit in only one phase is not a pair. */
static void
test_missing_visit(void **state)
{
	struct tally a, b;
	struct impact_ask ask = { &a, &b, 0, 0.95, 0, 0 };
	struct impact im;

	(void)state;
	tally_init(&a, 3);
	tally_init(&b, 3);
	add(&a, 0, 1);
	add(&a, 1, 50);
	add(&a, 2, 1);
	add(&b, 0, 2);
	add(&b, 2, 2);
	for (int i = 0; i < 2; i++) {
		add(&a, 2, 1);
		add(&b, 2, 2);
	}
	impact_take(&ask, IMPACT_MEAN, &im);
	assert_true(fabs(im.value - 2) < 1e-9);
	assert_true(fabs(im.lo - 2) < 1e-9 && fabs(im.hi - 2) < 1e-9);
	tally_clear(&a);
	tally_clear(&b);
}

/* A side without samples has no impact; one round has no interval. */
static void
test_too_little(void **state)
{
	struct tally a, b;
	struct impact_ask ask = { &a, &b, 0, 0.95, 0, 0 };
	struct impact im = { 7, 7, 7 };

	(void)state;
	tally_init(&a, 1);
	tally_init(&b, 1);
	add(&a, 0, 1);
	assert_int_equal(impact_take(&ask, IMPACT_MEAN, &im), -ENODATA);
	assert_true(im.value == 7);
	add(&b, 0, 2);
	assert_int_equal(impact_take(&ask, IMPACT_MEAN, &im), 0);
	assert_true(im.value == 2 && isnan(im.lo) && isnan(im.hi));
	tally_clear(&a);
	tally_clear(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_value),
		cmocka_unit_test(test_shared_drift),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_thin),
		cmocka_unit_test(test_few_samples),
		cmocka_unit_test(test_missing_visit),
		cmocka_unit_test(test_too_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
