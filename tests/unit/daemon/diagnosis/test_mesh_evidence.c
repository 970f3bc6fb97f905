/* SPDX-License-Identifier: Apache-2.0 */
/* Evidence of the agents' mesh on nodes and links. */
#include "tests/unit/daemon/diagnosis/diagnosis_fix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/member.h"

/* An epoch of the mesh in one class: nodes of slow take 40 % longer, those of
 * lossy lose 5 % even with their best partners. */
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
	evidence_mesh(f->diagnosis, f->roster, record);
	json_decref(record);
}

/* Slow echoes are measured again like slow canaries, by campaigns like the last
 * one. */
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

/* A confirmation run measures by MPI: as soon as canaries name the node too, it
 * repeats these, because echoes may be slow where messages are not. */
static void
test_mesh_and_canary(void **state)
{
	struct fix *f = *state;

	hear_round(f, 0);
	for (int i = 0; i < 3; i++)
		hear_mesh(f, "spine", 1 << 4, 0);
	expect_text(f, "(echo-spine)");
	for (int i = 0; i < 3; i++)
		hear_round(f, 1 << 4);
	expect_text(f, "% slower than 11 of 11 partners over 3 rounds (lat)");
	assert_int_equal(open_cases(f), 1);
	/* Echoes do not take it back. */
	hear_mesh(f, "spine", 1 << 4, 0);
	expect_text(f, "(lat)");
	for (int i = 0; i < 5; i++)
		hear_mesh(f, "spine", 0, 0);
	assert_int_equal(open_cases(f), 1);
	diagnosis_tick(f->diagnosis);
	hear_pass(f, "node5", PASS_FINE);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_BAD);
	for (int i = 0; i < 3; i++)
		hear_round(f, 0);
	assert_int_equal(open_cases(f), 0);
}

/* One slow round of canaries is enough to choose them for the run. Canaries
 * that are normal are not chosen, nor is a node bad without the run. */
static void
test_mesh_confirmed_by_canary(void **state)
{
	struct fix *f = *state;

	hear_round(f, 0);
	for (int i = 0; i < 3; i++)
		hear_mesh(f, "spine", 1 << 4, 0);
	hear_round(f, 1 << 4);
	expect_text(f, "(echo-spine)");
	diagnosis_tick(f->diagnosis);
	assert_int_equal(f->orders, 1);
	expect_text(f, "% slower than 11 of 11 partners over 1 round (lat)");
	assert_int_equal(verdict_of(f, "node5"), VERDICT_WARN);
	/* It is normal in that run: what remains is the echoes. */
	hear_pass(f, "", PASS_FINE);
	expect_text(f, "(echo-spine)");
	hear_round(f, 0);
	diagnosis_tick(f->diagnosis);
	assert_int_equal(f->orders, 2);
	expect_text(f, "(echo-spine)");
	hear_pass(f, "node5", PASS_FINE);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_BAD);
}

/* While the collector's own runs hide the traffic of a job, slow echoes name
 * no node. They name none when the job is seen, and rounds before its end do
 * not count later. */
static void
test_mesh_beside_job(void **state)
{
	struct fix *f = *state;
	struct node *n = roster_find(f->roster, "node5");

	n->host.jobs_ns = clk_ns() - CLK_NS_PER_S;
	for (int i = 0; i < 4; i++)
		hear_mesh(f, "spine", 1 << 4, 0);
	assert_int_equal(open_cases(f), 0);
	n->host.jobs = 0.6;
	hear_mesh(f, "spine", 1 << 4, 0);
	assert_int_equal(told.verdicts, 0);
	n->host.jobs = 0;
	n->host.jobs_ns += 10 * CLK_NS_PER_S; /* after all rounds */
	for (int i = 0; i < 3; i++) {
		assert_int_equal(open_cases(f), 0);
		hear_mesh(f, "spine", 1 << 4, 0);
	}
	assert_int_equal(open_cases(f), 1);
}

/* Without a canary the confirmation run uses an MPI that all of its nodes
 * have. */
static void
test_mesh_mpi(void **state)
{
	struct fix *f = *state;

	for (size_t i = 0; i < NODES; i++) {
		struct node *n = roster_by_id(f->roster, i);

		json_object_set_new(n->inventory, "mpi",
		    i == 4 ? json_pack("[{s:s}, {s:s}]", "name", "site", "name",
				 "mpich")
			   : json_pack("[{s:s}]", "name", "mpich"));
	}
	for (int i = 0; i < 3; i++)
		hear_mesh(f, "spine", 1 << 4, 0);
	diagnosis_tick(f->diagnosis);
	assert_int_equal(f->orders, 1);
	assert_non_null(strstr(ordered(f, "nodes"), "node5"));
	assert_string_equal(ordered(f, "mpi"), "mpich");
}

