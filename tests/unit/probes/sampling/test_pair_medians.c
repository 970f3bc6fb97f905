/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "probes/sampling/pair_medians.h"

static void
test_worst_first(void **state)
{
	struct pair_medians *p = pair_medians_new(0, 16, 1);
	struct pair_medians_row rows[3];

	(void)state;
	pair_medians_add(p, 2, 1, 5.0);
	pair_medians_add(p, 1, 2, 7.0); /* the same pair */
	pair_medians_add(p, 3, 1, 9.0);
	pair_medians_add(p, 3, 2, 1.0);
	pair_medians_add(p, 4, 2, 2.0);
	pair_medians_add(p, 4, 4, 99.0); /* no pair */
	assert_int_equal(pair_medians_worst(p, rows, 3), 3);
	assert_int_equal(rows[0].a, 1);
	assert_int_equal(rows[0].b, 3);
	assert_int_equal(rows[1].n, 2);
	assert_true(rows[1].p50 == 6.0);
	assert_int_equal(rows[2].a, 2);
	assert_int_equal(rows[2].b, 4);
	assert_true(pair_medians_median(p, 2, 1) == 6.0);
	assert_true(pair_medians_median(p, 1, 3) == 9.0);
	assert_true(isnan(pair_medians_median(p, 1, 4)));
	pair_medians_free(p);
}

static void
test_low_is_bad(void **state)
{
	struct pair_medians *p = pair_medians_new(1, 16, 1);
	struct pair_medians_row row;

	(void)state;
	pair_medians_add(p, 1, 2, 100);
	pair_medians_add(p, 1, 3, 10);
	assert_int_equal(pair_medians_worst(p, &row, 1), 1);
	assert_int_equal(row.b, 3);
	pair_medians_free(p);
}

/* Good partners clear a node; the guilty one is bad with everyone. */
static void
test_guilty(void **state)
{
	struct pair_medians *p = pair_medians_new(0, 16, 1);
	double guilty;

	(void)state;
	for (int a = 0; a < 8; a++)
		for (int b = a + 1; b < 8; b++)
			pair_medians_add(p, a, b,
			    a == 3 || b == 3 ? 10.0 : 1.0);
	guilty = pair_medians_quantile(p, 3, 0.25);
	assert_true(guilty == 10.0);
	for (int i = 0; i < 8; i++)
		assert_true(i == 3 || pair_medians_quantile(p, i, 0.25) == 1.0);
	assert_true(isnan(pair_medians_quantile(p, 9, 0.25)));
	/* However slow one of two partners is, the other one clears. */
	pair_medians_add(p, 10, 11, 1.0);
	pair_medians_add(p, 10, 12, 60.0);
	pair_medians_add(p, 11, 12, 60.0);
	assert_true(pair_medians_quantile(p, 10, 0.25) == 1.0);
	assert_true(pair_medians_quantile(p, 12, 0.25) == 60.0);
	pair_medians_free(p);
}

/* The table is bounded, counts dropped pairs, and keeps its contents. */
static void
test_bounded(void **state)
{
	struct pair_medians *p = pair_medians_new(0, 16, 1);
	struct pair_medians_row row;

	(void)state;
	for (int i = 0; i < PAIR_MEDIANS_LEAST + 100; i++)
		pair_medians_add(p, 0, i + 1, i);
	assert_int_equal(pair_medians_dropped(p), 100);
	for (int i = 0; i < 1000; i++)
		pair_medians_add(p, 0, 1, 1e6);
	assert_int_equal(pair_medians_worst(p, &row, 1), 1);
	assert_int_equal(row.b, 1);
	assert_int_equal(row.n, 1001);
	pair_medians_free(p);
}

/* Node 0 is slow with two of three partners, so its pairs are ignored for the
 * others; 1-2, 1-3 and 2-3 are typical. */
