/* SPDX-License-Identifier: Apache-2.0 */
/* Which nodes a run gets, and when it may start. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/run/run_order.h"
#include "tests/unit/daemon/run/run_fix.h"
#include "common/member.h"
#include "daemon/run/blackout.h"
#include "daemon/run/fabric.h"
#include "daemon/run/budget.h"

#define BUDGETED                                                               \
	"[campaign]\nnodes_min = 3\ndeadline = 60s\nbytes = 1M\n"              \
	"[congestor]\nmix = none\n"

static void
test_busy(void **state)
{
	char run[64];

	(void)state;
	fix_setup(3);
	fix_submitted(run, FIX_CAMPAIGN);
	fix_prepared("n1", run);
	fix_prepared("n2", run);
	fix_says("n3", WIRE_PREPARED,
	    json_pack("{s:s, s:b, s:s, s:s}", "run", run, "ok", 0, "cause",
		"busy", "text", "job 17"));
	fix_failed(run, RUN_MISSED, CAUSE_BUSY, "n3: busy: job 17");
	fix_teardown();

	fix_setup(3);
	fix_submitted(run, FIX_CAMPAIGN);
	fix_prepared("n1", run);
	fix_prepared("n2", run);
	fix_says("n3", WIRE_PREPARED,
	    json_pack("{s:s, s:b, s:s, s:s}", "run", run, "ok", 0, "cause",
		"unsupported", "text", "mpich is not offered"));
	fix_failed(run, RUN_MISSED, CAUSE_UNSUPPORTED,
	    "n3: unsupported: mpich is not offered");
	fix_teardown();
}

/* Nodes without Slurm need a confirmation that they are idle. A run ends when a
 * job starts, unless it is shared with jobs anyway. */
static void
test_idle(void **state)
{
	json_t *msg;
	char run[64];

	(void)state;
	fix_setup(3);
	fix_submitted(run, FIX_CAMPAIGN);
	assert_null(json_object_get(fix_last(WIRE_PREPARE), "idle"));
	fix_says("n2", WIRE_PREPARED,
	    json_pack("{s:s, s:b, s:s, s:s}", "run", run, "ok", 0, "cause",
		"idle-unknown", "text", "no Slurm here"));
	fix_prepared("n1", run);
	fix_prepared("n3", run);
	fix_failed(run, RUN_MISSED, CAUSE_IDLE_UNKNOWN,
	    "n2: idle-unknown: no Slurm here");
	fix_teardown();

	fix_setup(3);
	fix_submitted(run, FIX_CAMPAIGN "idle = assumed\n");
	msg = fix_last(WIRE_PREPARE);
	assert_string_equal(member_text(msg, "idle"), "assumed");
	assert_true(member_bool(msg, "jobs"));
	fix_prepared("n1", run);
	fix_prepared("n2", run);
	fix_prepared("n3", run);
	assert_int_equal(fix_state(run), RUN_STARTING);
	fix_says("n2", WIRE_PREPARED,
	    json_pack("{s:s, s:b, s:s, s:s}", "run", run, "ok", 0, "cause",
		"busy", "text", "slurm job_17 has started"));
	fix_failed(run, RUN_PREEMPTED, CAUSE_BUSY,
	    "n2: slurm job_17 has started");
	fix_teardown();

	fix_setup(3);
	fix_submitted(run, FIX_CAMPAIGN "class = background\n");
	assert_false(member_bool(fix_last(WIRE_PREPARE), "jobs"));
	fix_teardown();
}

static void
test_too_few(void **state)
{
	char run[64];

	(void)state;
	fix_setup(2);
	fix_pass(60, NULL);
	fix_submitted(run, FIX_CAMPAIGN "nodes = n[1-3]\n");
	fix_pass(5, NULL);
	assert_int_equal(fix_state(run), RUN_PENDING);
	fix_pass(6, NULL);
	fix_failed(run, RUN_MISSED, CAUSE_TOO_FEW_NODES,
	    "2 of 3 nodes usable, 3 needed; the agent of n3 has never "
	    "connected");
	fix_teardown();
}

/* A run uses nodes of one version, the most frequent one. If these are too few,
 * the reason names the version. */
