/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrix and list files: valid ones, and the errors of invalid ones.
 */
#include "common/err.h"
#include "probes/pattern/matrix.c"
#include "probes/pattern/matrix.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static int
parse(const char *text, enum matrix_format format, uint32_t ranks,
    struct matrix *ret, struct err *err)
{
	return matrix_parse(&(struct numbers_text){ "m.txt", text,
				strlen(text) },
	    format, ranks, ret, err);
}

static void
refused(const char *text, enum matrix_format format, uint32_t ranks,
    const char *words)
{
	struct matrix m;
	struct err err = { 0 };

	assert_int_equal(parse(text, format, ranks, &m, &err), -EINVAL);
	if (strncmp(err.text, words, strlen(words)) != 0)
		fail_msg("\"%s\" does not start with \"%s\"", err.text, words);
}

static void
test_matrix(void **state)
{
	struct matrix m;
	struct err err;

	(void)state;
	assert_int_equal(parse("# who\n0 1\t \n\n 5 7 # x\r\n", MATRIX_AUTO, 0,
			     &m, &err),
	    0);
	assert_int_equal(m.ranks, 2);
	assert_int_equal(m.is_list, 0);
	assert_int_equal(m.cells[1], 1);
	assert_int_equal(m.cells[2], 5);
	assert_int_equal(m.cells[3], 7);
	matrix_clear(&m);
	assert_int_equal(parse("4", MATRIX_AUTO, 0, &m, &err), 0);
	assert_int_equal(m.cells[0], 4);
	matrix_clear(&m);
}

static void
test_list(void **state)
{
	struct matrix m;
	struct err err;

	(void)state;
	assert_int_equal(parse("0 1 100\n3 0 7\n0 1 11\n1 1 1\n", MATRIX_AUTO,
			     0, &m, &err),
	    0);
	assert_int_equal(m.ranks, 4);
	assert_int_equal(m.is_list, 1);
	assert_int_equal(m.cells[1], 111);
	assert_int_equal(m.cells[12], 7);
	assert_int_equal(m.cells[5], 1);
	matrix_clear(&m);
	assert_int_equal(parse("src dst bytes\n0 1 8\n", MATRIX_AUTO, 0, &m,
			     &err),
	    0);
	assert_int_equal(m.is_list, 1);
	matrix_clear(&m);
}

static void
told(const char *text, uint32_t ranks, int is_list)
{
	struct matrix m;
	struct err err;

	if (parse(text, MATRIX_AUTO, ranks, &m, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	assert_int_equal(m.is_list, is_list);
	matrix_clear(&m);
}

/* Three lines of three numbers. */
static void
test_ambiguous(void **state)
{
	static const char *const both[] = {
		"0 1 8\n1 1 8\n2 0 8\n",    /* to itself */
		"0 1 8\n2 0 8\n0 1 8\n",    /* a pair twice */
		"0 1 2\n1 2 8\n2 0 8\n",    /* no more than ranks */
		"10 10 10\n9 9 9\n8 8 8\n", /* all of it */
	};
	struct matrix m;
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(both) / sizeof(both[0]); i++) {
		refused(both[i], MATRIX_AUTO, 0,
		    "m.txt:1: ambiguous: 3 lines of 3");
		told(both[i], 16, 1);
	}
	refused(both[0], MATRIX_AUTO, 3, "m.txt:1: ambiguous: 3 lines of 3");
	assert_int_equal(parse(both[0], MATRIX_MATRIX, 0, &m, &err), 0);
	assert_int_equal(m.cells[2], 8);
	matrix_clear(&m);
	assert_int_equal(parse(both[0], MATRIX_LIST, 0, &m, &err), 0);
	assert_int_equal(m.cells[1], 8);
	matrix_clear(&m);
	told("0 1 8\n1 2 8\n2 0 8\n", 0, 1);
	told("0 1 8\n1 2 8\n2 0 8\n", 3, 1);
	told("0 1 100\n1 5 70000\n6 0 7\n", 0, 1);
	told("0 1 100\n1 5 70000\n6 0 7\n", 6, 0); /* rank 6 does not exist */
	told("0 3 9\n1 0 9\n2 2 0\n", 0, 0);
	told("0 3 9\n1 0 9\n2 2 0\n", 8, 0);
	told("0 5000 1\n9 0 9000\n3 3 1\n", 0, 0);
}

static void
test_refused(void **state)
{
	(void)state;
	refused("1 2\n3\n", MATRIX_AUTO, 0, "m.txt:2: 1 numbers: expected");
	refused("1 2\n3 4 5\n", MATRIX_AUTO, 0, "m.txt:2: 3 numbers");
	refused("1 2 3 4\n3 4 5 6\n", MATRIX_AUTO, 0,
	    "m.txt:2: the matrix ends after 2 rows: expected 4, the "
	    "number of columns");
	refused("1 2\n3 4\n5 6\n", MATRIX_AUTO, 0,
	    "m.txt:3: the matrix ends after 3 rows: expected 2, the "
	    "number of columns");
	refused("1 2\n3 -4\n", MATRIX_AUTO, 0,
	    "m.txt:2: -4: expected a whole number, 0 to");
	refused("1 2\n3 4.5\n", MATRIX_AUTO, 0, "m.txt:2: 4.5: expected");
	refused("1 x\n", MATRIX_AUTO, 0, "m.txt:1: x: expected");
	refused("1 99999999999999999999999999999999999\n", MATRIX_AUTO, 0,
	    "m.txt:1: 99999999");
	refused("", MATRIX_AUTO, 0, "m.txt:1: no numbers");
	refused("# nothing\n\n", MATRIX_AUTO, 0, "m.txt:2: no numbers");
	refused("1 2\n3 4\n", MATRIX_AUTO, 1, "m.txt:1: a matrix for 2 ranks");
	refused("0 9 1\n", MATRIX_AUTO, 9, "m.txt:1: rank 9: expected 0 to 8");
	refused("0 1 5 6\n", MATRIX_LIST, 0, "m.txt:1: 4 numbers: expected");
	refused("src dst bytes\n", MATRIX_AUTO, 0, "m.txt:1: no numbers");
	refused("0 1 1125899906842624\n0 1 1\n", MATRIX_LIST, 0,
	    "m.txt:2: rank 0 sends too much to rank 1: expected at most");
	refused("1125899906842624 1125899906842624\n0 0\n", MATRIX_AUTO, 0,
	    "m.txt:2: rank 0 sends or receives too much: expected at");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_matrix),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_ambiguous),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
