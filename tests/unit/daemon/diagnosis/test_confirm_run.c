/* SPDX-License-Identifier: Apache-2.0 */
/* Confirmation runs: their nodes, their kind, and the consequences of their
 * results. */
#include "tests/unit/daemon/diagnosis/diagnosis_fix.h"

#include "common/clk.h"
#include "common/member.h"
#include "common/str.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* The confirmation run finds no slow node: no alarm. */
static void
test_cleared_by_pass(void **state)
{
	struct fix *f = *state;

	for (int i = 0; i < 3; i++)
		hear_round(f, 1 << 4);
	diagnosis_tick(f->diagnosis);
	hear_pass(f, "none", 0);
	assert_int_equal(open_cases(f), 0);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_OK);
}

static void
test_uplink(void **state)
{
	struct fix *f = *state;

	for (int i = 0; i < 3; i++)
		hear_round(f, 0xf0); /* node5 to node8, all of a leaf */
	assert_int_equal(open_cases(f), 1);
	expect_text(f,
	    "leaf 10.78.2.0/24: 40 % slower than other leaves over 3 rounds "
	    "(lat); 4 of its 4 nodes are slow");
	assert_int_equal(verdict_of(f, "node5"), VERDICT_OK);
	diagnosis_tick(f->diagnosis);
	hear_pass(f, "none", PASS_UPLINK);
	expect_text(f, "so its uplink is slow");
	expect_text(f, "; check the uplinks of this leaf");
	assert_int_equal(verdict_of(f, "node5"), VERDICT_OK);
}

/* With only one other leaf to measure, all traffic out of one leaf enters the
 * other: one case names both, neither is bad, and the other leaf gets no second
 * case. A restarted collector loads this state. */
static void
test_two_leaves(void **state)
{
	struct fix *f = *state;
	struct diagnosis_open list[4];
	json_t *rows;

	f->not_had = 0xf00;
	for (int i = 0; i < 3; i++)
		hear_round(f, 0xf0);
	diagnosis_tick(f->diagnosis);
	hear_pass(f, "none", PASS_UPLINK);
	assert_int_equal(diagnosis_open_cases(f->diagnosis, list, 4), 1);
	assert_string_equal(names_whats[list[0].what].name, "link");
	assert_int_equal(list[0].verdict, VERDICT_WARN);
	expect_text(f,
	    "so its uplink is slow, or the uplink of the only other measured "
	    "leaf, 10.78.1.0/24; check the uplinks of both leaves");
	diagnosis_tick(f->diagnosis);
	assert_int_equal(f->orders, 1);
	for (int i = 0; i < 6; i++)
		hear_round(f, 0x0f);
	assert_int_equal(open_cases(f), 1);
	rows = json_pack("[O]", json_object_get(told.rows, "10.78.2.0/24"));
	fix_again(f);
	diagnosis_load(f->diagnosis, rows);
	json_decref(rows);
	diagnosis_tick(f->diagnosis);
	assert_int_equal(f->orders, 1);
	for (int i = 0; i < 3; i++)
		hear_round(f, 0x0f);
	assert_int_equal(open_cases(f), 1);
	expect_text(f, "10.78.1.0/24");
}

/* One that a run has dismissed is left alone by the next collector, too. */
static void
test_hold_restart(void **state)
{
	struct fix *f = *state;
	json_t *rows;

	hear_made(f, 1, 40);
	hear_made(f, 1.13, 5);
	assert_int_equal(open_cases(f), 1);
	diagnosis_tick(f->diagnosis);
	hear_pass(f, "none", 0);
	assert_int_equal(open_cases(f), 0);
	fix_again(f);
	rows = json_pack("[{s:s, s:O}]", "name", DIAGNOSIS_RECENT, "body",
	    told.recent);
	diagnosis_load_baselines(f->diagnosis, rows);
	json_decref(rows);
	hear_made(f, 1.13, 10);
	assert_int_equal(open_cases(f), 0);
	hear_made(f, 1.13, 20);
	assert_int_equal(open_cases(f), 1);
}

