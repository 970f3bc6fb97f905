/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds and reports of nodes: the resulting outliers, their kind and end; the
 * state that a restarted collector loads. */
#include "tests/unit/daemon/diagnosis/diagnosis_fix.h"

#include "common/clk.h"
#include "common/member.h"
#include "common/str.h"
#include "daemon/evidence/counters.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

static void
test_node(void **state)
{
	struct fix *f = *state;

	assert_int_equal(verdict_of(f, "node5"), VERDICT_UNKNOWN);
	hear_round(f, 0);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_OK);
	for (int i = 0; i < 3; i++)
		hear_round(f, 1 << 4);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_WARN);
	expect_text(f,
	    "node5: 41 % slower than 11 of 11 partners over 3 "
	    "rounds (lat); its partners are normal with other nodes");
	/* The quartile of a few rounds may be slow without one in the last. */
	f->diagnosis->nodes[roster_find(f->roster, "node5")->id].slow_partners =
	    0;
	incident_write(f->diagnosis, TAILQ_FIRST(&f->diagnosis->incidents));
	expect_text(f, "node5: 41 % slower than its peers over 3 rounds (lat)");
	diagnosis_tick(f->diagnosis);
	assert_int_equal(f->orders, 1);
	assert_memory_equal(ordered(f, "nodes"), "node5,", 6);
	assert_string_equal(ordered(f, "class"), "background");
	hear_pass(f, "node5", 0);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_BAD);
	expect_text(f, "5 of 5 partners");
	expect_text(f, "; check its NIC, cable and PCIe slot");
	assert_int_equal(open_cases(f), 1);
	for (int i = 0; i < 3; i++)
		hear_round(f, 0);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_OK);
	assert_int_equal(open_cases(f), 0);
	assert_int_equal(told.verdicts, 3); /* warn, bad, ok */
	assert_non_null(strstr(told.last, "normal for 3 rounds"));
	diagnosis_tick(f->diagnosis);
	assert_int_equal(f->orders, 1);
}

/* Whoever acts on verdicts gets each change of one, once. */
static void
test_changed(void **state)
{
	struct fix *f = *state;

	diagnosis_tick(f->diagnosis); /* all are unknown */
	assert_int_equal(told.changes, NODES);
	assert_int_equal(told.state, VERDICT_UNKNOWN);
	hear_round(f, 0);
	diagnosis_tick(f->diagnosis);
	diagnosis_tick(f->diagnosis);
	assert_int_equal(told.changes, 2 * NODES);
	assert_int_equal(told.state, VERDICT_OK);
	assert_int_equal(told.what, WHAT_MAX);
	for (int i = 0; i < 3; i++)
		hear_round(f, 1 << 4);
	assert_int_equal(told.changes, 2 * NODES + 1);
	assert_string_equal(told.subject, "node5");
	assert_int_equal(told.state, VERDICT_WARN);
	assert_int_equal(told.what, WHAT_NODE);
	diagnosis_tick(f->diagnosis);
	hear_pass(f, "node5", 0);
	assert_int_equal(told.changes, 2 * NODES + 2);
	assert_int_equal(told.state, VERDICT_BAD);
	for (int i = 0; i < 3; i++)
		hear_round(f, 0);
	diagnosis_tick(f->diagnosis);
	assert_int_equal(told.changes, 2 * NODES + 3);
	assert_int_equal(told.state, VERDICT_OK);
	assert_int_equal(told.what, WHAT_MAX);
}

static void
hear_rail(struct fix *f, const char *rail, unsigned slow)
{
	const struct diagnosis_source from = { "run-1", "watch", "background",
		"openmpi", "agents", NULL, rail };

	hear_round_of(f, slow, &from);
}

/* Of two rails that alternate one is slow on one node: the verdict is that
 * rail, in the confirmation run too, also for a restarted collector. When both
 * are slow, the verdict is the node. */
static void
test_rail(void **state)
{
	struct fix *f = *state;
	struct diagnosis_open list[4];
	json_t *all;

	for (int i = 0; i < 5; i++)
		hear_rail(f, i % 2 == 0 ? "eth1" : "eth2",
		    i % 2 == 0 ? 1 << 4 : 0);
	assert_int_equal(diagnosis_open_cases(f->diagnosis, list, 4), 1);
	assert_string_equal(names_whats[list[0].what].name, "rail");
	assert_string_equal(list[0].subject, "node5");
	expect_text(f, "node node5, rail eth1: 41 % slower than 11 of 11");
	diagnosis_tick(f->diagnosis);
	assert_int_equal(f->orders, 1);
	assert_string_equal(conf_string(f->campaign, "mpi", "devices"), "eth1");
	f->diagnosis->pass.disturbed = 1; /* and the next run uses it too */
	hear_pass(f, "node5", 0);
	TAILQ_FIRST(&f->diagnosis->incidents)->what = WHAT_UNDETERMINED;
	TAILQ_FIRST(&f->diagnosis->incidents)->confirm.next_ns = 0;
	diagnosis_tick(f->diagnosis);
	assert_int_equal(f->orders, 2);
	assert_string_equal(conf_string(f->campaign, "mpi", "devices"), "eth1");
	hear_pass(f, "node5", 0);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_BAD);
	expect_text(f,
	    "confirmation run over this rail: the node is slow, not its");
	all = diagnosis_json(f->diagnosis, 0);
	fix_again(f);
	diagnosis_load(f->diagnosis, all);
	json_decref(all);
	hear_rail(f, "eth2", 0);
	assert_int_equal(diagnosis_open_cases(f->diagnosis, list, 4), 1);
	assert_string_equal(names_whats[list[0].what].name, "rail");
	for (int i = 0; i < 3; i++)
		hear_rail(f, "eth1", 0);
	assert_int_equal(open_cases(f), 0);
	for (int i = 0; i < 3; i++)
		hear_rail(f, i % 2 == 0 ? "eth1" : "eth2", 1 << 5);
	assert_int_equal(diagnosis_open_cases(f->diagnosis, list, 4), 1);
	assert_string_equal(names_whats[list[0].what].name, "node");
	expect_text(f, "node6: 4");
}

