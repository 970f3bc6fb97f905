/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "common/err.h"
#include "tests/unit/daemon/run/run_fix.h"

#define CAMPAIGN                                                               \
	"[campaign]\nnodes_min = 3\ndeadline = 60s\nstart_limit = 10s\n"

static enum run_state
state_of(const char *run)
{
	return run_find(fix.runs, run)->state;
}

static void
expect_failed(const char *run, enum run_state state, enum cause cause,
    const char *text)
{
	const struct run *r = run_find(fix.runs, run);

	assert_int_equal(r->state, state);
	assert_int_equal(r->cause, cause);
	if (strstr(r->text, text) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", r->text, text);
	assert_string_equal(fix.last_state, names_run_states[state].name);
}

static void
exited(const char *node, const char *run, int id, int status)
{
	fix_says(node, WIRE_EXITED,
	    json_pack("{s:s, s:i, s:i, s:s}", "run", run, "id", id, "status",
		status, "stderr", ""));
}

static void
test_success(void **state)
{
	char run[64];

	(void)state;
	fix_setup(3);
	fix_running(run, CAMPAIGN);
	fix_sends("n1", run, fix_record(run, 2, "phase"));
	assert_int_equal(fix_sent(NULL, WIRE_SAMPLE), 3);
	assert_int_equal(fix_sent("n1", WIRE_ACK), 1); /* not before commit */
	fix_sends("n1", run, fix_end(run, 3, "ok"));
	assert_int_equal(state_of(run), RUN_RUNNING);
	/* The launcher's failure says nothing against an end record. */
	exited("n1", run, 0, 1);
	fix_pass(3, NULL);
	assert_int_equal(state_of(run), RUN_RUNNING);
	fix_commit(0);
	assert_int_equal(state_of(run), RUN_FINISHED);
	assert_int_equal(json_integer_value(
			     json_object_get(fix_last(WIRE_ACK), "seq")),
	    3);
	assert_int_equal(fix.committed, 3);
	fix_pass(1, NULL);
	assert_int_equal(fix_sent(NULL, WIRE_END), 3);
	assert_null(fix_node("n2")->exclusive);
	fix_teardown();
}

/* Sending again is acknowledged and counted once. */
static void
test_again(void **state)
{
	char run[64];

	(void)state;
	fix_setup(3);
	fix_running(run, CAMPAIGN);
	fix_sends("n1", run, fix_record(run, 2, "phase"));
	fix_commit(0);
	fix_forget();
	fix_sends("n1", run, fix_record(run, 1, "begin"));
	fix_sends("n1", run, fix_record(run, 2, "phase"));
	fix_commit(0);
	assert_int_equal(fix_sent("n1", WIRE_ACK), 2);
	assert_int_equal(fix_sent(NULL, WIRE_SAMPLE), 0);
	assert_int_equal(fix.committed, 2);
	assert_int_equal(run_find(fix.runs, run)->records, 2);
	fix_teardown();
}

/* A full disk: nothing is acknowledged, and later all of it is. */
static void
test_disk_full(void **state)
{
	char run[64];

	(void)state;
	fix_setup(3);
	fix_running(run, CAMPAIGN);
	fix_forget();
	fix.writable = 0;
	fix_sends("n1", run, fix_end(run, 2, "ok"));
	fix_commit(-ENOSPC);
	exited("n1", run, 0, 0);
	fix_pass(5, NULL);
	assert_int_equal(fix_sent(NULL, WIRE_ACK), 0);
	assert_int_equal(fix.hang_ups, 0);
	assert_int_equal(state_of(run), RUN_RUNNING);
	fix.writable = 1;
	fix_pass(1, NULL);
	assert_int_equal(fix.hang_ups, 1);
	fix_sends("n1", run, fix_end(run, 2, "ok"));
	fix_commit(0);
	assert_int_equal(fix_sent("n1", WIRE_ACK), 1);
	assert_int_equal(state_of(run), RUN_FINISHED);
	fix_teardown();
}

/* A head that speaks of others: its record is kept, and judges nobody. */
static void
test_others(void **state)
{
	static const char *const named[] = {
		"\"nodes\":[{\"node\":\"n4\",\"n\":5,\"p50\":1.0}]",
		"\"pairs\":[{\"a\":\"n1\",\"b\":\"n4\",\"n\":5,\"p50\":1.0}]",
		"\"pairs\":[{\"a\":\"n1\",\"b\":\"n2\",\"n\":5,\"p50\":1.0}]",
	};
	char run[64], text[512];

	(void)state;
	fix_setup(3);
	fix_running(run, CAMPAIGN);
	fix_hello("n4");
	fix.committed = fix.events = 0;
	for (size_t i = 0; i < ARRAY_LEN(named); i++) {
		snprintf(text, sizeof(text),
		    "{\"run\":\"%s\",\"seq\":%zu,\"probe\":\"congestor\","
		    "\"test\":\"incast\",\"phase\":\"congested\","
		    "\"unit\":\"B/s\",\"n\":0,\"mean\":null,\"min\":null,"
		    "\"p50\":null,\"p90\":null,\"p99\":null,\"p999\":null,"
		    "\"max\":null,\"hist\":[],\"cause\":\"timeout\",%s}",
		    run, 2 + i, named[i]);
		assert_int_equal(fix_sends("n1", run,
				     json_loads(text, 0, NULL)),
		    0);
		fix_commit(0);
		assert_int_equal(fix_sent("n1", WIRE_ACK), 2 + i);
	}
	assert_int_equal(fix.committed, 1);
	assert_int_equal(fix.events, 1); /* an alarm, once */
	fix_teardown();
}

static void
test_rank_lost(void **state)
{
	char run[64];

	(void)state;
	fix_setup(3);
	fix_running(run, CAMPAIGN);
	fix_says("n3", WIRE_RANK_LOST,
	    json_pack("{s:s, s:i, s:i}", "run", run, "rank", 2, "pid", 9));
	fix_pass(1, NULL);
	/* Consequences. */
	fix_says("n2", WIRE_RANK_LOST,
	    json_pack("{s:s, s:i, s:i}", "run", run, "rank", 1, "pid", 9));
	assert_int_equal(state_of(run), RUN_RUNNING);
	fix_pass(2, NULL);
	expect_failed(run, RUN_FAILED, CAUSE_RANK_LOST, "rank 2 on n3");
	assert_int_equal(fix_sent(NULL, WIRE_END), 3);
	/* Held until what runs there is gone. */
	fix_pass(1, NULL);
	assert_non_null(fix_node("n2")->exclusive);
	exited("n1", run, 0, 137);
	fix_pass(0.5, NULL);
	assert_null(fix_node("n2")->exclusive);
	fix_teardown();
}

static void
says_stuck(const char *run, int rank, int with, int at)
{
	char name[16], other[16];

	snprintf(name, sizeof(name), "n%d", rank + 1);
	snprintf(other, sizeof(other), "n%d", with + 1);
	fix_says(name, WIRE_RANK_LOST,
	    json_pack("{s:s, s:i, s:i, s:b, s:{s:i, s:s, s:s, s:f, s:i}}",
		"run", run, "rank", rank, "pid", 9, "exited", 1, "stuck",
		"rank", with, "node", other, "what", "lat", "waited_s", 5.0,
		"at", at));
}

/* In a ring all wait at last: one is where the others are not, or two wait for
 * each other, and the rest is told nothing of. */
static void
test_stuck(void **state)
{
	char run[64];

	(void)state;
	fix_setup(3);
	fix_running(run, CAMPAIGN);
	says_stuck(run, 0, 1, 8); /* waits for one that waits */
	says_stuck(run, 2, 1, 7);
	says_stuck(run, 1, 2, 7);
	says_stuck(run, 0, 7, 8); /* nobody of the run */
	fix_says("n1", WIRE_RANK_LOST,
	    json_pack("{s:s, s:i, s:i, s:b}", "run", run, "rank", 0, "pid", 9,
		"exited", 1));
	fix_pass(3, NULL);
	expect_failed(run, RUN_FAILED, CAUSE_STUCK,
	    "rank 2 on n3 was stuck with rank 1 on n2 for 5 s (lat)");
	assert_int_equal(fix.stuck_count, 1);
	assert_string_equal(fix.stuck, "n3 n2 lat");
	fix_teardown();

	fix_setup(3); /* two say so of one that says nothing */
	fix_running(run, CAMPAIGN);
	says_stuck(run, 1, 2, 7);
	says_stuck(run, 0, 2, 7);
	fix_pass(3, NULL);
	expect_failed(run, RUN_FAILED, CAUSE_STUCK, "; n1 with n3");
	assert_int_equal(fix.stuck_count, 2);
	fix_teardown();

	fix_setup(3); /* nobody knows for whom */
	fix_running(run, CAMPAIGN);
	says_stuck(run, 1, -1, 7);
	says_stuck(run, 0, -1, 7);
	fix_pass(3, NULL);
	expect_failed(run, RUN_FAILED, CAUSE_STUCK,
	    "ranks of all nodes but n3 were stuck for 5 s (lat)");
	assert_int_equal(fix.stuck_count, 2);
	assert_string_equal(fix.stuck, "n1 n3 lat");
	fix_teardown();

	fix_setup(3); /* all say so */
	fix_running(run, CAMPAIGN);
	says_stuck(run, 1, -1, 7);
	says_stuck(run, 0, -1, 7);
	says_stuck(run, 2, -1, 7);
	fix_pass(3, NULL);
	expect_failed(run, RUN_FAILED, CAUSE_STUCK,
	    "ranks of n2 and others were stuck");
	assert_int_equal(fix.stuck_count, 0);
	fix_teardown();
}

static void
test_launcher_killed(void **state)
{
	char run[64];

	(void)state;
	fix_setup(3);
	fix_running(run, CAMPAIGN);
	fix_says("n2", WIRE_RANK_LOST,
	    json_pack("{s:s, s:i, s:i}", "run", run, "rank", 1, "pid", 9));
	exited("n1", run, 0, 137);
	fix_pass(3, NULL);
	expect_failed(run, RUN_FAILED, CAUSE_LAUNCH, "launcher on n1");
	fix_teardown();
}

static void
test_no_end(void **state)
{
	char run[64];

	(void)state;
	fix_setup(3);
	fix_running(run, CAMPAIGN);
	exited("n1", run, 0, 0);
	fix_pass(3, NULL);
	expect_failed(run, RUN_FAILED, CAUSE_NO_END, "n1");
	fix_teardown();
}

static void
test_agent_lost(void **state)
{
	char run[64];

	(void)state;
	fix_setup(3);
	fix_running(run, CAMPAIGN);
	/* Cut off: its peers' ranks die of it before we call it lost. */
	fix_pass(9, "n2");
	fix_says("n3", WIRE_RANK_LOST,
	    json_pack("{s:s, s:i, s:i}", "run", run, "rank", 2, "pid", 9));
	fix_pass(4, "n2");
	expect_failed(run, RUN_FAILED, CAUSE_AGENT_LOST, "n2");
	fix_teardown();
}

/* The agent restarts: it has nothing of the run any more. */
static void
test_agent_restart(void **state)
{
	json_t *none = json_array();
	char run[64];

	(void)state;
	fix_setup(3);
	fix_running(run, CAMPAIGN);
	roster_gone(fix.roster, fix_node("n2"), "closed");
	fix_pass(1, NULL);
	fix_hello("n2");
	runs_hello(fix.runs, fix_node("n2"), none);
	fix_pass(3, NULL);
	expect_failed(run, RUN_FAILED, CAUSE_AGENT_LOST, "n2 restarted");
	json_decref(none);
	fix_teardown();
}

/* The network of an agent flickers: nothing happens. */
static void
test_agent_back(void **state)
{
	json_t *has;
	char run[64];

	(void)state;
	fix_setup(3);
	fix_running(run, CAMPAIGN);
	roster_gone(fix.roster, fix_node("n2"), "closed");
	fix_pass(5, NULL);
	fix_hello("n2");
	has = json_pack("[s]", run);
	runs_hello(fix.runs, fix_node("n2"), has);
	json_decref(has);
	has = json_pack("[s, s]", run, "other-run");
	json_t *keep = runs_keep(fix.runs, fix_node("n2"), has);
	assert_int_equal(json_array_size(keep), 1);
	json_decref(keep);
	json_decref(has);
	fix_pass(12, NULL);
	assert_int_equal(state_of(run), RUN_RUNNING);
	fix_teardown();
}

static void
test_deadline(void **state)
{
	char run[64];

	(void)state;
	fix_setup(3);
	fix_running(run, CAMPAIGN);
	fix_sends("n1", run, fix_record(run, 2, "phase"));
	fix_commit(0);
	fix_pass(59, NULL);
	assert_int_equal(state_of(run), RUN_RUNNING);
	fix_pass(1.5, NULL);
	expect_failed(run, RUN_TIMED_OUT, CAUSE_TIMEOUT, "isolated");
	assert_int_equal(fix_sent(NULL, WIRE_END), 3);
	fix_teardown();
}

static void
test_nonstart(void **state)
{
	char run[64];
	struct err err;

	(void)state;
	fix_setup(3);
	assert_int_equal(fix_submit(CAMPAIGN, run, &err), 0);
	fix_prepared("n1", run);
	fix_prepared("n2", run);
	fix_prepared("n3", run);
	fix_says("n1", WIRE_LAUNCHED,
	    json_pack("{s:s, s:b}", "run", run, "ok", 1));
	fix_pass(13, NULL);
	expect_failed(run, RUN_NONSTART, CAUSE_LAUNCH, "no record");
	fix_teardown();
}

static void
test_launch_refused(void **state)
{
	char run[64];
	struct err err;

	(void)state;
	fix_setup(3);
	assert_int_equal(fix_submit(CAMPAIGN, run, &err), 0);
	fix_prepared("n1", run);
	fix_prepared("n2", run);
	fix_prepared("n3", run);
	fix_says("n1", WIRE_LAUNCHED,
	    json_pack("{s:s, s:b, s:s}", "run", run, "ok", 0, "text",
		"no mpirun here"));
	fix_pass(3, NULL);
	expect_failed(run, RUN_FAILED, CAUSE_LAUNCH, "n1: no mpirun here");
	fix_teardown();
}

static int
spawn_ask(const char *from, const char *run, int id, const char *node)
{
	return fix_says(from, WIRE_SPAWN_ASK,
	    json_pack("{s:s, s:i, s:s, s:[s, s]}", "run", run, "id", id, "node",
		node, "argv", "orted", "x"));
}

static const char *
last_spawn_state(void)
{
	return json_string_value(
	    json_object_get(fix_last(WIRE_SPAWN_STATE), "state"));
}

static void
test_spawn(void **state)
{
	char run[64];

	(void)state;
	fix_setup(4);
	fix_running(run, CAMPAIGN "nodes = n[1-3]\n");
	assert_int_equal(spawn_ask("n1", run, 1, "n2"), 0);
	assert_int_equal(fix_sent("n2", WIRE_SPAWN), 1);
	fix_says("n2", WIRE_SPAWNED,
	    json_pack("{s:s, s:i, s:b}", "run", run, "id", 1, "ok", 1));
	assert_string_equal(last_spawn_state(), "running");
	/* Not the head; not a node of the run; a used id; bad argv. */
	assert_int_equal(spawn_ask("n2", run, 2, "n3"), -EPROTO);
	assert_int_equal(spawn_ask("n1", run, 2, "n4"), 0);
	assert_string_equal(last_spawn_state(), "failed");
	assert_int_equal(fix_sent("n4", WIRE_SPAWN), 0);
	assert_int_equal(spawn_ask("n1", run, 1, "n3"), -EPROTO);
	assert_int_equal(fix_says("n1", WIRE_SPAWN_ASK,
			     json_pack("{s:s, s:i, s:s, s:[i]}", "run", run,
				 "id", 3, "node", "n2", "argv", 7)),
	    -EPROTO);
	/* Another node cannot answer for it. */
	assert_int_equal(spawn_ask("n1", run, 4, "n3"), 0);
	fix_says("n2", WIRE_SPAWNED,
	    json_pack("{s:s, s:i, s:b}", "run", run, "id", 4, "ok", 1));
	assert_string_equal(last_spawn_state(), "failed");
	/* n3 never answers: that ends the run. */
	fix_pass(11, NULL);
	expect_failed(run, RUN_FAILED, CAUSE_LAUNCH, "n3");
	fix_teardown();
}

static void
test_busy(void **state)
{
	char run[64];
	struct err err;

	(void)state;
	fix_setup(3);
	assert_int_equal(fix_submit(CAMPAIGN, run, &err), 0);
	fix_prepared("n1", run);
	fix_prepared("n2", run);
	fix_says("n3", WIRE_PREPARED,
	    json_pack("{s:s, s:b, s:s, s:s}", "run", run, "ok", 0, "cause",
		"busy", "text", "job 17"));
	expect_failed(run, RUN_MISSED, CAUSE_BUSY, "n3: busy: job 17");
	fix_teardown();
}

/* Every node is told what it may have to start, and says whether it does. */
static void
test_program(void **state)
{
	char run[64];
	struct err err;

	(void)state;
	fix_setup(3);
	assert_int_equal(fix_submit(CAMPAIGN "[canary]\ntests = command\n"
					     "[command]\nrun = /opt/app -n 1\n",
			     run, &err),
	    0);
	assert_int_equal(fix_sent(NULL, WIRE_PREPARE), 3);
	assert_string_equal(json_string_value(
				json_object_get(fix_last(WIRE_PREPARE),
				    "program")),
	    "/opt/app");
	fix_teardown();
}

/* The head says no: the others are asked again, for the new head. */
static void
test_new_head(void **state)
{
	char run[64];
	struct err err;

	(void)state;
	fix_setup(4);
	assert_int_equal(fix_submit(CAMPAIGN, run, &err), 0);
	fix_prepared("n2", run);
	fix_prepared("n3", run);
	fix_prepared("n4", run);
	fix_says("n1", WIRE_PREPARED,
	    json_pack("{s:s, s:b, s:s}", "run", run, "ok", 0, "cause", "busy"));
	assert_int_equal(fix_sent("n2", WIRE_PREPARE), 2);
	assert_null(fix_node("n1")->exclusive);
	fix_prepared("n2", run);
	fix_prepared("n3", run);
	fix_prepared("n4", run);
	assert_int_equal(fix_sent("n2", WIRE_LAUNCH), 1);
	fix_teardown();
}

/* A run takes nodes of one version, that of which there are most, and says so
 * where these are too few. */
static void
test_versions(void **state)
{
	static const char whole[] = "[campaign]\nnodes_min = 5\n";
	char run[64];
	struct err err;

	(void)state;
	fix_setup(5);
	xstrset(&fix_node("n1")->software, "9.0");
	xstrset(&fix_node("n4")->software, "9.0");
	assert_int_equal(fix_submit(CAMPAIGN, run, &err), 0);
	assert_int_equal(fix_sent(NULL, WIRE_PREPARE), 3);
	assert_int_equal(fix_sent("n1", WIRE_PREPARE), 0);
	assert_int_equal(fix_sent("n4", WIRE_PREPARE), 0);
	assert_int_equal(fix_submit(whole, run, &err), 0);
	fix_pass(40, NULL);
	expect_failed(run, RUN_MISSED, CAUSE_TOO_FEW_NODES,
	    "n1 has version 9.0, others have 0");
	fix_teardown();
}

static void
test_too_few(void **state)
{
	char run[64];
	struct err err;

	(void)state;
	fix_setup(2);
	fix_pass(60, NULL);
	assert_int_equal(fix_submit(CAMPAIGN "nodes = n[1-3]\n", run, &err), 0);
	fix_pass(5, NULL);
	assert_int_equal(state_of(run), RUN_PENDING);
	fix_pass(6, NULL);
	expect_failed(run, RUN_MISSED, CAUSE_TOO_FEW_NODES,
	    "2 of 3 nodes usable, 3 needed; n3 was never seen");
	fix_teardown();
}

static void
fabric_of(const char *node, const char *nics)
{
	json_t *o = json_loads(nics, 0, NULL);

	assert_non_null(o);
	json_decref(fix_node(node)->inventory);
	fix_node(node)->inventory = json_pack("{s:o}", "nics", o);
}

/* What a campaign demands of the network, and what nodes say they have. */
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
		    "n1 has no device of fabric = psm, Omni-Path (hfi1_0); it "
		    "has eth0" },
		{ ethernet, "fabric = ucx\n", NULL },
		{ hsn, "fabric = cray\n", NULL },
		{ "[]", "fabric = cray\n", "n1 has no device of fabric" },
	};
	char run[64], text[300];
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		fix_setup(3);
		for (int n = 1; n <= 3; n++) {
			snprintf(text, sizeof(text), "n%d", n);
			fabric_of(text, rows[i].nics);
		}
		snprintf(text, sizeof(text), "%s[mpi]\n%s", CAMPAIGN,
		    rows[i].wants);
		assert_int_equal(fix_submit(text, run, &err), 0);
		fix_pass(0.5, NULL);
		assert_int_equal(fix_sent(NULL, WIRE_PREPARE),
		    rows[i].why == NULL ? 3 : 0);
		if (rows[i].why != NULL)
			expect_failed(run, RUN_MISSED, CAUSE_NO_DEVICE,
			    rows[i].why);
		fix_teardown();
	}
	/* One of many is left out. */
	fix_setup(4);
	fabric_of("n2", ethernet);
	assert_int_equal(fix_submit(CAMPAIGN "[mpi]\ndevices = mlx5_0\n", run,
			     &err),
	    0);
	assert_int_equal(fix_sent(NULL, WIRE_PREPARE), 3);
	assert_int_equal(fix_sent("n2", WIRE_PREPARE), 0);
	fix_teardown();
}

