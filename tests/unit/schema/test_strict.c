/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "common/err.h"
#include "schema/strict.h"
#include "common/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
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

/* Small integers are one value, which no thread counts. */
static void
test_small_integers_are_shared(void **state)
{
	static const struct {
		const char *text;
		int shared;
	} cases[] = { { "{\"a\":[7,7]}", 1 }, { "{\"a\":[-1023,-1023]}", 1 },
		{ "{\"a\":[1024,1024]}", 0 }, { "{\"a\":[7.5,7.5]}", 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const json_t *a, *b;
		struct err err;
		json_t *got;

		assert_int_equal(strict_object(cases[i].text,
				     strlen(cases[i].text), 3, &got, &err),
		    0);
		a = json_array_get(json_object_get(got, "a"), 0);
		b = json_array_get(json_object_get(got, "a"), 1);
		assert_int_equal(a == b, cases[i].shared);
		assert_int_equal(a->refcount == (size_t)-1, cases[i].shared);
		json_decref(got);
	}
}

/* One text by this reader and by jansson's: the same values or two refusals. */
static int
same_as_jansson(const char *text, size_t len)
{
	json_t *want = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	json_t *got = NULL;
	int rc = strict_object(text, len, 100, &got, NULL);
	int same = json_is_object(want) ? rc == 0 && json_equal(got, want)
					: rc < 0;

	if (!same)
		print_error("%.*s\n", (int)len, text);
	json_decref(want);
	json_decref(got);
	return same;
}

static const char *const same_texts[] = {
	"{}",
	" { } ",
	"{\"a\" : [ ] , \"b\":[1 ,2]}",
	"{\"a\":[1,]}",
	"{\"a\":1,}",
	"{,}",
	"{\"a\"}",
	"{\"a\":}",
	"{\"a\":1",
	"{\"a",
	"{\"a\":\"\\",
	"{\"a\":0}",
	"{\"a\":-0}",
	"{\"a\":00}",
	"{\"a\":01}",
	"{\"a\":-}",
	"{\"a\":+1}",
	"{\"a\":.5}",
	"{\"a\":5.}",
	"{\"a\":5.e1}",
	"{\"a\":5e}",
	"{\"a\":5e+}",
	"{\"a\":5E+2}",
	"{\"a\":-5e-2}",
	"{\"a\":-0.0}",
	"{\"a\":9223372036854775807}",
	"{\"a\":9223372036854775808}",
	"{\"a\":-9223372036854775808}",
	"{\"a\":-9223372036854775809}",
	"{\"a\":99999999999999999999}",
	"{\"a\":1e308}",
	"{\"a\":1e309}",
	"{\"a\":-1e309}",
	"{\"a\":1e-400}",
	"{\"a\":1e99999999999999999999}",
	"{\"a\":0.000000000000000000000000000000000000001}",
	"{\"a\":2.2250738585072011e-308}",
	"{\"a\":123456789012345678901234567890.5}",
	"{\"a\":true,\"b\":false,\"c\":null}",
	"{\"a\":tru}",
	"{\"a\":truee}",
	"{\"a\":nul",
	"{\"a\":\"\\u00e9\\u20ac\"}",
	"{\"a\":\"\\ud83d\\ude00\"}",
	"{\"a\":\"\\ud83d\"}",
	"{\"a\":\"\\ude00\"}",
	"{\"a\":\"\\ud83dx\"}",
	"{\"a\":\"\\u00g0\"}",
	"{\"a\":\"\\u12",
	"{\"\\u0061\":1}",
	"{\"a\":1,\"\\u0061\":2}",
	"{\"\\u0000\":1}",
	"{\"a\":\"\\b\\f\\n\\r\\t\\/\\\\\\\"\"}",
	"{\"a\":\"\\x\"}",
	"{\"a\":\"\n\"}",
	"{\"\":1}",
	"{\"a\":\"\xc3\xa9\"}",
	"{\"\xc3\xa9\":1}",
	"{\"\xc3\":1}",
	"{\"a\":\"\xed\xa0\x80\"}",
	"{\"a\":\"\xc0\x80\"}",
	"{\"a\":\"\xf4\x90\x80\x80\"}",
	"[{}]",
	"1",
	"\"a\"",
	"{}{}",
	"{\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	"aaaa"
	"aaaaaaaaaaaaaaaa\":{\"b\":[[],[{}],\"\"]}}",
};

static void
test_same_values_as_jansson(void **state)
{
	static const char seed[] =
	    "{\"a\":[1,-2.5e-3,\"x\\u00e9\\n\"],\"b\":{\"c\":null,\"d\":true}}";
	static const char marks[] = "{}[]\",:0e.-\\ut \x80\xc3";

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(same_texts); i++)
		assert_true(
		    same_as_jansson(same_texts[i], strlen(same_texts[i])));
	/* Behind a number jansson would skip it. */
	assert_int_equal(strict_object("{\"a\":1\0}", 8, 3, &(json_t *){ 0 },
			     NULL),
	    -EPROTO);
	assert_true(same_as_jansson("{}\0", 3));
	assert_true(same_as_jansson("{\"a\":\"\0\"}", 9));
	srand(1);
	for (int i = 0; i < 100000; i++) {
		char text[sizeof(seed)];

		memcpy(text, seed, sizeof(seed));
		for (int n = rand() % 4; n >= 0; n--)
			text[(size_t)rand() % (sizeof(seed) - 1)] =
			    marks[(size_t)rand() % (sizeof(marks) - 1)];
		assert_true(same_as_jansson(text, sizeof(seed) - 1));
	}
}