/* Rounds with this many slow pairs among the 11 pairs of node5 to node8, and
 * with `usual` slow pairs of other nodes. */
static void
hear_slow_pairs(struct fix *f, int slow, int usual, int rounds)
{
	static const struct diagnosis_source from = { "run-1", "watch",
		"background", "openmpi", "agents", NULL, NULL };

	for (int r = 0; r < rounds; r++) {
		json_t *record, *nodes = json_array();
		char name[16];

		for (int i = 0; i < NODES; i++) {
			snprintf(name, sizeof(name), "node%d", i + 1);
			json_array_append_new(nodes,
			    json_pack("{s:s, s:f, s:i, s:i}", "node", name,
				"q25", 1e-5 * (1 + 0.002 * ((i * 5 + r) % 7)),
				"partners", 11, "slow_partners",
				i / 4 == 1 ? slow : usual));
		}
		record = json_pack("{s:s, s:s, s:s, s:s, s:s, s:f, s:o}", "run",
		    "run-1", "probe", "canary", "test", "lat", "phase", "wild",
		    "partners", "match", "p50", 1e-5, "nodes", nodes);
		evidence_record(f->diagnosis, f->roster, &from, record);
		json_decref(record);
	}
}

/* The run's pairs: of the pairs that leave the first node's leaf, one in this
 * many is twice as slow. 0: none is slow. */
static void
hear_pass_share(struct fix *f, size_t every)
{
	const struct confirm_run *p = &f->diagnosis->pass;
	struct diagnosis_source from = { p->run, NAMES_PASS_CAMPAIGN,
		"background", "openmpi", "agents", NULL, NULL };
	json_t *names = json_array(), *grid = json_array(), *record;

	for (size_t a = 0; a < p->count; a++) {
		json_t *row = json_array();

		for (size_t b = 0; b < a; b++) {
			int crosses = (p->leaves[a] == p->leaves[0]) !=
			    (p->leaves[b] == p->leaves[0]);

			json_array_append_new(row,
			    json_real(
				crosses && every > 0 && (3 * a + b) % every == 0
				    ? 2e-5
				    : 1e-5 * (1 + 0.001 * (double)(a % 5))));
		}
		json_array_append_new(names, json_string(p->names[a]));
		json_array_append_new(grid, row);
	}
	record = json_pack("{s:s, s:s, s:s, s:{s:o, s:o}}", "probe", "canary",
	    "test", "lat", "phase", "isolated", "grid", "nodes", names, "p50",
	    grid);
	evidence_record(f->diagnosis, f->roster, &from, record);
	json_decref(record);
	diagnosis_run_over(f->diagnosis, f->diagnosis->pass.run);
}

/* Some pairs of a leaf are slow in rounds: a run with as many nodes as it can
 * have counts them, and until it has the leaf is suspected only. */
static void
test_slow_pairs(void **state)
{
	struct fix *f = *state;
	struct diagnosis_open list[4];

	for (int again = 0; again < 2; again++) {
		hear_slow_pairs(f, 1, 1, 60);
		hear_slow_pairs(f, 5, 1, 4);
		assert_int_equal(diagnosis_open_cases(f->diagnosis, list, 4),
		    1);
		assert_string_equal(list[0].kind, "leaf");
		assert_int_equal(list[0].verdict, VERDICT_WARN);
		expect_text(f, "confirmation run pending");
		diagnosis_tick(f->diagnosis);
		assert_int_equal(f->orders, 1 + again);
		assert_string_equal(conf_string(f->campaign, "canary",
					"partners"),
		    "match");
		assert_int_equal(f->diagnosis->pass.count, NODES);
		if (again == 0) {
			hear_pass_share(f, 0);
			assert_int_equal(open_cases(f), 0);
			continue;
		}
		hear_pass_share(f, 3);
		assert_int_equal(diagnosis_open_cases(f->diagnosis, list, 4),
		    1);
		assert_string_equal(names_whats[list[0].what].name, "link");
		assert_int_equal(list[0].verdict, VERDICT_BAD);
		expect_text(f, "of 32 pairs are slow");
	}
	/* Not again. */
	diagnosis_tick(f->diagnosis);
	assert_int_equal(f->orders, 2);
	assert_int_equal(told.open, 1);
}