/* Rounds on GPU memory are separate: rounds on host memory do not count against
 * them, after a restart too, and the confirmation run measures the memory that
 * was slow. */
static void
test_device(void **state)
{
	struct fix *f = *state;
	json_t *all;

	for (int i = 0; i < 6; i++) {
		f->device = i % 2 == 0 ? "cuda" : NULL;
		hear_round(f, i % 2 == 0 ? 1 << 4 : 0);
	}
	assert_int_equal(verdict_of(f, "node5"), VERDICT_WARN);
	diagnosis_tick(f->diagnosis);
	assert_int_equal(f->orders, 1);
	assert_string_equal(conf_string(f->campaign, "measure", "device"),
	    "cuda");
	all = diagnosis_json(f->diagnosis, 0);
	fix_again(f);
	diagnosis_load(f->diagnosis, all);
	json_decref(all);
	for (int i = 0; i < 4; i++)
		hear_round(f, 0);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_WARN);
	f->device = "cuda";
	for (int i = 0; i < 4; i++)
		hear_round(f, 0);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_OK);
}

/* Rounds of messages of another size are separate too, after a restart, and the
 * confirmation run sends messages of that size. */
static void
test_bytes(void **state)
{
	struct fix *f = *state;
	json_t *all;

	for (int i = 0; i < 6; i++) {
		f->bytes = i % 2 == 0 ? 4096 : 0;
		hear_round(f, i % 2 == 0 ? 1 << 4 : 0);
	}
	assert_int_equal(verdict_of(f, "node5"), VERDICT_WARN);
	diagnosis_tick(f->diagnosis);
	assert_int_equal(f->orders, 1);
	assert_int_equal(conf_bytes(f->campaign, "canary", "bytes"), 4096);
	all = diagnosis_json(f->diagnosis, 0);
	fix_again(f);
	diagnosis_load(f->diagnosis, all);
	json_decref(all);
	for (int i = 0; i < 4; i++)
		hear_round(f, 0);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_WARN);
	f->bytes = 4096;
	for (int i = 0; i < 4; i++)
		hear_round(f, 0);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_OK);
}

/* If a node is stuck with one other, neither is reported, and one of both is
 * excluded. If it is stuck with a second node, it is reported until runs
 * measure it with them. */
static void
test_stuck(void **state)
{
	static const struct diagnosis_source from = { "run-9", "watch",
		"background", "openmpi", "agents", NULL, NULL };
	struct fix *f = *state;
	struct diagnosis *d = f->diagnosis;
	const struct node *node5 = roster_find(f->roster, "node5");
	const struct node *node2 = roster_find(f->roster, "node2");
	struct err err;

	hear_round(f, 0);
	assert_false(diagnosis_avoid(d, node5, &err));
	diagnosis_stuck(d, &from,
	    &(struct diagnosis_stuck){ node2, node5, "lat", 5 }, 1);
	assert_int_equal(told.alarms, 1);
	assert_int_equal(open_cases(f), 0);
	assert_true(diagnosis_avoid(d, node5, &err));
	assert_non_null(strstr(err.text, "node2"));
	assert_false(diagnosis_avoid(d, node2, &err));
	diagnosis_stuck(d, &from,
	    &(struct diagnosis_stuck){ roster_find(f->roster, "node9"), node5,
		"bw", 7 },
	    1);
	assert_int_equal(told.alarms, 1);
	assert_int_equal(open_cases(f), 1);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_BAD);
	assert_int_equal(verdict_of(f, "node2"), VERDICT_OK);
	expect_text(f,
	    "node5: exchanges with 2 nodes, node2 and node9 among them, did "
	    "not end within 7 s (bw)");
	hear_round(f, 0); /* slow rounds of before do not end it */
	assert_int_equal(verdict_of(f, "node5"), VERDICT_BAD);
	diagnosis_run_over(d, "run-8"); /* no node was measured */
	assert_int_equal(verdict_of(f, "node5"), VERDICT_BAD);
	diagnosis_run_over(d, "run-1");
	assert_int_equal(verdict_of(f, "node5"), VERDICT_OK);
	assert_false(diagnosis_avoid(d, node5, &err));
	assert_non_null(
	    strstr(told.last, "exchanges with this node complete again"));
}

/* All pairs of a run count at once: two leaves that cannot exchange messages
 * name no node, not even for a moment. */
static void
test_stuck_pairs(void **state)
{
	static const struct diagnosis_source from = { "run-9", "watch",
		"background", "openmpi", "agents", NULL, NULL };
	struct fix *f = *state;
	const struct node *of[] = { roster_find(f->roster, "node1"),
		roster_find(f->roster, "node2"),
		roster_find(f->roster, "node5"),
		roster_find(f->roster, "node6") };
	const struct diagnosis_stuck pairs[] = { { of[1], of[2], "bw", 7 },
		{ of[1], of[3], "bw", 7 }, { of[0], of[2], "bw", 7 },
		{ of[0], of[3], "bw", 7 } };

	hear_round(f, 0);
	told.alarms = 0;
	told.last[0] = '\0';
	diagnosis_stuck(f->diagnosis, &from, pairs, ARRAY_LEN(pairs));
	assert_int_equal(open_cases(f), 0);
	assert_int_equal(told.alarms, 4);
	assert_null(strstr(told.last, "complete again"));
}

