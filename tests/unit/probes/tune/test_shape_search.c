/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/str.h"
#include "probes/tune/shape_search.h"

#define FLAT  "hierarchy=24 stripe=1 ring=1 depth=1 via=mpi"
#define PIPE  "hierarchy=24 stripe=1 ring=1 depth=8 via=mpi"
#define DEEP  "hierarchy=24 stripe=1 ring=1 depth=64 via=mpi"
#define NODES "hierarchy=12,2 stripe=1 ring=1 depth=8 via=mpi,ipc"
#define OTHER "hierarchy=12,2 stripe=2 ring=1 depth=1 via=mpi,mpi"
#define RING  "hierarchy=12,2 stripe=1 ring=12 depth=8 via=mpi,ipc"
#define TREE  "hierarchy=3,4,2 stripe=1 ring=1 depth=8 via=mpi,mpi,ipc"

/* A row as shape_choose makes it, of words as shape_print has them. */
static struct shape_row
row_of(const char *words, double time_s)
{
	struct shape_row row = { .words = (char *)(uintptr_t)words,
		.time_s = time_s };
	char *copy = strdup(words), *save = NULL, *item;
	struct shape *s = &row.shape;

	for (char *w = strtok_r(copy, " ", &save); w != NULL;
	     w = strtok_r(NULL, " ", &save)) {
		char *value = strchr(w, '=') + 1, *rest = NULL;

		for (item = strtok_r(value, ",", &rest); item != NULL;
		     item = strtok_r(NULL, ",", &rest)) {
			uint32_t n = (uint32_t)strtoul(item, NULL, 10);

			if (w[0] == 'h')
				s->factors[s->levels++] = n;
			else if (w[0] == 'v')
				s->vias[s->vias_count++] = (enum plan_via)
				    STR_FIND(plan_vias, item);
			else if (w[0] == 's')
				s->stripe = n;
			else if (w[0] == 'r')
				s->ring = n;
			else if (w[0] == 'd')
				s->depth = n;
			else
				s->piece_bytes = n *
				    (strchr(item, 'K') != NULL ? 1024ULL : 1);
		}
	}
	free(copy);
	item = shape_print(s);
	assert_string_equal(item, words);
	free(item);
	return row;
}

static struct shape_row rows[7];
static const struct shape_list all = { (char *)"lab", rows, ARRAY_LEN(rows) };

static int
all_setup(void **state)
{
	(void)state;
	rows[0] = row_of(FLAT, 1.0);
	rows[1] = row_of(NODES, 1.0);
	rows[2] = row_of(OTHER, 1.01);
	rows[3] = row_of(DEEP, 1.01);
	rows[4] = row_of(PIPE, 1.015);
	rows[5] = row_of(RING, 1.05);
	rows[6] = row_of(TREE, 1.2);
	return 0;
}

/* Seconds that only the test knows: the distance of a shape from the best. */
static double
landscape(const char *words)
{
	const char *depth = strstr(words, "depth=");
	double s = 1;

	if (strstr(words, "hierarchy=12,2") == NULL)
		s += 1;
	if (strstr(words, "ring=12") != NULL)
		s += 0.5;
	if (strstr(words, "stripe=2") == NULL)
		s += 0.25;
	if (strstr(words, "via=mpi,ipc") != NULL)
		s += 0.125;
	if (strstr(words, "piece=") == NULL)
		s += 0.3;
	if (depth != NULL)
		s += 0.05 * fabs(log2(atof(depth + 6)) - 5);
	return s;
}

static int
was_tried(const struct shape_search *c, const char *words)
{
	int n = 0;

	for (uint32_t i = 0; i < c->count; i++)
		n += strcmp(c->tries[i].words, words) == 0;
	return n;
}

/* The search finds the optimum through every kind of step, and measures no
 * shape twice. */
static void
test_finds_the_top(void **state)
{
	struct shape_search c;
	const char *words;

	(void)state;
	shape_search_open(&c, &all, 1);
	while ((words = shape_search_next(&c)) != NULL) {
		assert_int_equal(was_tried(&c, words), 1);
		shape_search_tell(&c, landscape(words), 1 << 20);
	}
	assert_string_equal(c.best->words,
	    "hierarchy=12,2 stripe=2 ring=1 depth=32 via=mpi,mpi piece=60K");
	/* one of each kind, the best first, with a pipeline if that is as good;
	 * none that is predicted to be much slower */
	assert_string_equal(c.tries[0].words, PIPE);
	assert_string_equal(c.tries[1].words, NODES);
	assert_string_equal(c.tries[2].words, RING);
	assert_int_equal(was_tried(&c, TREE), 0);
	assert_true(c.tries[1].predicted_s == 1.0);
	assert_true(isnan(c.best->predicted_s));
	shape_search_close(&c);
}

/* Of exchanges, and of compositions in each form, one is measured, though
 * others are predicted to be faster, unless it is much slower. */