static void
test_versions(void **state)
{
	static const char whole[] = "[campaign]\nnodes_min = 5\n";
	char run[64];

	(void)state;
	fix_setup(5);
	xstrset(&fix_node("n1")->software, "9.0");
	xstrset(&fix_node("n4")->software, "9.0");
	fix_submitted(run, FIX_CAMPAIGN);
	assert_int_equal(fix_sent(NULL, WIRE_PREPARE), 3);
	assert_int_equal(fix_sent("n1", WIRE_PREPARE), 0);
	assert_int_equal(fix_sent("n4", WIRE_PREPARE), 0);
	fix_submitted(run, whole);
	fix_pass(40, NULL);
	fix_failed(run, RUN_MISSED, CAUSE_TOO_FEW_NODES,
	    "n1 has version 9.0, but other nodes have 0");
	fix_teardown();
}

/* Nodes from the first to the last report this in their inventory: JSON. */
static void
inventory_set(int first, int last, const char *nics, const char *rails)
{
	char name[16];

	for (int i = first; i <= last; i++) {
		struct node *n;

		snprintf(name, sizeof(name), "n%d", i);
		n = fix_node(name);
		json_decref(n->inventory);
		n->inventory = json_pack("{s:b, s:o, s:o}", "starts", 1, "nics",
		    json_loads(nics, 0, NULL), "rails",
		    json_loads(rails, 0, NULL));
		assert_non_null(n->inventory);
	}
}

/* TCP carried a run although nodes have a fabric, and TCP was not required. */
static void
test_unused(void **state)
{
	static const struct {
		const char *carried, *text;
		size_t nodes;
	} rows[] = {
		{ "{\"wanted\": \"auto\", \"transport\": \"rdma\"}", "", 0 },
		{ "{\"wanted\": \"auto\", \"transport\": \"tcp\"}",
		    "measured over TCP although device mlx5_0 of n1 is up", 2 },
		{ "{\"wanted\": \"auto\"}", "", 2 }, /* not known: as before */
		{ "{\"wanted\": \"tcp\", \"transport\": \"tcp\"}", "", 0 },
	};
	char run[64], text[200];

	(void)state;
	fix_setup(3);
	inventory_set(1, 2,
	    "[{\"name\": \"mlx5_0\", \"port\": \"1\", \"state\": \"ACTIVE\"}]",
	    "[{\"name\": \"mlx5_0\"}]");
	inventory_set(3, 3,
	    "[{\"name\": \"mlx5_0\", \"port\": \"1\", \"state\": \"DOWN\"}]",
	    "[{\"name\": \"mlx5_0\"}]");
	fix_submitted(run, FIX_CAMPAIGN);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		json_t *carried = json_loads(rows[i].carried, 0, NULL);

		fabric_unused_note(run_find(fix.runs, run), carried, text,
		    sizeof(text));
		assert_string_equal(text, rows[i].text);
		assert_int_equal(json_object_size(runs_unused(fix.runs)),
		    rows[i].nodes);
		json_decref(carried);
	}
	fix_teardown();
}

/* Network requirements of a campaign compared with the nodes' inventories. */
static void
test_fabric(void **state)
{
	static const char ethernet[] =
	    "[{\"name\":\"eth0\",\"kind\":\"ethernet\"}]";
	static const char ib[] =
	    "[{\"name\":\"ib0\",\"driver\":\"mlx5_core\"},"
	    "{\"name\":\"mlx5_0\",\"kind\":\"infiniband\",\"port\":\"1\"}]";
	static const char hsn[] =
	    "[{\"name\":\"hsn0\",\"driver\":\"cxi_ss1\"}]";
	static const struct {
		const char *nics, *wants, *why; /* NULL: it may run */
	} rows[] = {
		{ ib, "devices = mlx5_0\n", NULL },
		{ ib, "devices = mlx5_0:1, ib0\n", NULL },
		{ ib, "devices = mlx5_0:2\n",
		    "0 of 3 nodes usable, 3 needed; n1 has no network device "
		    "mlx5_0:2; it has ib0, mlx5_0" },
		{ ethernet, "fabric = ucx\ndevices = mlx5_0\n",
		    "n1 has no network device mlx5_0; it has eth0" },
		{ ethernet, "fabric = psm\n",
		    "n1 has no device for mpi.fabric = psm, Omni-Path "
		    "(hfi1_0); it "
		    "has eth0" },
		{ ethernet, "fabric = ucx\n", NULL },
		{ hsn, "fabric = cray\n", NULL },
		{ "[]", "fabric = cray\n", "n1 has no device for mpi.fabric" },
		/* Agents that do not report that their engine supports it. */
		{ ib, "fabric = auto\n[canary]\ntests = incast\n",
		    "coalmine-probe on n1 is older than test incast and cannot "
		    "run it: upgrade the node" },
	};
	char run[64], text[300];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		fix_setup(3);
		inventory_set(1, 3, rows[i].nics, "[]");
		snprintf(text, sizeof(text), "%s[mpi]\n%s", FIX_CAMPAIGN,
		    rows[i].wants);
		fix_submitted(run, text);
		fix_pass(0.5, NULL);
		assert_int_equal(fix_sent(NULL, WIRE_PREPARE),
		    rows[i].why == NULL ? 3 : 0);
		if (rows[i].why != NULL)
			fix_failed(run, RUN_MISSED, CAUSE_NO_DEVICE,
			    rows[i].why);
		fix_teardown();
	}
	/* One of many is not used. */
	fix_setup(4);
	inventory_set(2, 2, ethernet, "[]");
	fix_submitted(run, FIX_CAMPAIGN "[mpi]\ndevices = mlx5_0\n");
	assert_int_equal(fix_sent(NULL, WIRE_PREPARE), 3);
	assert_int_equal(fix_sent("n2", WIRE_PREPARE), 0);
	fix_teardown();
}