/* A score is the judge's own z; the verdict counts. One slow round has a z
 * above 3 and is not an outlier, and a node whose leaf is slow is like its
 * peers. */
static void
test_score_and_verdict(void **state)
{
	struct fix *f = *state;
	const struct node *n = roster_find(f->roster, "node5");
	struct diagnosis *d = f->diagnosis;
	json_t *record = made_round(1.4);

	assert_true(isnan(diagnosis_score(d, n)));
	json_object_set_new(record, "phase", json_string("congested"));
	evidence_score_old(d, f->roster, record); /* record of congestors */
	assert_true(isnan(diagnosis_score(d, n)));
	json_object_set_new(record, "phase", json_string("isolated"));
	evidence_score_old(d, f->roster, record);
	assert_true(diagnosis_score(d, n) > 3);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_UNKNOWN);
	json_decref(record);
	hear_round(f, 1 << 4);
	assert_true(diagnosis_threshold(d) > 3 && diagnosis_threshold(d) < 5);
	assert_true(diagnosis_score(d, n) > 3);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_OK);
	assert_int_equal(open_cases(f), 0);
	for (int i = 0; i < 2; i++)
		hear_round(f, 1 << 4);
	assert_true(diagnosis_score(d, n) > 3);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_WARN);
	for (int i = 0; i < 5; i++)
		hear_round(f, 0xf0);
	assert_true(diagnosis_score(d, n) < diagnosis_threshold(d));
	n = roster_find(f->roster, "node6");
	assert_true(diagnosis_score(d, n) < diagnosis_threshold(d));
	assert_int_equal(verdict_of(f, "node6"), VERDICT_OK);
}

/* A round of rings, in which all nodes have the pace of the slowest, does not
 * replace the score from other rounds. */
static void
test_score_of_rings(void **state)
{
	const struct diagnosis_source from = { "run-1", "watch", "background",
		"openmpi", "agents", NULL, NULL };
	struct fix *f = *state;
	const struct node *n = roster_find(f->roster, "node5");
	struct diagnosis *d = f->diagnosis;
	json_t *slow = made_round(1.4), *even = made_round(1);

	json_object_set_new(slow, "partners", json_string("match"));
	evidence_record(d, f->roster, &from, even);
	assert_true(diagnosis_score(d, n) < 3);
	evidence_record(d, f->roster, &from, slow);
	assert_true(diagnosis_score(d, n) > 3);
	evidence_record(d, f->roster, &from, even);
	assert_true(diagnosis_score(d, n) > 3);
	json_object_set_new(even, "partners", json_string("match"));
	evidence_record(d, f->roster, &from, even);
	assert_true(diagnosis_score(d, n) < 3);
	json_decref(slow);
	json_decref(even);
}

/* The topology file names the switches above a slow leaf. After a change of the
 * file the verdict of a removed leaf ends, and a remaining one stays bad. */
static void
test_leaf_goes(void **state)
{
	static const char text[] = "west node[5-8] pod=p1 up=s[1-2]*2\n";
	char path[] = "/tmp/coalmine-leaves-XXXXXX";
	struct fix *f = *state;
	struct topo *file;
	struct err err;
	json_t *list, *one;
	int fd = mkstemp(path);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	assert_int_equal(topo_load(path, 24, &file, &err), 0);
	unlink(path);
	roster_set_topo(f->roster, file);
	for (int i = 0; i < 3; i++)
		hear_round(f, 0xf0);
	assert_int_equal(open_cases(f), 1);
	list = diagnosis_json(f->diagnosis, 0);
	one = json_array_get(list, 0);
	assert_string_equal(member_text(one, "subject"), "west");
	assert_string_equal(member_text(one, "pod"), "p1");
	assert_string_equal(member_text(one, "up"), "s[1-2]");
	json_decref(list);
	diagnosis_leaves_changed(f->diagnosis);
	assert_int_equal(open_cases(f), 1);
	roster_set_topo(f->roster, f->topo);
	diagnosis_leaves_changed(f->diagnosis);
	assert_int_equal(open_cases(f), 0);
	topo_free(file);
}

static void
test_host(void **state)
{
	struct fix *f = *state;

	roster_find(f->roster, "node5")->host.wait_s = 0.080;
	for (int i = 0; i < 3; i++)
		hear_round(f, 1 << 4);
	expect_text(f,
	    "host contention, not the network: "
	    "scheduling delay of its agent 80 ms (others 0)");
	diagnosis_tick(f->diagnosis);
	assert_int_equal(f->orders, 0); /* no run is ordered */
}

/* The record itself shows that the ranks had no core. */
static void
test_host_of_ranks(void **state)
{
	struct fix *f = *state;

	f->waits = 1 << 4;
	for (int i = 0; i < 3; i++)
		hear_round(f, 1 << 4);
	expect_text(f,
	    "host contention, not the network: its ranks' "
	    "wait for a core 90 % (others 2)");
	diagnosis_tick(f->diagnosis);
	assert_int_equal(f->orders, 0);
}

static uint64_t later_ns;

static uint64_t
later(void)
{
	return later_ns;
}

/* A quota limits its cores, but its messages are not slow: after a minute a
 * warning is reported without a confirmation run, and cleared when the quota is
 * removed. */
