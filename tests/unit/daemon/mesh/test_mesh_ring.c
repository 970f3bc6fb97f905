/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_mesh_ring.c - rings level by level, and their coverage: every pair in
 * the minimum of epochs, whatever nodes join and leave.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/xalloc.h"
#include "daemon/mesh/coverage.h"
#include "daemon/mesh/mesh_ring.h"
#include "schema/mesh.h"

#define SPINE_TRIES 4
#define STAMPS      200 /* hours until a stamp is used again */

#define HOUR 500000

static struct coverage *cov;

static int
covered(void *arg, size_t a, size_t b)
{
	(void)arg;
	return coverage_has_pair(cov, HOUR, a, b);
}

static struct mesh_site *
sites_make(size_t count, size_t per_leaf)
{
	struct mesh_site *s = xcalloc(count, sizeof(*s));

	for (size_t i = 0; i < count; i++) {
		s[i].id = i;
		s[i].leaf = i / per_leaf;
	}
	return s;
}

/* One epoch of a class: check the targets, mark them, and return the largest
 * number of nodes that probe the same one. */
static unsigned
epoch(const struct mesh_site *s, size_t count, enum mesh_class class,
    size_t targets, uint64_t seed)
{
	struct mesh_rings r = { s, count, 1, seed, covered, NULL };
	struct mesh_aims *aims = xcalloc(count, sizeof(*aims));
	unsigned *asked = xcalloc(count, sizeof(*asked)), most = 0;

	mesh_rings_draw(&r, class, targets, aims);
	for (size_t i = 0; i < count; i++) {
		assert_true(aims[i].count <= targets);
		for (size_t k = 0; k < aims[i].count; k++) {
			size_t j = aims[i].site[k];

			assert_true(j < count && j != i);
			assert_int_equal(s[i].leaf == s[j].leaf,
			    class == MESH_LEAF);
			for (size_t m = 0; m < k; m++)
				assert_true(aims[i].site[m] != j);
			if (++asked[j] > most)
				most = asked[j];
			coverage_pair(cov, HOUR, s[i].id, s[i].leaf, s[j].id,
			    s[j].leaf);
		}
	}
	free(aims);
	free(asked);
	return most;
}

static uint64_t
pairs(void)
{
	struct coverage_counts n;

	coverage_count(cov, HOUR, &n);
	return n.pairs;
}

/* 12 nodes on 3 leaves: 66 pairs, 18 on leaves and 48 across. */
static void
test_small(void **state)
{
	struct mesh_site *s = sites_make(12, 4);
	uint32_t leaf_of[12], group_of[12];
	uint64_t between[4] = { 0 };
	int e;

	(void)state;
	cov = coverage_new();
	for (e = 0; e < 4 && pairs() < 18; e++)
		assert_true(epoch(s, 12, MESH_LEAF, 2, (uint64_t)e) <= 2);
	assert_int_equal(pairs(), 18);
	for (e = 0; e < 12 && pairs() < 66; e++)
		assert_true(epoch(s, 12, MESH_SPINE, 2, (uint64_t)e) <=
		    2 * SPINE_TRIES);
	assert_int_equal(pairs(), 66);
	/* between leaves of two groups, of another group, and without a
	 * group */
	for (uint32_t i = 0; i < 12; i++) {
		leaf_of[i] = i / 4;
		group_of[i] = i / 4 == 1;
	}
	coverage_between(cov, HOUR, leaf_of, group_of, 12, 2, between);
	assert_int_equal(between[0], 16);
	assert_int_equal(between[1], 32);
	assert_int_equal(between[3], 0);
	for (uint32_t i = 4; i < 8; i++)
		group_of[i] = UINT32_MAX;
	coverage_between(cov, HOUR, leaf_of, group_of, 12, 2, between);
	assert_int_equal(between[0], 32);
	assert_int_equal(between[1], 32);
	coverage_free(cov);
	free(s);
}

/* All pairs of 200 nodes across leaves of 20 in not many more epochs than the
 * fewest possible (an epoch has at most 400 of 18,000 pairs: 45). Random
 * rings would need some 400. */
static void
test_prefers_new(void **state)
{
	struct mesh_site *s = sites_make(200, 20);
	int e;

	(void)state;
	cov = coverage_new();
	for (e = 0; e < 200 && pairs() < 18000; e++)
		epoch(s, 200, MESH_SPINE, 2, (uint64_t)e);
	assert_int_equal(pairs(), 18000);
	assert_true(e <= 70);
	coverage_free(cov);
	free(s);
}

