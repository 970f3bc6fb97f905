/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probes/sampling/impact.c"

static void
add(struct tally *t, int visit, double value)
{
	struct hist *h = xcalloc(1, sizeof(*h));

	hist_add_many(h, value, 99);
	hist_add_many(h, value * 1.5, 1);
	tally_add(t, visit, h);
	free(h);
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
	struct impact_ask ask = { &a, &b, 0, 4, 0.95, 9 };
	struct impact im;

	(void)state;
	fill(&a, 4, one);
	fill(&b, 4, four);
	assert_int_equal(impact_take(&ask, IMPACT_MEAN, &im), 0);
	assert_true(fabs(im.value - 4) < 1e-9);
	assert_true(im.lo < 4 && 4 < im.hi && im.lo > 3.8 && im.hi < 4.2);
	assert_int_equal(impact_take(&ask, IMPACT_P99, &im), 0);
	assert_true(fabs(im.value - 4) < 0.1);
	ask.low_is_bad = 1; /* four times the bandwidth is no harm */
	assert_int_equal(impact_take(&ask, IMPACT_MEAN, &im), 0);
	assert_true(fabs(im.value - 0.25) < 1e-9);
	tally_clear(&a);
	tally_clear(&b);
}

/* What both phases share, visit by visit, is no uncertainty of their ratio. */
static void
test_shared_drift(void **state)
{
	static const double slow[] = { 1, 2, 4, 8 }, half[] = { 2, 4, 8, 16 };
	static const double mixed[] = { 16, 2, 8, 4 };
	struct tally a, b, c;
	struct impact_ask ask = { &a, &b, 0, 4, 0.95, 9 };
	struct impact im;

	(void)state;
	fill(&a, 4, slow);
	fill(&b, 4, half);
	fill(&c, 4, mixed);
	impact_take(&ask, IMPACT_MEAN, &im);
	assert_true(im.lo > 1.9 && im.hi < 2.1);
	ask.loaded = &c; /* the same values, but not side by side */
	impact_take(&ask, IMPACT_MEAN, &im);
	assert_true(im.lo < 1 && im.hi > 3);
	tally_clear(&a);
	tally_clear(&b);
	tally_clear(&c);
}

static void
test_repeats(void **state)
{
	static const double x[] = { 1, 3, 2, 5 }, y[] = { 2, 2, 6, 4 };
	struct tally a, b;
	struct impact_ask ask = { &a, &b, 0, 4, 0.95, 9 };
	struct impact one, two;

	(void)state;
	fill(&a, 4, x);
	fill(&b, 4, y);
	impact_take(&ask, IMPACT_P99, &one);
	impact_take(&ask, IMPACT_P99, &two);
	assert_memory_equal(&one, &two, sizeof(one));
	ask.seed++;
	impact_take(&ask, IMPACT_P99, &two);
	assert_true(one.lo != two.lo && one.value == two.value);
	tally_clear(&a);
	tally_clear(&b);
}

/* A side without samples has no impact; one round has no interval. */
static void
test_too_little(void **state)
{
	struct tally a, b;
	struct impact_ask ask = { &a, &b, 0, 1, 0.95, 9 };
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
		cmocka_unit_test(test_repeats),
		cmocka_unit_test(test_too_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