static void
test_host_taken(void **state)
{
	struct fix *f = *state;
	struct node *n = roster_find(f->roster, "node5");

	later_ns = clk_ns();
	clk_set_source(later, NULL);
	n->host.throttled = 0.9;
	for (int i = 0; i < 4; i++)
		hear_round(f, 0);
	assert_int_equal(open_cases(f), 0); /* within a moment */
	later_ns += 61 * CLK_NS_PER_S;
	hear_round(f, 0);
	expect_text(f,
	    "host contention: throttled by a CPU quota of its control group "
	    "90 % (others 0); its messages are not slower");
	diagnosis_tick(f->diagnosis);
	assert_int_equal(f->orders, 0);
	for (int i = 0; i < 9; i++)
		hear_round(f, 0);
	assert_int_equal(open_cases(f), 1); /* as long as it lasts */
	n->host.throttled = 0;
	for (int i = 0; i < 4; i++)
		hear_round(f, 0);
	assert_int_equal(open_cases(f), 0);
	/* All hosts are as before, which explains no outlier. */
	for (size_t i = 0; i < roster_count(f->roster); i++)
		roster_by_id(f->roster, i)->host.throttled = 0.9;
	for (int i = 0; i < 5; i++, later_ns += 61 * CLK_NS_PER_S)
		hear_round(f, 0);
	assert_int_equal(open_cases(f), 0);
	clk_set_source(NULL, NULL);
}

/* Where all ranks wait for cores most of the time, which node's small messages
 * wait longest is chance. */
static void
test_busy_cores(void **state)
{
	struct fix *f = *state;

	f->waits = ~0u;
	for (int i = 0; i < 5; i++)
		hear_round(f, 1 << 4);
	assert_int_equal(open_cases(f), 0);
}

/* Contention in an earlier round excuses no node now. */
static void
test_host_was(void **state)
{
	struct fix *f = *state;

	f->waits = 1 << 4;
	hear_round(f, 0);
	f->waits = 0;
	for (int i = 0; i < 3; i++)
		hear_round(f, 1 << 4);
	diagnosis_tick(f->diagnosis);
	assert_int_equal(f->orders, 1);
}

/* Another process has the name: its state is unknown, so it is not green. */
static void
test_reboot(void **state)
{
	struct fix *f = *state;

	for (int i = 0; i < 3; i++)
		hear_round(f, 1 << 4);
	diagnosis_tick(f->diagnosis);
	fix_hello(f, 4, "two");
	fix_hello(f, 7, "two");
	/* at once, and not only from the next tick on */
	assert_int_equal(verdict_of(f, "node8"), VERDICT_UNKNOWN);
	diagnosis_tick(f->diagnosis);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_UNKNOWN);
	assert_int_equal(verdict_of(f, "node8"), VERDICT_UNKNOWN);
	assert_int_equal(verdict_of(f, "node6"), VERDICT_OK);
	assert_int_equal(open_cases(f), 0);
	hear_round(f, 1 << 4);
	assert_int_equal(verdict_of(f, "node8"), VERDICT_OK);
	roster_find(f->roster, "node8")->session = NULL;
	assert_int_equal(verdict_of(f, "node8"), VERDICT_UNKNOWN);
	roster_find(f->roster, "node8")->session =
	    (struct session *)(void *)&f->session;
}

/* A verdict is kept by the next collector. */
static void
test_load(void **state)
{
	struct fix *f = *state;
	json_t *list;

	for (int i = 0; i < 3; i++)
		hear_round(f, 1 << 4);
	list = diagnosis_json(f->diagnosis, 0);
	assert_string_equal(member_text(json_array_get(list, 0), "leaf"),
	    "10.78.2.0/24");
	fix_again(f);
	diagnosis_load(f->diagnosis, list);
	json_decref(list);
	assert_int_equal(open_cases(f), 1);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_UNKNOWN);
	hear_round(f, 1 << 4);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_WARN);
	for (int i = 0; i < 3; i++)
		hear_round(f, 0);
	assert_int_equal(open_cases(f), 0);
}

/* Three nodes have no peers to compare with: none is green, and the verdict has
 * the reason. */
static void
test_few_peers(void **state)
{
	struct fix *f = *state;
	const struct diagnosis_source from = { "run-1", "watch", "background",
		"openmpi", "agents", NULL, NULL };
	json_t *record, *list;
	const char *text;

	record = json_pack("{s:s, s:s, s:s, s:s, s:[{s:s, s:f}, {s:s, s:f}, "
			   "{s:s, s:f}]}",
	    "run", "run-1", "probe", "canary", "test", "lat", "phase", "wild",
	    "nodes", "node", "node1", "q25", 1e-5, "node", "node2", "q25", 1e-5,
	    "node", "node3", "q25", 4e-5);
	for (int i = 0; i < 6; i++)
		evidence_record(f->diagnosis, f->roster, &from, record);
	json_decref(record);
	assert_int_equal(verdict_of(f, "node1"), VERDICT_UNKNOWN);
	assert_int_equal(verdict_of(f, "node3"), VERDICT_UNKNOWN);
	list = diagnosis_json(f->diagnosis, 1);
	text = member_text(json_array_get(list, 0), "text");
	assert_non_null(strstr(text, "too few nodes of its kind"));
	json_decref(list);
	hear_round(f, 0);
	assert_int_equal(verdict_of(f, "node1"), VERDICT_OK);
}

/* The result of a leaf's confirmation run is loaded with its case, and the leaf
 * stays bad while it is slow. */
