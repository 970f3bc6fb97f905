/* SPDX-License-Identifier: Apache-2.0 */
/* The cause of a failed run: the first one, not its consequences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/run/run_agents.h"
#include "daemon/run/run_order.h"
#include "daemon/run/run_state.h"
#include "tests/unit/daemon/run/run_fix.h"

static void
test_rank_lost(void **state)
{
	char run[64];

	(void)state;
	fix_setup(3);
	fix_running(run, FIX_CAMPAIGN);
	fix_says("n3", WIRE_RANK_LOST,
	    json_pack("{s:s, s:i, s:i}", "run", run, "rank", 2, "pid", 9));
	fix_pass(1, NULL);
	/* Consequences. */
	fix_says("n2", WIRE_RANK_LOST,
	    json_pack("{s:s, s:i, s:i}", "run", run, "rank", 1, "pid", 9));
	assert_int_equal(fix_state(run), RUN_RUNNING);
	fix_pass(2, NULL);
	fix_failed(run, RUN_FAILED, CAUSE_RANK_LOST, "rank 2 on n3");
	assert_int_equal(fix_sent(NULL, WIRE_END), 3);
	/* Reserved until its processes have ended. */
	fix_pass(1, NULL);
	assert_non_null(fix_node("n2")->exclusive);
	fix_over(run, 137);
	fix_pass(0.5, NULL);
	assert_null(fix_node("n2")->exclusive);
	fix_teardown();
}

static void
says_stuck_in(const char *run, int rank, int with, int at, const char *what)
{
	char name[16], other[16];

	snprintf(name, sizeof(name), "n%d", rank + 1);
	snprintf(other, sizeof(other), "n%d", with + 1);
	fix_says(name, WIRE_RANK_LOST,
	    json_pack("{s:s, s:i, s:i, s:b, s:{s:i, s:s, s:s, s:f, s:i}}",
		"run", run, "rank", rank, "pid", 9, "exited", 1, "stuck",
		"rank", with, "node", other, "what", what, "waited_s", 5.0,
		"at", at));
}

static void
says_stuck(const char *run, int rank, int with, int at)
{
	says_stuck_in(run, rank, with, at, "lat");
}

/* In a ring finally all ranks wait: one waits for a rank that is elsewhere, or
 * two wait for each other, and the rest is not reported. */
static void
test_stuck(void **state)
{
	char run[64];

	(void)state;
	fix_setup(3);
	fix_running(run, FIX_CAMPAIGN);
	says_stuck(run, 0, 1, 8); /* waits for one that waits */
	says_stuck(run, 2, 1, 7);
	says_stuck(run, 1, 2, 7);
	says_stuck(run, 0, 7, 8); /* no node of the run */
	fix_says("n1", WIRE_RANK_LOST,
	    json_pack("{s:s, s:i, s:i, s:b}", "run", run, "rank", 0, "pid", 9,
		"exited", 1));
	fix_pass(3, NULL);
	fix_failed(run, RUN_FAILED, CAUSE_STUCK,
	    "rank 2 on n3 was stuck with rank 1 on n2 for 5 s (lat)");
	assert_int_equal(fix.stuck_count, 1);
	assert_string_equal(fix.stuck, "n3 n2 lat");
	/* Remembered, it is small: the collector keeps 128 of them. */
	assert_non_null(run_find(fix.runs, run)->signs);
	fix_pass(9, NULL);
	assert_null(run_find_live(fix.runs, run));
	assert_null(run_find(fix.runs, run)->signs);
	assert_null(run_find(fix.runs, run)->stuck);
	assert_true(sizeof(struct run) < 2048);
	fix_failed(run, RUN_FAILED, CAUSE_STUCK, "rank 2 on n3");
	fix_teardown();

	/* A rank that only receives is ahead of one that sends. */
	fix_setup(3);
	fix_running(run, FIX_CAMPAIGN);
	says_stuck_in(run, 0, 1, 7, "plan");
	says_stuck_in(run, 1, 2, 6, "plan");
	says_stuck_in(run, 0, 2, 8, "another word");
	fix_pass(3, NULL);
	fix_failed(run, RUN_FAILED, CAUSE_STUCK,
	    "rank 1 on n2 was stuck with rank 2 on n3 for 5 s (plan)");
	assert_int_equal(fix.stuck_count, 1);
	fix_teardown();
}

