/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/err.h"
#include "daemon/schedule/schedule.c"
#include "daemon/schedule/schedule.h"
#include "schema/options.h"

/* 2026-11-20T00:00:00Z, a midnight. */
#define DAY 20777ULL

static uint64_t
at(unsigned hour, unsigned minute)
{
	return DAY * WINDOW_DAY_NS + (hour * 60 + minute) * WINDOW_MINUTE_NS;
}

static struct schedule
read_ok(const char *text)
{
	struct schedule s;
	struct conf *c;
	struct err err;

	if (conf_parse(options_campaign, "t", text, &c, &err) < 0 ||
	    schedule_read(c, &s, &err) < 0)
		fail_msg("%s", err.text);
	conf_free(c);
	return s;
}

static void
expect_next(const struct schedule *s, uint64_t after, uint64_t want)
{
	uint64_t base = 7, start = 7;

	assert_int_equal(schedule_next(s, after, 0, &base, &start), 1);
	assert_int_equal(base, want);
	assert_int_equal(start, want);
}

static void
test_every(void **state)
{
	struct schedule s = read_ok("[schedule]\nevery = 5m\noffset = 30s\n");

	(void)state;
	expect_next(&s, at(10, 0), at(10, 0) + 30 * CLK_NS_PER_S);
	expect_next(&s, at(10, 0) + 30 * CLK_NS_PER_S,
	    at(10, 5) + 30 * CLK_NS_PER_S);
	expect_next(&s, at(23, 59), at(24, 0) + 30 * CLK_NS_PER_S);
}

static void
test_at(void **state)
{
	struct schedule s = read_ok("[schedule]\nat = 14:30,02:00\n");

	(void)state;
	expect_next(&s, at(0, 0), at(2, 0));
	expect_next(&s, at(2, 0), at(14, 30));
	expect_next(&s, at(14, 30), at(26, 0));
	s = read_ok("[schedule]\nat = 23:50\noffset = 20m\n");
	expect_next(&s, at(12, 0), at(24, 10));
	expect_next(&s, at(0, 5), at(0, 10)); /* yesterday's, shifted */
}

static void
test_window(void **state)
{
	struct schedule s = read_ok(
	    "[schedule]\nevery = 1h\nwindow = 22:00-06:00\n");

	(void)state;
	expect_next(&s, at(5, 30), at(22, 0)); /* 06:00 is outside */
	expect_next(&s, at(4, 30), at(5, 0));
	expect_next(&s, at(12, 0), at(22, 0)); /* its first minute counts */
	expect_next(&s, at(23, 30), at(24, 0));
	assert_true(window_left_ns(&s.window, at(22, 0)) > 0);
	assert_true(window_left_ns(&s.window, at(3, 0)) > 0);
	assert_int_equal(window_left_ns(&s.window, at(6, 0)), 0);
	assert_int_equal(window_left_ns(&s.window, at(12, 0)), 0);
}

static void
test_closed(void **state)
{
	static const struct {
		const char *windows, *closed;
	} rows[] = {
		{ "", "" },
		{ "22:00-06:00", "06:00-22:00" },
		{ "06:00-22:00", "00:00-06:00,22:00-24:00" },
		{ "00:00-24:00", "" },
		{ "12:00-13:30,12:30-14:00,00:00-01:00",
		    "01:00-12:00,14:00-24:00" },
	};
	struct window_list w;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char *text;

		assert_int_equal(window_parse(rows[i].windows, &w), 0);
		text = window_closed_format(&w);
		assert_string_equal(text, rows[i].closed);
		free(text);
	}
}

static void
test_jitter(void **state)
{
	struct schedule s = read_ok("[schedule]\nevery = 1h\njitter = 40m\n"
				    "window = 05:00-05:10\n");
	uint64_t base, start;

	(void)state;
	assert_int_equal(schedule_next(&s, at(0, 0), 1, &base, &start), 1);
	assert_int_equal(base, at(5, 0));
	/* Not beyond the window. */
	assert_true(start >= at(5, 9) && start < at(5, 10));
	assert_int_equal(schedule_next(&s, at(0, 0), 0.5, &base, &start), 1);
	assert_true(start > at(5, 4) && start < at(5, 6));
}

