/* SPDX-License-Identifier: Apache-2.0 */
/* A run without failures, and the processes that its nodes start. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/run/run_order.h"
#include "daemon/run/run_show.h"
#include "tests/unit/daemon/run/run_fix.h"

static void
test_success(void **state)
{
	char run[64];

	(void)state;
	fix_setup(3);
	fix_running(run, FIX_CAMPAIGN);
	fix_sends("n1", run, fix_record(run, 2, "phase"));
	assert_int_equal(fix_sent(NULL, WIRE_SAMPLE), 3);
	assert_int_equal(fix_sent("n1", WIRE_ACK), 1); /* not before commit */
	fix_sends("n1", run, fix_end(run, 3, "ok"));
	assert_int_equal(fix_state(run), RUN_RUNNING);
	/* An end record takes precedence over a failure of the launcher. */
	fix_over(run, 1);
	fix_pass(3, NULL);
	assert_int_equal(fix_state(run), RUN_RUNNING);
	fix_commit(0);
	assert_int_equal(fix_state(run), RUN_FINISHED);
	assert_int_equal(json_integer_value(
			     json_object_get(fix_last(WIRE_ACK), "seq")),
	    3);
	assert_int_equal(fix.committed, 3);
	fix_pass(1, NULL);
	assert_int_equal(fix_sent(NULL, WIRE_END), 3);
	assert_null(fix_node("n2")->exclusive);
	fix_teardown();
}

/* Every node gets its part of the start, and reports whether it started. */
static void
test_program(void **state)
{
	char run[64];

	(void)state;
	fix_setup(3);
	fix_submitted(run,
	    FIX_CAMPAIGN "[canary]\ntests = command\n"
			 "[command]\nrun = /opt/app -n 1\n");
	assert_int_equal(fix_sent(NULL, WIRE_PREPARE), 3);
	assert_string_equal(json_string_value(
				json_object_get(fix_last(WIRE_PREPARE),
				    "program")),
	    "/opt/app");
	fix_teardown();
}

/* The head refuses: the other nodes are prepared again, for the new head. */
static void
test_new_head(void **state)
{
	char run[64];

	(void)state;
	fix_setup(4);
	fix_submitted(run, FIX_CAMPAIGN);
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
	assert_int_equal(fix_sent("n2", WIRE_START), 1);
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
	fix_submitted(run, text);
	o = runs_json_one(fix.runs, run);
	first = json_incref(json_object_get(o, "nodes"));
	json_decref(o);
	assert_int_equal(json_array_size(first), 3);
	assert_int_equal(runs_cancel(fix.runs, run, "me", &err), 0);
	assert_int_equal(runs_cancel(fix.runs, run, "me", &err), -EALREADY);
	assert_int_equal(runs_cancel(fix.runs, "x", "me", &err), -ENOENT);
	fix_pass(1, NULL);
	fix_submitted(run, text);
	o = runs_json_one(fix.runs, run);
	assert_true(json_equal(first, json_object_get(o, "nodes")));
	json_decref(o);
	json_decref(first);
	fix_teardown();
}

/* A batch system's job has begun: the agents start the ranks. */
static void
test_command(void **state)
{
	char run[64];

	(void)state;
	fix_setup(3);
	fix_launched(run, FIX_COMMAND);
	assert_int_equal(fix_sent(NULL, WIRE_START), 0);
	assert_int_equal(fix_sent("n1", WIRE_LAUNCH), 1);
	fix_says("n1", WIRE_LAUNCHED,
	    json_pack("{s:s, s:b, s:i}", "run", run, "ok", 1, "pid", 5));
	fix_says("n2", WIRE_LAUNCHED,
	    json_pack("{s:s, s:b, s:b}", "run", run, "ok", 1, "begun", 1));
	assert_int_equal(fix_sent(NULL, WIRE_START), 0); /* not the head */
	fix_says("n1", WIRE_LAUNCHED,
	    json_pack("{s:s, s:b, s:b}", "run", run, "ok", 1, "begun", 1));
	assert_int_equal(fix_sent(NULL, WIRE_START), 3);
	fix_sends("n1", run, fix_record(run, 1, "begin"));
	fix_sends("n1", run, fix_end(run, 2, "ok"));
	fix_commit(0);
	assert_int_equal(fix_state(run), RUN_FINISHED);
	fix_over(run, 0);
	fix_pass(1, NULL);
	assert_non_null(fix_node("n2")->exclusive); /* the job is there still */
	fix_exited("n1", run, 0, 0);
	fix_pass(1, NULL);
	assert_null(fix_node("n2")->exclusive);
	fix_teardown();
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_success),
		cmocka_unit_test(test_program),
		cmocka_unit_test(test_new_head),
		cmocka_unit_test(test_draw),
		cmocka_unit_test(test_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