static void
test_load_leaf(void **state)
{
	struct fix *f = *state;
	struct diagnosis_open list[4];
	json_t *rows, *learned;

	for (int i = 0; i < 8; i++)
		hear_round(f, 0);
	for (int i = 0; i < 3; i++)
		hear_round(f, 0xf0);
	diagnosis_tick(f->diagnosis);
	hear_pass(f, "none", PASS_UPLINK);
	rows = diagnosis_json(f->diagnosis, 0);
	fix_again(f);
	learned = json_pack("[{s:s, s:O}]", "name", DIAGNOSIS_RECENT, "body",
	    told.recent);
	diagnosis_load_baselines(f->diagnosis, learned);
	json_decref(learned);
	diagnosis_load(f->diagnosis, rows);
	json_decref(rows);
	for (int i = 0; i < 8; i++)
		hear_round(f, 0xf0);
	assert_int_equal(diagnosis_open_cases(f->diagnosis, list, 4), 1);
	assert_string_equal(list[0].kind, "leaf");
	assert_int_equal(list[0].what, WHAT_LINK);
	assert_int_equal(list[0].verdict, VERDICT_BAD);
	diagnosis_tick(f->diagnosis);
	assert_int_equal(f->orders, 1); /* already known: no second order */
	for (int i = 0; i < 5; i++)
		hear_round(f, 0);
	assert_int_equal(open_cases(f), 0);
}

/* A node with a recent heartbeat, and the same process, keeps its verdict. */
static void
test_load_heard(void **state)
{
	struct fix *f = *state;
	json_t *list, *heard;
	json_int_t now;

	for (int i = 0; i < 3; i++)
		hear_round(f, 1 << 4);
	list = diagnosis_json(f->diagnosis, 0);
	now = (json_int_t)clk_unix_ns();
	heard = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "node5", now,
	    "node6", now, "node7", now, "node8", now, "node9",
	    now - (json_int_t)(2 * 3600 * CLK_NS_PER_S), "stranger", now);
	roster_find(f->roster, "node9")->boot_unix_ns = 1;
	fix_hello(f, 6, "two"); /* while no collector was running */
	roster_find(f->roster, "node8")->boot_unix_ns = 0;
	fix_again(f);
	diagnosis_load_heard(f->diagnosis, heard);
	diagnosis_load(f->diagnosis, list);
	json_decref(list);
	json_decref(heard);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_WARN);
	assert_int_equal(verdict_of(f, "node6"), VERDICT_OK);
	assert_int_equal(verdict_of(f, "node7"), VERDICT_UNKNOWN);
	assert_int_equal(verdict_of(f, "node8"), VERDICT_UNKNOWN);
	assert_int_equal(verdict_of(f, "node9"), VERDICT_UNKNOWN);
	assert_int_equal(verdict_of(f, "node10"), VERDICT_UNKNOWN);
	fix_hello(f, 5, "two");
	assert_int_equal(verdict_of(f, "node6"), VERDICT_UNKNOWN);
}

/* A restarted collector knows the start time of an agent's process. */
static void
test_boot_time(void **state)
{
	struct fix *f = *state;
	struct node *n = roster_find(f->roster, "node1");
	json_t *list = json_array(), *row;
	uint64_t first = n->boot_unix_ns;

	fix_hello(f, 0, "one");
	assert_int_equal(n->boot_unix_ns, first);
	row = roster_json(n);
	json_object_set_new(row, "boot", json_string(n->boot)); /* stored */
	json_array_append_new(list, row);
	roster_free(f->roster);
	fix_roster(f);
	roster_load(f->roster, list);
	json_decref(list);
	n = roster_find(f->roster, "node1");
	assert_int_equal(n->boot_unix_ns, first);
	fix_hello(f, 0, "one");
	assert_int_equal(n->boot_unix_ns, first);
	fix_hello(f, 0, "two");
	assert_true(n->boot_unix_ns > first);
}

/* A record with too many nodes for rows: the short form names all nodes, and
 * only the worst ones have a row. Equal waits for cores of these nodes excuse
 * no node, because the waits of the others are unknown. */
static void
test_scores(void **state)
{
	static const struct diagnosis_source from = { "run-1", "watch",
		"background", "openmpi", "agents", NULL, NULL };
	struct fix *f = *state;

	for (int k = 0; k < 3; k++) {
		json_t *q = json_array(), *record;

		for (int i = 0; i < NODES; i++)
			json_array_append_new(q,
			    json_real(i == 4 ? 1.4e-5
					     : 1e-5 * (1 + 0.002 * (i % 5))));
		record = json_pack("{s:s, s:s, s:s, s:[{s:s, s:f, s:f}, "
				   "{s:s, s:f, s:f}], s:{s:s, s:o}}",
		    "probe", "canary", "test", "lat", "phase", "wild", "nodes",
		    "node", "node1", "q25", 1e-5, "wait_ratio", 0.8, "node",
		    "node5", "q25", 1.4e-5, "wait_ratio", 0.8, "scores",
		    "hosts", "node[1-12]", "q25", q);
		evidence_record(f->diagnosis, f->roster, &from, record);
		json_decref(record);
	}
	assert_int_equal(open_cases(f), 1);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_WARN);
	assert_int_equal(verdict_of(f, "node12"), VERDICT_OK);
	diagnosis_tick(f->diagnosis);
	assert_int_equal(f->orders, 1);
}

static void
test_drops(void **state)
{
	struct fix *f = *state;
	json_t *nics = json_pack("[{s:s, s:{s:i, s:i}}, {s:s, s:{s:i, s:i}}]",
	    "nic", "eth9", "counters", "rx_bytes", 1, "rx_dropped", 9000, "nic",
	    "eth0", "counters", "rx_bytes", 1000, "tx_dropped", 5);
	struct nic_counters most;

	assert_int_equal(counters_read(nics, &most), 0);
	diagnosis_counters(f->diagnosis, "run-1",
	    roster_find(f->roster, "node5"), &most);
	json_object_set_new(json_object_get(json_array_get(nics, 1),
				"counters"),
	    "tx_dropped", json_integer(12));
	assert_int_equal(counters_read(nics, &most), 0);
	diagnosis_counters(f->diagnosis, "run-1",
	    roster_find(f->roster, "node5"), &most);
	json_decref(nics);
	for (int i = 0; i < 3; i++)
		hear_round(f, 1 << 4);
	expect_text(f, "NIC eth0 counted drops: 7");
}

