/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_slurm.c - answers of Slurm, and their effect on runs. The lines have the
 * format of Slurm 22.05.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <event2/event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "common/err.h"
#include "daemon/run/run_order.h"
#include "daemon/run/run_show.h"
#include "daemon/slurm/slurm.h"
#include "tests/unit/daemon/run/run_fix.h"

#define SINFO                                                                  \
	"drained|lab|n1|broken fan | again\n"                                  \
	"allocated|lab|n2|none\n"                                              \
	"idle|lab|n[3-4,10]|none\n"                                            \
	"idle|big|n[3,10]|none\n"                                              \
	"reserved|lab|n5|none\n"                                               \
	"idle*|lab|n6|Not responding\n"                                        \
	"maint|lab|n7|none\n"                                                  \
	"planned|lab|n8|none\n"                                                \
	"idle~|lab|n9|none\n"                                                  \
	"not a line\n"
#define RESERVATIONS                                                           \
	"ReservationName=mine StartTime=2026-11-21T14:00:00 "                  \
	"Nodes=n[1,5,7] NodeCnt=3 Flags=MAINT State=ACTIVE Users=root\n"       \
	"ReservationName=later StartTime=2027-11-21T14:00:00 "                 \
	"Nodes=n3 NodeCnt=1 State=INACTIVE Users=root\n"

static void
test_look(void **state)
{
	static const struct {
		const char *node, *partition, *reservation;
		enum slurm_node is;
		const char *why;
	} rows[] = {
		{ "n3", "", "", SLURM_IDLE, "" },
		{ "n10", "big", "", SLURM_IDLE, "" },
		{ "n4", "big", "", SLURM_OUT,
		    "n4 is not in Slurm's partition "
		    "big" },
		{ "n1", "", "", SLURM_OUT,
		    "n1 is drained in Slurm: broken fan | again" },
		{ "n1", "", "mine", SLURM_OUT,
		    "n1 is drained in Slurm: broken fan | again" },
		{ "n2", "", "", SLURM_HELD, "n2 is allocated in Slurm" },
		{ "n5", "", "", SLURM_HELD, "n5 is reserved in Slurm" },
		{ "n5", "", "mine", SLURM_IDLE, "" },
		{ "n7", "lab", "mine", SLURM_IDLE, "" },
		{ "n7", "", "", SLURM_HELD, "n7 is maint in Slurm" },
		{ "n3", "", "mine", SLURM_OUT,
		    "n3 is not in Slurm's reservation mine" },
		{ "n3", "", "later", SLURM_OUT,
		    "n3 is not in Slurm's reservation later" },
		{ "n6", "", "", SLURM_OUT,
		    "n6 is idle* in Slurm: Not responding" },
		{ "n8", "", "", SLURM_HELD, "n8 is planned in Slurm" },
		{ "n9", "", "", SLURM_HELD, "n9 is idle~ in Slurm" },
		{ "n11", "", "", SLURM_OUT, "n11 is not in Slurm" },
	};
	struct slurm_table *t = slurm_table_parse(SINFO, RESERVATIONS);
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		err.text[0] = '\0';
		assert_int_equal(slurm_table_look(t, rows[i].node, 1,
				     rows[i].partition, rows[i].reservation,
				     &err),
		    rows[i].is);
		assert_string_equal(err.text, rows[i].why);
	}
	slurm_table_free(t);
	t = slurm_table_parse("", "No reservations in the system\n");
	assert_int_equal(slurm_table_look(t, "n1", 1, "", "", &err), SLURM_OUT);
	slurm_table_free(t);
}

/* Slurm and the agents may call a node by its full name or by the short one;
 * where that could be two, only the name itself counts. */