/* A usual share of 0 is shown as a share, too. */
static void
test_slow_pairs_none(void **state)
{
	struct fix *f = *state;

	hear_slow_pairs(f, 0, 0, 60);
	hear_slow_pairs(f, 5, 0, 4);
	assert_int_equal(open_cases(f), 1);
	expect_text(f,
	    "of the pairs of its nodes are slow instead of the usual 0 %, "
	    "over ");
	expect_text(f,
	    "but no single node is slow: the cause is one of its uplinks");
}

/* All pairs of a node are slow by the same factor. They are counted if that is
 * a fault, not if it may be the node's distance. */
static void
test_all_pairs_slow(void **state)
{
	uint32_t leaves[8] = { 0, 0, 0, 1, 1, 2, 2, 2 };
	struct confirm_pair pairs[28];
	struct confirm_share share;
	size_t n = 0;

	(void)state;
	for (size_t a = 0; a < 8; a++)
		for (size_t b = a + 1; b < 8; b++)
			pairs[n++] = (struct confirm_pair){ a, b,
				(a == 0 ? 0.2 : 0) + 0.001 * (double)b,
				{ NAN, NAN } };
	confirm_share(leaves, pairs, n, 0, 0.05, 0.1, &share);
	assert_int_equal(share.pairs, 7);
	assert_int_equal(share.slow, 7);
	confirm_share(leaves, pairs, n, 0, 0.05, 0.3, &share);
	assert_int_equal(share.slow, 0);
}

/* A faulty spine is part of the paths between leaves: the case of a node or
 * leaf is undetermined, a warning, and neither is bad. */
static void
test_spine(void **state)
{
	struct fix *f = *state;
	struct diagnosis_open list[4];

	for (int leaf = 0; leaf <= 1; leaf++) {
		for (int i = 0; i < 3; i++)
			hear_round(f, leaf ? 0xf0 : 1 << 4);
		diagnosis_tick(f->diagnosis);
		hear_pass(f, "none", PASS_PATH);
		assert_int_equal(diagnosis_open_cases(f->diagnosis, list, 4),
		    1);
		assert_string_equal(list[0].kind, leaf ? "leaf" : "node");
		assert_string_equal(names_whats[list[0].what].name,
		    "undetermined");
		assert_int_equal(list[0].verdict, VERDICT_WARN);
		expect_text(f,
		    "confirmation run: undetermined whether the node or a path "
		    "is slow");
		for (int i = 0; i < 5; i++)
			hear_round(f, 0);
		assert_int_equal(open_cases(f), 0);
	}
}

/* A node is accused, and it is its leaf's uplink, which half of its nodes show.
 * Where no other node does, it is not known. */