/* In rings all ranks have the speed of the slowest: rings are not evidence for
 * or against results of pairs. */
static void
test_rings_apart(void **state)
{
	static const struct diagnosis_source from = { "run-2", "canary",
		"background", "openmpi", "agents", NULL, NULL };
	struct fix *f = *state;

	for (int i = 0; i < 3; i++) {
		json_t *record = made_round(1);

		hear_round(f, 1 << 4);
		json_object_set_new(record, "partners", json_string("match"));
		evidence_record(f->diagnosis, f->roster, &from, record);
		evidence_record(f->diagnosis, f->roster, &from, record);
		json_decref(record);
	}
	assert_int_equal(open_cases(f), 1);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_WARN);
}

static const char *port_name = "ib0";

static void
hello_port(struct fix *f, int i, double bps)
{
	struct node *n = roster_by_id(f->roster, (size_t)i);

	json_decref(n->inventory);
	n->inventory = json_pack("{s:[{s:s, s:s, s:s, s:f, s:i, s:i, s:f}, "
				 "{s:s, s:s, s:s, s:i}]}",
	    "nics", "name", port_name, "kind", "infiniband", "state", "up",
	    "speed_bps", bps, "mtu", i == 5 ? f->port.mtu : 4092, "numa_node",
	    i == 5 ? f->port.numa_node : 0, "pcie_bps",
	    i == 5 ? f->port.pcie_bps : 256e9, "name", "docker0", "kind",
	    "virtual", "state", "up", "mtu", 1000 + i);
	n->nics_serial++;
}

/* Report this port of node6, and evaluate it. */
static void
look_at_port(struct fix *f, int mtu, int numa_node, double pcie_bps)
{
	f->port = (struct fix_port){ mtu, numa_node, pcie_bps };
	hello_port(f, 5, 2e11);
	f->diagnosis->ports_ns = 0;
	diagnosis_tick(f->diagnosis);
}

/* Whatever an agent calls it: it is cut on characters. */
static void
test_port_of_any_name(void **state)
{
	struct fix *f = *state;

	f->port = (struct fix_port){ 4092, 0, 256e9 };
	port_name = "a_name_that_is_31_bytes_long_or\u00e9";
	for (int i = 0; i < NODES; i++)
		hello_port(f, i, i == 6 ? 1e11 : 2e11);
	port_name = "ib0";
	diagnosis_tick(f->diagnosis);
	hear_round(f, 0);
	assert_int_equal(verdict_of(f, "node7"), VERDICT_BAD);
	expect_text(f,
	    "node7: port a_name_that_is_31_bytes_long_or runs at 100 Gbit/s "
	    "instead of 200");
}

/* A port that has trained to less than it has shown, or than most of its leaf,
 * is a case at once, and without a measurement. */
static void
test_port(void **state)
{
	struct fix *f = *state;

	f->port = (struct fix_port){ 4092, 0, 256e9 };
	for (int i = 0; i < NODES; i++)
		hello_port(f, i, i == 6 ? 1e11 : 2e11);
	diagnosis_tick(f->diagnosis);
	hear_round(f, 0);
	assert_int_equal(open_cases(f), 1);
	assert_int_equal(verdict_of(f, "node7"), VERDICT_BAD);
	expect_text(f, "node7: port ib0 runs at 100 Gbit/s instead of 200");
	hello_port(f, 6, 2e11);
	hello_port(f, 4, 1e11);
	f->diagnosis->ports_ns = 0;
	diagnosis_tick(f->diagnosis);
	assert_int_equal(verdict_of(f, "node7"), VERDICT_OK);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_BAD);
	assert_int_equal(f->orders, 0);
	hello_port(f, 4, 2e11);
	f->diagnosis->ports_ns = 0;
	diagnosis_tick(f->diagnosis);
	assert_int_equal(open_cases(f), 0);
	look_at_port(f, 2044, 0, 256e9);
	assert_int_equal(verdict_of(f, "node6"), VERDICT_WARN);
	expect_text(f,
	    "node6: port ib0 has an MTU of 2044 bytes instead of "
	    "4092, the value of most nodes of its leaf");
	look_at_port(f, 4092, 1, 256e9);
	expect_text(f, "node6: port ib0 is at NUMA node 1 instead of 0, as");
	look_at_port(f, 4092, 1, 128e9);
	expect_text(f,
	    "node6: port ib0 has a PCIe link of 128 Gbit/s instead "
	    "of 256, the earlier value of this port or the value of most "
	    "nodes of its leaf; check its cable, slot and settings");
	look_at_port(f, 4092, 0, 256e9);
	assert_int_equal(open_cases(f), 0);
}

/* Node5 reports the temperature of the module of its port; 0: far below the
 * limit. */
static void
tell_module(struct fix *f, int degrees)
{
	struct node *n = roster_by_id(f->roster, 4);
	json_t *nic;

	hello_port(f, 4, 2e11);
	nic = json_array_get(json_object_get(n->inventory, "nics"), 0);
	if (degrees > 0) {
		json_object_set_new(nic, "module_c", json_integer(degrees));
		json_object_set_new(nic, "module_limit_c", json_integer(70));
	}
	diagnosis_tick(f->diagnosis);
}

/* A module at its limit is a case at once, also for the next collector, and it
 * ends when the module is several degrees cooler. */
