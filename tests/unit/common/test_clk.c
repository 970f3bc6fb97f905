/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "common/clk.h"
#include "common/str.h"

static void
test_span_parse(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {
		{ "0", 0 },
		{ "90s", 90 * CLK_NS_PER_S },
		{ "5m", 300 * CLK_NS_PER_S },
		{ "1h30m", 5400 * CLK_NS_PER_S },
		{ "250ms", 250 * CLK_NS_PER_MS },
		{ "10us", 10 * CLK_NS_PER_US },
		{ "2d", 172800 * CLK_NS_PER_S },
		{ "7", 7 * CLK_NS_PER_S },
		{ "0.5", CLK_NS_PER_S / 2 },
		{ "1.000000001s", CLK_NS_PER_S + 1 },
		{ "0.1ns", 0 },
		{ "1.5h", 5400 * CLK_NS_PER_S },
		{ "1d2h3m4s5ms6us7ns", 93784005006007 },
		{ "9223372036854775807ns", INT64_MAX },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		uint64_t got = 1;

		assert_int_equal(clk_span_parse(good[i].text, &got), 0);
		assert_int_equal(got, good[i].ns);
	}
}

static void
test_span_parse_refuses(void **state)
{
	static const struct {
		const char *text;
		int rc;
	} bad[] = {
		{ "", -EINVAL },
		{ " 1s", -EINVAL },
		{ "1s ", -EINVAL },
		{ "-1s", -EINVAL },
		{ "+1s", -EINVAL },
		{ "s", -EINVAL },
		{ ".5s", -EINVAL },
		{ "5.s", -EINVAL },
		{ "1x", -EINVAL },
		{ "1sec", -EINVAL },
		{ "1S", -EINVAL },
		{ "30m1h", -EINVAL }, /* the wrong way round */
		{ "1s1s", -EINVAL },
		{ "1h30", -EINVAL }, /* thirty without a unit */
		{ "1e3s", -EINVAL },
		{ "0x10", -EINVAL },
		{ "293y", -EINVAL },
		{ "106752d", -ERANGE }, /* 292.3 years */
		{ "9223372037", -ERANGE },
		{ "9223372036854775808ns", -ERANGE },
		{ "106751d24h", -ERANGE },
		{ "99999999999999999999s", -ERANGE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		uint64_t got = 7;

		assert_int_equal(clk_span_parse(bad[i].text, &got), bad[i].rc);
		assert_int_equal(got, 7); /* untouched on failure */
	}
}

static void
test_span_format(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{ 0, "0ns" },
		{ 999, "999ns" },
		{ 34200, "34.2us" },
		{ 10000, "10us" },
		{ 999949, "999.9us" },
		{ 999950, "1ms" },
		{ 1500000000, "1.5s" },
		{ 59949999999, "59.9s" },
		{ 59950000000, "1m" },
		{ 307 * CLK_NS_PER_S, "5m07s" },
		{ 7380 * CLK_NS_PER_S, "2h03m" },
		{ 86399999999999, "1d" },
		{ 266400 * CLK_NS_PER_S, "3d02h" },
		{ UINT64_MAX, "213503d23h" },
	};
	char text[16];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		clk_span_format(cases[i].ns, text, sizeof(text));
		assert_string_equal(text, cases[i].text);
	}
}

static void
test_unix_format(void **state)
{
	char text[32];

	(void)state;
	clk_unix_format(1795202520123456789, text, sizeof(text));
	assert_string_equal(text, "2026-11-20T19:22:00.123Z");
	clk_unix_format(0, text, sizeof(text));
	assert_string_equal(text, "1970-01-01T00:00:00.000Z");
}

static uint64_t
fake_ns(void)
{
	return 42;
}

static void
test_source(void **state)
{
	uint64_t before_ns;

	(void)state;
	clk_set_source(fake_ns, NULL);
	assert_int_equal(clk_ns(), 42);
	assert_true(clk_unix_ns() > 1700000000 * CLK_NS_PER_S);
	clk_set_source(NULL, fake_ns);
	assert_int_equal(clk_unix_ns(), 42);
	clk_set_source(NULL, NULL);
	before_ns = clk_ns();
	clk_sleep_ns(2 * CLK_NS_PER_MS);
	assert_true(clk_ns() - before_ns >= 2 * CLK_NS_PER_MS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_span_parse),
		cmocka_unit_test(test_span_parse_refuses),
		cmocka_unit_test(test_span_format),
		cmocka_unit_test(test_unix_format),
		cmocka_unit_test(test_source),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
