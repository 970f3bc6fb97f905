/* SPDX-License-Identifier: Apache-2.0 */
#include "common/err.h"
#include "schema/strict.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void
test_refusals(void **state)
{
	static const struct {
		const char *text, *want;
	} bad[] = {
		{ "", "not JSON" },
		{ "[]", "not a JSON object" },
		{ "{\"a\":1,\"a\":2}", "not JSON: duplicate object key" },
		{ "{\"a\":[[[1]]]}", "nested deeper than 3" },
		{ "{\"a\":1} x", "not JSON" },
		{ "{\"a\":\"\\u0000\"}", "not JSON" },
		{ "{\"a\":\"\xff\"}", "not JSON" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct err err = { 0 };
		json_t *got = NULL;

		assert_int_equal(strict_object(bad[i].text, strlen(bad[i].text),
				     3, &got, &err),
		    -EPROTO);
		assert_null(got);
		assert_int_equal(strncmp(err.text, bad[i].want,
				     strlen(bad[i].want)),
		    0);
	}
}

static void
test_brackets_in_strings_do_not_count(void **state)
{
	const char *text = "{\"a\":\"[[[[[\\\"[[[[\",\"b\":{}}";
	struct err err;
	json_t *got = NULL;

	(void)state;
	assert_int_equal(strict_object(text, strlen(text), 3, &got, &err), 0);
	assert_string_equal(json_string_value(json_object_get(got, "a")),
	    "[[[[[\"[[[[");
	json_decref(got);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_brackets_in_strings_do_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
