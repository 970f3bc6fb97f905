/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CPU time and waiting time of a thread.
 */
#include "probes/job/cores.c"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <time.h>
#include <cmocka.h>

static void
test_parse(void **state)
{
	struct cores c = { 7, 7 };

	(void)state;
	assert_int_equal(cores_parse("123456 789 10\n", &c), 0);
	assert_true(c.run_ns == 123456 && c.wait_ns == 789);
	assert_int_equal(cores_parse("", &c), -EPROTO);
	assert_int_equal(cores_parse("12 nonsense", &c), -EPROTO);
	assert_true(c.run_ns == 123456);
}

static void
test_ratio(void **state)
{
	(void)state;
	assert_float_equal(cores_wait_ratio(1, 3), 0.75, 1e-12);
	assert_true(cores_wait_ratio(0.02, 0) == 0);
	assert_true(isnan(cores_wait_ratio(0.001, 0.008)));
	assert_true(isnan(cores_wait_ratio(0, 0)));
}

/* This thread's CPU time is measured, if the kernel provides it. */
static void
test_own(void **state)
{
	struct cores before, sum = { 0, 0 };
	struct timespec ts;

	(void)state;
	cores_look(&before);
	if (before.run_ns == 0) {
		print_message("skipped: this kernel keeps no schedstat\n");
		skip();
	}
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	while (ts.tv_sec == 0 && ts.tv_nsec < 100000000);
	cores_add_since(&sum, &before);
	assert_true(sum.run_ns >= 30000000 && sum.run_ns <= 200000000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_ratio),
		cmocka_unit_test(test_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