static void
test_one_of_each(void **state)
{
	struct shape_row row[] = {
		row_of("hierarchy=24 stripe=1 ring=1 depth=8", 3),
		row_of("hierarchy=24 stripe=1 ring=1 depth=1", 1),
		row_of("hierarchy=12,2 stripe=1 ring=1 depth=1", 1.2),
		row_of("hierarchy=3,4,2", 2),
		row_of("hierarchy=12,2", 2.1),
		row_of("hierarchy=6,4 stripe=1 ring=1 depth=1", 3.9),
		row_of("hierarchy=8,3", 4.1),
	};
	static const uint32_t want[] = { 1, 3, 5 };
	struct shape_list t = { (char *)"lab", row + 1, ARRAY_LEN(row) - 1 };
	struct shape_search c;

	(void)state;
	row[3].shape.exchange = row[4].shape.exchange = ROUNDS_RECURSIVE;
	row[5].shape.form = "single";
	row[6].shape.exchange = ROUNDS_BINE;
	for (uint32_t i = 1; i < ARRAY_LEN(row); i++)
		row[i].words = shape_print(&row[i].shape);
	assert_string_equal(row[3].words, "exchange=recursive hierarchy=3,4,2");
	shape_search_open(&c, &t, 0);
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		assert_string_equal(shape_search_next(&c), row[want[i]].words);
		shape_search_tell(&c, i == 1 ? 1 : 2, 8);
	}
	while (shape_search_next(&c) != NULL)
		shape_search_tell(&c, 2, 8);
	assert_string_equal(c.best->words, row[3].words);
	assert_int_equal(was_tried(&c, row[2].words), 0);
	assert_int_equal(was_tried(&c, row[6].words), 0);
	shape_search_close(&c);
	for (uint32_t i = 1; i < ARRAY_LEN(row); i++)
		free(row[i].words);
}

/* Of equal shapes the first to be measured has few ranks that use the network,
 * and few pieces, but more than one. */
static void
test_light_first(void **state)
{
	struct shape_row row[] = {
		row_of("stripe=4 ring=12 depth=64 via=mpi,mpi,mpi", 1.0),
		row_of("stripe=4 ring=12 depth=8 via=mpi,mpi,ipc", 1.001),
		row_of("stripe=1 ring=12 depth=8 via=mpi,mpi,mpi", 1.002),
		row_of("stripe=1 ring=12 depth=64 via=mpi,mpi,ipc", 1.003),
		row_of("stripe=1 ring=12 depth=8 via=mpi,mpi,ipc", 1.004),
		row_of("stripe=1 ring=12 depth=1 via=mpi,mpi,ipc", 1.005),
		row_of("stripe=1 ring=1 depth=8 via=mpi,mpi,ipc", 1.006),
	};
	struct shape_list t = { (char *)"lab", row, ARRAY_LEN(row) };
	struct shape_search c;

	(void)state;
	shape_search_open(&c, &t, 0);
	assert_string_equal(shape_search_next(&c), row[4].words);
	shape_search_tell(&c, 1, 1);
	assert_string_equal(shape_search_next(&c), row[6].words);
	shape_search_close(&c);
	row[4].time_s = row[5].time_s = row[6].time_s = 1.03;
	shape_search_open(&c, &t, 0);
	assert_string_equal(shape_search_next(&c), row[3].words);
	shape_search_close(&c);
}

/* Return the depth at which the search ends if doubling it always gains this
 * much, from messages of this many bytes. */
static int
depth_reached(double gain, uint64_t bytes)
{
	struct shape_row row = row_of("ring=12 depth=8", 1.0);
	struct shape_list one = { (char *)"lab", &row, 1 };
	struct shape_search c;
	const char *words;
	int depth;

	shape_search_open(&c, &one, 0);
	while ((words = shape_search_next(&c)) != NULL) {
		depth = atoi(strstr(words, "depth=") + 6);
		shape_search_tell(&c, pow(1 - gain, log2(depth)),
		    bytes * 8 / (uint64_t)depth);
	}
	depth = atoi(strstr(c.best->words, "depth=") + 6);
	shape_search_close(&c);
	return depth;
}

static void
test_depth_ends(void **state)
{
	(void)state;
	assert_int_equal(depth_reached(0.03, 1 << 20), 1024);
	assert_int_equal(depth_reached(0.01, 1 << 20), 8);
	assert_int_equal(depth_reached(0.03, 64 << 10), 64);
	assert_int_equal(depth_reached(0.03, 8), 8);
}

/* More stripes need a larger gain than fewer, and both a larger one than
 * none. */