static void
test_partners(void **state)
{
	struct pair_medians *p = pair_medians_new(0, 16, 1);
	int slow;

	(void)state;
	pair_medians_add(p, 0, 1, 2.0);
	pair_medians_add(p, 0, 2, 2.0);
	pair_medians_add(p, 0, 3, 1.0);
	pair_medians_add(p, 1, 2, 1.0);
	pair_medians_add(p, 1, 3, 1.01);
	pair_medians_add(p, 2, 3, 0.99);
	assert_true(pair_medians_typical(p) < 1.02);
	assert_int_equal(pair_medians_partners(p, 0, pair_medians_bound(p),
			     &slow),
	    3);
	assert_int_equal(slow, 2);
	assert_int_equal(pair_medians_partners(p, 1, pair_medians_bound(p),
			     &slow),
	    2);
	assert_int_equal(slow, 0);
	assert_int_equal(pair_medians_partners(p, 9, pair_medians_bound(p),
			     &slow),
	    0);
	pair_medians_free(p);
}

/* Nodes 10 to 19 are busy. Node 0 has met all of them and three others, which
 * speak for it; node 9 is slow itself; node 20 has met busy ones only. */
static void
test_busy_partners(void **state)
{
	(void)state;
	for (int rate = 0; rate <= 1; rate++) {
		struct pair_medians *p = pair_medians_new(rate, 32, 1);
		double good = rate ? 0.75 : 0.25, slow = rate ? 0.5 : 2;
		int count;

		for (int a = 0; a < 20; a++)
			for (int b = a + 1; b < 20; b++)
				if (a > 0 || b < 4 || b >= 10)
					pair_medians_add(p, a, b,
					    a == 9 || b >= 9 ? slow : 1.0);
		pair_medians_add(p, 20, 10, slow);
		assert_true(pair_medians_quantile(p, 0, good) == slow);
		assert_true(pair_medians_score(p, 0) == 1.0);
		assert_true(pair_medians_score(p, 1) == 1.0);
		assert_true(pair_medians_score(p, 9) == slow);
		assert_true(pair_medians_score(p, 12) == slow);
		assert_true(pair_medians_score(p, 20) == slow);
		/* Nor do they make a pair slow, or shift the typical value. */
		assert_true(rate ? pair_medians_bound(p) > 0.9
				 : pair_medians_bound(p) < 1.1);
		assert_int_equal(pair_medians_partners(p, 0,
				     pair_medians_bound(p), &count),
		    3);
		assert_int_equal(count, 0);
		assert_int_equal(pair_medians_partners(p, 20,
				     pair_medians_bound(p), &count),
		    1);
		assert_int_equal(count, 1);
		assert_true(isnan(pair_medians_score(p, 30)));
		pair_medians_add(p, 0, 1, 9.0); /* another table */
		assert_true(pair_medians_score(p, 1) == 1.0);
		pair_medians_free(p);
	}
}

/* Every node of a large cluster keeps all of 16 partners. */
static void
test_large(void **state)
{
	enum { NODES = 10000, ROUNDS = 16 };
	struct pair_medians *p = pair_medians_new(0, NODES, 1);
	int slow;

	(void)state;
	for (int r = 1; r <= ROUNDS / 2; r++)
		for (int i = 0; i < NODES; i++)
			pair_medians_add(p, i, (i + r) % NODES, 1.0);
	assert_int_equal(pair_medians_dropped(p), 0);
	for (int i = 0; i < NODES; i++)
		assert_int_equal(pair_medians_partners(p, i, 1, &slow), ROUNDS);
	pair_medians_add(p, 0, 1, 9.0); /* earlier medians stay */
	pair_medians_add(p, 0, NODES - 1, 0.25);
	pair_medians_add(p, 0, NODES - 1, 0.25);
	assert_true(pair_medians_quantile(p, 0, 0) == 0.25);
	pair_medians_free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_partners),
		cmocka_unit_test(test_busy_partners),
		cmocka_unit_test(test_worst_first),
		cmocka_unit_test(test_low_is_bad),
		cmocka_unit_test(test_guilty),
		cmocka_unit_test(test_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