static void
rails_of(const char *node, const char *rails)
{
	json_t *o = json_loads(rails, 0, NULL);

	assert_non_null(o);
	json_decref(fix_node(node)->inventory);
	fix_node(node)->inventory = json_pack("{s:[], s:o}", "nics", "rails",
	    o);
}

/* Rails take turns from run to run, each on the nodes that have it; nodes that
 * name none have a turn of their own; a rail of too few nodes has none. */
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
	char run[64], name[8], text[300];
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		fix_setup(5);
		for (int n = 1; n <= 5; n++) {
			snprintf(name, sizeof(name), "n%d", n);
			rails_of(name, n < 4 ? two : n == 4 ? odd : "[]");
		}
		snprintf(text, sizeof(text),
		    "[campaign]\nclass = background\nnodes_min = 3\n"
		    "[congestor]\nmix = none\n[mpi]\n%s",
		    rows[i].more);
		for (int k = 0; k < 4; k++) {
			int before = fix_sent(NULL, WIRE_PREPARE);
			const struct conf *c;

			assert_int_equal(fix_submit(text, run, &err), 0);
			c = run_find(fix.runs, run)->conf;
			assert_string_equal(conf_string(c, "mpi", "devices"),
			    rows[i].devices[k]);
			/* an older agent would not know it */
			assert_false(conf_given(c, "mpi", "rails"));
			assert_int_equal(fix_sent(NULL, WIRE_PREPARE) - before,
			    rows[i].nodes[k]);
		}
		fix_teardown();
	}
	/* One that does not come to run for others gives its turn back. */
	fix_setup(3);
	for (int n = 1; n <= 3; n++) {
		snprintf(name, sizeof(name), "n%d", n);
		rails_of(name, two);
	}
	fix_running(run, "[campaign]\nnodes_min = 3\ndeadline = 2h\n");
	for (int k = 0; k < 2; k++) {
		assert_int_equal(fix_submit(CAMPAIGN "[mpi]\nrails = turns\n",
				     run, &err),
		    0);
		assert_string_equal(conf_string(run_find(fix.runs, run)->conf,
					"mpi", "devices"),
		    "eth1");
		fix_pass(901, NULL);
		assert_int_equal(run_find(fix.runs, run)->state, RUN_MISSED);
	}
	fix_teardown();
}