static void
test_heavy_gains_more(void **state)
{
	static const struct {
		const char *first, *second;
		double gain;
		int taken;
	} cases[] = { { "stripe=1", "stripe=4", 0.04, 0 },
		{ "stripe=1", "stripe=4", 0.06, 1 },
		{ "stripe=4", "stripe=1", 0.04, 1 },
		{ "stripe=4", "stripe=1", 0.01, 0 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct shape_row row[] = { row_of(cases[i].first, 1),
			row_of(cases[i].second, 1.05) };
		struct shape_list t = { (char *)"lab", row, 2 };
		struct shape_search c;
		const char *words;

		shape_search_open(&c, &t, 0);
		while ((words = shape_search_next(&c)) != NULL)
			shape_search_tell(&c,
			    strcmp(words, cases[i].first) == 0
				? 1
				: 1 - cases[i].gain,
			    1);
		assert_string_equal(c.best->words,
		    cases[i].taken ? cases[i].second : cases[i].first);
		shape_search_close(&c);
	}
}

/* Of 128 pieces, and best with one stripe: another one is tried at the same
 * length of a piece, or four stripes could not be left. */
static void
test_stripes_keep_pieces(void **state)
{
	struct shape_row row[] = { row_of("stripe=4 ring=12 depth=32", 1.0),
		row_of("stripe=1 ring=12 depth=8", 1.1) };
	struct shape_list two = { (char *)"lab", row, 2 };
	struct shape_search c;
	const char *words;

	(void)state;
	shape_search_open(&c, &two, 0);
	while ((words = shape_search_next(&c)) != NULL) {
		double stripe = atof(strstr(words, "stripe=") + 7);
		double depth = atof(strstr(words, "depth=") + 6);

		shape_search_tell(&c,
		    1 + stripe / 20 + fabs(log2(stripe * depth) - 7), 1 << 20);
	}
	assert_string_equal(c.best->words, "stripe=1 ring=12 depth=128");
	shape_search_close(&c);
}

/* Messages that are already short, or whose length was given. */
static void
test_cuts_only_what_is_long(void **state)
{
	static const struct {
		int may_cut;
		uint64_t bytes;
	} cases[] = { { 0, 1 << 20 }, { 1, 60 << 10 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct shape_search c;
		const char *words;

		shape_search_open(&c, &all, cases[i].may_cut);
		while ((words = shape_search_next(&c)) != NULL) {
			assert_null(strstr(words, "piece="));
			shape_search_tell(&c, landscape(words), cases[i].bytes);
		}
		shape_search_close(&c);
	}
}

/* Given options are not among the parameters, and stay unchanged. */
static void
test_leaves_what_was_given(void **state)
{
	struct shape_row row[] = { row_of("stripe=1 ring=1", 1.0),
		row_of("stripe=2 ring=1", 1.0) };
	struct shape_list two = { (char *)"lab", row, 2 };
	struct shape_search c;

	(void)state;
	shape_search_open(&c, &two, 0);
	assert_string_equal(shape_search_next(&c), "stripe=1 ring=1");
	shape_search_tell(&c, 2, 1);
	assert_string_equal(shape_search_next(&c), "stripe=2 ring=1");
	shape_search_tell(&c, 1, 1);
	assert_null(shape_search_next(&c));
	assert_string_equal(c.best->words, "stripe=2 ring=1");
	shape_search_close(&c);
}

/* The search does not continue from a shape that cannot run. If no shape can
 * run, the best one is NULL. */
static void
test_what_cannot_run(void **state)
{
	struct shape_search c;
	const char *words;

	(void)state;
	shape_search_open(&c, &all, 1);
	while ((words = shape_search_next(&c)) != NULL)
		shape_search_tell(&c, NAN, 1 << 20);
	assert_null(c.best);
	assert_int_equal(c.count, 3);
	shape_search_close(&c);

	shape_search_open(&c, &all, 1);
	while ((words = shape_search_next(&c)) != NULL)
		shape_search_tell(&c, strstr(words, "ring=12") ? 1 : NAN,
		    1 << 20);
	assert_string_equal(c.best->words, RING);
	shape_search_close(&c);
}

/* Ever deeper is ever better: it ends all the same. */
static void
test_ends(void **state)
{
	struct shape_search c;
	double s = 1000;

	(void)state;
	shape_search_open(&c, &all, 1);
	while (shape_search_next(&c) != NULL)
		shape_search_tell(&c, s--, 1 << 20);
	assert_true(c.count <= SHAPE_SEARCH_TRIES_MAX);
	shape_search_close(&c);
}

/* The one text that a shape has. */
static void
test_shape_text(void **state)
{
	static const char *const good[] = { "", "stripe=4",
		"hierarchy=3,4,2 stripe=2 ring=12 depth=1024 "
		"via=mpi,xccl,ipc piece=60K",
		"ring=1 piece=1000" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		row_of(good[i], 1); /* compares them */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finds_the_top),
		cmocka_unit_test(test_one_of_each),
		cmocka_unit_test(test_light_first),
		cmocka_unit_test(test_depth_ends),
		cmocka_unit_test(test_heavy_gains_more),
		cmocka_unit_test(test_stripes_keep_pieces),
		cmocka_unit_test(test_cuts_only_what_is_long),
		cmocka_unit_test(test_leaves_what_was_given),
		cmocka_unit_test(test_what_cannot_run),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_shape_text),
	};

	return cmocka_run_group_tests(tests, all_setup, NULL);
}
