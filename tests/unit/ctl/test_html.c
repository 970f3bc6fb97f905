/* SPDX-License-Identifier: Apache-2.0 */
/* No text of a record ends the script that holds the data, and all of it is
 * there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/xalloc.h"
#include "ctl/lib/html.h"

#define BEGIN "type=\"application/json\">"
#define END   "</script>"

static size_t
count_of(const char *text, const char *what)
{
	size_t n = 0;

	while ((text = strstr(text, what)) != NULL) {
		text += strlen(what);
		n++;
	}
	return n;
}

static char *
report_of(const char *text)
{
	json_t *run = json_pack("{s:s}", "run", text);
	json_t *records = json_pack("[{s:s}]", "text", text);
	char *html = html_report(run, records);

	json_decref(run);
	json_decref(records);
	return html;
}

static void
test_data(void **state)
{
	static const char evil[] = "a</script><script>x<!-- \xc3\xa4 & \"";
	char *plain = report_of("x"), *html = report_of(evil), *data;
	const char *from, *to;
	json_t *all;

	(void)state;
	assert_int_equal(count_of(html, END), count_of(plain, END));
	assert_int_equal(count_of(plain,
			     "\"headline\":\"Nothing was measured.\""),
	    1);
	assert_int_equal(count_of(html, "<!--"), count_of(plain, "<!--"));
	from = strstr(html, BEGIN);
	assert_non_null(from);
	from += strlen(BEGIN);
	to = strstr(from, END);
	assert_non_null(to);
	data = xstrndup(from, (size_t)(to - from));
	all = json_loads(data, 0, NULL);
	assert_non_null(all);
	assert_string_equal(json_string_value(
				json_object_get(json_object_get(all, "run"),
				    "run")),
	    evil);
	assert_string_equal(json_string_value(json_object_get(
				json_array_get(json_object_get(all, "records"),
				    0),
				"text")),
	    evil);
	json_decref(all);
	free(data);
	free(plain);
	free(html);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_data) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