static void
test_node_is_leaf(void **state)
{
	struct fix *f = *state;
	struct diagnosis_open list[4];

	for (int i = 0; i < 3; i++)
		hear_round(f, 1 << 4);
	diagnosis_tick(f->diagnosis);
	hear_pass(f, "none", PASS_UPLINK);
	assert_int_equal(diagnosis_open_cases(f->diagnosis, list, 4), 1);
	assert_string_equal(names_whats[list[0].what].name, "undetermined");
	for (int i = 0; i < 5; i++)
		hear_round(f, 0);
	assert_int_equal(open_cases(f), 0);
	for (int i = 0; i < 3; i++)
		hear_round(f, 3 << 4);
	diagnosis_tick(f->diagnosis);
	hear_pass(f, "none", PASS_UPLINK);
	/* One node's case has moved to the leaf, and its row has ended. */
	assert_int_equal(diagnosis_open_cases(f->diagnosis, list, 4), 2);
	assert_int_equal(told.open, 2);
	assert_string_equal(list[1].kind, "leaf");
	assert_string_equal(names_whats[list[1].what].name, "link");
	expect_text(f, "leaf 10.78.2.0/24: 38 % slower than other leaves");
	assert_int_equal(verdict_of(f, "node5"), VERDICT_OK);
	/* Clean results before the suspicion do not count. The leaf explains
	 * the other node. */
	for (int i = 0; i < 2; i++)
		hear_round(f, 0);
	assert_int_equal(diagnosis_open_cases(f->diagnosis, list, 4), 1);
	assert_int_equal(verdict_of(f, "node6"), VERDICT_OK);
	expect_text(f, "leaf 10.78.2.0/24: 38 % slower than other leaves");
	hear_round(f, 0);
	assert_int_equal(diagnosis_open_cases(f->diagnosis, list, 4), 0);
}

/* The run finds that a named leaf has one slow node: the case moves to the
 * node, and no case of the leaf stays open. */
static void
test_leaf_is_node(void **state)
{
	struct fix *f = *state;
	struct diagnosis_open list[4];

	for (int i = 0; i < 3; i++)
		hear_round(f, 0xf0);
	assert_int_equal(diagnosis_open_cases(f->diagnosis, list, 4), 1);
	assert_string_equal(list[0].kind, "leaf");
	diagnosis_tick(f->diagnosis);
	hear_pass(f, f->diagnosis->pass.names[0], 0);
	assert_int_equal(diagnosis_open_cases(f->diagnosis, list, 4), 1);
	assert_string_equal(list[0].kind, "node");
	assert_int_equal(list[0].what, WHAT_NODE);
	assert_int_equal(list[0].verdict, VERDICT_BAD);
	assert_int_equal(told.open, 1);
}

/* An uplink is slow for the jobs of its leaf, and so are the idle nodes there:
 * those that come before it is named, or before a confirmation run ends. */
static void
test_leaf_busy(void **state)
{
	struct fix *f = *state;
	struct diagnosis_open list[4];

	roster_find(f->roster, "node6")->host.jobs = 0.6;
	roster_find(f->roster, "node7")->host.jobs = 0.6;
	for (int i = 0; i < 3; i++)
		hear_round(f, 1 << 4);
	assert_int_equal(open_cases(f), 0);
	roster_find(f->roster, "node6")->host.jobs = 0;
	roster_find(f->roster, "node7")->host.jobs = 0;
	for (int i = 0; i < 3; i++)
		hear_round(f, 1 << 4);
	diagnosis_tick(f->diagnosis);
	roster_find(f->roster, "node6")->host.jobs = 0.6;
	roster_find(f->roster, "node7")->host.jobs = 0.6;
	hear_round(f, 1 << 4);
	hear_pass(f, "none", PASS_UPLINK);
	assert_int_equal(diagnosis_open_cases(f->diagnosis, list, 4), 1);
	assert_string_equal(list[0].kind, "node");
	assert_int_equal(list[0].verdict, VERDICT_WARN);
}

/* A failed run is retried later. */
static void
test_try_again(void **state)
{
	struct fix *f = *state;

	for (int i = 0; i < 3; i++)
		hear_round(f, 1 << 4);
	diagnosis_tick(f->diagnosis);
	diagnosis_run_over(f->diagnosis, "pass-1");
	diagnosis_tick(f->diagnosis);
	assert_int_equal(f->orders, 1);
	TAILQ_FIRST(&f->diagnosis->incidents)->confirm.next_ns = 0;
	diagnosis_tick(f->diagnosis);
	assert_int_equal(f->orders, 2);
}

