/* SPDX-License-Identifier: Apache-2.0 */
/* Records on their way to the store: again, late, wrong, or on a full disk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/daemon/run/run_fix.h"

/* Sending again is acknowledged and counted once. */
static void
test_again(void **state)
{
	char run[64];

	(void)state;
	fix_setup(3);
	fix_running(run, FIX_CAMPAIGN);
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
	assert_int_equal(runs_records(fix.runs), 4); /* those again, too */
	fix_teardown();
}

/* With a full disk no record is acknowledged; later all are. */
static void
test_disk_full(void **state)
{
	char run[64];

	(void)state;
	fix_setup(3);
	fix_running(run, FIX_CAMPAIGN);
	fix_forget();
	fix.writable = 0;
	fix_sends("n1", run, fix_end(run, 2, "ok"));
	fix_commit(-ENOSPC);
	fix_over(run, 0);
	fix_pass(5, NULL);
	assert_int_equal(fix_sent(NULL, WIRE_ACK), 0);
	assert_int_equal(fix.hang_ups, 0);
	assert_int_equal(fix_state(run), RUN_RUNNING);
	fix.writable = 1;
	fix_pass(1, NULL);
	assert_int_equal(fix.hang_ups, 1);
	fix_sends("n1", run, fix_end(run, 2, "ok"));
	fix_commit(0);
	assert_int_equal(fix_sent("n1", WIRE_ACK), 1);
	assert_int_equal(fix_state(run), RUN_FINISHED);
	fix_teardown();
}

/* A head that names other nodes: its record is stored, but used for no
 * verdict. */
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
	fix_running(run, FIX_CAMPAIGN);
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
test_bad_records(void **state)
{
	char run[64];

	(void)state;
	fix_setup(3);
	fix_running(run, FIX_CAMPAIGN);
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
	/* Unknown: stored, in a run that is marked accordingly. */
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
	/* Another node's run: acknowledged too, and not stored. */
	fix_sends("n2", "r-1", fix_record("r-1", 6, "phase"));
	assert_int_equal(fix.put_count, 0);
	json_decref(fix.stored_run);
	fix.stored_run = NULL;
	/* The number per node is limited: the others stay on the node. */
	fix_node("n1")->adopted = 1000;
	fix_forget();
	fix_sends("n1", "r-2", fix_record("r-2", 1, "begin"));
	fix_commit(0);
	assert_int_equal(fix_sent("n1", WIRE_ACK), 0);
	fix_teardown();
}

/* More bytes than the limit of a run: the run fails and the rest is dropped,
 * but acknowledged. A node keeps the records of ended runs beyond the limit of
 * an hour. */
static void
test_quota_bytes(void **state)
{
	char run[64];

	(void)state;
	fix_setup(3);
	runs_set_quota(fix.runs, &(struct runs_quota){ .bytes = 1000 });
	fix_running(run, FIX_CAMPAIGN);
	fix_node("n1")->message_bytes = 400;
	for (int seq = 2; seq <= 5; seq++) {
		fix_sends("n1", run, fix_record(run, seq, "phase"));
		fix_commit(0);
		assert_int_equal(fix_sent("n1", WIRE_ACK), seq);
		assert_int_equal(run_find(fix.runs, run)->records,
		    seq < 4 ? seq : 3);
	}
	fix_failed(run, RUN_FAILED, CAUSE_INTERNAL, "quota.run_bytes");
	fix_forget();
	fix.stored_run = json_pack("{s:s}", "head", "n1");
	for (int seq = 1; seq <= 4; seq++) {
		fix_sends("n1", "r-1", fix_record("r-1", seq, "phase"));
		fix_commit(0);
		assert_int_equal(fix_sent("n1", WIRE_ACK), seq < 3 ? seq : 2);
	}
	json_decref(fix.stored_run);
	fix_teardown();
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_disk_full),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_bad_records),
		cmocka_unit_test(test_late_records),
		cmocka_unit_test(test_quota_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
