/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One path compared with several in virtual time (tests/fake/slow_links.h): the
 * ratio agrees with the model, and a path that loses its share is reported.
 */
#include "probes/multipath/turns.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/fake/slow_links.h"

/* A worked node: 400 MB/s directly, 200 and 150 by the host. */
static const struct paths_links stated = {
	.direct = { 1e-9, 400e6 },
	.staged = { { 0, 200e-6, 200e6, 150e6 } },
	.count = 1,
};

static struct node {
	struct slow_links links;
	struct copier copier;
	struct tuner tuner;
} node;

static void
node_open(uint64_t bytes, double host)
{
	memset(&node, 0, sizeof(node));
	slow_links_set(&node.links, &stated);
	node.links.links[1].bytes_per_s *= host;
	node.links.links[2].bytes_per_s *= host;
	node.copier = (struct copier){ .ops = &slow_links_ops,
		.clock = &slow_links_clock,
		.device = slow_links_open(&node.links),
		.unit = 1,
		.count = 1 };
	node.copier.stores[1].bytes = bytes;
	node.copier.stores[1].slots = 8;
	assert_int_equal(copier_open(&node.copier), 0);
}

static void
node_close(void)
{
	copier_close(&node.copier);
	slow_links_ops.close(node.copier.device);
}

static void
measure(uint64_t bytes, uint32_t turns, struct turns_point *ret)
{
	struct turns_ask ask = { .copier = &node.copier,
		.tuner = &node.tuner,
		.stated = &stated,
		.m = { NULL, NULL, bytes },
		.settle = 5,
		.turns = turns };
	struct paths_links fits = { .count = 0 };

	assert_int_equal(copier_fits(&node.copier, &ask.m, &fits), 0);
	tuner_init(&node.tuner, &fits, 64);
	assert_int_equal(turns_measure(&ask, ret), 0);
	assert_int_equal(ret->wrong, 0);
}

static void
test_virtual(void **state)
{
	struct turns_point pt;

	(void)state;
	for (uint64_t n = 65536; n <= 1ULL << 30; n *= 4) {
		node_open(n, 1);
		measure(n, 9, &pt);
		assert_true(fabs(pt.ratio / pt.stated_ratio - 1) < 0.02);
		assert_true(fabs(pt.model_ratio / pt.stated_ratio - 1) < 0.02);
		assert_int_equal(pt.slow, 0);
		node_close();
	}
}

/* The path through the host at a quarter of its expected rate: it is reported,
 * with its share. */
static void
test_slow(void **state)
{
	struct turns_point pt;

	(void)state;
	node_open(1 << 26, 0.25);
	measure(1 << 26, 9, &pt);
	assert_int_equal(pt.slow, 1);
	assert_true(pt.carried[1] < 0.1 && pt.expected[1] > 0.25);
	assert_true(pt.ratio < pt.stated_ratio && pt.ratio >= 0.99);
	assert_true(fabs(pt.ratio / pt.model_ratio - 1) < 0.03);
	node_close();
}

/* One differing measurement changes nothing, two in a row do, in both
 * directions. */
static void
test_watch(void **state)
{
	static const struct {
		uint32_t found, said;
		int open;
	} rows[] = { { 0, 0, 0 }, { 1, 0, 1 }, { 0, 0, 0 }, { 1, 0, 1 },
		{ 1, 1, 0 }, { 0, 1, 1 }, { 1, 1, 0 }, { 2, 1, 1 }, { 0, 1, 1 },
		{ 0, 0, 0 }, { 1, 0, 1 }, { 2, 0, 1 }, { 2, 2, 0 } };
	struct turns_watch w = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(turns_watch_take(&w, rows[i].found),
		    rows[i].said);
		assert_int_equal(turns_watch_open(&w), rows[i].open);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_virtual),
		cmocka_unit_test(test_slow),
		cmocka_unit_test(test_watch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
