/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_store_bytea.c - values of type bytea as a hostile database can send
 * them: an invalid one is NULL, and its length is never used.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "common/log.h"
#include "common/str.h"
#include "daemon/store/store_postgresql_stmt.h"

#define OID_BYTEA 17

static void
test_lengths(void **state)
{
	static const struct {
		const char *sent;
		int len;
		const char *bytes; /* NULL: invalid */
		size_t bytes_len;
	} rows[] = {
		{ "\\x0aff", 6, "\x0a\xff", 2 },
		{ "\\x", 2, "", 0 },
		{ "", 0, NULL, 0 },
		{ "\\", 1, NULL, 0 },
		{ "x", 1, NULL, 0 },
		{ "\\x0", 3, NULL, 0 },
		{ "\\x0g", 4, NULL, 0 },
		{ "0aff", 4, NULL, 0 },
	};
	char name[] = "body";
	PGresAttDesc column = { .name = name, .typid = OID_BYTEA };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		PGresult *r = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
		struct pg_stmt st = { .rows = r };
		struct sql_value v;

		assert_true(PQsetResultAttrs(r, 1, &column));
		assert_true(PQsetvalue(r, 0, 0, (char *)(uintptr_t)rows[i].sent,
		    rows[i].len));
		for (int again = 0; again < 2; again++) {
			pg_stmt_column(&st.sql, 0, &v);
			assert_int_equal(v.type,
			    rows[i].bytes != NULL ? SQL_BLOB : SQL_NULL);
			assert_int_equal(v.len_bytes, rows[i].bytes_len);
			if (rows[i].bytes != NULL)
				assert_memory_equal(v.bytes, rows[i].bytes,
				    rows[i].bytes_len);
		}
		PQclear(r);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lengths),
	};

	log_init("test", LOG_LEVEL_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