/* Partners are nodes that the run can use, on any leaf; no run is ordered
 * before these are known. */
static void
test_partners(void **state)
{
	struct fix *f = *state;

	f->asking = 1;
	f->not_had = 1 << 5 | 1 << 0 | 1 << 1 | 1 << 8;
	for (int i = 0; i < 3; i++)
		hear_round(f, 1 << 4);
	diagnosis_tick(f->diagnosis);
	assert_int_equal(f->orders, 0);
	f->asking = 0;
	diagnosis_tick(f->diagnosis);
	assert_int_equal(f->orders, 1);
	/* node5's own leaf, without node6; and two of one other. */
	assert_memory_equal(ordered(f, "nodes"), "node5,", 6);
	assert_non_null(strstr(ordered(f, "nodes"), "node7"));
	assert_non_null(strstr(ordered(f, "nodes"), "node8"));
	assert_null(strstr(ordered(f, "nodes"), "node6"));
	assert_null(strstr(ordered(f, "nodes"), "node1,"));
	assert_null(strstr(ordered(f, "nodes"), "node2"));
	assert_null(strstr(ordered(f, "nodes"), "node9"));
	assert_int_equal(f->diagnosis->pass.count, 6);
}

/* The confirmation run uses the same launcher and the same account as the run
 * that made it necessary, also after a restart. */
static void
test_slurm(void **state)
{
	struct fix *f = *state;
	json_t *slurm = json_pack("{s:s, s:s}", "partition", "net", "account",
	    "ops");
	struct diagnosis_source from = { "run-1", "watch", "exclusive",
		"openmpi", "slurm", slurm, NULL };
	json_t *list;

	f->exclusive = 1;
	for (int i = 0; i < 3; i++)
		hear_round_of(f, 1 << 4, &from);
	json_decref(slurm);
	list = diagnosis_json(f->diagnosis, 0);
	for (int again = 0; again < 2; again++) {
		diagnosis_tick(f->diagnosis);
		assert_int_equal(f->orders, again + 1);
		assert_string_equal(ordered(f, "launcher"), "slurm");
		assert_string_equal(ordered(f, "class"), "exclusive");
		assert_string_equal(conf_string(f->campaign, "slurm",
					"partition"),
		    "net");
		assert_string_equal(conf_string(f->campaign, "slurm",
					"account"),
		    "ops");
		assert_string_equal(conf_string(f->campaign, "slurm", "qos"),
		    "");
		fix_again(f);
		diagnosis_load(f->diagnosis, list);
		hear_round(f, 1 << 4); /* another way: no matter */
	}
	json_decref(list);
}

/* A run without such a section adds none. */
static void
test_no_slurm(void **state)
{
	struct fix *f = *state;

	for (int i = 0; i < 3; i++)
		hear_round(f, 1 << 4);
	diagnosis_tick(f->diagnosis);
	assert_int_equal(f->orders, 1);
	assert_false(conf_has_section(f->campaign, "slurm"));
	assert_string_equal(ordered(f, "launcher"), "agents");
}

/* A node whose link is busy with a job is not blamed, others are. */
static void
test_link_busy(void **state)
{
	struct fix *f = *state;

	roster_find(f->roster, "node5")->host.jobs = 0.6;
	for (int i = 0; i < 12; i++)
		hear_round(f, 1 << 4 | 1 << 8);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_OK);
	assert_int_equal(verdict_of(f, "node9"), VERDICT_WARN);
	roster_find(f->roster, "node5")->host.jobs = 0;
	for (int i = 0; i < 3; i++)
		hear_round(f, 1 << 4 | 1 << 8);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_WARN);
	/* The job comes back before the run: it waits. */
	incident_find(f->diagnosis, JUDGE_NODE,
	    (uint32_t)roster_find(f->roster, "node5")->id)
	    ->since_unix_ns -= 200 * CLK_NS_PER_S;
	roster_find(f->roster, "node5")->host.jobs = 0.6;
	hear_round(f, 1 << 4);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_WARN);
	diagnosis_tick(f->diagnosis);
	assert_int_equal(f->orders, 1);
	assert_int_equal(strncmp(conf_string(f->campaign, "campaign", "nodes"),
			     "node9,", 6),
	    0);
}

