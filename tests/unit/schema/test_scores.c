/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "schema/record.h"
#include "schema/scores.h"
#include "common/xalloc.h"

#define MANY 10000

static double
value_of(int i)
{
	return 1e-5 * (1 + i % 977 / 977.0);
}

/* The scores of ten thousand nodes are complete, with four digits each, and fit
 * into a line together with a thousand rows of 150 bytes. */
static void
test_many(void **state)
{
	const char **names = xcalloc(MANY, sizeof(*names));
	double *q = xcalloc(MANY, sizeof(*q));
	struct record_scores all;
	json_t *r, *scores;
	char *line;

	(void)state;
	for (int i = 0; i < MANY; i++) {
		char name[32];

		snprintf(name, sizeof(name), "rack%02d-node%05d", i % 7, i);
		names[i] = xstrdup(name);
		q[i] = i == 5 ? NAN : value_of(i);
	}
	scores = record_scores_make(names, q, MANY, "q25");
	assert_true(record_scores_check(scores));
	line = json_dumps(scores, JSON_COMPACT | JSON_REAL_PRECISION(9));
	print_message("%zu bytes\n", strlen(line));
	assert_true(strlen(line) + RECORD_ROWS_WORST * 150 < RECORD_LINE_MAX);
	free(line);
	r = json_pack("{s:[{s:s, s:f}], s:o}", "nodes", "node", "x", "q25", 1.0,
	    "scores", scores);
	record_scores_read(r, "q25", &all);
	assert_int_equal(all.count, MANY - 1);
	for (size_t k = 0; k < all.count; k++) {
		int i = atoi(strrchr(all.list[k].node, 'e') + 1);

		assert_string_equal(all.list[k].node, names[i]);
		assert_true(fabs(all.list[k].q / q[i] - 1) < 6e-4);
	}
	record_scores_clear(&all);
	json_decref(r);
	for (int i = 0; i < MANY; i++)
		free((char *)(uintptr_t)names[i]);
	free(names);
	free(q);
}

static void
test_rows(void **state)
{
	struct record_scores all;
	json_t *r = json_pack("{s:[{s:s, s:f}, {s:s, s:n}, {s:f}]}", "nodes",
	    "node", "a", "q75", 2.0, "node", "b", "q75", "q75", 1.0);

	(void)state;
	record_scores_read(r, "q75", &all);
	assert_int_equal(all.count, 1);
	assert_string_equal(all.list[0].node, "a");
	record_scores_clear(&all);
	json_decref(r);
}

static void
test_bad(void **state)
{
	static const char *const bad[] = { "{}", "{\"hosts\": \"a\"}",
		"{\"hosts\": \"a[1-3]\", \"q25\": [1, 2]}",
		"{\"hosts\": \"a[1-\", \"q25\": [1]}",
		"{\"hosts\": \"a\", \"q25\": [\"1\"]}",
		"{\"hosts\": 1, \"q75\": [1]}" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		json_t *v = json_loads(bad[i], 0, NULL);

		assert_non_null(v);
		if (record_scores_check(v))
			fail_msg("accepted: %s", bad[i]);
		json_decref(v);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
