/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_store_text.c - text that jansson reads back as the same value, bit by
 * bit, whatever the value; and what it looks like.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* Before cmocka.h go those. */
#include <cmocka.h>

#include <float.h>

#include "common/rng.h"

#include "daemon/store/store_text.c"

static void
looks(const char *json, const char *want)
{
	json_t *v = json_loads(json, 0, NULL);
	char *got = store_text(v, NULL);

	assert_non_null(v);
	assert_string_equal(got, want);
	free(got);
	json_decref(v);
}

static void
test_looks(void **state)
{
	(void)state;
	looks("[0.0, -0.0, 1.0, -2.5, 1e-9, 4.01e-5]",
	    "[0.0,-0.0,1.0,-2.5,1e-9,4.01e-5]");
	looks("[0.0123, 120.0, 123456.000000001, 0.00012]",
	    "[0.0123,120.0,123456.000000001,0.00012]");
	looks("[0, -7, 9223372036854775807, -9223372036854775808]",
	    "[0,-7,9223372036854775807,-9223372036854775808]");
	looks("[1e300, 1e15, 0.1234567890123]",
	    "[1.0000000000000001e+300,1000000000000000.0,0.1234567890123]");
	looks("{\"a\": {}, \"b\": [], \"c\": null, \"d\": [true, false]}",
	    "{\"a\":{},\"b\":[],\"c\":null,\"d\":[true,false]}");
	looks("[\"\", \"a\\\"b\\\\c\\n\\u0001\", \"\xc3\xa4\"]",
	    "[\"\",\"a\\u0022b\\u005cc\\u000a\\u0001\",\"\xc3\xa4\"]");
}

static void
test_without(void **state)
{
	json_t *v = json_pack("{s:i,s:{s:i}}", "hist", 1, "b", "hist", 2);
	char *got = store_text(v, "hist");

	(void)state;
	assert_string_equal(got, "{\"b\":{\"hist\":2}}");
	free(got);
	json_decref(v);
	assert_null(store_text(NULL, NULL));
}

static void
comes_back(double x)
{
	json_t *v = json_pack("[f]", x), *back;
	char *text = store_text(v, NULL);
	double got;

	back = json_loads(text, 0, NULL);
	if (back == NULL || !json_is_real(json_array_get(back, 0)))
		fail_msg("%a became %s", x, text);
	got = json_real_value(json_array_get(back, 0));
	if (memcmp(&got, &x, sizeof(x)) != 0)
		fail_msg("%a became %s, %a", x, text, got);
	free(text);
	json_decref(v);
	json_decref(back);
}

/* Any bits at all, times of a clock, and what lies one bit beside them. */
static void
test_reals(void **state)
{
	struct rng r;

	(void)state;
	rng_seed(&r, 6);
	for (int i = 0; i < 300000; i++) {
		uint64_t bits = rng_next(&r), ns = rng_next(&r) >> (i % 64);
		double any, x = (double)ns / 1e9;

		memcpy(&any, &bits, sizeof(any));
		if (isfinite(any))
			comes_back(any);
		comes_back(x);
		comes_back(-nextafter(x, DBL_MAX));
		comes_back(nextafter(x, 0));
		comes_back((double)(ns % 1000000007) * 1e-9);
	}
	comes_back(DBL_MAX);
	comes_back(DBL_MIN / 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_looks),
		cmocka_unit_test(test_without),
		cmocka_unit_test(test_reals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