/* As hear_round(), of bandwidths. */
static void
hear_bw(struct fix *f, unsigned slow)
{
	static const struct diagnosis_source from = { "run-2", "watch-bw",
		"background", "openmpi", "agents", NULL, NULL };
	json_t *nodes = json_array(), *record;
	char name[16];

	for (int i = 0; i < NODES; i++) {
		snprintf(name, sizeof(name), "node%d", i + 1);
		json_array_append_new(nodes,
		    json_pack("{s:s, s:f}", "node", name, "q75",
			1e9 * (1 + 0.002 * (i % 5)) /
			    (slow >> i & 1 ? 2.5 : 1)));
	}
	record = json_pack("{s:s, s:s, s:s, s:o}", "probe", "canary", "test",
	    "bw", "phase", "wild", "nodes", nodes);
	evidence_record(f->diagnosis, f->roster, &from, record);
	json_decref(record);
}

/* The traffic of a job is seen only after its node was named, by several tests.
 * The warning ends, and rounds during the job bring no other. */
static void
test_link_busy_late(void **state)
{
	struct fix *f = *state;
	int told_then;

	for (int i = 0; i < 2; i++) {
		roster_find(f->roster, "node5")->host.jobs = 0;
		for (int r = 0; r < 3; r++) {
			hear_round(f, 1 << 4);
			hear_bw(f, 1 << 4);
		}
		assert_int_equal(verdict_of(f, "node5"), VERDICT_WARN);
		roster_find(f->roster, "node5")->host.jobs = 0.6;
		hear_round(f, 1 << 4);
		assert_int_equal(verdict_of(f, "node5"), VERDICT_OK);
		assert_non_null(strstr(told.last, "a job's traffic"));
		told_then = told.verdicts;
		hear_bw(f, 1 << 4);
		hear_round(f, 1 << 4);
		assert_int_equal(told.verdicts, told_then);
	}
}

/* A run that clears one test is not evidence about another test. */
static void
test_suspicion_of_two_tests(void **state)
{
	struct fix *f = *state;

	for (int i = 0; i < 3; i++) {
		hear_round(f, 1 << 4);
		hear_bw(f, 1 << 4);
	}
	diagnosis_tick(f->diagnosis);
	assert_int_equal(f->orders, 1);
	hear_pass(f, "none", PASS_FINE);
	assert_int_equal(open_cases(f), 1);
	expect_text(f, "2.5 times slower");
	expect_text(f, "(bw)");
	diagnosis_tick(f->diagnosis);
	assert_int_equal(f->orders, 2);
	hear_pass(f, "none", PASS_FINE);
	assert_int_equal(open_cases(f), 0);
	for (int i = 0; i < 3; i++)
		hear_bw(f, 1 << 4);
	assert_int_equal(open_cases(f), 1);
}

/* The results of a run in which only traffic that leaves the leaf 10.78.2 is
 * slow. An exchange takes the mean of both directions; felt: single pairs are
 * slow too. */
