/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>

#include "probes/sampling/timing.h"

/* Times of three ranks, us; the slowest of each iteration counts. */
static void
test_worked_case(void **state)
{
	static const double ranks[4][3] = { { 10, 12, 11 }, { 9, 30, 9 },
		{ 10, 10, 14 }, { 20, 15, 11 } };
	struct timing_sample s[4] = { 0 };
	struct timing t;

	(void)state;
	for (int i = 0; i < 4; i++)
		for (int r = 0; r < 3; r++)
			if (ranks[i][r] > s[i].s)
				s[i] = (struct timing_sample){ ranks[i][r], r };
	assert_int_equal(s[0].rank, 1);
	assert_int_equal(s[3].rank, 0);
	assert_int_equal(timing_of(s, 4, &t), 0);
	assert_true(t.min_s == 12 && t.max_s == 30 && t.mean_s == 19);
	assert_true(t.median_upper_s == 20);
	assert_true(t.median_middle_s == 17);
	assert_true(s[1].s == 30); /* in their order still */
	assert_true(isnan(t.lo_s) && !timing_known(&t, 1));
}

static void
test_few(void **state)
{
	struct timing_sample one = { 3, 0 };
	struct timing t;

	(void)state;
	assert_int_equal(timing_of(&one, 0, &t), -EINVAL);
	assert_int_equal(timing_of(&one, 1, &t), 0);
	assert_true(t.min_s == 3 && t.median_upper_s == 3 &&
	    t.median_middle_s == 3 && t.mean_s == 3 && t.max_s == 3);
}

/* The interval holds the true median about 19 times in 20. */
static void
test_coverage(void **state)
{
	uint64_t x = 88172645463325252ULL; /* xorshift64, any seed */
	int held = 0;

	(void)state;
	for (int turn = 0; turn < 2000; turn++) {
		struct timing_sample s[40];
		struct timing t;

		for (int i = 0; i < 40; i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			s[i].s = -log((double)(x >> 11) * 0x1p-53 + 1e-18);
		}
		timing_of(s, 40, &t);
		held += t.lo_s <= M_LN2 && M_LN2 <= t.hi_s;
	}
	assert_in_range(held, 1880, 1990);
}

static void
test_known(void **state)
{
	struct timing_sample s[100];
	struct timing t;

	(void)state;
	for (int i = 0; i < 100; i++)
		s[i] = (struct timing_sample){ 1 + i * 1e-4, 0 };
	timing_of(s, 100, &t);
	assert_true(timing_known(&t, 0.01));
	assert_false(timing_known(&t, 0.0001));
}

/* Of 10 ms each, on memory that copies 1 GB/s. */
static void
test_above_memory(void **state)
{
	static const struct {
		uint64_t bytes;
		double memory_per_s;
		int above;
	} rows[] = { { 9000000, 1e9, 0 }, { 10000000, 1e9, 0 },
		{ 10900000, 1e9, 0 }, { 11100000, 1e9, 1 },
		{ 40000000, 1e9, 1 }, { 40000000, 8e9, 0 }, { 0, 1e9, 0 },
		{ 40000000, NAN, 0 } };
	struct timing_sample s[3] = { { 0.01, 0 }, { 0.001, 0 }, { 0.1, 0 } };
	struct timing t;

	(void)state;
	timing_of(s, 3, &t);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(timing_above_memory(&t, rows[i].bytes,
				     rows[i].memory_per_s),
		    rows[i].above);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_worked_case),
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_coverage),
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_above_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