/* The leaves of the roster, not the names of nodes, for a placement; an option
 * of the campaign stays. */
static void
test_placement(void **state)
{
	static const struct {
		const char *more, *leaves;
	} rows[] = {
		{ "placement = blocks\n", "n[2,4] n[1,3]" },
		{ "placement = spread\nleaves = n1\n", "n1" },
		{ "", "" },
	};
	char run[64], text[200];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		fix_setup(5);
		for (int k = 1; k <= 4; k++) {
			char name[16];

			snprintf(name, sizeof(name), "n%d", k);
			snprintf(fix_node(name)->leaf, TOPO_LEAF_MAX, "leaf%d",
			    k % 2 == 0 ? 2 : 10);
		}
		fix_node("n5")->leaf[0] = '\0';
		snprintf(text, sizeof(text),
		    "[campaign]\nnodes_min = 5\n"
		    "[congestor]\nmix = incast\n%s",
		    rows[i].more);
		fix_submitted(run, text);
		assert_string_equal(conf_string(run_find(fix.runs, run)->conf,
					"congestor", "leaves"),
		    rows[i].leaves);
		fix_teardown();
	}
}

/* Rails alternate from run to run, each on the nodes that have it. Nodes
 * without rails are a separate group. A rail with too few nodes is skipped. */
static void
test_turns(void **state)
{
	static const char two[] = "[{\"name\":\"eth1\"},"
				  "{\"name\":\"eth2\"}]";
	static const char odd[] = "[{\"name\":\"eth1\"},{\"name\":\"odd\"},"
				  "{\"name\":\"a,b\"},{\"netdev\":\"x\"}]";
	static const struct {
		const char *more, *devices[4];
		int nodes[4];
	} rows[] = {
		{ "rails = turns\n", { "eth1", "eth2", "", "eth1" },
		    { 4, 3, 5, 4 } },
		{ "", { "", "", "", "" }, { 5, 5, 5, 5 } },
		{ "rails = turns\ndevices = eth2\n",
		    { "eth2", "eth2", "eth2", "eth2" }, { 3, 3, 3, 3 } },
	};
	char run[64], text[300];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		fix_setup(5);
		inventory_set(1, 3, "[]", two);
		inventory_set(4, 4, "[]", odd);
		inventory_set(5, 5, "[]", "[]");
		snprintf(text, sizeof(text),
		    "[campaign]\nclass = background\nnodes_min = 3\n"
		    "[congestor]\nmix = none\n[mpi]\n%s",
		    rows[i].more);
		for (int k = 0; k < 4; k++) {
			int before = fix_sent(NULL, WIRE_PREPARE);
			const struct conf *c;

			fix_submitted(run, text);
			c = run_find(fix.runs, run)->conf;
			assert_string_equal(conf_string(c, "mpi", "devices"),
			    rows[i].devices[k]);
			/* an older agent does not support it */
			assert_false(conf_given(c, "mpi", "rails"));
			assert_int_equal(fix_sent(NULL, WIRE_PREPARE) - before,
			    rows[i].nodes[k]);
		}
		fix_teardown();
	}
	/* One that does not come to run for others gives its turn back. */
	fix_setup(3);
	inventory_set(1, 3, "[]", two);
	fix_running(run, "[campaign]\nnodes_min = 3\ndeadline = 2h\n");
	for (int k = 0; k < 2; k++) {
		fix_submitted(run, FIX_CAMPAIGN "[mpi]\nrails = turns\n");
		assert_string_equal(conf_string(run_find(fix.runs, run)->conf,
					"mpi", "devices"),
		    "eth1");
		/* While it waits, its text names the other run. */
		assert_int_equal(fix_state(run), RUN_PENDING);
		assert_non_null(strstr(run_find(fix.runs, run)->text,
		    "is reserved for run"));
		fix_pass(901, NULL);
		fix_failed(run, RUN_MISSED, CAUSE_HELD, "is reserved for run");
	}
	fix_teardown();
}