static void
hear_leaving(struct fix *f, int felt)
{
	struct confirm_run *p = &f->diagnosis->pass;
	struct diagnosis_source from = { p->run, NAMES_PASS_CAMPAIGN,
		"background", "openmpi", "agents", NULL, NULL };
	uint32_t home = diagnosis_leaf(f->diagnosis, "10.78.2.0/24");
	json_t *pairs = json_array(), *names = json_array();
	json_t *grid = json_array(), *record;

	for (size_t a = 0; a < p->count; a++) {
		json_t *row = json_array();

		for (size_t b = 0; b < a; b++) {
			int out = p->leaves[a] == home,
			    in = p->leaves[b] == home;
			double forth = felt && out && !in ? 0.4e9 : 1e9;
			double back = felt && in && !out ? 0.4e9 : 1e9;

			json_array_append_new(row,
			    json_real(out != in ? 0.5e9 : 1e9));
			json_array_append_new(pairs,
			    json_pack("{s:s, s:s, s:f, s:f, s:f}", "a",
				p->names[a], "b", p->names[b], "p50",
				(forth + back) / 2, "forth", forth, "back",
				back));
		}
		json_array_append_new(names, json_string(p->names[a]));
		json_array_append_new(grid, row);
	}
	record = json_pack("{s:s, s:s, s:s, s:o, s:{s:o, s:o}}", "probe",
	    "canary", "test", "bw", "phase", "isolated", "pairs", pairs, "grid",
	    "nodes", names, "p50", grid);
	evidence_record(f->diagnosis, f->roster, &from, record);
	json_decref(record);
	diagnosis_run_over(f->diagnosis, p->run);
}

static void
expect_partners(struct fix *f, int orders, const char *partners)
{
	diagnosis_tick(f->diagnosis);
	assert_int_equal(f->orders, orders);
	assert_string_equal(conf_string(f->campaign, "canary", "partners"),
	    partners);
}

/* A leaf is confirmed under its load, and then its direction is measured. A
 * leaf that is slow only under load is bad, with an unknown direction. Older
 * engines that cannot measure directions are not used for that. */
static void
test_way_of_leaf(void **state)
{
	struct fix *f = *state;

	for (int i = 0; i < 3; i++)
		hear_bw(f, 0xf0);
	expect_partners(f, 1, "match");
	assert_int_equal(f->diagnosis->pass.count, 8);
	hear_leaving(f, 1);
	expect_text(f, "so its uplink is slow");
	diagnosis_tick(f->diagnosis);
	assert_int_equal(f->orders, 1);
	for (int i = 0; i < 3; i++)
		hear_bw(f, 0);
	assert_int_equal(open_cases(f), 0);

	for (size_t i = 0; i < NODES; i++)
		json_object_set_new(roster_by_id(f->roster, i)->inventory,
		    "one_way", json_true());
	for (int felt = 1; felt >= 0; felt--) {
		for (int i = 0; i < 3; i++)
			hear_bw(f, 0xf0);
		expect_partners(f, 4 - 2 * felt, "match");
		hear_leaving(f, 1);
		expect_text(f,
		    "so its uplink is slow; run to find the direction: ");
		f->not_had = felt ? 0xf00 : 0; /* one other leaf is enough */
		expect_partners(f, 5 - 2 * felt, "one-way");
		assert_int_equal(f->diagnosis->pass.count, 6);
		hear_leaving(f, felt);
		expect_text(f,
		    felt ? "so its uplink is slow, only for traffic out of the "
			   "leaf"
			 : "are normal, so its uplink is slow");
		f->not_had = 0;
		diagnosis_tick(f->diagnosis);
		assert_int_equal(f->orders, 5 - 2 * felt);
		for (int i = 0; i < 3; i++)
			hear_bw(f, 0);
		assert_int_equal(open_cases(f), 0);
	}
}

/* A backup job hid a bad link; it is over, and the link is looked at. */
static void
test_host_over(void **state)
{
	struct fix *f = *state;

	roster_find(f->roster, "node5")->host.wait_s = 0.080;
	for (int i = 0; i < 3; i++)
		hear_round(f, 1 << 4);
	expect_text(f, "host contention");
	roster_find(f->roster, "node5")->host.wait_s = 0;
	for (int i = 0; i < 3; i++)
		hear_round(f, 1 << 4);
	diagnosis_tick(f->diagnosis);
	assert_int_equal(f->orders, 1);
}

