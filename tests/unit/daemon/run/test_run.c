/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a run that nothing befalls, and what its nodes start for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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
	/* The launcher's failure says nothing against an end record. */
	fix_exited("n1", run, 0, 1);
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

/* Every node is told what it may have to start, and says whether it does. */
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

/* Where the head's session comes from and its interfaces' addresses go to all
 * nodes; what is none of these stays here. */
static void
test_head_addrs(void **state)
{
	char run[64], text[2049];
	json_t *addrs;

	(void)state;
	memset(text, '1', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	fix_setup(3);
	json_object_set_new(fix_node("n1")->inventory, "nics",
	    json_pack("[{s:s, s:[s, s, s, s, i]}, s, {s:s}]", "name", "eth0",
		"addrs", "10.1.0.7", text, "evil.example", "fd00::7", 7, "x",
		"addrs", "10.1.0.8"));
	fix_submitted(run, FIX_CAMPAIGN);
	addrs = json_object_get(fix_last(WIRE_PREPARE), "head_addrs");
	assert_int_equal(json_array_size(addrs), 3);
	assert_string_equal(json_string_value(json_array_get(addrs, 1)),
	    "10.1.0.7");
	assert_string_equal(json_string_value(json_array_get(addrs, 2)),
	    "fd00::7");
	fix_teardown();
}

/* The head says no: the others are asked again, for the new head. */
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
	assert_int_equal(fix_sent("n2", WIRE_LAUNCH), 1);
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
	fix_running(run, FIX_CAMPAIGN "nodes = n[1-3]\n");
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
	fix_failed(run, RUN_FAILED, CAUSE_LAUNCH, "n3");
	fix_teardown();
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_success),
		cmocka_unit_test(test_program),
		cmocka_unit_test(test_head_addrs),
		cmocka_unit_test(test_new_head),
		cmocka_unit_test(test_draw),
		cmocka_unit_test(test_spawn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
