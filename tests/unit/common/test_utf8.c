/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "common/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/rng.h"
#include "common/str.h"
#include "common/text.h"

static const struct {
	const char *text, *clean;
} cases[] = {
	{ "", "" },
	{ "plain\n\ttext", "plain\n\ttext" },
	{ "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
	    "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80" },
	{ "a\xff\x80z", "a??z" },
	{ "\xc0\x80.", "??." },           /* longer than need be */
	{ "\xe0\x80\x80.", "???." },      /* overlong, in three bytes */
	{ "\xed\xa0\x80.", "???." },      /* half a surrogate pair */
	{ "\xf4\x90\x80\x80.", "????." }, /* beyond U+10FFFF */
	{ "a\xe2\x82 b", "a?? b" },
	{ "esc\033[1m\r\177", "esc?[1m??" },
	{ "csi\xc2\x9b"
	  "1m \xc2\xa0",
	    "csi??1m \xc2\xa0" },
	/* marks of direction and ends of lines */
	{ "node\xe2\x80\xae"
	  "1 \xe2\x80\x8f \xe2\x80\xa8 \xe2\x81\xa6",
	    "node???1 ??? ??? ???" },
	{ "\xe2\x80\x94 \xe2\x80\xa6 \xe2\x81\xaa",
	    "\xe2\x80\x94 \xe2\x80\xa6 \xe2\x81\xaa" },
	/* cut within a character */
	{ "cut \xe2\x82", "cut " },
	{ "cut \xf0\x9f\x98", "cut " },
	{ "cut \xc3", "cut " },
	{ "\xc3", "" },
	{ "\x82\x82", "??" },
};

static void
test_clean(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char *text = xstrdup(cases[i].text);
		json_t *value = text_json(text);

		utf8_clean(text);
		assert_string_equal(text, cases[i].clean);
		assert_string_equal(json_string_value(value), cases[i].clean);
		assert_int_equal(utf8_check(text, strlen(text)), strlen(text));
		json_decref(value);
		free(text);
	}
	assert_int_equal(utf8_check("ab\xfc", 3), 2);
	assert_int_equal(utf8_check("\xc3\xa9\xc3", 3), 2);
}

/* For any bytes and any cut jansson accepts the result. */
static void
test_random(void **state)
{
	static const unsigned char likely[] = { 'a', 0xc3, 0xa9, 0xe2, 0x82,
		0xac, 0xf0, 0x9f, 0x98, 0x80, 0xff, '\n', 0x1b };
	struct rng rng;

	(void)state;
	rng_seed(&rng, 7);
	for (int round = 0; round < 20000; round++) {
		char bytes[24], cut[16];
		size_t len = rng_below(&rng, sizeof(bytes));
		struct err err;
		json_t *value;

		for (size_t i = 0; i < len; i++)
			bytes[i] = (char)
			    likely[rng_below(&rng, sizeof(likely))];
		bytes[len] = '\0';
		utf8_format(cut, sizeof(cut), "%.5s %s", bytes, bytes);
		value = json_string(cut);
		assert_non_null(value);
		json_decref(value);
		err_say(&err, "%.7s is not %s", bytes, bytes);
		value = json_string(err.text);
		assert_non_null(value);
		json_decref(value);
		utf8_clean_bytes(bytes, len);
		value = json_string(bytes);
		assert_non_null(value);
		json_decref(value);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clean),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
