/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers are parsed as strtod parses them, and written numbers read back. */
#include <stdlib.h>

#include "common/decimal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/rng.h"

#define TRIES 300000

static double
by_strtod(uint64_t mantissa, int power)
{
	char text[64];

	snprintf(text, sizeof(text), "%llue%d", (unsigned long long)mantissa,
	    power);
	return strtod(text, NULL);
}

static void
test_read(void **state)
{
	struct rng rng;
	int known = 0;

	(void)state;
	rng_seed(&rng, 1);
	for (int i = 0; i < TRIES; i++) {
		uint64_t mantissa = rng_next(&rng) >> rng_below(&rng, 64);
		int power = (int)rng_below(&rng, 61) - 30;
		double x;

		if (decimal_read(mantissa, power, &x) < 0)
			continue;
		known++;
		assert_true(x == by_strtod(mantissa, power));
	}
	assert_true(known > TRIES / 3);
}

/* Half way between two doubles, and the neighbouring values. */
static void
test_ties(void **state)
{
	(void)state;
	for (uint64_t odd = 1; odd < 2000; odd += 2)
		for (int beside = -1; beside <= 1; beside++) {
			uint64_t m = ((1ULL << 53) + odd) * 1000 / 2 +
			    (uint64_t)beside;
			double x;

			if (decimal_read(m, -3, &x) == 0)
				assert_true(x == by_strtod(m, -3));
			m = (1ULL << 54) + odd * 2 + 1 + (uint64_t)beside;
			if (decimal_read(m, 0, &x) == 0)
				assert_true(x == by_strtod(m, 0));
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_ties),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
