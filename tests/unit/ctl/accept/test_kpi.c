/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_kpi.c - indicators of rounds worked out by hand; other classes and paths
 * without a measurement do not count; one round has no interval.
 */
#include "ctl/accept/kpi.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define NEAR 1e-9

static struct accept_path
path(size_t class, size_t n, double first, double second)
{
	struct accept_path p = { .class = class, .n = n };

	p.x[0] = log(first);
	p.x[1] = log(second);
	return p;
}

static void
test_values(void **state)
{
	struct accept_path paths[] = { path(0, 2, 1, 1), path(0, 2, 1, 0.5),
		path(0, 0, 9, 9), path(1, 2, 0.1, 0.1) };
	struct kpi_value v = kpi_of(paths, 4, 0, KPI_JAIN);
	/* Rates 1 and 0.5: 1.5 squared over twice 1.25. */
	double second = 2.25 / 2.5;

	(void)state;
	assert_int_equal(v.rounds, 2);
	assert_float_equal(v.value, (1 + second) / 2, NEAR);
	/* The t quantile of one degree of freedom is 12.706; at most 1. */
	assert_float_equal(v.lo,
	    fmax(0, v.value - 12.7062047362 * (1 - second) / 2), 1e-4);
	assert_float_equal(v.hi, 1, NEAR);
	v = kpi_of(paths, 4, 0, KPI_JCT);
	assert_float_equal(v.value, 1.5, NEAR);
	assert_true(v.hi > 2);
}

static void
test_little(void **state)
{
	struct accept_path paths[] = { path(0, 1, 1, 1), path(0, 2, 0.25, 1),
		path(1, 2, 1, 1) };
	struct kpi_value v = kpi_of(paths, 3, 0, KPI_JCT);

	(void)state;
	assert_int_equal(v.rounds, 1);
	assert_float_equal(v.value, 4, NEAR);
	assert_true(isnan(v.lo) && isnan(v.hi));
	v = kpi_of(paths, 3, 1, KPI_JAIN); /* one path is equal to itself */
	assert_true(isnan(v.value));
	assert_int_equal(v.rounds, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
