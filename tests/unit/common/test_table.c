/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "common/table.h"

#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static char *
printed(struct table *t, void (*print)(struct table *, FILE *))
{
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	print(t, to);
	fclose(to);
	return text;
}

static void
test_columns(void **state)
{
	struct table *t = table_new("name|>n|text");
	char *text;

	(void)state;
	table_cell(t, "%s", "a");
	table_cell(t, "%d", 5);
	table_cell(t, "%s", "");
	table_cell(t, "%s", "b\xc3\xa4r"); /* 3 characters, 4 bytes */
	table_cell(t, "%d", 12345);
	table_cell(t, "%s", "x, \"y\"");
	text = printed(t, table_print);
	assert_string_equal(text,
	    "name      n  text\n"
	    "a         5\n"
	    "b\xc3\xa4r   12345  x, \"y\"\n");
	free(text);
	table_free(t);
	table_free(NULL);
}

static void
print_narrow(struct table *t, FILE *to)
{
	table_print_within(t, to, 34);
}

/* On a narrow terminal columns of text are wrapped, numbers are not. */
static void
test_narrow(void **state)
{
	struct table *t = table_new("node|>score|text");
	char *text;

	(void)state;
	table_cell(t, "%s", "node5");
	table_cell(t, "%s", "4.4");
	table_cell(t, "%s", "10.0 times slower than its partners");
	table_cell(t, "%s", "n6");
	table_cell(t, "%s", "0.1");
	table_cell(t, "%s", "ok");
	text = printed(t, print_narrow);
	assert_string_equal(text,
	    "node   score  text\n"
	    "node5    4.4  10.0 times slower\n"
	    "              than its partners\n"
	    "n6       0.1  ok\n");
	free(text);
	table_free(t);
}

static void
test_empty_columns(void **state)
{
	struct table *t = table_new("a|b|c");
	char *text;

	(void)state;
	table_cell(t, "%s", "1");
	table_cell(t, "%s", "");
	table_cell(t, "%s", "3");
	text = printed(t, table_print);
	assert_string_equal(text, "a  b  c\n1     3\n");
	free(text);
	table_free(t);
}

static void
test_bars(void **state)
{
	char bar[64];

	(void)state;
	table_bar(0.5, 4, 1, bar, sizeof(bar));
	assert_string_equal(bar, "##  ");
	table_bar(0, 4, 1, bar, sizeof(bar));
	assert_string_equal(bar, "    ");
	table_bar(0.001, 4, 1, bar, sizeof(bar));
	assert_string_equal(bar, "#   "); /* a small share is visible */
	table_bar(7, 4, 1, bar, sizeof(bar));
	assert_string_equal(bar, "####");
	table_bar(NAN, 2, 0, bar, sizeof(bar));
	assert_string_equal(bar, "  ");
	table_bar(0.001, 2, 0, bar, sizeof(bar));
	assert_string_equal(bar, "\xe2\x96\x8f ");
	table_bar(0.75, 2, 0, bar, sizeof(bar));
	assert_string_equal(bar, "\xe2\x96\x88\xe2\x96\x8c");
	table_bar(1, 1, 0, bar, sizeof(bar));
	assert_string_equal(bar, "\xe2\x96\x88");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_narrow),
		cmocka_unit_test(test_empty_columns),
		cmocka_unit_test(test_bars),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