/* Losses to the own leaf and to others are the node's. */
static void
test_mesh_loss(void **state)
{
	struct fix *f = *state;

	for (int i = 0; i < 3; i++)
		hear_mesh(f, "spine", 0, 1 << 4);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_WARN);
	expect_text(f, "of its UDP echoes are lost");
	expect_text(f,
	    "undetermined whether the node or a path loses them; check its "
	    "port and the uplinks of its leaf");
	for (int i = 0; i < 3; i++)
		hear_mesh(f, "leaf", 0, 1 << 4);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_BAD);
	expect_text(f, "within its leaf and to other leaves");
	diagnosis_tick(f->diagnosis);
	assert_int_equal(f->orders, 0);
	for (int i = 0; i < 3; i++) {
		hear_mesh(f, "spine", 0, 0);
		hear_mesh(f, "leaf", 0, 0);
	}
	assert_int_equal(open_cases(f), 0);
}

/* All nodes of a leaf lose to others, but not among each other: its uplink. */
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
	expect_text(f,
	    "none are lost inside the leaf, so its uplink is faulty");
	json_decref(list);
}

/* An epoch in which all nodes probe all others. Large echoes are lost at a
 * node, at the uplink of a leaf, or between all leaves (-1: not so). */
static void
hear_paths(struct fix *f, int node, int leaf, int spine)
{
	struct mesh_path paths[NODES * NODES];
	size_t n = 0;

	for (int a = 0; a < NODES; a++)
		for (int b = 0; b < NODES; b++) {
			int far = a / 4 != b / 4;
			int hole = a == node || b == node ||
			    (far && (a / 4 == leaf || b / 4 == leaf || spine));

			if (a != b)
				paths[n++] = (struct mesh_path){ (uint32_t)a,
					(uint32_t)b, 90, 0, hole ? 0 : 30,
					hole ? 30 : 0, 0, 8972, 9000, 0 };
		}
	paths[3].answered = f->dead ? 0 : 90;
	paths[3].lost = f->dead ? 90 : 0;
	diagnosis_paths(f->diagnosis, paths, n);
}

static int
is_avoided(struct fix *f, const char *node)
{
	struct err err;

	return diagnosis_avoid(f->diagnosis, roster_find(f->roster, node),
	    &err);
}

/* Bad at once, over a slow node too, and ended by the first epoch without.
 * Meanwhile runs skip the node: MPI cannot start with it. */
static void
test_mtu_node(void **state)
{
	struct fix *f = *state;
	json_t *list, *first;

	for (int i = 0; i < 3; i++)
		hear_mesh(f, "spine", 1 << 4, 0);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_WARN);
	assert_false(is_avoided(f, "node5"));
	hear_paths(f, 4, -1, 0);
	hear_paths(f, 4, -1, 0);
	assert_int_equal(open_cases(f), 1);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_BAD);
	expect_text(f,
	    "node5: datagrams of 8972 bytes are lost on 22 of 22 paths while "
	    "those of 64 bytes arrive: the cause is an MTU below 9000 on "
	    "its link, and no ICMP error was received (echo-large); check "
	    "the MTU");
	assert_true(is_avoided(f, "node5"));
	assert_false(is_avoided(f, "node6"));
	list = diagnosis_json(f->diagnosis, 0);
	first = json_array_get(list, 0);
	assert_string_equal(member_text(first, "what"), "mtu");
	assert_int_equal(json_integer_value(json_object_get(first, "mtu")),
	    9000);
	diagnosis_tick(f->diagnosis);
	assert_int_equal(f->orders, 0);
	/* another collector finds it, and ends it */
	fix_again(f);
	diagnosis_load(f->diagnosis, list);
	json_decref(list);
	assert_int_equal(open_cases(f), 1);
	expect_text(f, "22 of 22 paths");
	hear_paths(f, -1, -1, 0);
	assert_int_equal(open_cases(f), 0);
	assert_non_null(strstr(told.last, "large packets pass"));
	assert_false(is_avoided(f, "node5"));
}

static void
test_mtu_leaf(void **state)
{
	struct fix *f = *state;
	json_t *list;

	hear_paths(f, -1, 1, 0);
	assert_int_equal(open_cases(f), 1);
	expect_text(f,
	    "leaf 10.78.2.0/24: datagrams of 8972 bytes are lost on 64 of 64 "
	    "paths to other leaves and on 0 of 12 inside while those of 64 "
	    "bytes arrive: the cause is an MTU below 9000 on its uplink");
	assert_true(is_avoided(f, "node5"));
	assert_true(is_avoided(f, "node8"));
	assert_false(is_avoided(f, "node4"));
	list = diagnosis_json(f->diagnosis, 0);
	fix_again(f);
	diagnosis_load(f->diagnosis, list);
	json_decref(list);
	assert_int_equal(open_cases(f), 1);
	hear_paths(f, -1, -1, 0);
	assert_int_equal(open_cases(f), 0);
}

/* A fault between all leaves is attributed to no node or leaf: it is reported
 * once. */
static void
test_mtu_spine(void **state)
{
	struct fix *f = *state;

	hear_paths(f, -1, -1, 1);
	hear_paths(f, -1, -1, 1);
	assert_int_equal(open_cases(f), 0);
	assert_int_equal(told.alarms, 1);
	hear_paths(f, -1, -1, 0);
	hear_paths(f, -1, -1, 1);
	assert_int_equal(told.alarms, 2);
}