/* Some nodes do not report, or do not know for which rank they wait. */
static void
test_stuck_silent(void **state)
{
	char run[64];

	(void)state;
	fix_setup(3); /* two report one that is silent */
	fix_running(run, FIX_CAMPAIGN);
	says_stuck(run, 1, 2, 7);
	says_stuck(run, 0, 2, 7);
	fix_pass(3, NULL);
	fix_failed(run, RUN_FAILED, CAUSE_STUCK, "; n1 with n3");
	assert_int_equal(fix.stuck_count, 2);
	fix_teardown();

	fix_setup(3); /* unknown peer */
	fix_running(run, FIX_CAMPAIGN);
	says_stuck(run, 1, -1, 7);
	says_stuck(run, 0, -1, 7);
	fix_pass(3, NULL);
	fix_failed(run, RUN_FAILED, CAUSE_STUCK,
	    "ranks of all nodes but n3 were stuck for 5 s (lat)");
	assert_int_equal(fix.stuck_count, 2);
	assert_string_equal(fix.stuck, "n1 n3 lat");
	fix_teardown();

	/* One waits in a barrier that another has left, and a third has nothing
	 * to report: none is named. */
	fix_setup(3);
	fix_running(run, FIX_CAMPAIGN);
	says_stuck(run, 1, -1, 6);
	says_stuck(run, 0, 1, 7);
	fix_pass(3, NULL);
	fix_failed(run, RUN_FAILED, CAUSE_STUCK, "ranks of n2 and others");
	assert_int_equal(fix.stuck_count, 0);
	fix_teardown();

	fix_setup(3); /* all report */
	fix_running(run, FIX_CAMPAIGN);
	says_stuck(run, 1, -1, 7);
	says_stuck(run, 0, -1, 7);
	says_stuck(run, 2, -1, 7);
	fix_pass(3, NULL);
	fix_failed(run, RUN_FAILED, CAUSE_STUCK,
	    "ranks of n2 and others were stuck");
	assert_int_equal(fix.stuck_count, 0);
	fix_teardown();
}

/* The run that was ordered by BY, or NULL. */
static struct run *
ordered_by(const char *by, const char *run)
{
	struct run *r;

	TAILQ_FOREACH (r, &fix.runs->live, link)
		if (strncmp(r->by, by, strlen(by)) == 0 &&
		    strstr(r->by, run) != NULL)
			return r;
	return NULL;
}

/* An unknown pair is searched by a run in which all nodes exchange data, three
 * times. A scheduled run with a known pair is repeated. A manual run is not. */
static void
test_stuck_goes_on(void **state)
{
	static const char *const names[] = { "n1", "n2", "n3" };
	char run[64];
	struct run *r, *next;

	(void)state;
	fix_setup(3);
	fix_running(run, FIX_CAMPAIGN);
	says_stuck(run, 1, 2, 7);
	says_stuck(run, 2, 1, 7);
	fix_pass(3, NULL);
	assert_int_equal(run_find(fix.runs, run)->stuck_named, 1);
	assert_null(ordered_by("", run));
	fix_teardown();

	fix_setup(3);
	fix_running(run, FIX_CAMPAIGN);
	r = run_find(fix.runs, run);
	r->origin = RUN_BY_SCHEDULE;
	says_stuck(run, 1, 2, 7);
	says_stuck(run, 2, 1, 7);
	fix_pass(3, NULL);
	r = ordered_by("again after", run);
	assert_non_null(r);
	assert_string_equal(conf_string(r->conf, "campaign", "nodes"),
	    conf_string(run_find(fix.runs, run)->conf, "campaign", "nodes"));
	fix_teardown();

	fix_setup(3);
	fix_running(run, FIX_CAMPAIGN);
	for (int i = 0; i < 3; i++)
		says_stuck(run, i, -1, i == 1 ? 6 : 7);
	fix_pass(3, NULL);
	fix_failed(run, RUN_FAILED, CAUSE_STUCK,
	    "at an earlier step than the others: n2");
	r = ordered_by("search 1 of 3", run);
	assert_non_null(r);
	assert_string_equal(conf_string(r->conf, "canary", "tests"), "lat");
	assert_string_equal(conf_string(r->conf, "canary", "partners"),
	    "match");
	for (int i = 0; i < 3; i++)
		assert_non_null(
		    strstr(conf_string(r->conf, "campaign", "nodes"),
			names[i]));
	r->node_count = 3; /* as if it had them */
	r->nodes = run_find(fix.runs, run)->nodes;
	run_finish(r, RUN_NONSTART, CAUSE_LAUNCH, "no record");
	run_order_on(r);
	next = ordered_by("search 2 of 3", r->id);
	assert_non_null(next);
	assert_int_equal(next->origin, RUN_BY_SEARCH);
	assert_int_equal(next->attempt, 2);
	r->node_count = 0;
	r->nodes = NULL;
	fix_teardown();

	/* A search measures canaries, which the campaign does not have. */
	fix_setup(3);
	fix_running(run, FIX_CAMPAIGN "[collective]\nname = alltoall\n");
	for (int i = 0; i < 3; i++)
		says_stuck(run, i, -1, i == 1 ? 6 : 7);
	fix_pass(3, NULL);
	fix_failed(run, RUN_FAILED, CAUSE_STUCK,
	    "at an earlier step than the others: n2");
	assert_null(ordered_by("", run));
	fix_teardown();
}

