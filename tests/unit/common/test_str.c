/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"

static void
test_int(void **state)
{
	static const char *const bad[] = { "", " 1", "1 ", "+1", "0x1", "1.0",
		"1e3", "--1", "-", "one" };
	int64_t got = 7;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(str_to_int(bad[i], -9, 9, &got), -EINVAL);
	assert_int_equal(str_to_int("10", -9, 9, &got), -ERANGE);
	assert_int_equal(str_to_int("-10", -9, 9, &got), -ERANGE);
	assert_int_equal(str_to_int("99999999999999999999", INT64_MIN,
			     INT64_MAX, &got),
	    -ERANGE);
	assert_int_equal(got, 7);
	assert_int_equal(str_to_int("-9", -9, 9, &got), 0);
	assert_int_equal(got, -9);
	assert_int_equal(str_to_int("-9223372036854775808", INT64_MIN,
			     INT64_MAX, &got),
	    0);
	assert_true(got == INT64_MIN);
}

static void
test_double(void **state)
{
	static const char *const bad[] = { "", " 1", "1 ", "+1", "inf", "nan",
		"0x1p3", "1,5", "-", ".", "e5", "1e", "1-2" };
	double got = 7;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(str_to_double(bad[i], -9, 9, &got), -EINVAL);
	assert_int_equal(str_to_double("9.1", -9, 9, &got), -ERANGE);
	assert_int_equal(str_to_double("1e999", -9, HUGE_VAL, &got), -ERANGE);
	assert_true(got == 7);
	assert_int_equal(str_to_double("-1.25e-1", -9, 9, &got), 0);
	assert_true(got == -0.125);
	assert_int_equal(str_to_double(".5", -9, 9, &got), 0);
	assert_true(got == 0.5);
}

static void
test_bytes(void **state)
{
	static const char *const bad[] = { "", "K", "4k", "4KB", "4 K", "-4",
		"0.3K", "1.5", "1..5K", "4X", "0x4", "1e3" };
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = { { "0", 0 }, { "4096", 4096 }, { "4K", 4096 },
		{ "1.5M", 1572864 }, { "2G", UINT64_C(1) << 31 },
		{ "6400K", 6553600 }, { "8P", UINT64_C(1) << 53 } };
	uint64_t got = 7;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(str_to_bytes(bad[i], &got), -EINVAL);
	assert_int_equal(str_to_bytes("9P", &got), -ERANGE);
	assert_int_equal(got, 7);
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		assert_int_equal(str_to_bytes(good[i].text, &got), 0);
		assert_int_equal(got, good[i].bytes);
	}
}

static void
test_bytes_format(void **state)
{
	static const struct {
		double bytes;
		const char *text;
	} cases[] = { { 0, "0 B" }, { 512, "512 B" }, { 0.5, "0.5 B" },
		{ 1023, "1023 B" }, { 1024, "1.0 KiB" }, { 4096, "4.0 KiB" },
		{ 1048575, "1.0 MiB" }, { 1536, "1.5 KiB" },
		{ -4096, "-4.0 KiB" }, { -1.7e308, "-1.5e+290 EiB" } };
	char text[16];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		str_bytes_format(cases[i].bytes, text, sizeof(text));
		assert_string_equal(text, cases[i].text);
	}
	str_bytes_format(NAN, text, sizeof(text));
	assert_string_equal(text, "-");
}

static void
test_bool(void **state)
{
	int got = 7;

	(void)state;
	assert_int_equal(str_to_bool("maybe", &got), -EINVAL);
	assert_int_equal(str_to_bool("", &got), -EINVAL);
	assert_int_equal(got, 7);
	assert_int_equal(str_to_bool("off", &got), 0);
	assert_int_equal(got, 0);
	assert_int_equal(str_to_bool("1", &got), 0);
	assert_int_equal(got, 1);
}

static void
test_list(void **state)
{
	static const char *const bad[] = { ",", "a,", ",a", "a,,b", "a, ,b" };
	size_t count = 7;
	char **list;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_null(str_list_parse(bad[i], &count));
	assert_int_equal(count, 7);
	list = str_list_parse(" a b ,\tc", &count);
	assert_int_equal(count, 2);
	assert_string_equal(list[0], "a b");
	assert_string_equal(list[1], "c");
	assert_null(list[2]);
	str_list_free(list);
	list = str_list_parse("  ", &count);
	assert_int_equal(count, 0);
	assert_null(list[0]);
	str_list_free(list);
	str_list_free(NULL);
}

static void
test_format(void **state)
{
	char text[4];

	(void)state;
	assert_int_equal(str_format(text, sizeof(text), "%d", 123), 3);
	assert_string_equal(text, "123");
	assert_int_equal(str_format(text, sizeof(text), "%d", 1234), -ENOSPC);
}

static void
test_strbuf(void **state)
{
	struct strbuf sb = { 0 };

	(void)state;
	strbuf_add(&sb, "", 0);
	assert_string_equal(sb.text, "");
	for (int i = 0; i < 1000; i++)
		strbuf_addf(&sb, "%04d,", i);
	assert_int_equal(sb.len_bytes, 5000);
	assert_int_equal(strlen(sb.text), 5000);
	assert_memory_equal(sb.text + 4995, "0999,", 6);
	strbuf_clear(&sb);
	assert_null(sb.text);
	assert_int_equal(sb.cap_bytes, 0);
}

/* Text from a server: bytes that are not hexadecimal are not written. */
static void
test_unhex(void **state)
{
	static const struct {
		const char *text;
		size_t len;
	} bad[] = { { "0", 1 }, { "0g", 2 }, { "A0", 2 }, { "0\0", 2 },
		{ "00 0", 4 }, { "\xff\xff", 2 } };
	char text[] = "000aff7f", ret[4] = "abc";

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(str_unhex(bad[i].text, bad[i].len, ret),
		    -EINVAL);
	assert_string_equal(ret, "abc");
	assert_int_equal(str_unhex(text, 0, text), 0);
	assert_int_equal(str_unhex(text, 8, text), 0);
	assert_memory_equal(text, "\x00\x0a\xff\x7f", 4);
}

static void
test_line(void **state)
{
	char text[] = "one\n\nthree\n", *rest = text;

	(void)state;
	assert_string_equal(str_line(&rest), "one");
	assert_string_equal(str_line(&rest), "");
	assert_string_equal(str_line(&rest), "three");
	assert_string_equal(str_line(&rest), "");
	assert_null(str_line(&rest));
	assert_null(str_line(&rest));
}

static void
test_shell(void **state)
{
	static const char *const rows[][2] = { { "/etc/coalmine-1.conf",
						   "/etc/coalmine-1.conf" },
		{ "", "''" }, { "/a b", "'/a b'" }, { "$(x)", "'$(x)'" },
		{ "it's", "'it'\\''s'" }, { "n[1-3]", "'n[1-3]'" } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char *got = str_shell(rows[i][0]);

		assert_string_equal(got, rows[i][1]);
		free(got);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_int),
		cmocka_unit_test(test_double),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_bytes_format),
		cmocka_unit_test(test_bool),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_line),
		cmocka_unit_test(test_shell),
		cmocka_unit_test(test_unhex),
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_strbuf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