/* Every way in which a double is written, back as it was. */
static void
test_reals_are_the_nearest(void **state)
{
	(void)state;
	srand(2);
	for (int i = 0; i < 400000; i++) {
		double x = (double)rand() / RAND_MAX + (double)rand() * 1e-19;
		char text[400];

		for (int n = rand() % 12; n > 0; n--)
			x = rand() % 4 == 0 ? x * 10 : x / 10;
		if (i % 3 == 0)
			snprintf(text, sizeof(text), "{\"a\":%.17g}", x);
		else if (i % 3 == 1)
			snprintf(text, sizeof(text), "{\"a\":%.*e}", i % 21, x);
		else
			snprintf(text, sizeof(text), "{\"a\":%.*f}", i % 12, x);
		if (strpbrk(text, ".e") != NULL)
			assert_true(same_as_jansson(text, strlen(text)));
	}
}

/* The lines of array "records" without the member hist, which is in the list of
 * buckets where it is one. */
static void
test_lines_and_their_histograms(void **state)
{
	static const struct {
		const char *line, *cut; /* NULL: hist stays a value */
	} cases[] = {
		{ "{\"a\":1,\"hist\":[[-3,2],[4,5]],\"b\":2}",
		    "{\"a\":1,\"b\":2}" },
		{ "{\"hist\": [ [-3, 2] ,[4,5 ] ] , \"b\":2}", "{ \"b\":2}" },
		{ "{\"a\":{\"hist\":[]}, \"hist\":[[-3,2],[4,5]] }",
		    "{\"a\":{\"hist\":[]} }" },
		{ "{\"hist\":[[-3,2],[4,5]]}", "{}" },
		{ "{\"hist\":[[-3,2],[4,-5]]}", NULL },
		{ "{\"hist\":[[-3,2],[4,5.0]]}", NULL },
		{ "{\"hist\":[[-3,2,1]]}", NULL },
		{ "{\"hist\":[[-3000000000,2]]}", NULL },
		{ "{\"hist\":{}}", NULL },
	};
	struct strict_lines lines = { 0 };
	char text[400], cut[200];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct strict_line *l;
		const char *at;
		json_t *o, *expected;

		snprintf(text, sizeof(text),
		    "{\"hist\":[[1,1]], \"records\": [{\"hist\":[]},%s]}",
		    cases[i].line);
		assert_int_equal(strict_object_lines(text, strlen(text), 8, &o,
				     &lines, NULL),
		    0);
		assert_non_null(json_object_get(o, "hist"));
		assert_int_equal(lines.count, 2);
		l = &lines.list[1];
		at = lines.text + l->from;
		assert_int_equal(l->len_bytes, strlen(cases[i].line));
		assert_memory_equal(at, cases[i].line, l->len_bytes);
		assert_int_equal(l->has_hist, cases[i].cut != NULL);
		expected = json_loads(cases[i].cut != NULL ? cases[i].cut
							   : cases[i].line,
		    0, NULL);
		assert_true(json_equal(expected,
		    json_array_get(json_object_get(o, "records"), 1)));
		json_decref(expected);
		json_decref(o);
		if (!l->has_hist)
			continue;
		snprintf(cut, sizeof(cut), "%.*s%.*s", (int)l->cut_from, at,
		    (int)(l->len_bytes - l->cut_to), at + l->cut_to);
		assert_string_equal(cut, cases[i].cut);
		assert_int_equal(lines.buckets[l->bucket].index, -3);
		assert_int_equal(lines.buckets[l->bucket].count, 2);
	}
	for (const char *twice = "[[1,1]]"; twice != NULL;
	     twice = twice[0] == '[' ? "1" : NULL) {
		snprintf(text, sizeof(text),
		    "{\"records\":[{\"hist\":[[1,1]],\"hist\":%s}]}", twice);
		assert_int_equal(strict_object_lines(text, strlen(text), 8,
				     &(json_t *){ 0 }, &lines, NULL),
		    -EPROTO);
	}
	strict_lines_clear(&lines);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_and_their_histograms),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_brackets_in_strings_do_not_count),
		cmocka_unit_test(test_small_integers_are_shared),
		cmocka_unit_test(test_same_values_as_jansson),
		cmocka_unit_test(test_reals_are_the_nearest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
