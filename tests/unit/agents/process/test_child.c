/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is told of a child's end.
 */
#include "agents/process/child.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define DEATH "=   PID 7 RUNNING AT n4\n"

static void
test_last_words(void **state)
{
	static const struct {
		const char *err, *out, *words;
	} rows[] = {
		{ "", "", "" },
		{ "why\n", "a table\n", "why\n" },
		{ "", "a table\n" DEATH, DEATH },
		{ "why\n", DEATH, "why\n" DEATH },
		{ "cut off", DEATH, "cut off\n" DEATH },
		{ "cut off", "", "cut off" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct child *c = xcalloc(1, sizeof(*c));
		char *words;

		stderr_tail_add(&c->tail, rows[i].err, strlen(rows[i].err));
		stderr_tail_add(&c->said, rows[i].out, strlen(rows[i].out));
		words = child_last_words(c);
		assert_string_equal(words, rows[i].words);
		free(words);
		free(c);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_last_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