static void
test_exclusive(void **state)
{
	char first[64], second[64], third[64];

	(void)state;
	fix_setup(3);
	fix_running(first, FIX_CAMPAIGN);
	fix_submitted(second, FIX_CAMPAIGN);
	fix_submitted(third,
	    "[campaign]\nclass = background\n"
	    "[congestor]\nmix = none\n");
	fix_pass(30, NULL);
	assert_int_equal(fix_state(second), RUN_PENDING);
	assert_int_equal(fix_state(third), RUN_PENDING);
	fix_pass(28, NULL);
	fix_sends("n1", first, fix_end(first, 2, "ok"));
	fix_commit(0);
	fix_over(first, 0);
	fix_pass(1, NULL);
	assert_int_equal(fix_state(first), RUN_FINISHED);
	/* The one that waited longest. */
	assert_int_equal(fix_state(second), RUN_STARTING);
	assert_int_equal(fix_state(third), RUN_PENDING);
	fix_pass(5, NULL);
	assert_int_equal(fix_state(third), RUN_OVERDUE);
	assert_int_equal(runs_stop_all(fix.runs, "me"), 2);
	fix_failed(third, RUN_CANCELLED, CAUSE_CANCELLED, "stopped by me");
	fix_pass(1, NULL);
	assert_null(fix_node("n1")->exclusive);
	fix_teardown();
}

/* A run of a higher priority ends one that holds its nodes, if it may; the
 * one that waits is not overtaken by one of a lower priority. */
static void
test_preempt(void **state)
{
	char low[64], high[64], other[64];
	struct err err;

	(void)state;
	fix_setup(3);
	fix_running(low, BUDGETED);
	fix_submitted(high, BUDGETED "[campaign]\npriority = 5\n");
	fix_pass(2, NULL);
	assert_int_equal(fix_state(low), RUN_RUNNING);
	fix_submitted(other, BUDGETED);
	runs_cancel(fix.runs, high, "test", &err);
	fix_submitted(high,
	    BUDGETED "[campaign]\npriority = 5\n"
		     "preempt = yes\n");
	fix_pass(0.5, NULL);
	assert_int_equal(fix_state(low), RUN_PREEMPTED);
	assert_non_null(
	    strstr(run_find(fix.runs, low)->text, "priority 5 over 0"));
	assert_int_equal(fix_sent("n2", WIRE_END), 1);
	/* its nodes are reserved until its processes have ended */
	assert_int_equal(fix_state(high), RUN_PENDING);
	fix_pass(10, NULL);
	assert_int_equal(fix_state(high), RUN_STARTING);
	assert_int_equal(fix_state(other), RUN_PENDING);
	fix_teardown();
}

/* The node that was not measured for the longest time is chosen first. */
static void
test_longest_ago(void **state)
{
	char run[64];

	(void)state;
	fix_setup(4);
	for (int i = 1; i <= 4; i++) {
		char name[8];

		snprintf(name, sizeof(name), "n%d", i);
		fix_node(name)->used_unix_ns = (uint64_t)(i % 3 + 1);
	}
	fix_submitted(run,
	    "[campaign]\nnodes_max = 2\n"
	    "[congestor]\nmix = none\n");
	assert_int_equal(fix_sent("n3", WIRE_PREPARE), 1);
	assert_int_equal(fix_sent("n2", WIRE_PREPARE), 0);
	fix_teardown();
}

