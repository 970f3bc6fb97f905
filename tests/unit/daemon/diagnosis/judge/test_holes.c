/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_holes.c - who swallows large datagrams: a node, an uplink, a leaf, only
 * pairs, nobody; and what carries nothing; in clusters of 12 nodes on 3 leaves
 * where all ask all.
 */
#include "daemon/diagnosis/judge/holes.c"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define NODES  12
#define LEAVES 3
#define NONE   UINT32_MAX

static uint32_t leaf_of[NODES];
static struct mesh_path paths[NODES * NODES];
static size_t count;

/* Every node asks every other; what is set below is changed. */
static void
all_well(void)
{
	count = 0;
	for (uint32_t a = 0; a < NODES; a++) {
		leaf_of[a] = a / (NODES / LEAVES);
		for (uint32_t b = 0; b < NODES; b++)
			if (a != b)
				paths[count++] = (struct mesh_path){ a, b, 90,
					0, 30, 0, 0, 8972, 9000 };
	}
}

static void
hole(struct mesh_path *p)
{
	p->large_lost = p->large_answered;
	p->large_answered = 0;
}

/* Large ones vanish at a node, at the uplink of a leaf, between any leaves. */
static void
holes_at(uint32_t node, uint32_t uplink, int spine)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t la = leaf_of[paths[i].a], lb = leaf_of[paths[i].b];

		if (paths[i].large_answered > 0 &&
		    (paths[i].a == node || paths[i].b == node ||
			(la != lb && (la == uplink || lb == uplink || spine))))
			hole(&paths[i]);
	}
}

static struct hole_place nodes[NODES], leaves[LEAVES];
static struct holes found;

/* The nodes and leaves that are named, as bits. */
static void
expect(unsigned want_nodes, unsigned want_leaves, size_t rest)
{
	unsigned named = 0;

	memset(nodes, 0, sizeof(nodes));
	memset(leaves, 0, sizeof(leaves));
	found = (struct holes){ .paths = paths,
		.count = count,
		.leaf_of = leaf_of,
		.nodes = nodes,
		.leaves = leaves,
		.node_count = NODES,
		.leaf_count = LEAVES };
	holes_find(&found);
	for (int i = 0; i < NODES; i++)
		named |= (unsigned)nodes[i].named << i;
	assert_int_equal(named, want_nodes);
	named = 0;
	for (int i = 0; i < LEAVES; i++)
		named |= (unsigned)leaves[i].named << i;
	assert_int_equal(named, want_leaves);
	assert_int_equal(found.rest, rest);
}

static void
test_none(void **state)
{
	(void)state;
	all_well();
	expect(0, 0, 0);
	assert_int_equal(nodes[5].paths[0], 6);
	assert_int_equal(nodes[5].paths[1], 16);
	/* some are lost as small ones are, which is another fault */
	for (size_t i = 0; i < count; i++)
		paths[i].large_lost = 12;
	expect(0, 0, 0);
	/* nobody answers anything, or a router says why: no holes */
	for (size_t i = 0; i < count; i++) {
		hole(&paths[i]);
		paths[i].answered = i % 2 ? 0 : 90;
		paths[i].large_unsent = i % 2 ? 0 : 29;
	}
	expect(0, 0, 0);
	assert_int_equal(nodes[5].holes[0] + nodes[5].holes[1], 0);
}

static void
test_node(void **state)
{
	(void)state;
	all_well();
	holes_at(4, NONE, 0);
	expect(1 << 4, 0, 0);
	assert_int_equal(nodes[4].holes[0], 6);
	assert_int_equal(nodes[4].holes[1], 16);
	assert_int_equal(nodes[4].bytes, 8972);
	assert_int_equal(nodes[4].mtu, 9000);
	/* its partners are well without it */
	assert_int_equal(nodes[5].holes[0], 0);
	assert_true(nodes[5].paths[0] > 0);
	holes_at(9, NONE, 0); /* two at once */
	expect(1 << 4 | 1 << 9, 0, 0);
	/* without leaves */
	for (int i = 0; i < NODES; i++)
		leaf_of[i] = SCORE_NO_LEAF;
	expect(1 << 4 | 1 << 9, 0, 0);
}

static void
test_uplink(void **state)
{
	(void)state;
	all_well();
	holes_at(NONE, 1, 0);
	expect(0, 1 << 1, 0);
	assert_int_equal(leaves[1].holes[0], 0);
	assert_int_equal(leaves[1].holes[1], leaves[1].paths[1]);
	holes_at(0, NONE, 0); /* and a node elsewhere */
	expect(1 << 0, 1 << 1, 0);
	/* the whole leaf: inside too */
	all_well();
	for (uint32_t i = 4; i < 8; i++)
		holes_at(i, NONE, 0);
	expect(0, 1 << 1, 0);
	assert_int_equal(leaves[1].holes[0], leaves[1].paths[0]);
}

/* What lies on all paths between leaves is nobody's, nor is a single pair's. */
static void
test_pairs(void **state)
{
	(void)state;
	all_well();
	holes_at(NONE, NONE, 1);
	expect(0, 0, 2 * 3 * 4 * 4);
	all_well();
	hole(&paths[0]); /* 0 asks 1 */
	expect(0, 0, 1);
	assert_int_equal(found.one->a, 0);
	assert_int_equal(found.one->b, 1);
	for (size_t i = 0; i < count; i++) /* and 1 asks 0 */
		if (paths[i].a == 1 && paths[i].b == 0)
			hole(&paths[i]);
	expect(0, 0, 2);
	/* two nodes alone */
	count = 0;
	paths[count++] = (struct mesh_path){ 0, 4, 90, 0, 0, 30, 0, 1472,
		1500 };
	paths[count++] = (struct mesh_path){ 4, 0, 90, 0, 0, 30, 0, 1472,
		1500 };
	expect(0, 0, 2);
}

/* A path is dead where both ends live; a dead node has none. */
static void
test_dead(void **state)
{
	(void)state;
	all_well();
	paths[0].answered = 0;
	paths[0].lost = 90;
	expect(0, 0, 0);
	assert_int_equal(found.dead, 1);
	assert_true(found.dead_one == &paths[0]);
	paths[0].lost = 3;
	expect(0, 0, 0);
	assert_int_equal(found.dead, 0);
	for (size_t i = 0; i < count; i++)
		if (paths[i].a == 5 || paths[i].b == 5)
			paths[i] = (struct mesh_path){ paths[i].a, paths[i].b,
				0, 90, 0, 30, 0, 8972, 9000 };
	expect(0, 0, 0);
	assert_int_equal(found.dead, 0);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_node),
		cmocka_unit_test(test_uplink),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_dead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
