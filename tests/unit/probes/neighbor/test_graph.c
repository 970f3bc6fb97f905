/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs: made ones against their definition, files as they are read.
 */
#include <string.h>

#include "common/err.h"
#include "probes/neighbor/graph.h"
#include "probes/neighbor/graph.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <cmocka.h>

static size_t
times(const struct graph *g, uint32_t src, uint32_t dst)
{
	size_t n = 0;

	for (size_t i = 0; i < g->count; i++)
		n += g->edges[i].src == src && g->edges[i].dst == dst;
	return n;
}

static void
test_parse(void **state)
{
	static const char text[] = "# who to whom\n3 1\n\n0 0 # self\n3 1\r\n";
	struct graph g;
	struct err err;

	(void)state;
	assert_int_equal(graph_parse(&(struct numbers_text){ "g", text,
					 strlen(text) },
			     0, &g, &err),
	    0);
	assert_int_equal(g.ranks, 4);
	assert_int_equal(g.count, 3);
	assert_int_equal(times(&g, 3, 1), 2);
	assert_int_equal(times(&g, 0, 0), 1);
	graph_sort(&g);
	assert_int_equal(g.edges[0].src, 0);
	graph_clear(&g);
	assert_int_equal(graph_parse(&(struct numbers_text){ "g", text,
					 strlen(text) },
			     9, &g, &err),
	    0);
	assert_int_equal(g.ranks, 9);
	graph_clear(&g);
	/* an empty graph */
	assert_int_equal(graph_parse(&(struct numbers_text){ "g", "", 0 }, 0,
			     &g, &err),
	    0);
	assert_int_equal(g.ranks, 1);
	assert_int_equal(g.count, 0);
	graph_clear(&g);
}

/* Drawn pair by pair: more density only adds edges, as do more ranks. */
static void
test_random(void **state)
{
	struct graph few, many;

	(void)state;
	graph_random(16, .2, 1, &few);
	graph_random(32, .6, 1, &many);
	assert_int_equal(few.count, 54); /* the document's sample */
	for (size_t i = 0; i < few.count; i++) {
		assert_true(few.edges[i].src != few.edges[i].dst);
		assert_int_equal(times(&many, few.edges[i].src,
				     few.edges[i].dst),
		    1);
	}
	assert_true(many.count > 32 * 31 * .55 && many.count < 32 * 31 * .65);
	graph_clear(&few);
	graph_random(16, .2, 2, &few);
	assert_true(few.count != 54 || times(&few, few.edges[0].src, 0) > 0 ||
	    times(&many, few.edges[0].src, few.edges[0].dst) == 0);
	graph_clear(&few);
	graph_clear(&many);
	graph_random(5, 0, 1, &few);
	assert_int_equal(few.count, 0);
	graph_clear(&few);
	graph_random(5, 1, 1, &few);
	assert_int_equal(few.count, 20);
	graph_clear(&few);
}

static void
test_dims(void **state)
{
	static const struct {
		uint32_t ranks, count, extent[3];
	} rows[] = {
		{ 16, 2, { 4, 4 } },
		{ 16, 3, { 4, 2, 2 } },
		{ 128, 2, { 16, 8 } },
		{ 128, 3, { 8, 4, 4 } },
		{ 12, 2, { 4, 3 } },
		{ 7, 2, { 7, 1 } },
		{ 1, 2, { 1, 1 } },
		{ 36, 2, { 6, 6 } },
		{ 24, 3, { 4, 3, 2 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct graph_dims d;

		graph_dims_make(rows[i].ranks, rows[i].count, &d);
		assert_int_equal(d.count, rows[i].count);
		for (uint32_t k = 0; k < d.count; k++)
			assert_int_equal(d.extent[k], rows[i].extent[k]);
	}
}

/* The distance of two coordinates on a circle. */
static uint32_t
around(uint32_t a, uint32_t b, uint32_t extent)
{
	uint32_t d = a > b ? a - b : b - a;

	return d < extent - d ? d : extent - d;
}

static void
test_moore(void **state)
{
	static const struct {
		struct graph_dims d;
		uint32_t radius, degree;
	} rows[] = {
		{ { 2, { 4, 4 } }, 1, 8 },
		{ { 3, { 4, 2, 2 } }, 1, 11 },
		{ { 2, { 16, 8 } }, 2, 24 },
		{ { 2, { 16, 8 } }, 3, 48 },
		{ { 3, { 8, 4, 4 } }, 1, 26 },
		{ { 2, { 5, 3 } }, 9, 14 },
		{ { 1, { 6 } }, 3, 5 },
		{ { 1, { 1 } }, 1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct graph_dims *d = &rows[i].d;
		struct graph g;

		graph_moore(d, rows[i].radius, &g);
		assert_int_equal(g.count, g.ranks * rows[i].degree);
		assert_true(
		    graph_moore_degree(d, rows[i].radius) == rows[i].degree);
		for (size_t k = 0; k < g.count; k++) {
			uint32_t a = g.edges[k].src, b = g.edges[k].dst;

			assert_int_equal(times(&g, a, b), 1);
			assert_true(a != b);
			for (uint32_t x = d->count; x-- > 0;) {
				uint32_t n = d->extent[x];

				assert_true(
				    around(a % n, b % n, n) <= rows[i].radius);
				a /= n;
				b /= n;
			}
		}
		graph_clear(&g);
	}
}

/* Extents of 2 and 1 give the same neighbour twice, and oneself. */
static void
test_cart(void **state)
{
	struct graph_dims d = { 3, { 3, 2, 1 } };
	struct graph g;

	(void)state;
	graph_cart(&d, &g);
	assert_int_equal(g.ranks, 6);
	assert_int_equal(g.count, 36);
	assert_int_equal(times(&g, 0, 4), 1);
	assert_int_equal(times(&g, 0, 2), 1);
	assert_int_equal(times(&g, 0, 1), 2);
	assert_int_equal(times(&g, 0, 0), 2);
	assert_int_equal(times(&g, 5, 1), 1);
	assert_int_equal(times(&g, 5, 3), 1);
	assert_int_equal(times(&g, 5, 4), 2);
	graph_clear(&g);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_dims),
		cmocka_unit_test(test_moore),
		cmocka_unit_test(test_cart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