static void
test_domains(void **state)
{
	static const struct {
		const char *node;
		int is_alone;
		enum slurm_node is;
	} rows[] = {
		{ "n1.example.com", 1, SLURM_IDLE },
		{ "n1.example.com", 0, SLURM_OUT },
		{ "n2", 1, SLURM_HELD },
		{ "n2.lab", 1, SLURM_HELD },
		{ "n2", 0, SLURM_OUT },
		{ "n3", 1, SLURM_OUT }, /* two of that name */
		{ "n3.a", 1, SLURM_IDLE },
		{ "n3.a", 0, SLURM_IDLE },
	};
	struct slurm_table *t =
	    slurm_table_parse("idle|lab|n1|none\nallocated|lab|n2.lab|none\n"
			      "idle|lab|n3.a,n3.b|none\n",
		"");
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(slurm_table_look(t, rows[i].node,
				     rows[i].is_alone, "", "", &err),
		    rows[i].is);
	slurm_table_free(t);
}

static struct slurm *
slurm_made(int idle)
{
	struct slurm_options o = { { "/nowhere", "" }, idle };
	struct slurm *s = slurm_new(NULL, &o);

	runs_set_slurm(fix.runs, s);
	return s;
}

static const struct run *
run_of(const char *run)
{
	return run_find(fix.runs, run);
}

/* Held until Slurm has spoken, and again when that is long ago. */
/* A reason is free text. */
static void
test_a_line_end_in_a_reason(void **state)
{
	struct slurm_table *t;
	struct err err = { 0 };
	char text[400];

	(void)state;
	snprintf(text, sizeof(text), "down|lab|n1|%-*s\nidle|lab|n3|%-*s\n",
	    SLURM_REASON_BYTES, "fan\nidle|lab|n[1-2]|none", SLURM_REASON_BYTES,
	    "none");
	t = slurm_table_parse(text, "");
	assert_int_equal(slurm_table_look(t, "n1", 1, "", "", &err), SLURM_OUT);
	assert_int_equal(slurm_table_look(t, "n2", 1, "", "", &err), SLURM_OUT);
	assert_int_equal(slurm_table_look(t, "n3", 1, "", "", &err),
	    SLURM_IDLE);
	slurm_table_free(t);
}

/* 300 short lines do not block the loop for seconds. */
static void
test_long_lists(void **state)
{
	struct strbuf sb = { 0 };
	struct slurm_table *t;
	uint64_t began_ns = clk_ns();

	(void)state;
	for (int i = 0; i < 300; i++)
		strbuf_addf(&sb, "idle|p%d|a%d[1-65536]|none\n", i, i);
	t = slurm_table_parse(sb.text, "");
	assert_true(clk_ns() - began_ns < 10 * CLK_NS_PER_S);
	slurm_table_free(t);
	free(sb.text);
}

static void
test_idle(void **state)
{
	char run[64];
	struct err err;
	struct slurm *s;

	(void)state;
	fix_setup(4);
	s = slurm_made(1);
	assert_int_equal(fix_submit("[campaign]\nnodes_max = 2\n"
				    "[congestor]\nmix = none\n",
			     run, &err),
	    0);
	fix_pass(12, NULL);
	assert_int_equal(run_of(run)->state, RUN_PENDING);
	slurm_nodes_set(s, SINFO, "");
	fix.now_ns += SLURM_FRESH_NS;
	fix_pass(1, NULL);
	assert_int_equal(run_of(run)->state, RUN_PENDING);
	slurm_nodes_set(s, SINFO, "");
	fix_pass(1, NULL);
	assert_int_equal(fix_sent(NULL, WIRE_PREPARE), 2);
	assert_int_equal(fix_sent("n3", WIRE_PREPARE), 1);
	assert_int_equal(fix_sent("n4", WIRE_PREPARE), 1);
	fix_teardown();
	slurm_free(s);
}