static void
test_launcher_killed(void **state)
{
	char run[64];

	(void)state;
	fix_setup(3);
	fix_running(run, FIX_COMMAND);
	fix_says("n2", WIRE_RANK_LOST,
	    json_pack("{s:s, s:i, s:i}", "run", run, "rank", 1, "pid", 9));
	fix_exited("n1", run, 0, 137);
	fix_pass(3, NULL);
	fix_failed(run, RUN_FAILED, CAUSE_LAUNCH, "launcher on n1");
	fix_teardown();
}

/* A rank that crashes in MPI_Init under srun is known by its words only. */
static void
test_rank_crashes(void **state)
{
	static const struct {
		int status;
		const char *said, *text;
	} cases[] = {
		/* It ends the others by another signal. */
		{ 143,
		    "*** Process received signal ***\nsrun: error: n3: task 2: "
		    "Segmentation fault\nsrun: error: n2: task 1: Terminated\n",
		    "a rank died: srun: error: n3: task 2: Segmentation "
		    "fault" },
	};
	char run[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		fix_setup(3);
		fix_running(run, FIX_COMMAND);
		fix_says("n1", WIRE_EXITED,
		    json_pack("{s:s, s:i, s:i, s:s}", "run", run, "id", 0,
			"status", cases[i].status, "stderr", cases[i].said));
		fix_pass(3, NULL);
		fix_failed(run, RUN_FAILED, CAUSE_RANK_LOST, cases[i].text);
		fix_teardown();
	}
}

/* The rank with the GPU ends itself, the launcher kills the others. */
static void
test_device_fault(void **state)
{
	static const char *const said[] = {
		"coalmine-probe: cuda: start: uncorrectable ECC error "
		"encountered\n",
		"coalmine-probe: cuda: start: an illegal memory access was "
		"encountered\n",
	};
	char run[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(said); i++) {
		fix_setup(3);
		fix_running(run, FIX_COMMAND);
		fix_says("n2", WIRE_RANK_LOST,
		    json_pack("{s:s, s:i, s:i, s:b}", "run", run, "rank", 1,
			"pid", 9, "exited", 1));
		fix_says("n3", WIRE_RANK_LOST,
		    json_pack("{s:s, s:i, s:i}", "run", run, "rank", 2, "pid",
			9));
		fix_says("n1", WIRE_EXITED,
		    json_pack("{s:s, s:i, s:i, s:s}", "run", run, "id", 0,
			"status", 1, "stderr", said[i]));
		fix_pass(3, NULL);
		if (i == 0)
			fix_failed(run, RUN_FAILED, CAUSE_DEVICE_FAULT,
			    "rank 1 on n2 exited: coalmine-probe: cuda: "
			    "start: uncorrectable ECC error encountered");
		else
			fix_failed(run, RUN_FAILED, CAUSE_RANK_LOST, "rank");
		fix_teardown();
	}
}