static void
test_exclusive(void **state)
{
	char first[64], second[64], third[64];
	struct err err;

	(void)state;
	fix_setup(3);
	fix_running(first, CAMPAIGN);
	assert_int_equal(fix_submit(CAMPAIGN, second, &err), 0);
	assert_int_equal(fix_submit("[campaign]\nclass = background\n"
				    "[congestor]\nmix = none\n",
			     third, &err),
	    0);
	fix_pass(30, NULL);
	assert_int_equal(state_of(second), RUN_PENDING);
	assert_int_equal(state_of(third), RUN_PENDING);
	fix_pass(28, NULL);
	fix_sends("n1", first, fix_end(first, 2, "ok"));
	fix_commit(0);
	exited("n1", first, 0, 0);
	fix_pass(1, NULL);
	assert_int_equal(state_of(first), RUN_FINISHED);
	/* The one that waited longest. */
	assert_int_equal(state_of(second), RUN_STARTING);
	assert_int_equal(state_of(third), RUN_PENDING);
	fix_pass(5, NULL);
	assert_int_equal(state_of(third), RUN_OVERDUE);
	assert_int_equal(runs_stop_all(fix.runs, "me"), 2);
	expect_failed(third, RUN_CANCELLED, CAUSE_CANCELLED, "stopped by me");
	fix_pass(1, NULL);
	assert_null(fix_node("n1")->exclusive);
	fix_teardown();
}

