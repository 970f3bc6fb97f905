/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_holes.c - the element that drops large datagrams: a node, an uplink, a
 * leaf, only pairs, none; and elements without any traffic; in clusters of 12
 * nodes on 3 leaves where all nodes probe all others. Then spines, above 6
 * leaves in two pods.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/diagnosis/stats/holes.h"
#include "daemon/diagnosis/stats/score.h"
#include "schema/stages.h"

#define NODES  12
#define LEAVES 3
#define NONE   UINT32_MAX

static uint32_t leaf_of[NODES];
static struct mesh_path paths[NODES * NODES];
static size_t count;

/* Every node probes every other; the tests below change the results. */
static void
all_well(void)
{
	count = 0;
	for (uint32_t a = 0; a < NODES; a++) {
		leaf_of[a] = a / (NODES / LEAVES);
		for (uint32_t b = 0; b < NODES; b++)
			if (a != b)
				paths[count++] = (struct mesh_path){ a, b, 90,
					0, 30, 0, 0, 8972, 9000, 0 };
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
	/* no answers at all, or a router that reports the limit: no holes */
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
	/* its partners are healthy without it */
	assert_int_equal(nodes[5].holes[0], 0);
	assert_true(nodes[5].paths[0] > 0);
	holes_at(9, NONE, 0); /* two concurrent ones */
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

/* A fault on all paths between leaves is attributed to no element, nor is the
 * fault of a single pair. */
static void
test_pairs(void **state)
{
	(void)state;
	all_well();
	holes_at(NONE, NONE, 1);
	expect(0, 0, 2 * 3 * 4 * 4);
	all_well();
	hole(&paths[0]); /* 0 to 1 */
	expect(0, 0, 1);
	assert_int_equal(found.one->a, 0);
	assert_int_equal(found.one->b, 1);
	assert_int_equal(found.rest_alike, 1);
	for (size_t i = 0; i < count; i++) /* and 1 to 0 */
		if (paths[i].a == 1 && paths[i].b == 0)
			hole(&paths[i]);
	expect(0, 0, 2);
	/* two nodes alone */
	count = 0;
	paths[count++] = (struct mesh_path){ 0, 4, 90, 0, 0, 30, 0, 1472, 1500,
		0 };
	paths[count++] = (struct mesh_path){ 4, 0, 90, 0, 0, 30, 0, 1472, 1500,
		0 };
	expect(0, 0, 2);
}

/* A path is dead only if both its ends are alive; a dead node has no paths. */
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
				0, 90, 0, 30, 0, 8972, 9000, 0 };
	expect(0, 0, 0);
	assert_int_equal(found.dead, 0);
}

/* ---- stages of spines: 12 nodes on 6 leaves, 3 leaves a pod ---- */

enum { POD_0, POD_1, CORE, STAGES };

static struct hole_place spines[STAGES], dead_spines[STAGES];

/* Every third path that such a fault could be on is bad. */
static void
spoil(uint32_t stage, uint32_t leaf, int dead)
{
	uint32_t turn = 0;

	all_well();
	for (uint32_t i = 0; i < NODES; i++)
		leaf_of[i] = i / 2;
	for (size_t i = 0; i < count; i++) {
		struct mesh_path *p = &paths[i];
		uint32_t la = leaf_of[p->a], lb = leaf_of[p->b];
		int over = stage == CORE ? la / 3 != lb / 3
					 : la / 3 == stage || lb / 3 == stage;

		if (la == lb || turn++ % 3 != 0 ||
		    !(over || la == leaf || lb == leaf))
			continue;
		hole(p);
		if (dead) {
			p->answered = 0;
			p->lost = 90;
		}
	}
}

static void
expect_leaf(unsigned want, unsigned want_dead, int leaf)
{
	static struct stage list[STAGES] = {
		[POD_0] = { .above = CORE },
		[POD_1] = { .above = CORE },
		[CORE] = { .above = STAGE_NONE },
	};
	static struct stages stages = { list, STAGES, NULL };
	uint32_t stage_of[6] = { POD_0, POD_0, POD_0, POD_1, POD_1, POD_1 };
	struct hole_place of_leaf[6];
	unsigned named = 0, dead = 0;

	memset(nodes, 0, sizeof(nodes));
	memset(of_leaf, 0, sizeof(of_leaf));
	memset(spines, 0, sizeof(spines));
	memset(dead_spines, 0, sizeof(dead_spines));
	found = (struct holes){ .paths = paths,
		.count = count,
		.leaf_of = leaf_of,
		.nodes = nodes,
		.leaves = of_leaf,
		.node_count = NODES,
		.leaf_count = 6,
		.stages = &stages,
		.stage_of = stage_of,
		.spines = spines,
		.dead_spines = dead_spines };
	holes_find(&found);
	for (int i = 0; i < STAGES; i++) {
		named |= (unsigned)spines[i].named << i;
		dead |= (unsigned)dead_spines[i].named << i;
	}
	assert_int_equal(named, want);
	assert_int_equal(dead, want_dead);
	for (int i = 0; i < NODES; i++)
		assert_false(nodes[i].named);
	for (int i = 0; i < 6; i++)
		assert_int_equal(of_leaf[i].named, i == leaf);
}

static void
expect_stage(unsigned want, unsigned want_dead)
{
	expect_leaf(want, want_dead, NONE);
}

static void
test_stages(void **state)
{
	(void)state;
	for (uint32_t stage = 0; stage < STAGES; stage++) {
		spoil(stage, NONE, 0);
		expect_stage(1u << stage, 0);
		assert_int_equal(found.rest, 0);
		assert_int_equal(spines[stage].holes[0], 0);
		assert_int_equal(spines[stage].leaves, 6);
		assert_int_equal(spines[stage].bytes, 8972);
		spoil(stage, NONE, 1);
		expect_stage(0, 1u << stage);
		assert_int_equal(found.dead, 0);
	}
	/* one of the uplinks of a leaf, and of another one */
	spoil(NONE, 4, 0);
	expect_leaf(0, 0, 4);
	assert_int_equal(found.rest, 0);
	/* inside leaves too: it is not a spine */
	spoil(POD_0, NONE, 0);
	for (size_t i = 0; i < count; i++)
		if (leaf_of[paths[i].a] == leaf_of[paths[i].b] && i % 2 == 0)
			hole(&paths[i]);
	for (size_t i = 0; i < count; i++)
		if (leaf_of[paths[i].a] / 3 == 1 &&
		    leaf_of[paths[i].b] / 3 == 1)
			paths[i].large_answered = paths[i].large_lost = 0;
	memset(nodes, 0, sizeof(nodes));
	expect_stage(0, 0);
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
		cmocka_unit_test(test_stages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