static void
test_module(void **state)
{
	struct fix *f = *state;
	json_t *rows;

	f->port = (struct fix_port){ 4092, 0, 256e9 };
	hear_round(f, 0);
	tell_module(f, 69);
	assert_int_equal(open_cases(f), 0);
	tell_module(f, 71);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_WARN);
	expect_text(f,
	    "node5: the module of port ib0 is at 71 C; its limit is 70 C; "
	    "check the airflow");
	rows = json_pack("[O]", json_object_get(told.rows, "node5"));
	fix_again(f);
	diagnosis_load(f->diagnosis, rows);
	json_decref(rows);
	assert_int_equal(open_cases(f), 1);
	tell_module(f, 74);
	expect_text(f, "is at 74 C");
	tell_module(f, 66);
	expect_text(f, "has reached its limit of 70 C, and is at 66 C now");
	assert_int_equal(open_cases(f), 1);
	tell_module(f, 0);
	assert_int_equal(open_cases(f), 0);
	assert_int_equal(f->orders, 0);
}

/* The heartbeat of node i with errors; 0: none. */
static void
tell_links(struct fix *f, int i, int errors)
{
	json_t *port = json_pack("{s:s}", "port", "ib0/1");
	json_t *msg = json_pack("{s:{s:i, s:[o]}}", "links", "span_s", 300,
	    "ports", port);

	if (errors > 0)
		json_object_set_new(port, "counters",
		    json_pack("{s:i, s:i}", "symbol_error", errors,
			"of_another_version", 1));
	roster_heartbeat(f->roster, roster_by_id(f->roster, (size_t)i), msg);
	json_decref(msg);
}

/* 800 errors in 40 minutes: fewer of the last hour than of the last day, for
 * the past fades; all of one node and of one class. */
static void
expect_rates(struct fix *f, const json_t *list)
{
	const struct node *n = roster_find(f->roster, "node5");
	json_t *o = diagnosis_node_links(f->diagnosis, n), *port, *counter;
	json_t *health = diagnosis_link_health(f->diagnosis), *class, *worst;
	double hour, day;

	port = json_array_get(json_object_get(o, "ports"), 0);
	counter = json_array_get(json_object_get(port, "counters"), 0);
	assert_string_equal(member_text(port, "port"), "ib0/1");
	assert_string_equal(member_text(counter, "counter"), "symbol_error");
	assert_int_equal(member_int(counter, "total"), 800);
	assert_true(member_bool(counter, "named"));
	hour = member_number(counter, "hour");
	day = member_number(counter, "day");
	assert_true(hour > 590 && hour < 610);
	assert_true(day > 788 && day < 800);
	assert_true(
	    fabs(hour - member_number(json_array_get(list, 0), "hour")) < 1);
	json_decref(o);
	class = json_array_get(json_object_get(health, "classes"), 0);
	assert_string_equal(member_text(class, "class"), "no GPU");
	assert_int_equal(member_int(class, "ports"), NODES);
	class = json_object_get(json_object_get(class, "kinds"), "corruption");
	assert_int_equal(member_int(class, "errors"), 800);
	assert_int_equal(member_int(class, "ports"), 1);
	assert_int_equal(json_array_size(json_object_get(health, "worst")), 1);
	worst = json_array_get(json_object_get(health, "worst"), 0);
	assert_string_equal(member_text(worst, "node"), "node5");
	json_decref(health);
}

static void
expect_class(struct fix *f, const char *node, const char *class)
{
	json_t *o = diagnosis_node_links(f->diagnosis,
	    roster_find(f->roster, node));

	assert_string_equal(member_text(o, "class"), class);
	json_decref(o);
}

/* One error is enough for a report, unlike rare bit errors. */
static void
test_a_link_that_flaps_is_an_event(void **state)
{
	struct fix *f = *state;
	struct node *n = roster_find(f->roster, "node5");
	unsigned before = n->events;
	json_t *msg = json_pack("{s:{s:i, s:[{s:s, s:{s:i, s:i}}]}}", "links",
	    "span_s", 300, "ports", "port", "ib0/1", "counters", "link_downed",
	    1, "symbol_error", 3);

	roster_heartbeat(f->roster, n, msg);
	diagnosis_tick(f->diagnosis);
	assert_int_equal(n->events, before + 1);
	json_decref(msg);
	tell_links(f, 4, 3);
	diagnosis_tick(f->diagnosis);
	assert_int_equal(n->events, before + 1);
}

/* A later error of a port does not replace the newest error of a GPU. */
static void
test_errors_of_gpus_and_links(void **state)
{
	static const char *const rows[][2] = { { "0000:c1:00.0", "gpu_lost" },
		{ "ib0/1", "link_downed" }, { "ib0/2", "link_downed" } };
	struct fix *f = *state;
	struct node *n = roster_find(f->roster, "node5");

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		json_t *msg = json_pack("{s:{s:i, s:[{s:s, s:{s:i}}]}}",
		    "links", "span_s", 300, "ports", "port", rows[i][0],
		    "counters", rows[i][1], 1);

		roster_heartbeat(f->roster, n, msg);
		diagnosis_tick(f->diagnosis);
		json_decref(msg);
	}
	assert_non_null(strstr(n->gpu_error.text, "0000:c1:00.0 of node5"));
	assert_non_null(strstr(n->link_error.text, "ib0/2 of node5"));
}

/* After several readings: a warning, without a measurement, until a measurement
 * confirms it. It closes when the port is clean. */
