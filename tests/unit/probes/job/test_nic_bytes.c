/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What interfaces carried, from the kernel's text.
 */
#include "probes/job/nic.c"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

#define HEADING                                                                \
	"Inter-|   Receive                                                |  " \
	"Transmit\n"                                                           \
	" face |bytes    packets errs drop fifo frame compressed multicast|"   \
	"bytes    packets errs drop fifo colls carrier compressed\n"

static void
test_parse(void **state)
{
	struct nic_bytes w = { .in_bytes = 7, .out_bytes = 7 };

	(void)state;
	assert_int_equal(nic_bytes_parse(HEADING, &w), 0);
	assert_true(w.in_bytes == 0 && w.out_bytes == 0);
	assert_int_equal(nic_bytes_parse(HEADING
			     "    lo: 900 1 0 0 0 0 0 0 900 1 0 0 0 0 0 0\n"
			     "  eth0:5000000660 10 0 0 0 0 0 0 78 1 0 0 0 0 0 "
			     "0\n"
			     "lo2: 1 1 0 0 0 0 0 0 96 1 0 0 0 0 0 0",
			     &w),
	    0);
	assert_true(w.in_bytes == 5000000000);
	assert_true(w.out_bytes == 42);
	assert_int_equal(nic_bytes_parse(HEADING "eth0: 1 2 3\n", &w), -EPROTO);
	assert_int_equal(nic_bytes_parse(HEADING "eth0\n", &w), -EPROTO);
	assert_int_equal(nic_bytes_parse("", &w), -EPROTO);
	assert_true(w.out_bytes == 42);
}

static void
test_read(void **state)
{
	struct nic_bytes w;

	(void)state;
	assert_int_equal(nic_bytes_read(&w), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