static void
test_draw(void **state)
{
	static const char text[] =
	    "[campaign]\nseed = 42\nnodes_max = 3\nnodes_min = 3\n";
	char run[64];
	struct err err;
	json_t *first, *o;

	(void)state;
	fix_setup(12);
	assert_int_equal(fix_submit(text, run, &err), 0);
	o = runs_json_one(fix.runs, run);
	first = json_incref(json_object_get(o, "nodes"));
	json_decref(o);
	assert_int_equal(json_array_size(first), 3);
	assert_int_equal(runs_cancel(fix.runs, run, "me", &err), 0);
	assert_int_equal(runs_cancel(fix.runs, run, "me", &err), -EALREADY);
	assert_int_equal(runs_cancel(fix.runs, "x", "me", &err), -ENOENT);
	fix_pass(1, NULL);
	assert_int_equal(fix_submit(text, run, &err), 0);
	o = runs_json_one(fix.runs, run);
	assert_true(json_equal(first, json_object_get(o, "nodes")));
	json_decref(o);
	json_decref(first);
	fix_teardown();
}

static void
test_bad_records(void **state)
{
	char run[64];

	(void)state;
	fix_setup(3);
	fix_running(run, CAMPAIGN);
	/* Not the head; another run's; no seq; out of order. */
	assert_int_equal(fix_sends("n2", run, fix_record(run, 2, "phase")),
	    -EPROTO);
	assert_int_equal(fix_sends("n1", run, fix_record("r-2", 2, "phase")),
	    -EPROTO);
	assert_int_equal(fix_sends("n1", run, fix_record(run, 0, "phase")),
	    -EPROTO);
	assert_int_equal(fix_says("n1", WIRE_RECORDS,
			     json_pack("{s:s, s:[o, o]}", "run", run, "records",
				 fix_record(run, 3, "phase"),
				 fix_record(run, 2, "phase"))),
	    -EPROTO);
	assert_int_equal(fix_sends("n1", run, json_integer(7)), -EPROTO);
	assert_int_equal(fix.put_count, 0);
	fix_teardown();
}