/* Edge cases: no node, one node, one leaf only, leaves of one node. */
static void
test_edges(void **state)
{
	struct mesh_site *s = sites_make(5, 5), *lone = sites_make(3, 1);

	(void)state;
	cov = coverage_new();
	epoch(s, 0, MESH_LEAF, 2, 1);
	epoch(s, 1, MESH_LEAF, 2, 1);
	epoch(s, 1, MESH_SPINE, 2, 1);
	epoch(s, 5, MESH_SPINE, 2, 1);
	epoch(lone, 3, MESH_LEAF, 2, 1);
	assert_int_equal(pairs(), 0);
	epoch(s, 2, MESH_LEAF, MESH_RING_MAX + 1, 1);
	assert_int_equal(pairs(), 1);
	epoch(lone, 3, MESH_SPINE, 0, 1);
	assert_int_equal(pairs(), 1);
	epoch(lone, 3, MESH_SPINE, 2, 1);
	assert_int_equal(pairs(), 3);
	coverage_free(cov);
	free(s);
	free(lone);
}

/* The same seeds, the same rings. */
static void
test_repeats(void **state)
{
	struct mesh_site *s = sites_make(64, 8);
	struct mesh_rings r = { s, 64, 3, 9, covered, NULL };
	struct mesh_aims *a = xcalloc(64, sizeof(*a));
	struct mesh_aims *b = xcalloc(64, sizeof(*b));

	(void)state;
	cov = coverage_new();
	mesh_rings_draw(&r, MESH_SPINE, 3, a);
	mesh_rings_draw(&r, MESH_SPINE, 3, b);
	assert_memory_equal(a, b, 64 * sizeof(*a));
	memset(b, 0, 64 * sizeof(*b));
	r.seed = 10;
	mesh_rings_draw(&r, MESH_SPINE, 3, b);
	assert_memory_not_equal(a, b, 64 * sizeof(*a));
	coverage_free(cov);
	free(s);
	free(a);
	free(b);
}

/* Nodes 0 and 1 on leaf 0, 2 and 3 on leaf 1. */
static void
test_coverage_met(void **state)
{
	static const uint32_t leaf_of[] = { 0, 0, 1, 1 };
	struct coverage_met nodes[4] = { { 0 } }, leaves[2] = { { 0 } };

	(void)state;
	cov = coverage_new();
	coverage_pair(cov, HOUR, 0, 0, 2, 1);
	coverage_pair(cov, HOUR, 2, 1, 0, 0);
	coverage_pair(cov, HOUR, 2, 1, 3, 1);
	coverage_met(cov, HOUR, leaf_of, 4, nodes, leaves);
	assert_int_equal(nodes[0].others, 1);
	assert_int_equal(nodes[0].one, 2);
	assert_int_equal(nodes[0].inside, 0);
	assert_int_equal(nodes[1].others, 0);
	assert_int_equal(nodes[2].others, 2);
	assert_int_equal(nodes[2].inside, 1);
	assert_int_equal(leaves[0].others, 1);
	assert_int_equal(leaves[0].one, 1);
	assert_int_equal(leaves[1].one, 0);
	coverage_free(cov);
}

static void
test_coverage_ages(void **state)
{
	struct coverage_counts n;

	(void)state;
	cov = coverage_new();
	coverage_pair(cov, HOUR, 3, 0, 7, 1);
	coverage_pair(cov, HOUR + 5, 3, 0, 4, 0);
	coverage_pair(cov, HOUR + 6, 4, 0, 3, 0);
	coverage_link(cov, HOUR + 6, 9);
	assert_true(coverage_has_pair(cov, HOUR + 23, 7, 3));
	assert_false(coverage_has_pair(cov, HOUR + 24, 7, 3));
	assert_false(coverage_has_pair(cov, HOUR + 6, 3, 9));
	assert_true(coverage_has_uplink(cov, HOUR + 6, 1));
	assert_false(coverage_has_uplink(cov, HOUR + 6, 2));
	assert_true(coverage_has_link(cov, HOUR + 6, 9));
	assert_false(coverage_has_link(cov, HOUR + 6, 3)); /* the caller's */
	coverage_uplink(cov, HOUR + 6, 2);
	assert_true(coverage_has_uplink(cov, HOUR + 6, 2));
	assert_true(coverage_has_leaves(cov, HOUR + 6, 1, 0));
	assert_false(coverage_has_leaves(cov, HOUR + 6, 1, 1));
	coverage_count(cov, HOUR + 6, &n);
	assert_int_equal(n.pairs, 2);
	assert_int_equal(n.leaves, 2);
	assert_int_equal(n.links, 1);
	assert_int_equal(n.uplinks, 3);
	coverage_count(cov, HOUR + 24, &n);
	assert_int_equal(n.pairs, 1);
	assert_int_equal(n.uplinks, 1);
	coverage_count(cov, HOUR + 24 + STAMPS, &n); /* a stamp's next turn */
	assert_int_equal(n.pairs, 0);
	assert_int_equal(n.links, 0);
	coverage_free(cov);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_prefers_new),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_repeats),
		cmocka_unit_test(test_coverage_met),
		cmocka_unit_test(test_coverage_ages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