static void
test_link_errors(void **state)
{
	struct fix *f = *state;
	json_t *list;

	hear_round(f, 0);
	for (int look = 0; look < 8; look++) {
		for (int i = 0; i < NODES; i++)
			tell_links(f, i, i == 4 ? 100 : 0);
		diagnosis_tick(f->diagnosis);
	}
	assert_int_equal(open_cases(f), 1);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_WARN);
	expect_text(f,
	    "node5: port ib0/1 has counted symbol_error 800 times in 40m; "
	    "the counter increased in 8 of 8 readings, counters of other "
	    "ports in 0.1 %; check its cable");
	assert_int_equal(f->orders, 0);
	list = diagnosis_links(f->diagnosis, NULL);
	assert_int_equal(json_array_size(list), 1);
	assert_string_equal(member_text(json_array_get(list, 0), "kind"),
	    "corruption");
	assert_true(member_bool(json_array_get(list, 0), "named"));
	expect_rates(f, list);
	json_decref(list);
	/* A restarted collector continues from there. */
	list = diagnosis_json(f->diagnosis, 0);
	fix_again(f);
	diagnosis_load(f->diagnosis, list);
	json_decref(list);
	tell_links(f, 4, 100);
	diagnosis_tick(f->diagnosis);
	expect_text(f,
	    "symbol_error 900 times in 45m; the counter increased in 9 of 9 "
	    "readings");
	/* a node without reported counters has no class */
	expect_class(f, "node5", "no GPU");
	expect_class(f, "node1", "");
	for (int i = 0; i < 3; i++)
		hear_round(f, 1 << 4);
	expect_text(f, "slower than");
	expect_text(f, "its port ib0/1 has counted symbol_error 900 times");
	for (int i = 0; i < 8; i++)
		hear_round(f, 0);
	assert_int_equal(open_cases(f), 0);
	for (int look = 0; look < LINK_CLEAN; look++) {
		tell_links(f, 4, 0);
		diagnosis_tick(f->diagnosis);
		assert_int_equal(open_cases(f), look < LINK_CLEAN - 1);
	}
	assert_int_equal(verdict_of(f, "node5"), VERDICT_OK);
}

static void
miss(struct fix *f, const char *campaign, enum cause cause, int how)
{
	struct diagnosis_end e = { "run-9", campaign, cause, how };

	diagnosis_run_missed(f->diagnosis, &e, roster_find(f->roster, "node5"));
}

static void
hear_pairs(struct fix *f, const struct diagnosis_source *from)
{
	json_t *record = made_round(1);

	json_object_set_new(record, "partners", json_string("match"));
	evidence_record(f->diagnosis, f->roster, from, record);
	json_decref(record);
}

/* Two rounds that did not measure a node leave it unknown, where they should
 * have: not with canaries on a part of the nodes, nor when it was not let. */
static void
test_missed(void **state)
{
	static const enum cause blameless[] = { CAUSE_BUDGET, CAUSE_BUSY,
		CAUSE_TOO_FEW_NODES, CAUSE_CANCELLED, CAUSE_COLLECTOR_LOST,
		CAUSE_CONFIG };
	static const struct diagnosis_source pairs = { "run-2", "pairs",
		"background", "openmpi", "agents", NULL, NULL };
	struct fix *f = *state;

	hear_round(f, 0);
	for (int i = 0; i < 2; i++) {
		miss(f, "watch", CAUSE_NONE, END_MEASURES_NOT);
		for (size_t k = 0; k < ARRAY_LEN(blameless); k++)
			miss(f, "watch", blameless[k], END_MEASURES_RINGS);
	}
	miss(f, "watch", CAUSE_RANK_LOST, END_MEASURES_RINGS);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_OK);
	miss(f, "watch", CAUSE_NONE, END_MEASURES_RINGS);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_UNKNOWN);
	assert_int_equal(verdict_of(f, "node6"), VERDICT_OK);
	hear_round(f, 0);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_OK);
	/* A ring, which hides a slow node, does not replace rounds of pairs,
	 * also of a campaign that never had one. */
	miss(f, "pairs", CAUSE_TIMEOUT, END_MEASURES_PAIRS);
	miss(f, "pairs", CAUSE_TIMEOUT, END_MEASURES_PAIRS);
	hear_round(f, 0);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_UNKNOWN);
	hear_pairs(f, &pairs);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_OK);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		DIAGNOSIS_TEST(test_node),
		DIAGNOSIS_TEST(test_changed),
		DIAGNOSIS_TEST(test_rail),
		DIAGNOSIS_TEST(test_device),
		DIAGNOSIS_TEST(test_bytes),
		DIAGNOSIS_TEST(test_stuck),
		DIAGNOSIS_TEST(test_stuck_pairs),
		DIAGNOSIS_TEST(test_score_and_verdict),
		DIAGNOSIS_TEST(test_score_of_rings),
		DIAGNOSIS_TEST(test_leaf_goes),
		DIAGNOSIS_TEST(test_host),
		DIAGNOSIS_TEST(test_host_of_ranks),
		DIAGNOSIS_TEST(test_host_taken),
		DIAGNOSIS_TEST(test_busy_cores),
		DIAGNOSIS_TEST(test_host_was),
		DIAGNOSIS_TEST(test_reboot),
		DIAGNOSIS_TEST(test_load),
		DIAGNOSIS_TEST(test_load_leaf),
		DIAGNOSIS_TEST(test_few_peers),
		DIAGNOSIS_TEST(test_load_heard),
		DIAGNOSIS_TEST(test_boot_time),
		DIAGNOSIS_TEST(test_scores),
		DIAGNOSIS_TEST(test_drops),
		DIAGNOSIS_TEST(test_rings_apart),
		DIAGNOSIS_TEST(test_port),
		DIAGNOSIS_TEST(test_module),
		DIAGNOSIS_TEST(test_port_of_any_name),
		DIAGNOSIS_TEST(test_a_link_that_flaps_is_an_event),
		DIAGNOSIS_TEST(test_errors_of_gpus_and_links),
		DIAGNOSIS_TEST(test_link_errors),
		DIAGNOSIS_TEST(test_missed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