/* But not if too few nodes remain, or if a campaign names it. */
static void
test_avoid(void **state)
{
	static const struct {
		const char *text;
		int asked;
	} rows[] = {
		{ "[campaign]\nnodes_min = 2\n[congestor]\nmix = none\n", 0 },
		{ "[campaign]\nnodes_min = 3\n[congestor]\nmix = none\n", 1 },
		{ "[campaign]\nnodes = n[1-3]\n[congestor]\nmix = none\n", 1 },
	};
	char run[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		fix_setup(3);
		snprintf(fix.avoid, sizeof(fix.avoid), "n2");
		fix_submitted(run, rows[i].text);
		assert_int_equal(fix_sent("n1", WIRE_PREPARE), 1);
		assert_int_equal(fix_sent("n2", WIRE_PREPARE), rows[i].asked);
		fix_teardown();
	}
}

static struct costs *
costs_make(const struct budget_limits *limits, const char *blackout)
{
	struct cost_rules rules = { .limits = *limits };
	struct costs *cs;
	struct err err;

	assert_int_equal(blackout_parse(blackout, &rules.blackout, &err), 0);
	cs = costs_new(NULL, &rules);
	runs_set_costs(fix.runs, cs);
	return cs;
}

/* A run is admitted while the hour's budget lasts: then it waits, and is missed
 * with the reason. Its actual cost counts, not the estimate. */
static void
test_budget(void **state)
{
	struct budget_limits limits = { 8e6, 0, 0 };
	struct costs *cs, *again;
	struct budget_use use;
	char run[64], second[64];
	json_t *settings;

	(void)state;
	fix_setup(3);
	cs = costs_make(&limits, "");
	fix_running(run, BUDGETED);
	budget_look(costs_budget(cs), fix.now_ns, &use);
	assert_true(use.bytes_reserved == 3 * 1048576.0);
	run_find(fix.runs, run)->borders = 2;
	for (int i = 1; i <= 3; i++) {
		char name[8];

		snprintf(name, sizeof(name), "n%d", i);
		/* The third is not requested. */
		for (int border = 1; border <= 3; border++)
			fix_says(name, WIRE_COUNTERS,
			    json_pack("{s:s, s:i, s:I, s:[{s:s, s:{s:i}}]}",
				"run", run, "border", border, "at_unix_ns",
				(json_int_t)1, "nics", "nic", "eth0",
				"counters", "tx_bytes", border * 2000000));
	}
	fix_sends("n1", run, fix_end(run, 2, "ok"));
	fix_commit(0);
	fix_says("n1", WIRE_EXITED,
	    json_pack("{s:s, s:i, s:i, s:s}", "run", run, "id", 0, "status", 0,
		"stderr", ""));
	fix_pass(1, NULL);
	assert_int_equal(fix_state(run), RUN_FINISHED);
	budget_look(costs_budget(cs), fix.now_ns, &use);
	assert_true(use.bytes_reserved == 0);
	assert_true(use.bytes == 6e6);
	assert_non_null(strstr(fix.setting, "cost/c="));
	assert_non_null(strstr(fix.setting, " 2000000"));
	/* also by the next collector */
	again = costs_new(NULL, &(struct cost_rules){ .limits = limits });
	settings = json_pack("{s:s}", "budget", fix.budget);
	costs_load(again, settings);
	json_decref(settings);
	budget_look(costs_budget(again), fix.now_ns, &use);
	assert_true(use.bytes == 6e6);
	costs_free(again);
	/* 6 of 8 MB are used, 3 are needed */
	fix_submitted(second, BUDGETED);
	fix_pass(70, NULL);
	assert_int_equal(fix_state(second), RUN_OVERDUE);
	assert_int_equal(run_find(fix.runs, second)->cause, CAUSE_BUDGET);
	fix_pass(900, NULL);
	assert_int_equal(fix_state(second), RUN_MISSED);
	assert_int_equal(run_find(fix.runs, second)->cause, CAUSE_BUDGET);
	assert_non_null(
	    strstr(run_find(fix.runs, second)->text, "budget.bytes: needs"));
	budget_look(costs_budget(cs), fix.now_ns, &use);
	assert_int_equal(use.refused, 1);
	/* an hour and a slice later the budget allows it again */
	fix_pass(3900, NULL);
	fix_submitted(second, BUDGETED);
	assert_int_equal(fix_state(second), RUN_STARTING);
	fix_teardown();
	costs_free(cs);
}