/* Load a topology that lists the switches above leaves. */
static void
list_spines(struct fix *f)
{
	static const char file[] = "leaf1 node[1-4] up=s[1-2]\n"
				   "leaf2 node[5-8] up=s[1-2]\n"
				   "leaf3 node[9-12] up=s[1-2]*2\n";
	char path[] = "/tmp/test_spines.XXXXXX";
	struct topo *none = f->topo;
	struct err err;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, file, strlen(file)), (int)strlen(file));
	close(fd);
	assert_int_equal(topo_load(path, 24, &f->topo, &err), 0);
	unlink(path);
	roster_set_topo(f->roster, f->topo);
	topo_free(none);
	diagnosis_leaves_changed(f->diagnosis);
}

/* If a topology lists the switches, they are named. */
static void
test_spines_named(void **state)
{
	struct fix *f = *state;
	struct topo *none;
	struct err err;
	json_t *list;

	list_spines(f);
	hear_paths(f, -1, -1, 1);
	assert_int_equal(told.alarms, 0);
	expect_text(f,
	    "s[1-2]: datagrams of 8972 bytes are lost on 96 of 96 paths over "
	    "them, equally on all 3 leaves (echo-large), while those of 64 "
	    "bytes arrive: the cause is an MTU below 9000 at one of these 2 "
	    "switches, or one of the 8 links to them; measurements cannot "
	    "distinguish them; check the MTU");
	list = diagnosis_json(f->diagnosis, 0);
	assert_int_equal(json_array_size(list), 1);
	assert_string_equal(member_text(json_array_get(list, 0), "kind"),
	    "spine");
	assert_string_equal(member_text(json_array_get(list, 0), "what"),
	    "mtu");
	json_decref(list);
	hear_paths(f, -1, -1, 0);
	assert_int_equal(open_cases(f), 0);
	/* the file was read again: the case stays where its switches do */
	hear_paths(f, -1, -1, 1);
	assert_int_equal(open_cases(f), 1);
	diagnosis_leaves_changed(f->diagnosis);
	assert_int_equal(open_cases(f), 1);
	assert_int_equal(topo_load("", 24, &none, &err), 0);
	roster_set_topo(f->roster, none);
	topo_free(f->topo);
	f->topo = none;
	diagnosis_leaves_changed(f->diagnosis);
	assert_int_equal(open_cases(f), 0);
}

/* An epoch in which every second path between leaves carries nothing. */
static void
hear_dead_spine(struct fix *f)
{
	struct mesh_path paths[NODES * NODES];
	size_t n = 0;

	for (int a = 0; a < NODES; a++)
		for (int b = 0; b < NODES; b++) {
			int dead = a / 4 != b / 4 && (a + b) % 2 == 0;

			if (a != b)
				paths[n++] = (struct mesh_path){ (uint32_t)a,
					(uint32_t)b, dead ? 0 : 90,
					dead ? 90 : 0, dead ? 0 : 30,
					dead ? 30 : 0, 0, 8972, 9000, 0 };
		}
	diagnosis_paths(f->diagnosis, paths, n);
}

/* The losses of a leaf belong to a dead spine once that is known, and its case
 * ends. */
static void
test_dead_spine(void **state)
{
	struct fix *f = *state;
	json_t *list;

	list_spines(f);
	for (int i = 0; i < 4; i++) {
		hear_mesh(f, "leaf", 0, 0);
		hear_mesh(f, "spine", 0, 0xf0);
	}
	expect_text(f, "so its uplink is faulty");
	for (int i = 0; i < 2; i++) {
		hear_dead_spine(f);
		hear_mesh(f, "leaf", 0, 0);
		hear_mesh(f, "spine", 0, 0xf0);
		assert_int_equal(open_cases(f), 1);
	}
	list = diagnosis_json(f->diagnosis, 0);
	assert_string_equal(member_text(json_array_get(list, 0), "kind"),
	    "spine");
	json_decref(list);
}

/* A path that loses everything in two consecutive epochs is reported once. */
static void
test_dead_path(void **state)
{
	struct fix *f = *state;

	for (int i = 0; i < 6; i++) {
		f->dead = i != 1;
		hear_paths(f, -1, -1, 0);
		assert_int_equal(told.alarms, i >= 3);
	}
	assert_int_equal(open_cases(f), 0);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		DIAGNOSIS_TEST(test_mesh_slow),
		DIAGNOSIS_TEST(test_mesh_and_canary),
		DIAGNOSIS_TEST(test_mesh_confirmed_by_canary),
		DIAGNOSIS_TEST(test_mesh_beside_job),
		DIAGNOSIS_TEST(test_mesh_mpi),
		DIAGNOSIS_TEST(test_mesh_loss),
		DIAGNOSIS_TEST(test_mesh_uplink),
		DIAGNOSIS_TEST(test_mtu_node),
		DIAGNOSIS_TEST(test_mtu_leaf),
		DIAGNOSIS_TEST(test_mtu_spine),
		DIAGNOSIS_TEST(test_spines_named),
		DIAGNOSIS_TEST(test_dead_path),
		DIAGNOSIS_TEST(test_dead_spine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
