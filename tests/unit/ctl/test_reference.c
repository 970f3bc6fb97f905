/* SPDX-License-Identifier: Apache-2.0 */
/* Reference values: the shipped file, malformed rows, the nearest rows. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/member.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "ctl/lib/reference.h"

static json_t *
parsed(const char *text)
{
	char *copy = xstrdup(text);
	json_t *rows = json_array();
	struct err err;

	if (reference_parse("f", copy, rows, &err) < 0)
		fail_msg("%s", err.text);
	free(copy);
	return rows;
}

static void
test_shipped(void **state)
{
	json_t *rows, *row;
	struct err err;
	size_t i;

	(void)state;
	assert_int_equal(reference_read(&rows, &err), 0);
	assert_true(json_array_size(rows) >= 40);
	json_array_foreach (rows, i, row) {
		assert_memory_equal(member_text(row, "source"), "https://", 8);
		assert_string_not_equal(member_text(row, "read"), "");
		assert_string_not_equal(member_text(row, "about"), "");
		assert_true(member_number(row, "busbw_bytes_per_s") > 1e9);
	}
	json_decref(rows);
}

static void
test_malformed(void **state)
{
	static const char *const bad[] = { "row", "row = ", "rows = 1",
		"row = h100 efa - 2 16 allreduce 16G",
		"row = h100 efa - 2 16 allreduce 16G 487 1",
		"row = h100 efa - 2 16 - 16G 487",
		"row = h100 efa - 2 16 allreduce - 487",
		"row = h100 efa - 2 16 allreduce 16G -",
		"row = h100 efa - 2 16 allreduce 16G nan",
		"row = h100 efa - 2 16 allreduce 16G -5",
		"row = h100 efa - x 16 allreduce 16G 5", "date 2026",
		"about = \xff" };
	json_t *rows = json_array();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		char *copy = xstrdup(bad[i]);
		struct err err = { 0 };

		if (reference_parse("f", copy, rows, &err) != -EINVAL)
			fail_msg("accepted: %s", bad[i]);
		assert_memory_equal(err.text, "f:1: ", 5);
		free(copy);
	}
	assert_int_equal(json_array_size(rows), 0);
	json_decref(rows);
}

/* The source of a row is the last one above it, and "-" is not stated. */
static void
test_sources(void **state)
{
	json_t *rows = parsed(
	    "source = a\ndate = 2025\nabout = x\n"
	    "row = - roce - 2 16 allreduce 1G 5\n"
	    "source = b\nrow = h100 - - - 8 alltoall 1K 2.5\n");
	const json_t *first = json_array_get(rows, 0);
	const json_t *second = json_array_get(rows, 1);

	(void)state;
	assert_string_equal(member_text(first, "date"), "2025");
	assert_null(json_object_get(first, "gpu"));
	assert_true(member_number(first, "busbw_bytes_per_s") == 5e9);
	assert_string_equal(member_text(second, "source"), "b");
	assert_null(json_object_get(second, "date"));
	assert_null(json_object_get(second, "nodes"));
	assert_true(member_number(second, "bytes") == 1024);
	json_decref(rows);
}

/* Worked out by hand: the class, then ranks within 2 and bytes within 4 times,
 * on one node or on several, the nearest row of each source. */
static void
test_match(void **state)
{
	static const struct {
		struct reference_class class;
		const char *busbw; /* in GB/s, in order */
	} cases[] = {
		{ { "h100", "efa", "allreduce", 0, 8e9, 2, 16 }, "12 20 50" },
		{ { "h100", "efa", "allreduce", 400, 8e9, 2, 16 }, "12 50" },
		{ { "H100", "efa", "allreduce", 3000, 8e9, 2, 16 },
		    "12 20 50" },
		{ { "H100", "roce", "allreduce", 0, 8e9, 2, 16 }, "50" },
		{ { "h100", "", "allreduce", 0, 8e9, 2, 16 }, "12 21 20" },
		{ { "", "", "allreduce", 0, 8e9, 2, 16 }, "50" },
		{ { "h100", "efa", "allreduce", 0, 8e9, 2, 40 }, "50" },
		{ { "h100", "efa", "allreduce", 0, 1e9, 2, 16 }, "11 50" },
		{ { "h100", "efa", "allreduce", 0, 8e9, 1, 16 }, "40 50" },
		{ { "h100", "efa", "alltoall", 0, 8e9, 2, 16 }, "30" },
		{ { "a100", "efa", "alltoall", 0, 8e9, 2, 16 }, "" },
	};
	json_t *rows = parsed("source = a\nabout = a\n"
			      "row = h100 efa - 2 16 allreduce 1G 11\n"
			      "row = h100 efa - 2 16 allreduce 8G 12\n"
			      "row = h100 efa - 2 16 alltoall 8G 30\n"
			      "source = b\nabout = b\n"
			      "row = h100 efa 3200 2 16 allreduce 16G 20\n"
			      "source = d\nabout = d\n"
			      "row = h100 - - 2 16 allreduce 8G 21\n"
			      "source = e\nabout = e\n"
			      "row = h100 nvlink - 1 16 allreduce 8G 40\n"
			      "source = c\nabout = c\n"
			      "row = - - - - - allreduce 3G 50\n");

	(void)state;
	for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
		json_t *got = reference_match(rows, &cases[k].class), *row;
		char text[80] = "";
		size_t i, n = 0;

		json_array_foreach (got, i, row)
			n += (size_t)snprintf(text + n, sizeof(text) - n,
			    "%s%.0f", i > 0 ? " " : "",
			    member_number(row, "busbw_bytes_per_s") / 1e9);
		if (strcmp(text, cases[k].busbw) != 0)
			fail_msg("case %zu: %s, expected %s", k, text,
			    cases[k].busbw);
		json_decref(got);
	}
	json_decref(rows);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shipped),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_sources),
		cmocka_unit_test(test_match),
	};

	(void)argc;
	(void)argv;
	setenv("COALMINE_REFERENCE", COALMINE_SOURCE_REFERENCE, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
