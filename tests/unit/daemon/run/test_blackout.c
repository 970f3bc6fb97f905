/* SPDX-License-Identifier: Apache-2.0 */
/* test_blackout.c - spans of days and dates, and malformed ones. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/str.h"
#include "daemon/run/blackout.h"

#define DAY_NS (24 * HOUR_NS)

#define HOUR_NS (3600 * CLK_NS_PER_S)
#define DAY_0   (20000 * DAY_NS) /* 2024-10-04 */

static void
want(const char *text, double at_h, double span_h, double end_h)
{
	struct blackout b;
	uint64_t end = 0;
	struct err err;
	int hit;

	assert_int_equal(blackout_parse(text, &b, &err), 0);
	hit = blackout_hits(&b, DAY_0 + (uint64_t)(at_h * (double)HOUR_NS),
	    (uint64_t)(span_h * (double)HOUR_NS), &end);
	assert_int_equal(hit, end_h >= 0);
	if (hit)
		assert_int_equal(end,
		    DAY_0 + (uint64_t)(end_h * (double)HOUR_NS));
}

static void
test_hits(void **state)
{
	(void)state;
	want("", 0, 24, -1);
	want("08:00-18:00", 7, 0.5, -1);
	want("08:00-18:00", 7, 1, -1); /* ends as it begins */
	want("08:00-18:00", 7, 1.1, 18);
	want("08:00-18:00", 12, 0, 18);
	want("08:00-18:00", 18, 1, -1);
	want("22:00-06:00", 23, 1, 30);
	want("22:00-06:00", 3, 1, 6);
	want("22:00-06:00", 6, 16, -1);
	want("22:00-06:00", 12, 11, 30);
	want("00:00-24:00", 5, 1, 24);
	want("2024-10-04..2024-10-05", 47.5, 1, 48);
	want("2024-10-04..2024-10-05", 48, 1, -1);
	want("2024-10-05..2024-10-05", 23, 2, 48);
	want("2024-10-05..2024-10-05,08:00-09:00", 8.5, 40, 9);
}

static void
test_bad(void **state)
{
	static const char *const texts[] = { "08:00", "08:00-08:00",
		"8:00-9:00", "08:60-09:00", "25:00-26:00", "24:00-03:00",
		"08:00-18:00,", "08:00-18:00x", "2024-02-30..2024-03-01",
		"2024-10-05..2024-10-04", "2024-10-05", "a..b",
		"2024-10-05...2024-10-06", "0000-00-00..0000-00-00" };
	struct blackout b = { .count = 7 };
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		if (blackout_parse(texts[i], &b, &err) != -EINVAL)
			fail_msg("%s", texts[i]);
		assert_non_null(
		    strstr(err.text, "expected times in UTC such as"));
	}
	assert_int_equal(b.count, 7);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hits),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
