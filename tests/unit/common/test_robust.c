/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "common/robust.h"
#include "common/str.h"

static void
near(double got, double want, double share)
{
	if (fabs(got - want) > share * fabs(want) + 1e-12)
		fail_msg("got %.12g, want %.12g", got, want);
}

static void
test_quantile(void **state)
{
	double x[] = { 9, 1, 4, 16 };

	(void)state;
	near(robust_quantile(x, 4, 0), 1, 1e-12);
	near(robust_quantile(x, 4, 1), 16, 1e-12);
	near(robust_quantile(x, 4, 0.5), 6.5, 1e-12);
	near(robust_quantile(x, 4, 0.75), 10.75, 1e-12);
	near(robust_quantile(x, 4, 0.1), 1.9, 1e-12);
	near(robust_quantile(x, 1, 0.3), 1, 1e-12);
	assert_true(isnan(robust_median(x, 0)));
	assert_true(isnan(robust_mad(x, 0, 0)));
}

/* Few values are sorted in another way than many. */
static void
test_sort(void **state)
{
	double x[100];

	(void)state;
	for (size_t n = 0; n <= 100; n++) {
		for (size_t i = 0; i < n; i++)
			x[i] = (double)(i * 37 % 101 / 2);
		robust_sort(x, n);
		for (size_t i = 1; i < n; i++)
			assert_true(x[i - 1] <= x[i]);
		if (n == 100)
			assert_true(x[0] == 0 && x[99] == 50);
	}
}

static void
test_mad_and_z(void **state)
{
	double x[] = { 1, 1, 2, 2, 4, 6, 900 };
	double median = robust_median(x, 7), mad = robust_mad(x, 7, median);

	(void)state;
	near(median, 2, 1e-12);
	near(mad, 1.482602218505602, 1e-12); /* |x - 2|: 0 0 1 1 2 4 898 */
	assert_true(x[6] == 900);            /* mad left its array alone */
	near(robust_z(5, median, mad, 0.1), 3 / 1.482602218505602, 1e-12);
	near(robust_z(3, 2, 0, 0.5), 2, 1e-12); /* the floor */
}

/* Tables of the normal distribution. */
static void
test_normal(void **state)
{
	static const double known[][2] = { { 0.5, 0 },
		{ 0.75, 0.674489750196082 }, { 0.9, 1.281551565544600 },
		{ 0.975, 1.959963984540054 }, { 0.995, 2.575829303548901 },
		{ 0.999, 3.090232306167813 }, { 1e-9, -5.997807015007686 },
		{ 0.02, -2.053748910631823 }, { 0.025, -1.959963984540054 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		near(robust_normal_quantile(known[i][0]), known[i][1], 1e-9);
}

/* Tables of Student's t; for 1 and 2 degrees of freedom there are formulas:
 * tan(pi (p - 1/2)) and (2p - 1) sqrt(2 / (4 p (1 - p))). */
static void
test_t(void **state)
{
	static const double known[][3] = { { 0.975, 4, 2.776445105 },
		{ 0.975, 1, 12.706204736 }, { 0.995, 30, 2.749995654 },
		{ 0.95, 10, 1.812461123 }, { 0.9, 5, 1.475884049 },
		{ 0.975, 120, 1.979930405 }, { 0.025, 10, -2.228138852 },
		{ 0.999, 3, 10.214531852 }, { 0.5, 7, 0 },
		{ 0.975, 1e6, 1.959966 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		near(robust_t_quantile(known[i][0], known[i][1]), known[i][2],
		    1e-6);
	for (double p = 0.501; p < 0.9999; p += 0.0173) {
		near(robust_t_quantile(p, 1), tan(acos(-1) * (p - 0.5)), 1e-8);
		near(robust_t_quantile(p, 2),
		    (2 * p - 1) * sqrt(2 / (4 * p * (1 - p))), 1e-8);
	}
	near(robust_t_quantile(0.975, 1e9), 1.959963985, 1e-6);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quantile),
		cmocka_unit_test(test_sort),
		cmocka_unit_test(test_mad_and_z),
		cmocka_unit_test(test_normal),
		cmocka_unit_test(test_t),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