/* Late records of a run that is not in memory any more. */
static void
test_late_records(void **state)
{
	(void)state;
	fix_setup(3);
	/* Unknown: kept, under a run that says so. */
	fix_sends("n1", "r-1", fix_record("r-1", 4, "phase"));
	assert_int_equal(fix.put_count, 1);
	assert_string_equal(fix.last_state, "failed");
	assert_int_equal(fix_sent("n1", WIRE_ACK), 0);
	fix_commit(0);
	assert_int_equal(fix_sent("n1", WIRE_ACK), 1);
	assert_int_equal(fix.events, 1);
	fix.stored_run = json_pack("{s:s}", "head", "n1");
	fix_sends("n1", "r-1", fix_record("r-1", 5, "phase"));
	assert_int_equal(fix.put_count, 1);
	fix_commit(0);
	assert_int_equal(fix_sent("n1", WIRE_ACK), 2);
	/* Another node's run: let go as well, and not stored. */
	fix_sends("n2", "r-1", fix_record("r-1", 6, "phase"));
	assert_int_equal(fix.put_count, 0);
	json_decref(fix.stored_run);
	fix.stored_run = NULL;
	/* A node may have so many of them: the others stay with it. */
	fix_node("n1")->adopted = 1000;
	fix_forget();
	fix_sends("n1", "r-2", fix_record("r-2", 1, "begin"));
	fix_commit(0);
	assert_int_equal(fix_sent("n1", WIRE_ACK), 0);
	fix_teardown();
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

#define BUDGETED                                                               \
	"[campaign]\nnodes_min = 3\ndeadline = 60s\nbytes = 1M\n"              \
	"[congestor]\nmix = none\n"

/* A run is admitted while the hour's budget lasts: then it waits, and is
 * missed with the reason. What it did cost counts, not what was feared. */
static void
test_budget(void **state)
{
	struct budget_limits limits = { 8e6, 0, 0 };
	struct budget_use use;
	struct costs *cs;
	char run[64], second[64];
	struct err err;

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
		/* Nobody has asked for the third. */
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
	assert_int_equal(run_find(fix.runs, run)->state, RUN_FINISHED);
	budget_look(costs_budget(cs), fix.now_ns, &use);
	assert_true(use.bytes_reserved == 0);
	assert_true(use.bytes == 6e6);
	assert_non_null(strstr(fix.setting, "cost/c="));
	assert_non_null(strstr(fix.setting, " 2000000"));
	/* 6 of 8 MB are taken, 3 are needed */
	assert_int_equal(fix_submit(BUDGETED, second, &err), 0);
	fix_pass(70, NULL);
	assert_int_equal(run_find(fix.runs, second)->state, RUN_OVERDUE);
	assert_int_equal(run_find(fix.runs, second)->cause, CAUSE_BUDGET);
	fix_pass(900, NULL);
	assert_int_equal(run_find(fix.runs, second)->state, RUN_MISSED);
	assert_int_equal(run_find(fix.runs, second)->cause, CAUSE_BUDGET);
	assert_non_null(
	    strstr(run_find(fix.runs, second)->text, "budget.bytes: needs"));
	budget_look(costs_budget(cs), fix.now_ns, &use);
	assert_int_equal(use.refused, 1);
	/* an hour and a slice later there is room again */
	fix_pass(3900, NULL);
	assert_int_equal(fix_submit(BUDGETED, second, &err), 0);
	assert_int_equal(run_find(fix.runs, second)->state, RUN_STARTING);
	fix_teardown();
	costs_free(cs);
}

/* More than a whole hour's budget never fits: no use in waiting. */
static void
test_budget_never(void **state)
{
	struct budget_limits limits = { 0, 100, 0 };
	char run[64];
	struct err err;
	struct costs *cs;

	(void)state;
	fix_setup(3);
	cs = costs_make(&limits, "");
	assert_int_equal(fix_submit(BUDGETED, run, &err), 0);
	assert_int_equal(run_find(fix.runs, run)->state, RUN_MISSED);
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
	struct err err;
	struct costs *cs;

	(void)state;
	fix_setup(3);
	cs = costs_make(&none, "11:24-11:30");
	assert_int_equal(fix_submit(BUDGETED, run, &err), 0);
	assert_int_equal(run_find(fix.runs, run)->state, RUN_PENDING);
	fix_pass(300, NULL); /* 11:28:20 */
	assert_int_equal(run_find(fix.runs, run)->state, RUN_OVERDUE);
	assert_non_null(strstr(run_find(fix.runs, run)->text, "T11:30:00"));
	fix_pass(104, NULL); /* 11:30:04 */
	assert_int_equal(run_find(fix.runs, run)->state, RUN_STARTING);
	fix_teardown();
	costs_free(cs);
	/* what is of class background runs in a blackout */
	fix_setup(3);
	cs = costs_make(&none, "11:00-12:00");
	assert_int_equal(fix_submit(BUDGETED "[campaign]\nclass = background\n",
			     run, &err),
	    0);
	assert_int_equal(run_find(fix.runs, run)->state, RUN_STARTING);
	fix_teardown();
	costs_free(cs);
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
	assert_int_equal(fix_submit(BUDGETED "[campaign]\npriority = 5\n", high,
			     &err),
	    0);
	fix_pass(2, NULL);
	assert_int_equal(run_find(fix.runs, low)->state, RUN_RUNNING);
	assert_int_equal(fix_submit(BUDGETED, other, &err), 0);
	runs_cancel(fix.runs, high, "test", &err);
	assert_int_equal(fix_submit(BUDGETED "[campaign]\npriority = 5\n"
					     "preempt = yes\n",
			     high, &err),
	    0);
	fix_pass(0.5, NULL);
	assert_int_equal(run_find(fix.runs, low)->state, RUN_PREEMPTED);
	assert_non_null(
	    strstr(run_find(fix.runs, low)->text, "priority 5 over 0"));
	assert_int_equal(fix_sent("n2", WIRE_END), 1);
	/* its nodes are held until what ran there is gone */
	assert_int_equal(run_find(fix.runs, high)->state, RUN_PENDING);
	fix_pass(10, NULL);
	assert_int_equal(run_find(fix.runs, high)->state, RUN_STARTING);
	assert_int_equal(run_find(fix.runs, other)->state, RUN_PENDING);
	fix_teardown();
}

/* Who was not measured for the longest time is taken first. */
static void
test_longest_ago(void **state)
{
	char run[64];
	struct err err;

	(void)state;
	fix_setup(4);
	for (int i = 1; i <= 4; i++) {
		char name[8];

		snprintf(name, sizeof(name), "n%d", i);
		fix_node(name)->used_unix_ns = (uint64_t)(i % 3 + 1);
	}
	assert_int_equal(fix_submit("[campaign]\nnodes_max = 2\n"
				    "[congestor]\nmix = none\n",
			     run, &err),
	    0);
	assert_int_equal(fix_sent("n3", WIRE_PREPARE), 1);
	assert_int_equal(fix_sent("n2", WIRE_PREPARE), 0);
	fix_teardown();
}

/* But not where that leaves too few, or where it is asked for by name. */
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
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		fix_setup(3);
		snprintf(fix.avoid, sizeof(fix.avoid), "n2");
		assert_int_equal(fix_submit(rows[i].text, run, &err), 0);
		assert_int_equal(fix_sent("n1", WIRE_PREPARE), 1);
		assert_int_equal(fix_sent("n2", WIRE_PREPARE), rows[i].asked);
		fix_teardown();
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_success),
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_disk_full),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_rank_lost),
		cmocka_unit_test(test_stuck),
		cmocka_unit_test(test_launcher_killed),
		cmocka_unit_test(test_no_end),
		cmocka_unit_test(test_agent_lost),
		cmocka_unit_test(test_agent_restart),
		cmocka_unit_test(test_agent_back),
		cmocka_unit_test(test_deadline),
		cmocka_unit_test(test_nonstart),
		cmocka_unit_test(test_launch_refused),
		cmocka_unit_test(test_spawn),
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_program),
		cmocka_unit_test(test_new_head),
		cmocka_unit_test(test_too_few),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_fabric),
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_exclusive),
		cmocka_unit_test(test_draw),
		cmocka_unit_test(test_bad_records),
		cmocka_unit_test(test_late_records),
		cmocka_unit_test(test_budget),
		cmocka_unit_test(test_budget_never),
		cmocka_unit_test(test_blackout),
		cmocka_unit_test(test_preempt),
		cmocka_unit_test(test_longest_ago),
		cmocka_unit_test(test_avoid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
