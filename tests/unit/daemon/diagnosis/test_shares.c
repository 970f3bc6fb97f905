/* SPDX-License-Identifier: Apache-2.0 */
/* The current shares of nodes and leaves: rounds of bandwidth whose nodes, and
 * pairs across a leaf, have this share of the normal rate. */
#include "common/member.h"
#include "daemon/diagnosis/shares.h"
#include "tests/unit/daemon/diagnosis/diagnosis_fix.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define RATE 1e9

/* Node 5 has node_share of the rate with all partners, traffic across the
 * border of leaf 10.78.2.0 leaf_share; other values vary by one percent. */
static void
hear(struct fix *f, double node_share, double leaf_share)
{
	static unsigned round;
	struct diagnosis_source from = { "run", "watch-bw", "background",
		"openmpi", "agents", NULL, NULL };
	json_t *nodes = json_array(), *names = json_array();
	json_t *grid = json_array(), *record;

	round++;
	for (int i = 0; i < NODES; i++) {
		json_t *row = json_array();
		char name[16];

		snprintf(name, sizeof(name), "node%d", i + 1);
		json_array_append_new(names, json_string(name));
		/* The good quartile: in the own leaf */
		json_array_append_new(nodes,
		    json_pack("{s:s, s:i, s:f, s:i, s:i}", "node", name, "n",
			11, "q75",
			RATE * (i == 4 ? node_share : 1) *
			    (1 + 0.003 * ((i * 5 + (int)round) % 7)),
			"partners", 11, "slow_partners", 0));
		for (int j = 0; j < i; j++) {
			double share = i == 4 || j == 4 ? node_share : 1;

			if ((i / 4 == 1) != (j / 4 == 1))
				share = fmin(share, leaf_share);
			json_array_append_new(row,
			    json_real(RATE * share *
				(1 + 0.003 * ((i + j + (int)round) % 5))));
		}
		json_array_append_new(grid, row);
	}
	record = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:f, s:o, s:{s:o, "
			   "s:o}}",
	    "probe", "canary", "test", "bw", "phase", "wild", "partners",
	    "match", "unit", "B/s", "run", "run", "p50", RATE, "nodes", nodes,
	    "grid", "nodes", names, "p50", grid);
	evidence_record(f->diagnosis, f->roster, &from, record);
	json_decref(record);
}

static void
expect_share(struct fix *f, const char *list, const char *key, const char *name,
    double share, int rounds)
{
	json_t *all = diagnosis_shares(f->diagnosis), *row;
	size_t i;

	member_foreach (all, list, i, row) {
		if (strcmp(json_string_value(json_object_get(row, key)),
			name) != 0)
			continue;
		if (fabs(json_number_value(json_object_get(row, "share")) -
			share) > 0.05)
			fail_msg("%s: share %g, not %g", name,
			    json_number_value(json_object_get(row, "share")),
			    share);
		assert_int_equal(json_integer_value(
				     json_object_get(row, "rounds")),
		    rounds);
		json_decref(all);
		return;
	}
	fail_msg("no row of %s", name);
}

static void
expect_rate(struct fix *f, const char *list, const char *key, const char *name,
    double rate)
{
	json_t *all = diagnosis_shares(f->diagnosis), *row;
	double is = NAN;
	size_t i;

	member_foreach (all, list, i, row)
		if (strcmp(member_text(row, key), name) == 0)
			is = member_number(row, "rate");
	json_decref(all);
	if (!(fabs(is / rate - 1) < 0.05))
		fail_msg("%s: %g B/s, not %g", name, is, rate);
}

static void
test_node(void **state)
{
	struct fix *f = *state;

	expect_share(f, "nodes", "node", "node5", 1, 0);
	hear(f, 1, 1);
	expect_share(f, "nodes", "node", "node5", 1, 1);
	for (int i = 0; i < 2; i++)
		hear(f, 0.5, 1);
	expect_share(f, "nodes", "node", "node5", 0.5, 3);
	expect_share(f, "nodes", "node", "node6", 1, 3);
	expect_rate(f, "nodes", "node", "node5", RATE / 2);
	expect_rate(f, "nodes", "node", "node6", RATE);
	expect_share(f, "leaves", "leaf", "10.78.2.0/24", 1, 3);
	/* two rounds later it is normal again */
	for (int i = 0; i < 2; i++)
		hear(f, 1, 1);
	expect_share(f, "nodes", "node", "node5", 1, 3);
}

/* The good quartile of its nodes is normal: they have partners on their
 * leaf. */
static void
test_uplink(void **state)
{
	struct fix *f = *state;

	for (int i = 0; i < 3; i++)
		hear(f, 1, 0.4);
	expect_share(f, "leaves", "leaf", "10.78.2.0/24", 0.4, 3);
	expect_rate(f, "leaves", "leaf", "10.78.2.0/24", 0.4 * RATE);
	expect_rate(f, "leaves", "leaf", "10.78.1.0/24", RATE);
	expect_share(f, "leaves", "leaf", "10.78.1.0/24", 1, 3);
	expect_share(f, "leaves", "leaf", "10.78.3.0/24", 1, 3);
	expect_share(f, "nodes", "node", "node5", 1, 3);
}

/* Unknown names, pairs without a measurement, and a record without a grid. */
static void
test_little_grids(void **state)
{
	struct fix *f = *state;
	json_t *record = json_pack("{s:s, s:s, s:{s:[s, s, s], s:[[], [f], [n, "
				   "f]]}}",
	    "partners", "match", "test", "bw", "grid", "nodes", "nobody",
	    "node2", "node5", "p50", 1.0, -1.0);
	struct round round;

	round_read(f->roster, record, &round);
	assert_int_equal(round.grid_count, 3);
	assert_true(round.grid[1 * 3 + 0] == 1 && isnan(round.grid[2 * 3 + 1]));
	shares_hear(f->diagnosis, &round);
	round_clear(&round);
	json_object_del(record, "grid");
	round_read(f->roster, record, &round);
	shares_hear(f->diagnosis, &round);
	round_clear(&round);
	json_decref(record);
	expect_share(f, "nodes", "node", "node1", 1, 0);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		DIAGNOSIS_TEST(test_node),
		DIAGNOSIS_TEST(test_uplink),
		DIAGNOSIS_TEST(test_little_grids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