/* A fault that disappears in every confirmation run is reported after the
 * fourth time. */
static void
test_intermittent(void **state)
{
	struct fix *f = *state;
	struct diagnosis_open list[2];

	for (int i = 0; i < 4; i++) {
		assert_int_equal(open_cases(f), 0);
		for (int k = 0; k < 3; k++)
			hear_round(f, 1 << 4);
		diagnosis_tick(f->diagnosis);
		hear_pass(f, "none", PASS_FINE);
	}
	assert_int_equal(diagnosis_open_cases(f->diagnosis, list, 2), 1);
	assert_string_equal(names_whats[list[0].what].name, "intermittent");
	expect_text(f, "node5: intermittently up to 41 % slower (lat)");
	/* and a permanent fault is confirmed */
	for (int k = 0; k < 3; k++)
		hear_round(f, 1 << 4);
	diagnosis_tick(f->diagnosis);
	hear_pass(f, "node5", PASS_FINE);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_BAD);
}

/* Measurements during another run's load are not judged. */
static void
test_disturbed(void **state)
{
	struct fix *f = *state;

	for (int i = 0; i < 3; i++)
		hear_round(f, 1 << 4);
	diagnosis_tick(f->diagnosis);
	expect_text(f, "confirmation run pending: in progress as run pass-1");
	diagnosis_run_begun(f->diagnosis, "pass-1");
	diagnosis_run_begun(f->diagnosis, "run-7");
	hear_pass(f, "none", PASS_FINE);
	assert_int_equal(open_cases(f), 1);
	expect_text(f, "confirmation run pending: at ");
	TAILQ_FIRST(&f->diagnosis->incidents)->confirm.next_ns = 0;
	diagnosis_tick(f->diagnosis);
	assert_int_equal(f->orders, 2);
	hear_pass(f, "none", PASS_FINE);
	assert_int_equal(open_cases(f), 0);
}

/* A run that was ordered earlier starts before the confirmation run, and ends
 * before it: nothing is repeated. */
static void
test_not_disturbed(void **state)
{
	struct fix *f = *state;

	for (int i = 0; i < 3; i++)
		hear_round(f, 1 << 4);
	diagnosis_tick(f->diagnosis);
	diagnosis_run_begun(f->diagnosis, "run-7");
	diagnosis_run_over(f->diagnosis, "run-7");
	diagnosis_run_begun(f->diagnosis, "pass-1");
	hear_pass(f, "node5", PASS_FINE);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_BAD);
	assert_int_equal(f->orders, 1);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		DIAGNOSIS_TEST(test_cleared_by_pass),
		DIAGNOSIS_TEST(test_uplink),
		DIAGNOSIS_TEST(test_two_leaves),
		DIAGNOSIS_TEST(test_hold_restart),
		DIAGNOSIS_TEST(test_slow_pairs),
		DIAGNOSIS_TEST(test_slow_pairs_none),
		cmocka_unit_test(test_all_pairs_slow),
		DIAGNOSIS_TEST(test_spine),
		DIAGNOSIS_TEST(test_node_is_leaf),
		DIAGNOSIS_TEST(test_try_again),
		DIAGNOSIS_TEST(test_partners),
		DIAGNOSIS_TEST(test_slurm),
		DIAGNOSIS_TEST(test_no_slurm),
		DIAGNOSIS_TEST(test_link_busy),
		DIAGNOSIS_TEST(test_link_busy_late),
		DIAGNOSIS_TEST(test_leaf_is_node),
		DIAGNOSIS_TEST(test_leaf_busy),
		DIAGNOSIS_TEST(test_suspicion_of_two_tests),
		DIAGNOSIS_TEST(test_way_of_leaf),
		DIAGNOSIS_TEST(test_host_over),
		DIAGNOSIS_TEST(test_intermittent),
		DIAGNOSIS_TEST(test_disturbed),
		DIAGNOSIS_TEST(test_not_disturbed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