/* Background runs send no query; without slurm.idle neither do others. */
static void
test_not_asked(void **state)
{
	char run[64];
	struct err err;
	struct slurm *s;

	(void)state;
	fix_setup(2);
	s = slurm_made(1);
	assert_int_equal(fix_submit("[campaign]\nclass = background\n"
				    "[congestor]\nmix = none\n",
			     run, &err),
	    0);
	assert_int_equal(run_of(run)->state, RUN_STARTING);
	slurm_free(s);
	s = slurm_made(0);
	fix_pass(1, NULL);
	assert_int_equal(runs_cancel(fix.runs, run, "test", &err), 0);
	fix_pass(10, NULL);
	assert_int_equal(fix_submit("[congestor]\nmix = none\n", run, &err), 0);
	assert_int_equal(run_of(run)->state, RUN_STARTING);
	fix_teardown();
	slurm_free(s);
}

static int
may_have(const char *class, const char *launcher, const json_t *slurm, int i)
{
	char name[8];

	snprintf(name, sizeof(name), "n%d", i);
	return runs_may_have(fix.runs, class, launcher, slurm,
	    roster_find(fix.roster, name));
}

/* The queries of a confirmation run before it chooses nodes: for runs that
 * Slurm starts, and with slurm.idle for all exclusive ones. */
static void
test_may_have(void **state)
{
	json_t *section = json_pack("{s:s, s:s}", "partition", "lab",
	    "reservation", "mine");
	struct slurm *s;

	(void)state;
	fix_setup(8);
	s = slurm_made(0);
	assert_int_equal(may_have("exclusive", "slurm", section, 5), -EAGAIN);
	slurm_nodes_set(s, SINFO, RESERVATIONS);
	for (int i = 1; i <= 8; i++) {
		/* n6 does not answer; others may come free */
		int some = i != 1 && i != 6;

		/* n5 and n7 are in it; n1 is drained */
		assert_int_equal(may_have("exclusive", "slurm", section, i),
		    i == 5 || i == 7);
		assert_int_equal(may_have("exclusive", "slurm", NULL, i), some);
		assert_int_equal(may_have("exclusive", "agents", NULL, i), 1);
		assert_int_equal(may_have("exclusive", "", NULL, i), 1);
	}
	slurm_free(s);
	s = slurm_made(1);
	assert_int_equal(may_have("exclusive", "", NULL, 3), -EAGAIN);
	assert_int_equal(may_have("background", "", NULL, 3), 1);
	slurm_nodes_set(s, SINFO, RESERVATIONS);
	for (int i = 1; i <= 8; i++) {
		int some = i != 1 && i != 6;

		assert_int_equal(may_have("exclusive", "agents", NULL, i),
		    some);
		assert_int_equal(may_have("exclusive", "", NULL, i), some);
		assert_int_equal(may_have("background", "agents", NULL, i), 1);
	}
	json_decref(section);
	fix_teardown();
	slurm_free(s);
}

/* Bring a job of n3 and n4 to its launch. */
static struct slurm *
launched(char run[64])
{
	struct slurm *s;
	struct err err;

	fix_setup(4);
	s = slurm_made(0);
	slurm_nodes_set(s, SINFO, "");
	assert_int_equal(fix_submit("[campaign]\nlauncher = slurm\n"
				    "nodes = n[3-4]\nstart_limit = 10s\n"
				    "[congestor]\nmix = none\n",
			     run, &err),
	    0);
	fix_prepared("n3", run);
	fix_prepared("n4", run);
	assert_string_equal(json_string_value(
				json_object_get(fix_last(WIRE_LAUNCH),
				    "launcher")),
	    "slurm");
	fix_says("n3", WIRE_LAUNCHED,
	    json_pack("{s:s, s:b, s:i}", "run", run, "ok", 1, "pid", 5));
	return s;
}