static void
test_no_end(void **state)
{
	char run[64];

	(void)state;
	fix_setup(3);
	fix_running(run, FIX_CAMPAIGN);
	fix_exited("n1", run, 1, 0);
	fix_pass(3, NULL);
	fix_failed(run, RUN_FAILED, CAUSE_NO_END, "n1");
	fix_teardown();
}

static void
test_agent_lost(void **state)
{
	char run[64];

	(void)state;
	fix_setup(3);
	fix_running(run, FIX_CAMPAIGN);
	/* Cut off: its peers' ranks die of it before we call it lost. */
	fix_pass(9, "n2");
	fix_says("n3", WIRE_RANK_LOST,
	    json_pack("{s:s, s:i, s:i}", "run", run, "rank", 2, "pid", 9));
	fix_pass(4, "n2");
	fix_failed(run, RUN_FAILED, CAUSE_AGENT_LOST, "n2");
	fix_teardown();
}

/* The agent restarts: its state of the run is lost. */
static void
test_agent_restart(void **state)
{
	json_t *none = json_array();
	char run[64];

	(void)state;
	fix_setup(3);
	fix_running(run, FIX_CAMPAIGN);
	roster_gone(fix.roster, fix_node("n2"), "closed");
	fix_pass(1, NULL);
	fix_hello("n2");
	runs_hello(fix.runs, fix_node("n2"), none);
	fix_pass(3, NULL);
	fix_failed(run, RUN_FAILED, CAUSE_AGENT_LOST, "n2 restarted");
	json_decref(none);
	fix_teardown();
}

/* A short network interruption of an agent has no effect. */
static void
test_agent_back(void **state)
{
	json_t *has;
	char run[64];

	(void)state;
	fix_setup(3);
	fix_running(run, FIX_CAMPAIGN);
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
	assert_int_equal(fix_state(run), RUN_RUNNING);
	fix_teardown();
}

static void
test_deadline(void **state)
{
	char run[64];

	(void)state;
	fix_setup(3);
	fix_running(run, FIX_CAMPAIGN);
	fix_sends("n1", run, fix_record(run, 2, "phase"));
	fix_commit(0);
	fix_pass(59, NULL);
	assert_int_equal(fix_state(run), RUN_RUNNING);
	fix_pass(1.5, NULL);
	fix_failed(run, RUN_TIMED_OUT, CAUSE_TIMEOUT, "isolated");
	assert_int_equal(fix_sent(NULL, WIRE_END), 3);
	fix_teardown();
}

static void
test_nonstart(void **state)
{
	char run[64];

	(void)state;
	fix_setup(3);
	fix_launched(run, FIX_CAMPAIGN);
	fix_says("n1", WIRE_LAUNCHED,
	    json_pack("{s:s, s:b}", "run", run, "ok", 1));
	fix_pass(13, NULL);
	fix_failed(run, RUN_NONSTART, CAUSE_LAUNCH, "no record");
	fix_teardown();
}

static void
test_launch_refused(void **state)
{
	char run[64];

	(void)state;
	fix_setup(3);
	fix_launched(run, FIX_CAMPAIGN);
	fix_says("n1", WIRE_LAUNCHED,
	    json_pack("{s:s, s:b, s:s}", "run", run, "ok", 0, "text",
		"no mpirun here"));
	fix_pass(3, NULL);
	fix_failed(run, RUN_FAILED, CAUSE_LAUNCH, "n1: no mpirun here");
	fix_teardown();
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rank_lost),
		cmocka_unit_test(test_stuck),
		cmocka_unit_test(test_stuck_silent),
		cmocka_unit_test(test_stuck_goes_on),
		cmocka_unit_test(test_launcher_killed),
		cmocka_unit_test(test_rank_crashes),
		cmocka_unit_test(test_device_fault),
		cmocka_unit_test(test_no_end),
		cmocka_unit_test(test_agent_lost),
		cmocka_unit_test(test_agent_restart),
		cmocka_unit_test(test_agent_back),
		cmocka_unit_test(test_deadline),
		cmocka_unit_test(test_nonstart),
		cmocka_unit_test(test_launch_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
