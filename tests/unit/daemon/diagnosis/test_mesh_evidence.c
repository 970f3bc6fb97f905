/* SPDX-License-Identifier: Apache-2.0 */
/* What the mesh of the agents says of nodes and links. */
#include "tests/unit/daemon/diagnosis/diagnosis_fix.h"

#include <stdio.h>
#include <string.h>

#include "common/member.h"

/* An epoch of the mesh in one class: nodes of slow take 40 % longer, those of
 * lossy lose 5 % even with their better partners. */
static void
hear_mesh(struct fix *f, const char *class, unsigned slow, unsigned lossy)
{
	json_t *nodes = json_array(), *record;
	char name[16];

	for (int i = 0; i < NODES; i++) {
		double x = 1e-3 * (1 + 0.002 * ((i * 5) % 7));

		snprintf(name, sizeof(name), "node%d", i + 1);
		x *= slow >> i & 1 ? 1.4 : 1;
		json_array_append_new(nodes,
		    json_pack("{s:s, s:f, s:i, s:i}", "node", name, "q25", x,
			"good_lost", lossy >> i & 1 ? 12 : i % 2, "good_sent",
			240));
	}
	record = json_pack("{s:s, s:s, s:s, s:s, s:o}", "probe", "mesh", "test",
	    class, "run", "mesh-1", "phase", "wild", "nodes", nodes);
	diagnosis_mesh(f->diagnosis, record);
	json_decref(record);
}

/* Slow echoes are looked at again as slow canaries are, by campaigns like the
 * last one. */
static void
test_mesh_slow(void **state)
{
	struct fix *f = *state;

	hear_round(f, 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(open_cases(f), 0);
		hear_mesh(f, "spine", 1 << 4, 0);
	}
	expect_text(f,
	    "% slower than its peers over 3 rounds "
	    "(echo-spine)");
	diagnosis_tick(f->diagnosis);
	assert_int_equal(f->orders, 1);
	assert_string_equal(ordered(f, "class"), "background");
	assert_string_equal(ordered(f, "mpi"), "openmpi");
	hear_pass(f, "node5", PASS_FINE);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_BAD);
	for (int i = 0; i < 3; i++)
		hear_mesh(f, "spine", 0, 0);
	assert_int_equal(open_cases(f), 0);
}

/* What is lost to its own leaf and to others is lost by the node. */
static void
test_mesh_loss(void **state)
{
	struct fix *f = *state;

	for (int i = 0; i < 3; i++)
		hear_mesh(f, "spine", 0, 1 << 4);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_WARN);
	expect_text(f, "of its echoes are lost");
	expect_text(f, "undetermined, node or path");
	for (int i = 0; i < 3; i++)
		hear_mesh(f, "leaf", 0, 1 << 4);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_BAD);
	expect_text(f, "within its leaf and to others");
	diagnosis_tick(f->diagnosis);
	assert_int_equal(f->orders, 0);
	for (int i = 0; i < 3; i++) {
		hear_mesh(f, "spine", 0, 0);
		hear_mesh(f, "leaf", 0, 0);
	}
	assert_int_equal(open_cases(f), 0);
}

/* All of a leaf lose to others, and nothing among each other: its uplink. */
static void
test_mesh_uplink(void **state)
{
	struct fix *f = *state;
	json_t *list;

	for (int i = 0; i < 4; i++) {
		hear_mesh(f, "leaf", 0, 0);
		hear_mesh(f, "spine", 0, 0xf0);
	}
	list = diagnosis_json(f->diagnosis, 0);
	assert_int_equal(json_array_size(list), 1);
	assert_string_equal(member_text(json_array_get(list, 0), "what"),
	    "link");
	assert_string_equal(member_text(json_array_get(list, 0), "verdict"),
	    "bad");
	expect_text(f, "leaf 10.78.2.0/24: ");
	expect_text(f, "none inside the leaf, so its uplink");
	json_decref(list);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		DIAGNOSIS_TEST(test_mesh_slow),
		DIAGNOSIS_TEST(test_mesh_loss),
		DIAGNOSIS_TEST(test_mesh_uplink),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
