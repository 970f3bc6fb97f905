/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/err.h"
#include "probes/catalog/sweep.c"

#include "schema/options.h"

static void
test_good(void **state)
{
	static const struct {
		const char *text;
		int count;
		uint64_t first, last;
	} rows[] = {
		{ "", 0, 0, 0 },
		{ "4", 1, 4, 4 },
		{ "4, 64K,1M", 3, 4, 1 << 20 },
		{ "4K..64M x4", 8, 4096, 64 << 20 },
		{ "4K..64Mx4", 8, 4096, 64 << 20 },
		{ "1..1024", 11, 1, 1024 },
		{ "3..10 x3", 2, 3, 9 },
		{ "4..4 x2", 1, 4, 4 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint64_t sizes[SIZES_MAX];
		struct err err;
		int n = -1;

		assert_int_equal(sizes_parse(rows[i].text, sizes, &n, &err), 0);
		assert_int_equal(n, rows[i].count);
		if (n == 0)
			continue;
		assert_int_equal(sizes[0], rows[i].first);
		assert_int_equal(sizes[n - 1], rows[i].last);
	}
}

static void
test_bad(void **state)
{
	static const char *const rows[] = { "x", "4,", "4,,8", "0", "8..4",
		"4..", "..4", "4..8 x1", "4..8 x", "4..8 x-2", "0..8", "4 8",
		"1..1024 x2 x2", "4..8,16", "1..9223372036854775807 x1025" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint64_t sizes[SIZES_MAX];
		struct err err = { 0 };
		int n;

		if (sizes_parse(rows[i], sizes, &n, &err) != -EINVAL)
			fail_msg("%s passes", rows[i]);
		assert_non_null(strstr(err.text, "measure.sizes = "));
		assert_non_null(strstr(err.text, "expected"));
	}
}

static struct conf *
parse(const char *text)
{
	struct conf *c = NULL;
	struct err err;

	if (conf_parse(options_campaign, "f", text, &c, &err) < 0)
		fail_msg("%s", err.text);
	return c;
}

static void
test_set(void **state)
{
	struct conf *c = parse("[group]\ntype = int64\n[stripe]\ncount = 9\n"
			       "[measure]\nsizes = 4\n");
	struct err err;

	(void)state;
	assert_int_equal(sweep_sizes_set(c, "group", 64, &err), 0);
	assert_int_equal(conf_int(c, "group", "count"), 8);
	assert_int_equal(sweep_sizes_set(c, "group", 4, &err), -EINVAL);
	assert_non_null(strstr(err.text, "f:6: measure.sizes: 4 bytes"));
	assert_int_equal(sweep_sizes_set(c, "stripe", 64, &err), 0);
	assert_int_equal(conf_int(c, "stripe", "count"), 16);
	assert_int_equal(sweep_sizes_set(c, "self", 3, &err), 0);
	assert_int_equal(conf_bytes(c, "self", "bytes"), 3);
	assert_int_equal(sweep_sizes_set(c, "sparse", 4, &err), -EINVAL);
	conf_free(c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
