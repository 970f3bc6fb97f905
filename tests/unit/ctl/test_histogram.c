/* SPDX-License-Identifier: Apache-2.0 */
/* Shares add up to all samples for any number of rows; no access is out of
 * bounds. */
#include "ctl/lib/histogram.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

static struct hist a, b;

static int
rows_of(const struct span *s)
{
	return (s->last - s->first) / s->step + 1;
}

static void
check_shares(void)
{
	struct span s = histogram_span_of(&a, &b);
	double sum_a = 0, sum_b = 0;

	assert_in_range(rows_of(&s), 1, ROWS_MAX);
	for (int at = s.first; at <= s.last; at += s.step) {
		sum_a += histogram_share(&a, &s, at);
		sum_b += histogram_share(&b, &s, at);
	}
	assert_true(a.count == 0 || fabs(sum_a - 1) < 1e-9);
	assert_true(b.count == 0 || fabs(sum_b - 1) < 1e-9);
}

static void
test_shares(void **state)
{
	(void)state;
	for (int decades = 0; decades < 10; decades++) {
		hist_clear(&a);
		hist_clear(&b);
		for (int i = 0; i < 5000; i++) {
			hist_add(&a, 1e-6 * (1 + i % 7));
			hist_add(&b, 1e-6 * pow(10, i * decades / 5000.0));
		}
		check_shares();
		hist_clear(&b);
		check_shares();
	}
	hist_clear(&a);
	hist_add(&a, 1e-9); /* a single sample is a single row */
	check_shares();
	hist_add(&b, 1e30); /* beyond the last bucket */
	check_shares();
}

static void
test_text(void **state)
{
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	(void)state;
	hist_clear(&a);
	hist_clear(&b);
	histogram_print(&a, "left", &b, "right", "s", 1, to);
	fflush(to);
	assert_int_equal(len, 0); /* nothing to show */
	hist_add_many(&a, 1e-3, 3);
	hist_add_many(&b, 1e-3, 1);
	hist_add_many(&b, 1.1e-3, 3);
	histogram_print(&a, "left", &b, "right", "s", 1, to);
	fclose(to);
	assert_non_null(strstr(text, "100.0 % ########################"));
	assert_non_null(strstr(text, " 75.0 % ##################\n"));
	assert_null(strstr(text, " \n"));
	assert_non_null(strstr(text, "right"));
	free(text);
	/* Without samples the right column is absent. */
	hist_clear(&b);
	to = open_memstream(&text, &len);
	histogram_print(&a, "left", &b, "right", "s", 1, to);
	fclose(to);
	assert_null(strstr(text, "right"));
	assert_null(strstr(text, "  0.0 %"));
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
