/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrix Market files: valid ones, and the errors of invalid ones.
 */
#include <errno.h>
#include <string.h>

#include "common/err.h"
#include "probes/neighbor/csr.h"
#include "common/str.h"
#include "probes/neighbor/csr.h"

#include <setjmp.h>
#include <cmocka.h>

#define HEAD "%%MatrixMarket matrix coordinate "

static int
parse(const char *text, struct csr *ret, struct err *err)
{
	return mtx_parse("a.mtx", text, strlen(text), ret, err);
}

static void
test_general(void **state)
{
	struct csr m;
	struct err err;

	(void)state;
	assert_int_equal(parse(HEAD "real general\n% by hand\n\n3 3 4\n"
				    "3 1 -2.5\n1 2 1e2\r\n\n% more\n1 2 1\n"
				    "2 2 4",
			     &m, &err),
	    0);
	assert_int_equal(m.rows, 3);
	assert_int_equal(m.nonzeros, 3);
	assert_int_equal(m.starts[1], 1);
	assert_int_equal(m.starts[3], 3);
	assert_int_equal(m.columns[0], 1);
	assert_true(m.values[0] == 101);
	assert_true(m.values[1] == 4);
	assert_true(m.values[2] == -2.5);
	csr_clear(&m);
}

static void
test_mirrored(void **state)
{
	struct csr m;
	struct err err;

	(void)state;
	assert_int_equal(parse(HEAD "pattern symmetric\n2 2 2\n2 1\n2 2\n", &m,
			     &err),
	    0);
	assert_int_equal(m.nonzeros, 3);
	assert_int_equal(m.columns[0], 1);
	assert_true(m.values[0] == 1);
	csr_clear(&m);
	assert_int_equal(parse(HEAD "integer Skew-Symmetric\n2 2 1\n2 1 7\n",
			     &m, &err),
	    0);
	assert_int_equal(m.nonzeros, 2);
	assert_true(m.values[0] == -7);
	assert_true(m.values[1] == 7);
	csr_clear(&m);
	assert_int_equal(parse(HEAD "real general\n1 1 0\n", &m, &err), 0);
	assert_int_equal(m.nonzeros, 0);
	csr_clear(&m);
}

static void
test_refused(void **state)
{
	static const char *const rows[][2] = {
		{ "", "a.mtx:1: expected %%MatrixMarket matrix" },
		{ "1 2 3\n", "a.mtx:1: expected %%MatrixMarket matrix" },
		{ "%%MatrixMarket matrix array real general\n",
		    "a.mtx:1: array: expected coordinate" },
		{ HEAD "complex general\n",
		    "a.mtx:1: complex: expected "
		    "real" },
		{ HEAD "real hermitian\n", "a.mtx:1: hermitian: expected" },
		{ HEAD "real general\n", "a.mtx:1: expected rows columns" },
		{ HEAD "real general\n2 2\n", "a.mtx:2: expected rows" },
		{ HEAD "real general\n2 0 1\n", "a.mtx:2: expected rows" },
		{ HEAD "real general\n2 2 -1\n", "a.mtx:2: expected rows" },
		{ HEAD "real general\n2 3 1\n",
		    "a.mtx:2: 2 rows and 3 columns: expected a square" },
		{ HEAD "real general\n2 2 1\n1 3 5\n",
		    "a.mtx:3: expected row column and a number, 1 to 2" },
		{ HEAD "real general\n2 2 1\n0 1 5\n", "a.mtx:3: expected" },
		{ HEAD "real general\n2 2 1\n1 1\n", "a.mtx:3: expected" },
		{ HEAD "real general\n2 2 1\n1 1 x\n", "a.mtx:3: expected" },
		{ HEAD "real general\n2 2 1\n1 1 nan\n", "a.mtx:3: expected" },
		{ HEAD "pattern general\n2 2 1\n1 1 5\n",
		    "a.mtx:3: expected row column, 1 to 2" },
		{ HEAD "integer general\n2 2 1\n1 1 5.5\n",
		    "a.mtx:3: expected row column and a whole number" },
		{ HEAD "real general\n2 2 2\n1 1 5\n",
		    "a.mtx:3: 1 entries: the header has 2" },
		{ HEAD "real general\n2 2 1\n1 1 5\n2 2 5\n",
		    "a.mtx:4: expected 1 entries" },
		{ HEAD "real symmetric\n2 2 1\n1 2 5\n",
		    "a.mtx:3: above the diagonal: expected row >= column" },
	};
	char text[1100];
	struct err err;
	struct csr m;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(parse(rows[i][0], &m, &err), -EINVAL);
		if (strncmp(err.text, rows[i][1], strlen(rows[i][1])) != 0)
			fail_msg("\"%s\" is not \"%s\"", err.text, rows[i][1]);
	}
	memset(text, ' ', sizeof(text));
	assert_int_equal(mtx_parse("a.mtx", text, sizeof(text), &m, &err),
	    -EINVAL);
	assert_non_null(strstr(err.text, "a.mtx:1: expected lines of text"));
	assert_int_equal(mtx_load("/nonexistent", &m, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nonexistent: "));
}

static void
test_owner(void **state)
{
	struct csr m = { 0 };

	(void)state;
	for (m.rows = 1; m.rows < 40; m.rows++)
		for (uint32_t ranks = 1; ranks < 50; ranks++)
			for (uint32_t row = 0; row < m.rows; row++) {
				uint32_t p = csr_owner(&m, ranks, row);

				assert_true(csr_block(&m, ranks, p) <= row);
				assert_true(csr_block(&m, ranks, p + 1) > row);
			}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_general),
		cmocka_unit_test(test_mirrored),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