/* The used budget is known after a restart, also on a machine that has just
 * booted, and expires after an hour. */
static void
test_budget_restart(void **state)
{
	static const uint64_t slice_ns = 300 * CLK_NS_PER_S;
	static const struct {
		uint64_t away_s;
		double bytes, link_share;
	} rows[] = { { 0, 7e6, 0.3 }, { 1800, 7e6, 0.3 }, { 3000, 4e6, 0.2 },
		{ 7000, 0, 0 }, { 1000000, 0, 0 } };
	struct budget_limits limits = { 8e6, 0, 0.5 };
	struct budget_use use;
	struct strbuf text = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct budget *b = budget_new(&limits);
		uint64_t mono_ns = 100 * slice_ns, unix_ns = UNIX_0_NS;

		budget_use_link(b, mono_ns, 0, 0.1 * 3600 * 1e6, 1e6);
		budget_use(b, mono_ns, 3e6, 1);
		mono_ns += 3 * slice_ns;
		unix_ns += 3 * slice_ns;
		budget_use_link(b, mono_ns, 1, 0.2 * 3600 * 1e6, 1e6);
		budget_use(b, mono_ns, 4e6, 1);
		budget_save(b, mono_ns, unix_ns, &text);
		budget_free(b);
		b = budget_new(&limits);
		unix_ns += rows[i].away_s * CLK_NS_PER_S;
		mono_ns = 200 * slice_ns;
		for (int k = 0; k < 2; k++) /* as a standby, again */
			budget_restore(b, mono_ns, unix_ns, text.text);
		budget_look(b, mono_ns, &use);
		assert_true(use.bytes == rows[i].bytes);
		assert_true(fabs(use.link_share - rows[i].link_share) < 1e-6);
		budget_free(b);
		/* just booted: later it is forgotten later, not sooner */
		b = budget_new(&limits);
		budget_restore(b, slice_ns, unix_ns, text.text);
		budget_look(b, slice_ns, &use);
		assert_true(use.bytes >= rows[i].bytes);
		budget_free(b);
		strbuf_clear(&text);
	}
}

/* More than a whole hour's budget never fits: no use in waiting. */
static void
test_budget_never(void **state)
{
	struct budget_limits limits = { 0, 100, 0 };
	char run[64];
	struct costs *cs;

	(void)state;
	fix_setup(3);
	cs = costs_make(&limits, "");
	fix_submitted(run, BUDGETED);
	assert_int_equal(fix_state(run), RUN_MISSED);
	assert_non_null(strstr(run_find(fix.runs, run)->text,
	    "budget.node_seconds: needs 180 node-seconds"));
	fix_teardown();
	costs_free(cs);
}

/* UNIX_0_NS + 1000 s is 11:23:20 of a day. */
static void
test_blackout(void **state)
{
	struct budget_limits none = { 0, 0, 0 };
	char run[64];
	struct costs *cs;

	(void)state;
	fix_setup(3);
	cs = costs_make(&none, "11:24-11:30");
	fix_submitted(run, BUDGETED);
	assert_int_equal(fix_state(run), RUN_PENDING);
	fix_pass(300, NULL); /* 11:28:20 */
	assert_int_equal(fix_state(run), RUN_OVERDUE);
	assert_non_null(strstr(run_find(fix.runs, run)->text, "T11:30:00"));
	fix_pass(104, NULL); /* 11:30:04 */
	assert_int_equal(fix_state(run), RUN_STARTING);
	fix_teardown();
	costs_free(cs);
	/* class background runs in a blackout */
	fix_setup(3);
	cs = costs_make(&none, "11:00-12:00");
	fix_submitted(run, BUDGETED "[campaign]\nclass = background\n");
	assert_int_equal(fix_state(run), RUN_STARTING);
	fix_teardown();
	costs_free(cs);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_too_few),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_unused),
		cmocka_unit_test(test_fabric),
		cmocka_unit_test(test_placement),
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_exclusive),
		cmocka_unit_test(test_preempt),
		cmocka_unit_test(test_longest_ago),
		cmocka_unit_test(test_avoid),
		cmocka_unit_test(test_budget),
		cmocka_unit_test(test_budget_restart),
		cmocka_unit_test(test_budget_never),
		cmocka_unit_test(test_blackout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