static void
test_never(void **state)
{
	struct schedule s = read_ok("");
	uint64_t base = 7, start = 7;

	(void)state;
	assert_false(schedule_has(&s));
	assert_int_equal(schedule_next(&s, at(0, 0), 0, &base, &start), 0);
	/* Aligned to midnight, which the window excludes. */
	s = read_ok("[schedule]\nevery = 1d\nwindow = 05:00-06:00\n");
	assert_int_equal(schedule_next(&s, at(0, 0), 0, &base, &start), 0);
	assert_int_equal(base, 7); /* untouched */
}

static void
test_wrong(void **state)
{
	static const char *const wrong[] = {
		"[schedule]\nat = 25:00\n",
		"[schedule]\nat = 24:00\n",
		"[schedule]\nat = 9\n",
		"[schedule]\nat = 09:60\n",
		"[schedule]\nwindow = 09:00\n",
		"[schedule]\nwindow = 09:00-09:00\n",
		"[schedule]\nwindow = 24:00-09:00\n",
		"[schedule]\nwindow = -1:00-09:00\n",
		"[schedule]\nevery = 5m\nat = 09:00\n",
		"[schedule]\nevery = 10ms\n",
	};
	struct schedule s;
	struct conf *c;
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		assert_int_equal(conf_parse(options_campaign, "t", wrong[i], &c,
				     &err),
		    0);
		assert_int_equal(schedule_read(c, &s, &err), -EINVAL);
		assert_non_null(
		    strstr(err.text, "t:")); /* names file and line */
		conf_free(c);
	}
}

/* For any rule: later than the given time, inside a window, ascending. */
static void
test_properties(void **state)
{
	static const char *const rules[] = {
		"[schedule]\nevery = 7m\noffset = 3h\njitter = 2m\n",
		"[schedule]\nevery = 25h\nwindow = 01:00-13:00\n",
		"[schedule]\nat = 00:00,12:00\njitter = 1h\n"
		"window = 11:30-12:30,23:00-01:00\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
		struct schedule s = read_ok(rules[i]);
		uint64_t base = at(0, 0), before, start;

		for (int n = 0; n < 500; n++) {
			before = base;
			assert_int_equal(schedule_next(&s, before,
					     (n % 10) / 10.0, &base, &start),
			    1);
			assert_true(base > before && start >= base);
			assert_true(window_left_ns(&s.window, base) > 0);
			assert_true(window_left_ns(&s.window, start) > 0);
		}
	}
}

/* A plan from before the clock was set back by a year is void; a step of a
 * second over a start does not plan it twice. */
static void
test_set_back(void **state)
{
	struct schedule every = read_ok("[schedule]\nevery = 1h\n");
	struct schedule days = read_ok("[schedule]\nat = 02:00\n"
				       "window = 01:00-03:00\n");
	const uint64_t hour = 3600 * CLK_NS_PER_S, year = 365 * 24 * hour;
	uint64_t now = year + at(12, 0), base, start;

	(void)state;
	assert_int_equal(schedule_next(&every, now, 0, &base, &start), 1);
	assert_false(schedule_is_far(&every, base, now));
	assert_false(schedule_is_far(&every, base, now - CLK_NS_PER_S));
	assert_true(schedule_is_far(&every, base, now - 3 * hour));
	assert_true(schedule_is_far(&every, base, now - year));
	assert_int_equal(schedule_next(&days, now, 0, &base, &start), 1);
	assert_false(schedule_is_far(&days, base, now));
	assert_false(schedule_is_far(&days, base, now - 11 * hour));
	assert_true(schedule_is_far(&days, base, now - year));
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every),
		cmocka_unit_test(test_at),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_closed),
		cmocka_unit_test(test_jitter),
		cmocka_unit_test(test_never),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_properties),
		cmocka_unit_test(test_set_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
