/* SPDX-License-Identifier: Apache-2.0 */
/* The usual course of a value over a day and a week. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/diagnosis/stats/rhythm.h"

#define ROUNDS 12 /* of an hour */

/* The true course: the day's second half is slower, except on the last two days
 * of a week. */
static double
course(uint64_t hour)
{
	return hour % 24 >= 12 && hour / 24 % 7 < 5 ? 0.2 : 0;
}

static void
hear(struct rhythm *r, uint64_t from, uint64_t hours, double level)
{
	for (uint64_t i = 0; i < ROUNDS * hours; i++) {
		uint64_t hour = from + i / ROUNDS;

		(void)rhythm_hear(r, hour, level + course(hour), 0);
	}
}

static double
usual_step(const struct rhythm *r, uint64_t day)
{
	return rhythm_usual(r, 24 * day + 18) - rhythm_usual(r, 24 * day + 6);
}

static void
test_day(void **state)
{
	struct rhythm r;

	(void)state;
	rhythm_clear(&r);
	hear(&r, 0, 24, 1);
	assert_true(rhythm_is_young(&r));
	assert_true(isnan(rhythm_usual(&r, 6)));
	assert_int_equal(rhythm_hear(&r, 24, 1, 0), 1);
	assert_int_equal(rhythm_hear(&r, 24, 1, 0), 0);
	assert_true(fabs(usual_step(&r, 1) - 0.2) < 1e-9);
	/* It does not contain the level. */
	assert_true(fabs(rhythm_usual(&r, 24 + 6) + 0.1) < 1e-9);
}

/* From the second week on, quiet days have their own course. */
static void
test_week(void **state)
{
	struct rhythm r;

	(void)state;
	rhythm_clear(&r);
	hear(&r, 0, 2 * RHYTHM_WEEK + 1, 1);
	assert_true(fabs(usual_step(&r, 1) - 0.2) < 0.01);
	assert_true(fabs(usual_step(&r, 6)) < 0.01);
}

/* Neither a lasting step nor a slow drift becomes usual. */
static void
test_level(void **state)
{
	struct rhythm r;

	(void)state;
	rhythm_clear(&r);
	hear(&r, 0, 2 * RHYTHM_WEEK, 0);
	for (uint64_t day = 14; day < 42; day++)
		hear(&r, 24 * day, 24,
		    day < 28 ? 0.01 * (double)(day - 14) : 0.3);
	for (uint64_t h = 0; h < RHYTHM_WEEK; h++) {
		double usual = rhythm_usual(&r, h), want = course(h) - 1.0 / 14;

		if (fabs(usual - want) > 0.03)
			fail_msg("hour %d: %f, expected %f", (int)h, usual,
			    want);
	}
}

static void
test_sd(void **state)
{
	struct rhythm r;
	double first;

	(void)state;
	rhythm_clear(&r);
	first = rhythm_sd(&r);
	hear(&r, 0, 12 * RHYTHM_WEEK, 1);
	assert_true(rhythm_sd(&r) < first / 2);
	for (uint64_t h = 0; h < 2 * RHYTHM_WEEK; h++)
		(void)rhythm_hear(&r, 12 * RHYTHM_WEEK + h,
		    course(h) + (h % 2 == 0 ? 0.05 : -0.05), 0);
	assert_true(rhythm_sd(&r) > 0.02);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_day),
		cmocka_unit_test(test_week),
		cmocka_unit_test(test_level),
		cmocka_unit_test(test_sd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