/* A confirmation run inherits only the options of the campaign. */
static void
test_section(void **state)
{
	struct slurm *s;
	char run[64];
	struct err err;
	json_t *set, *expected;

	(void)state;
	s = launched(run);
	assert_null(run_slurm(run_of(run)));
	assert_int_equal(fix_submit("[campaign]\nlauncher = slurm\n"
				    "[congestor]\nmix = none\n"
				    "[slurm]\npartition = net\nqos = low\n",
			     run, &err),
	    0);
	set = run_slurm(run_of(run));
	expected = json_pack("{s:s, s:s}", "partition", "net", "qos", "low");
	assert_true(json_equal(set, expected));
	json_decref(expected);
	json_decref(set);
	fix_teardown();
	slurm_free(s);
}

static void
test_never_starts(void **state)
{
	struct slurm *s;
	char run[64];

	(void)state;
	s = launched(run);
	slurm_job_set(s, run, -1, fix.now_ns, "7|PENDING|70|PartitionDown\n");
	fix_pass(1, NULL);
	assert_string_equal(run_of(run)->text,
	    "job 7 is PENDING, PartitionDown");
	fix_pass(8, NULL);
	assert_int_equal(run_of(run)->state, RUN_STARTING);
	fix_pass(5, NULL);
	slurm_job_set(s, run, -1, fix.now_ns, "7|PENDING|70|PartitionDown\n");
	fix_pass(10, NULL);
	assert_int_equal(run_of(run)->state, RUN_NONSTART);
	assert_non_null(strstr(run_of(run)->text, "PartitionDown"));
	fix_teardown();
	slurm_free(s);
}

/* Any user may have a job of the run's name. */
static void
test_jobs_of_others(void **state)
{
	static const char squeue[] = "3|CANCELLED|71|None\n"
				     "4|FAILED\n"
				     "7|PENDING|70|Priority\n";
	struct slurm *s;

	(void)state;
	fix_setup(0);
	s = slurm_made(0);
	slurm_job_set(s, "r", 70, 1, squeue);
	assert_string_equal(slurm_job_state(s, "r", 1), "PENDING");
	assert_string_equal(slurm_job_text(s, "r"),
	    "job 7 is PENDING, Priority");
	slurm_job_set(s, "r", 72, 1, squeue);
	assert_string_equal(slurm_job_state(s, "r", 1), "");
	assert_string_equal(slurm_job_text(s, "r"), "");
	slurm_job_set(s, "r", -1, 1, squeue);
	assert_string_equal(slurm_job_state(s, "r", 1), "CANCELLED");
	fix_teardown();
	slurm_free(s);
}

static void
srun_exits(const char *run, const char *words)
{
	fix_says("n3", WIRE_EXITED,
	    json_pack("{s:s, s:i, s:i, s:s}", "run", run, "id", 0, "status", 1,
		"stderr", words));
}

static void
test_not_allocated(void **state)
{
	struct slurm *s;
	char run[64];

	(void)state;
	s = launched(run);
	srun_exits(run,
	    "srun: error: Unable to allocate resources: Invalid account\n");
	fix_pass(1, NULL);
	slurm_job_set(s, run, -1, fix.now_ns, "");
	fix_pass(4, NULL);
	assert_int_equal(run_of(run)->state, RUN_NONSTART);
	assert_non_null(strstr(run_of(run)->text, "Invalid account"));
	fix_teardown();
	slurm_free(s);
}

/* Slurm's own actions on the job take precedence over its exit codes; otherwise
 * the collector reports the cause. */
