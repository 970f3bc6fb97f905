/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/rng.h"

#define DRAWS 120000

/* The published first numbers of xoshiro256** for the state 1, 2, 3, 4, and of
 * splitmix64 for the seed 1234567. */
static void
test_known_numbers(void **state)
{
	struct rng r = { { 1, 2, 3, 4 } };
	uint64_t seed = 1234567;

	(void)state;
	assert_int_equal(rng_next(&r), 11520);
	assert_int_equal(rng_next(&r), 0);
	assert_int_equal(rng_next(&r), 1509978240);
	assert_int_equal(rng_next(&r), 1215971899390074240);
	assert_true(rng_splitmix(&seed) == 6457827717110365317);
	assert_true(rng_splitmix(&seed) == 3203168211198807973);
	assert_true(rng_splitmix(&seed) == 9817491932198370423U);
}

static void
test_repeats(void **state)
{
	struct rng a, b;

	(void)state;
	rng_seed3(&a, 7, 1, 2);
	rng_seed3(&b, 7, 1, 2);
	for (int i = 0; i < 100; i++)
		assert_true(rng_next(&a) == rng_next(&b));
}

/* Streams of neighbouring (seed, a, b) are independent; (1, 2) differs from (2,
 * 1). */
static void
test_streams_differ(void **state)
{
	uint64_t first[6 * 6 * 6];
	struct rng r;
	int n = 0;

	(void)state;
	for (int i = 0; i < 6 * 6 * 6; i++) {
		rng_seed3(&r, (uint64_t)(i / 36), (uint64_t)(i / 6 % 6),
		    (uint64_t)(i % 6));
		first[n++] = rng_next(&r);
		for (int k = 0; k < i; k++)
			assert_true(first[k] != first[i]);
	}
}

/* Chi-square over 12 cells: 11 degrees of freedom, 35 is p < 0.0003. The seed
 * is fixed, so this passes always or never. */
static double
chi_square(const int *seen, int cells, double want)
{
	double chi = 0;

	for (int i = 0; i < cells; i++)
		chi += (seen[i] - want) * (seen[i] - want) / want;
	return chi;
}

static void
test_below_is_uniform(void **state)
{
	int seen[12] = { 0 };
	struct rng r;

	(void)state;
	rng_seed(&r, 42);
	for (int i = 0; i < DRAWS; i++)
		seen[rng_below(&r, 12)]++;
	assert_true(chi_square(seen, 12, DRAWS / 12.0) < 35);
}

/* With plain modulo, below = 3 * 2^62 would give its lower third half of all
 * draws. */
static void
test_below_has_no_modulo_bias(void **state)
{
	const uint64_t below = 3 * (UINT64_C(1) << 62);
	int low = 0;
	struct rng r;

	(void)state;
	rng_seed(&r, 1);
	for (int i = 0; i < 30000; i++) {
		uint64_t x = rng_below(&r, below);

		assert_true(x < below);
		low += x < below / 3;
	}
	assert_in_range(low, 9700, 10300);
	assert_int_equal(rng_below(&r, 1), 0);
}

static void
test_unit(void **state)
{
	int seen[12] = { 0 };
	struct rng r;

	(void)state;
	rng_seed(&r, 3);
	for (int i = 0; i < DRAWS; i++) {
		double x = rng_unit(&r);

		assert_true(x >= 0 && x < 1);
		seen[(int)(x * 12)]++;
	}
	assert_true(chi_square(seen, 12, DRAWS / 12.0) < 35);
}

/* Every item gets every place equally often; the place of item 0 over the 24
 * orders of 4 items; and no item is lost. */
static void
test_shuffle(void **state)
{
	int seen[24] = { 0 };
	struct rng r;

	(void)state;
	rng_seed(&r, 5);
	for (int i = 0; i < DRAWS; i++) {
		int x[] = { 0, 1, 2, 3 }, code = 0, set = 0;

		rng_shuffle(&r, x, 4);
		for (int k = 0; k < 4; k++) {
			int smaller = 0;

			set |= 1 << x[k];
			for (int j = k + 1; j < 4; j++)
				smaller += x[j] < x[k];
			code = code * (4 - k) + smaller;
		}
		assert_int_equal(set, 15);
		seen[code]++;
	}
	/* 23 degrees of freedom: 55 is p < 0.0002 */
	assert_true(chi_square(seen, 24, DRAWS / 24.0) < 55);
	rng_shuffle(&r, NULL, 0);
}

static void
test_entropy(void **state)
{
	(void)state;
	assert_true(rng_entropy() != rng_entropy());
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_numbers),
		cmocka_unit_test(test_repeats),
		cmocka_unit_test(test_streams_differ),
		cmocka_unit_test(test_below_is_uniform),
		cmocka_unit_test(test_below_has_no_modulo_bias),
		cmocka_unit_test(test_unit),
		cmocka_unit_test(test_shuffle),
		cmocka_unit_test(test_entropy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