static void
test_ended_by_slurm(void **state)
{
	static const struct {
		const char *squeue;
		enum run_state state;
		const char *text;
	} rows[] = {
		{ "7|CANCELLED|70|None\n", RUN_CANCELLED,
		    "job 7 is CANCELLED" },
		{ "7|PREEMPTED|70|None\n", RUN_PREEMPTED,
		    "job 7 is PREEMPTED" },
		{ "7|TIMEOUT|70|TimeLimit\n", RUN_TIMED_OUT, "TimeLimit" },
		{ "7|NODE_FAIL|70|None\n", RUN_FAILED, "NODE_FAIL" },
		{ "7|FAILED|70|NonZeroExitCode\n", RUN_FAILED,
		    "rank 1 on n4 died" },
		{ "7|RUNNING|70|None\n", RUN_FAILED, "rank 1 on n4 died" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char run[64];
		struct slurm *s = launched(run);

		fix_sends("n3", run, fix_record(run, 1, "begin"));
		fix_commit(0);
		fix_says("n4", WIRE_RANK_LOST,
		    json_pack("{s:s, s:i, s:i, s:b}", "run", run, "rank", 1,
			"pid", 9, "exited", 0));
		fix_pass(4, NULL);
		assert_int_equal(run_of(run)->state, RUN_RUNNING);
		slurm_job_set(s, run, -1, fix.now_ns, rows[i].squeue);
		fix_pass(1, NULL);
		if (strstr(rows[i].squeue, "RUNNING") != NULL)
			fix_pass(8, NULL);
		assert_int_equal(run_of(run)->state, rows[i].state);
		assert_non_null(strstr(run_of(run)->text, rows[i].text));
		fix_teardown();
		slurm_free(s);
	}
}

static void
put(const char *dir, const char *name, const char *text)
{
	char path[128];
	FILE *fp;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fp = fopen(path, "we");
	assert_non_null(fp);
	fprintf(fp, "#!/bin/sh\n%s\n", text);
	assert_int_equal(fclose(fp), 0);
	assert_int_equal(chmod(path, 0755), 0);
}

/* A failed query about a job does not affect the concurrent query about
 * nodes. */
static void
test_questions_apart(void **state)
{
	char dir[] = "/tmp/coalmine-slurm-XXXXXX", cmd[64];
	struct event_base *base = event_base_new();
	struct slurm_options o = { { dir, "" }, 1 };
	struct timeval tv = { .tv_usec = 20000 };
	struct slurm *s;
	struct err err;

	(void)state;
	assert_non_null(mkdtemp(dir));
	put(dir, "sinfo",
	    "echo 'sinfo: error: old' >&2; echo 'idle|lab|n1|none'");
	put(dir, "scontrol", "sleep 1; echo No reservations");
	put(dir, "squeue", "echo 'Socket timed out' >&2; exit 1");
	s = slurm_new(base, &o);
	slurm_nodes_ask(s);
	slurm_job_ask(s, "r1", -1);
	for (int i = 0; i < 3000 && !slurm_nodes_known(s); i++) {
		event_base_loopexit(base, &tv);
		event_base_dispatch(base);
	}
	assert_int_equal(slurm_node_look(s, "n1", 1, "", "", &err), SLURM_IDLE);
	assert_string_equal(slurm_job_text(s, "r1"), "");
	/* Two runs that query in the same order get results in turns. */
	put(dir, "squeue",
	    "echo '3|CANCELLED|71|None'; "
	    "echo '7|PENDING|70|Priority'");
	for (int i = 0; i < 3000 && slurm_job_text(s, "r2")[0] == '\0'; i++) {
		slurm_job_ask(s, "r1", -1);
		slurm_job_ask(s, "r2", 70);
		event_base_loopexit(base, &tv);
		event_base_dispatch(base);
	}
	assert_string_equal(slurm_job_text(s, "r2"),
	    "job 7 is PENDING, Priority");
	slurm_free(s);
	event_base_free(base);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	assert_int_equal(system(cmd), 0);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_line_end_in_a_reason),
		cmocka_unit_test(test_long_lists),
		cmocka_unit_test(test_domains),
		cmocka_unit_test(test_look),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_not_asked),
		cmocka_unit_test(test_may_have),
		cmocka_unit_test(test_section),
		cmocka_unit_test(test_never_starts),
		cmocka_unit_test(test_jobs_of_others),
		cmocka_unit_test(test_not_allocated),
		cmocka_unit_test(test_ended_by_slurm),
		cmocka_unit_test(test_questions_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
