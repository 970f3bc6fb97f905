/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store for its callers: data is returned once and in order, also after a
 * reopen. Faults of disk and file: test_store_faults.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/member.h"
#include "common/rng.h"
#include "common/str.h"
#include "common/text.h"
#include "daemon/store/store.h"
#include "schema/record.h"

#include "tests/unit/daemon/store/store_fix.h"

static int
setup(void **state)
{
	static struct fix f;

	fix_folder(&f);
	/* Some rows of tests are of 1970: the writer would delete them one
	 * second after its start. */
	f.options.retention_ns = f.options.raw_retention_ns = 0;
	fix_open(&f);
	*state = &f;
	return 0;
}

static int
teardown(void **state)
{
	fix_close(*state);
	return 0;
}

static size_t
count_records(struct fix *f, const char *run)
{
	json_t *list = fix_ask(f, STORE_RECORDS, json_pack("{s:s}", "run", run),
	    0);
	size_t n = json_array_size(list);

	json_decref(list);
	return n;
}

/* A record of the collector has nine digits, as those of the engine. */
static void
test_record_digits(void **state)
{
	struct fix *f = *state;
	json_t *record = fix_canary("r-1", 1, "lat", "isolated", 1e-5), *list;

	json_object_set_new(record, "mean", json_real(1 / 3.0));
	assert_int_equal(fix_put_record(f, record), 0);
	list = fix_ask(f, STORE_RECORDS, json_pack("{s:s}", "run", "r-1"), 0);
	assert_true(json_real_value(json_object_get(json_array_get(list, 0),
			"mean")) == 0.333333333);
	json_decref(list);
}

static void
test_record_comes_back_as_it_was(void **state)
{
	struct fix *f = *state;
	json_t *record = fix_canary("r-1", 1, "lat", "isolated", 1e-5);
	json_t *list;

	fix_put_run(f, fix_run("r-1", "quick", "running", 5));
	assert_int_equal(fix_put_record(f, json_incref(record)), 0);
	list = fix_ask(f, STORE_RECORDS, json_pack("{s:s}", "run", "r-1"), 0);
	assert_int_equal(json_array_size(list), 1);
	assert_true(json_equal(json_array_get(list, 0), record));
	json_decref(list);
	json_decref(record);
}

static void
test_odd_histograms_survive(void **state)
{
	static const char *const hists[] = { "[]", "null", "[[1,2],[1,3]]",
		"[[3,1],[2,1]]", "[[99999,1]]", "\"no\"" };
	struct fix *f = *state;
	json_t *list, *one;
	size_t i;

	for (i = 0; i < ARRAY_LEN(hists); i++) {
		json_t *record = fix_canary("odd", (int)i + 1, "lat",
		    "isolated", 1);

		json_object_set_new(record, "hist",
		    json_loads(hists[i], JSON_DECODE_ANY, NULL));
		assert_int_equal(fix_put_record(f, record), 0);
	}
	list = fix_ask(f, STORE_RECORDS, json_pack("{s:s}", "run", "odd"), 0);
	assert_int_equal(json_array_size(list), ARRAY_LEN(hists));
	json_array_foreach (list, i, one) {
		json_t *want = json_loads(hists[i], JSON_DECODE_ANY, NULL);

		assert_true(json_equal(json_object_get(one, "hist"), want));
		json_decref(want);
	}
	json_decref(list);
}

static void
test_exactly_once(void **state)
{
	struct fix *f = *state;
	json_t *run, *list;

	fix_put_run(f, fix_run("r-1", "quick", "running", 5));
	for (int again = 0; again < 3; again++)
		for (int seq = 1; seq <= 5; seq++)
			assert_int_equal(fix_put_record(f,
					     fix_canary("r-1", seq, "lat",
						 "isolated", 1 + again)),
			    0);
	/* the first version, unchanged */
	list = fix_ask(f, STORE_RECORDS, json_pack("{s:s}", "run", "r-1"), 0);
	assert_int_equal(json_array_size(list), 5);
	for (int seq = 1; seq <= 5; seq++) {
		json_t *first = fix_canary("r-1", seq, "lat", "isolated", 1);

		assert_true(
		    json_equal(json_array_get(list, (size_t)seq - 1), first));
		json_decref(first);
	}
	json_decref(list);
	list = fix_ask(f, STORE_ACKS, json_pack("{s:[s]}", "runs", "r-1"), 0);
	assert_int_equal(member_int(json_array_get(list, 0), "seq"), 5);
	json_decref(list);
	run = fix_ask(f, STORE_RUN, json_pack("{s:s}", "run", "r-1"), 0);
	assert_int_equal(json_integer_value(json_object_get(run, "records")),
	    5);
	json_decref(run);
}

static void
test_acks_stop_at_the_gap(void **state)
{
	static const int seqs[] = { 1, 2, 3, 5, 6 };
	struct fix *f = *state;
	json_t *acks;

	for (size_t i = 0; i < ARRAY_LEN(seqs); i++)
		fix_put_record(f,
		    fix_canary("gap", seqs[i], "lat", "isolated", 1));
	acks = fix_ask(f, STORE_ACKS,
	    json_pack("{s:[s,s]}", "runs", "gap", "never"), 0);
	assert_int_equal(json_integer_value(
			     json_object_get(json_array_get(acks, 0), "seq")),
	    3);
	assert_int_equal(json_integer_value(
			     json_object_get(json_array_get(acks, 1), "seq")),
	    0);
	json_decref(acks);
	assert_null(fix_ask(f, STORE_ACKS, json_object(), -EINVAL));
}

static void
test_runs_filters(void **state)
{
	struct fix *f = *state;
	static const struct {
		const char *args;
		const char *want; /* run ids, newest first */
	} rows[] = {
		{ "{}", "d c b a " },
		{ "{\"campaign\":\"x\"}", "c a " },
		{ "{\"state\":\"failed\"}", "d " },
		{ "{\"limit\":2}", "d c " },
		{ "{\"before\":3}", "b a " },
		{ "{\"node\":\"node2\"}", "d c b a " },
		{ "{\"node\":\"node3\"}", "" },
		{ "{\"campaign\":\"x\",\"state\":\"finished\",\"limit\":1}",
		    "c " },
	};
	size_t i, j;
	json_t *run;

	fix_put_run(f, fix_run("a", "x", "finished", 1));
	fix_put_run(f, fix_run("b", "y", "running", 2));
	fix_put_run(f, fix_run("c", "x", "finished", 3));
	fix_put_run(f, fix_run("d", "y", "failed", 4));
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		json_t *list = fix_ask(f, STORE_RUNS,
		    json_loads(rows[i].args, 0, NULL), 0);
		char got[64] = "";

		json_array_foreach (list, j, run) {
			strcat(got,
			    json_string_value(json_object_get(run, "run")));
			strcat(got, " ");
		}
		assert_string_equal(got, rows[i].want);
		json_decref(list);
	}
}

static json_t *
listed(struct fix *f, int brief, enum store_listed how, int64_t before,
    int64_t *ret_next)
{
	json_t *answer = fix_ask(f, STORE_RUNS,
	    json_pack("{s:i, s:i, s:I, s:i}", "brief", brief, "listed",
		(int)how, "before", (json_int_t)before, "limit", 1000),
	    0);
	json_t *list = json_incref(json_object_get(answer, "runs"));

	*ret_next = member_int(answer, "next");
	assert_non_null(list);
	json_decref(answer);
	return list;
}

/* A list of runs of many nodes is short: no names, or hostlists up to some
 * bytes, and then where the next part begins. */
static void
test_lists_of_runs_are_short(void **state)
{
	struct fix *f = *state;
	int64_t next, seen = 0, parts = 0;
	json_t *list, *run;
	char name[48];
	size_t i;

	for (int r = 1; r <= 40; r++) {
		snprintf(name, sizeof(name), "r%d", r);
		run = fix_run(name, "x", "finished", (uint64_t)r);
		json_object_set_new(run, "campaign_text", json_string("all"));
		/* names that cannot be folded into a shorter list */
		for (int k = 0; k < 2000; k++) {
			snprintf(name, sizeof(name), "a-node-%d-of-rack-%d-x",
			    k * 7919 % 100003, k);
			json_array_append_new(json_object_get(run, "nodes"),
			    json_string(name));
		}
		fix_put_run(f, run);
	}
	for (int brief = 0; brief <= 1; brief++) {
		list = listed(f, brief, STORE_LISTED_BRIEF, INT64_MAX, &next);
		assert_int_equal(json_array_size(list), 40);
		assert_int_equal(next, 0);
		json_array_foreach (list, i, run) {
			assert_true(member_int(run, "node_count") >= 2000);
			assert_null(json_object_get(run, "nodes"));
			assert_null(json_object_get(run, "campaign_text"));
			assert_string_equal(member_text(run, "state"),
			    "finished");
		}
		json_decref(list);
	}
	for (next = INT64_MAX; next != 0; parts++) {
		list = listed(f, 0, STORE_LISTED_SHORT, next, &next);
		seen += (int64_t)json_array_size(list);
		json_array_foreach (list, i, run)
			assert_true(
			    json_is_string(json_object_get(run, "nodes")));
		assert_true(json_dumpb(list, NULL, 0, 0) < 2 * 1024 * 1024);
		json_decref(list);
	}
	assert_int_equal(seen, 40);
	assert_true(parts > 1);
}

static void
test_live_runs_and_replace(void **state)
{
	struct fix *f = *state;
	json_t *list;

	fix_put_run(f, fix_run("a", "x", "pending", 1));
	fix_put_run(f, fix_run("b", "x", "running", 2));
	fix_put_run(f, fix_run("a", "x", "finished", 1));
	fix_reopen(f);
	list = fix_ask(f, STORE_LIVE_RUNS, json_object(), 0);
	assert_int_equal(json_array_size(list), 1);
	assert_string_equal(json_string_value(
				json_object_get(json_array_get(list, 0),
				    "run")),
	    "b");
	json_decref(list);
	assert_int_equal(fix_put_run(f, fix_run("c", "x", "no such", 1)),
	    -EPROTO);
	assert_null(
	    fix_ask(f, STORE_RUN, json_pack("{s:s}", "run", "c"), -ENOENT));
}

static void
test_records_without_run(void **state)
{
	struct fix *f = *state;
	json_t *run;

	fix_put_record(f, fix_canary("orphan", 1, "lat", "isolated", 1));
	run = fix_ask(f, STORE_RUN, json_pack("{s:s}", "run", "orphan"), 0);
	assert_string_equal(json_string_value(json_object_get(run, "text")),
	    "known only by its records");
	json_decref(run);
	assert_null(fix_ask(f, STORE_RECORDS, json_pack("{s:s}", "run", "no"),
	    -ENOENT));
}

/* A record is stored as it arrived, with its blanks and digits, but for the
 * histogram that is packed; one that cannot be packed stays in the text. */
static void
test_line_is_stored_as_it_arrived(void **state)
{
	static const char *const hists[] = { "[[1,1],[60,2]]",
		"[[0,1],[3,2]]" };
	struct fix *f = *state;

	for (int i = 0; i < 2; i++) {
		char *text = xasprintf(
		    "{\"type\":\"records\",\"run\":\"l\",\"records\":["
		    "{\"run\":\"l\", \"seq\":%d,\"probe\":\"canary\", "
		    "\"n\":3,\"hist\" : %s,\"mean\":1.50e0,\"min\":1.0,"
		    "\"max\":2.00,\"nodes\":[ ]}]}",
		    i + 1, hists[i]);
		struct strict_lines lines = { 0 };
		struct record_line line;
		struct answer a = { 0 };
		json_t *msg, *page, *whole, *got, *record;
		const char *out;

		assert_int_equal(strict_object_lines(text, strlen(text), 8,
				     &msg, &lines, NULL),
		    0);
		line = record_line_at(&lines, 0);
		record = json_array_get(json_object_get(msg, "records"), 0);
		assert_null(json_object_get(record, "hist"));
		store_put_record(f->st, record, &line, answer_cb, &a);
		fix_wait(f, &a.got, 1);
		assert_int_equal(a.status, 0);
		page = fix_ask(f, STORE_RECORDS,
		    json_pack("{s:s,s:i,s:b}", "run", "l", "after_seq", i,
			"text", 1),
		    0);
		out = json_string_value(json_object_get(page, "text"));
		assert_non_null(strstr(out, "\"mean\":1.50e0,\"min\":1.0"));
		assert_non_null(strstr(out, "\"nodes\":[ ]"));
		got = json_loads(out, JSON_REJECT_DUPLICATES, NULL);
		whole = json_loadb(line.text, line.len_bytes, 0, NULL);
		assert_true(json_equal(got, whole));
		json_decref(got);
		json_decref(whole);
		json_decref(page);
		json_decref(msg);
		strict_lines_clear(&lines);
		free(text);
	}
}

static void
test_pages_of_text(void **state)
{
	struct fix *f = *state;
	int64_t after = 0, seen = 0, more = 1;

	for (int seq = 1; seq <= 7; seq++)
		fix_put_record(f, fix_canary("p", seq, "lat", "isolated", 1));
	while (more) {
		json_t *page = fix_ask(f, STORE_RECORDS,
		    json_pack("{s:s,s:I,s:i,s:b}", "run", "p", "after_seq",
			(json_int_t)after, "limit", 3, "text", 1),
		    0);
		char *text = xasprintf("[%s]",
		    json_string_value(json_object_get(page, "text")));
		json_t *list = json_loads(text, 0, NULL);

		assert_non_null(list);
		seen += (int64_t)json_array_size(list);
		after = json_integer_value(json_object_get(page, "last_seq"));
		more = json_is_true(json_object_get(page, "more"));
		json_decref(list);
		json_decref(page);
		free(text);
	}
	assert_int_equal(seen, 7);
	assert_int_equal(after, 7);
}

static void
test_settings_events_nodes_counters(void **state)
{
	struct fix *f = *state;
	json_t *node = json_pack("{s:s,s:s}", "node", "node1", "state", "ok");
	json_t *inventory = json_object();
	json_t *nics = json_pack("[{s:s,s:{s:i}}]", "nic", "eth0", "counters",
	    "rx_bytes", 5);
	json_t *got;

	store_put_setting(f->st, "schedule/a", "off", NULL, NULL);
	store_put_setting(f->st, "schedule/b", "off", NULL, NULL);
	store_put_setting(f->st, "schedule/a", NULL, NULL, NULL);
	store_put_event(f->st, "order", "root", "stop \xff not UTF-8");
	store_put_event(f->st, "run", "r-1", "started");
	store_put_node(f->st, node);
	json_object_set_new(inventory, "cpu", json_string("a CPU"));
	store_put_inventory(f->st, "node1", inventory);
	store_put_node(f->st, node);
	store_put_counters(f->st, "r-1", "node1", 2, 77, nics);
	json_decref(node);
	json_decref(inventory);
	json_decref(nics);
	fix_reopen(f);
	got = fix_ask(f, STORE_SETTINGS, json_object(), 0);
	assert_int_equal(json_object_size(got), 1);
	assert_non_null(json_object_get(got, "schedule/b"));
	json_decref(got);
	got = fix_ask(f, STORE_EVENTS, json_object(), 0);
	assert_int_equal(json_array_size(got), 2);
	json_decref(got);
	got = fix_ask(f, STORE_EVENTS,
	    json_pack("{s:i,s:s}", "after_id", 1, "kind", "run"), 0);
	assert_int_equal(json_array_size(got), 1);
	json_decref(got);
	got = fix_ask(f, STORE_NODES, json_object(), 0);
	assert_int_equal(json_array_size(got), 1);
	assert_string_equal(member_text(json_object_get(json_array_get(got, 0),
					    "inventory"),
				"cpu"),
	    "a CPU");
	json_decref(got);
	got = fix_ask(f, STORE_COUNTERS, json_pack("{s:s}", "run", "r-1"), 0);
	assert_int_equal(json_integer_value(
			     json_object_get(json_array_get(got, 0), "border")),
	    2);
	json_decref(got);
}

static void
put_counters(struct fix *f, int border, uint64_t at_unix_ns)
{
	json_t *nics = json_array();

	store_put_counters(f->st, "r-1", "node1", border, at_unix_ns, nics);
	json_decref(nics);
}

/* The writer deletes rows older than their retention, and no others. */
static void
test_old_rows_are_deleted(void **state)
{
	struct fix *f = *state;
	uint64_t now_unix_ns = clk_unix_ns(), end_ns = clk_ns() + WAIT_NS;
	json_t *got = NULL;

	put_counters(f, 1, 77);
	put_counters(f, 2, now_unix_ns - 8 * DAY_NS);
	put_counters(f, 3, now_unix_ns - 6 * DAY_NS);
	put_counters(f, 4, now_unix_ns);
	fix_reopen(f);
	got = fix_ask(f, STORE_COUNTERS, json_pack("{s:s}", "run", "r-1"), 0);
	assert_int_equal(json_array_size(got), 4);
	f->options.raw_retention_ns = 7 * DAY_NS;
	fix_reopen(f);
	while (json_array_size(got) > 2 && clk_ns() < end_ns) {
		json_decref(got);
		usleep(10000);
		got = fix_ask(f, STORE_COUNTERS,
		    json_pack("{s:s}", "run", "r-1"), 0);
	}
	assert_int_equal(json_array_size(got), 2);
	assert_int_equal(member_int(json_array_get(got, 0), "border"), 3);
	assert_int_equal(member_int(json_array_get(got, 1), "border"), 4);
	json_decref(got);
}

static const char *
topology_text(const json_t *list, size_t at)
{
	return json_string_value(
	    json_object_get(json_array_get(list, at), "text"));
}

/* A row for each change, and the one that held at a time. */
static void
test_topology_has_a_past(void **state)
{
	static const char *const said[] = { "", "l1 n1\n", "l1 n1\n", "l2 n1\n",
		"l1 n1\n" };
	struct fix *f = *state;
	json_t *list, *then;
	json_int_t at;

	for (size_t i = 0; i < ARRAY_LEN(said); i++)
		store_put_topology(f->st, said[i]);
	fix_reopen(f);
	store_put_topology(f->st, "l1 n1\n"); /* a start without a change */
	fix_reopen(f);
	list = fix_ask(f, STORE_TOPOLOGY, json_pack("{s:i}", "limit", 9), 0);
	assert_int_equal(json_array_size(list), 4);
	assert_string_equal(topology_text(list, 0), "l1 n1\n");
	assert_string_equal(topology_text(list, 1), "l2 n1\n");
	assert_string_equal(topology_text(list, 3), "");
	at = json_integer_value(
	    json_object_get(json_array_get(list, 1), "from_unix_ns"));
	then = fix_ask(f, STORE_TOPOLOGY, json_pack("{s:I}", "at_unix_ns", at),
	    0);
	assert_int_equal(json_array_size(then), 1);
	/* changes of one moment: the last of them holds */
	assert_true(json_integer_value(json_object_get(json_array_get(then, 0),
			"from_unix_ns")) == at);
	json_decref(then);
	then = fix_ask(f, STORE_TOPOLOGY, json_pack("{s:i}", "at_unix_ns", 1),
	    0);
	assert_int_equal(json_array_size(then), 0);
	json_decref(then);
	json_decref(list);
}

/* The last verdict of each subject that is not ok, which the collector loads at
 * its start. */
static void
test_open_verdicts(void **state)
{
	static const char *const rows[][2] = { { "node1", "warn" },
		{ "node2", "bad" }, { "node1", "bad" }, { "node2", "ok" } };
	struct fix *f = *state;
	json_t *list;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		json_t *v = json_pack("{s:s, s:s, s:s}", "kind", "node",
		    "subject", rows[i][0], "verdict", rows[i][1]);

		store_put_verdict(f->st, v, NULL);
		json_decref(v);
	}
	fix_reopen(f);
	list = fix_ask(f, STORE_VERDICTS, json_pack("{s:b}", "open", 1), 0);
	assert_int_equal(json_array_size(list), 1);
	assert_string_equal(member_text(json_array_get(list, 0), "subject"),
	    "node1");
	assert_string_equal(member_text(json_array_get(list, 0), "verdict"),
	    "bad");
	json_decref(list);
}

static void
put_job(struct fix *f, const char *job, int64_t from, int64_t to)
{
	json_t *o = json_pack("{s:s, s:s#, s:s, s:I}", "job", job, "whole", job,
	    (int)strcspn(job, "_+"), "name", "solver", "start_unix_ns",
	    (json_int_t)from);

	if (to > 0)
		json_object_set_new(o, "end_unix_ns", json_integer(to));
	store_put_batch_job(f->st, o);
	json_decref(o);
}

/* A row for each start; one that runs has no end, and is of every span since.
 */
static void
test_jobs(void **state)
{
	static const struct {
		const char *args;
		const char *jobs; /* the latest to begin first */
	} rows[] = {
		{ "{}", "5 1 1_2 12" },
		{ "{\"from_unix_ns\": 31}", "5 1" },
		{ "{\"from_unix_ns\": 12, \"to_unix_ns\": 20}", "1_2 12" },
		{ "{\"to_unix_ns\": 10}", "" },
		{ "{\"job\": \"1\"}", "1 1_2" },
		{ "{\"job\": \"1_2\"}", "1_2" },
		{ "{\"job\": \"1%\"}", "" },
		{ "{\"name\": \"solver\", \"limit\": 1}", "5" },
		{ "{\"name\": \"other\"}", "" },
	};
	struct fix *f = *state;
	json_t *list, *job;
	char got[100];
	size_t k;

	put_job(f, "12", 10, 30);
	put_job(f, "1_2", 15, 31);
	put_job(f, "1", 40, 0);
	put_job(f, "5", 50, 0);
	put_job(f, "1", 40, 60);
	for (int i = 0; i < 3; i++) {
		list = json_pack("{s:i, s:s, s:[]}", "at_unix_ns", 10 + 10 * i,
		    "known", i == 0 ? "n1" : "n[1-2]", "slow");
		store_put_shares(f->st, list);
		json_decref(list);
	}
	fix_reopen(f);
	list = fix_ask(f, STORE_SHARES,
	    json_loads("{\"from_unix_ns\": 10, \"to_unix_ns\": 30}", 0, NULL),
	    0);
	assert_int_equal(json_array_size(list), 2);
	assert_string_equal(member_text(json_array_get(list, 0), "known"),
	    "n[1-2]");
	json_decref(list);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		list = fix_ask(f, STORE_JOBS, json_loads(rows[i].args, 0, NULL),
		    0);
		got[0] = '\0';
		json_array_foreach (list, k, job)
			snprintf(got + strlen(got), sizeof(got) - strlen(got),
			    "%s%s", k == 0 ? "" : " ", member_text(job, "job"));
		assert_string_equal(got, rows[i].jobs);
		json_decref(list);
	}
}

static void
test_impacts(void **state)
{
	struct fix *f = *state;
	json_t *got;

	fix_put_run(f, fix_run("r-1", "quick", "running", 5));
	fix_put_record(f, fix_impact("r-1", 1, "lat", 8.5));
	fix_put_record(f, fix_impact("r-1", 2, "allreduce", 3));
	got = fix_ask(f, STORE_IMPACTS,
	    json_pack("{s:s,s:s}", "campaign", "quick", "test", "lat"), 0);
	assert_int_equal(json_array_size(got), 1);
	assert_true(json_real_value(json_object_get(json_array_get(got, 0),
			"value")) == 8.5);
	json_decref(got);
	got = fix_ask(f, STORE_IMPACTS, json_pack("{s:s}", "campaign", "no"),
	    0);
	assert_int_equal(json_array_size(got), 0);
	json_decref(got);
}

/* A baseline is returned with the nodes of its run, and nothing else. */
static void
test_speedups(void **state)
{
	struct fix *f = *state;
	json_t *record = fix_impact("r-1", 1, "lat", 2), *got, *shares;
	const json_t *row;

	fix_put_run(f, fix_run("r-1", "collectives", "running", 5));
	fix_put_record(f, record);
	record = fix_impact("r-1", 2, "lat", 1.5);
	json_object_set_new(record, "probe", json_string("speedup"));
	json_object_set_new(record, "collective", json_string("allreduce"));
	fix_put_record(f, record);
	/* the values at its arrival, not later rows */
	for (int i = 0; i < 3; i++) {
		shares = json_pack("{s:I, s:i}", "at_unix_ns",
		    i < 2 ? (json_int_t)(i + 1) : INT64_MAX, "of", i);
		store_put_shares(f->st, shares);
		json_decref(shares);
	}
	fix_reopen(f);
	got = fix_ask(f, STORE_SPEEDUPS, json_pack("{s:i}", "limit", 10), 0);
	assert_int_equal(json_array_size(got), 1);
	row = json_array_get(got, 0);
	assert_string_equal(json_string_value(
				json_object_get(row, "collective")),
	    "allreduce");
	assert_string_equal(json_string_value(json_object_get(row, "run")),
	    "r-1");
	assert_string_equal(json_string_value(json_object_get(row, "nodes")),
	    "node[1-2]");
	assert_true(json_is_integer(json_object_get(row, "at_unix_ns")));
	assert_int_equal(json_integer_value(
			     json_object_get(json_object_get(row, "shares"),
				 "of")),
	    1);
	json_decref(got);
}

/* A round of node1, and of the other node if it is given. */
static void
put_round(struct fix *f, const char *run, int seq, const char *phase,
    const char *other)
{
	json_t *record = fix_canary(run, seq, "lat", phase, 1e-5);
	json_t *nodes = json_pack("[{s:s, s:f}]", "node", "node1", "q25", 1e-5);

	if (other != NULL)
		json_array_append_new(nodes,
		    json_pack("{s:s, s:f}", "node", other, "q75", 1e9));
	json_object_set_new(record, "nodes", nodes);
	fix_put_record(f, record);
}

/* Nodes whose last round counts for the diagnosis, and its time. */
static void
test_heard(void **state)
{
	struct fix *f = *state;
	uint64_t before_ns = clk_unix_ns(), between_ns;
	json_t *got;

	fix_put_run(f, fix_run("r-1", "watch", "running", 5));
	fix_put_run(f, fix_run("r-2", "confirmation", "running", 6));
	put_round(f, "r-1", 1, "isolated", "node2");
	between_ns = clk_unix_ns();
	put_round(f, "r-1", 2, "wild", NULL);
	put_round(f, "r-1", 3, "congested", "node3");
	put_round(f, "r-2", 1, "isolated", "node4");
	got = fix_ask(f, STORE_HEARD,
	    json_pack("{s:I}", "since_unix_ns", (json_int_t)before_ns), 0);
	assert_int_equal(json_object_size(got), 2);
	assert_in_range(json_integer_value(json_object_get(got, "node2")),
	    before_ns, between_ns);
	assert_in_range(json_integer_value(json_object_get(got, "node1")),
	    between_ns, clk_unix_ns());
	json_decref(got);
	got = fix_ask(f, STORE_HEARD,
	    json_pack("{s:I}", "since_unix_ns", (json_int_t)between_ns), 0);
	assert_int_equal(json_object_size(got), 1);
	json_decref(got);
}

static void
test_backup_and_check(void **state)
{
	struct fix *f = *state, copy = *f;
	char path[128], dir[128], folder[128];
	json_t *got;

	if (f->options.url != NULL) { /* its own tools do so */
		assert_null(fix_ask(f, STORE_BACKUP,
		    json_pack("{s:s}", "path", "/x"), -ENOTSUP));
		return;
	}
	for (int seq = 1; seq <= 300; seq++) {
		json_t *record = fix_canary("r-1", seq, "lat", "isolated", 1);

		store_put_record(f->st, record, NULL, NULL, NULL);
		json_decref(record);
	}
	fix_put_record(f, fix_canary("r-1", 301, "lat", "isolated", 1));
	snprintf(dir, sizeof(dir), "%s/copy", f->dir);
	snprintf(path, sizeof(path), "%s/copy/coalmine.db", f->dir);
	assert_int_equal(mkdir(dir, 0700), 0);
	got = fix_ask(f, STORE_BACKUP, json_pack("{s:s}", "path", path), 0);
	assert_true(json_is_true(json_object_get(got, "ok")));
	json_decref(got);
	assert_null(fix_ask(f, STORE_BACKUP, json_pack("{s:s}", "path", path),
	    -EEXIST));
	assert_null(fix_ask(f, STORE_BACKUP,
	    json_pack("{s:s}", "path", "relative"), -EINVAL));
	snprintf(folder, sizeof(folder), "%s/none/x", f->dir);
	assert_null(fix_ask(f, STORE_BACKUP, json_pack("{s:s}", "path", folder),
	    -ENOENT));
	got = fix_ask(f, STORE_CHECK, json_object(), 0);
	assert_true(json_is_true(json_object_get(got, "ok")));
	json_decref(got);
	copy.options.dir = dir;
	fix_open(&copy);
	assert_int_equal(count_records(&copy, "r-1"), 301);
	store_close(copy.st);
}

static void
test_one_collector(void **state)
{
	struct fix *f = *state;
	struct store *second = NULL;

	assert_int_equal(store_open(&f->options, f->base, &second), -EBUSY);
	assert_null(second);
}

static void
test_close_answers_everyone(void **state)
{
	struct fix *f = *state;
	struct answer a = { 0 };

	for (int seq = 1; seq <= 50; seq++) {
		json_t *record = fix_canary("r-1", seq, "lat", "isolated", 1);

		store_put_record(f->st, record, NULL, answer_cb, &a);
		json_decref(record);
		store_ask(f->st, STORE_RUNS, NULL, answer_cb, &a);
	}
	store_close(f->st);
	assert_int_equal(a.got, 100);
	json_decref(a.result);
	fix_open(f);
	assert_int_equal(count_records(f, "r-1"), 50);
}

struct statuses {
	int cancelled, rest;
};

static void
status_cb(int status, json_t *result, void *arg)
{
	struct statuses *s = arg;

	*(status == -ECANCELED ? &s->cancelled : &s->rest) += 1;
	json_decref(result);
}

/* External clients with many queries are rejected, and queries without a
 * waiting client are dropped; the collector's own queries do not queue with
 * them. */
static void
test_askers_outside(void **state)
{
	struct fix *f = *state;
	struct answer own = { 0 }, gone = { 0 }, left = { 0 };
	struct statuses checks = { 0 };
	int first = 0, second = 0; /* the requesters */
	const int each = 100, checks_asked = 60;

	for (int i = 0; i < each; i++) {
		store_ask_for(f->st, STORE_RUNS, NULL, &first, answer_cb,
		    &gone);
		store_ask(f->st, STORE_SETTINGS, NULL, answer_cb, &own);
	}
	store_ask_for(f->st, STORE_RUNS, NULL, &second, answer_cb, &left);
	fix_wait(f, &left.got, 1);
	assert_int_equal(left.status, -EAGAIN);
	fix_wait(f, &own.got, each);
	assert_int_equal(own.status, 0);
	fix_wait(f, &gone.got, each);
	/* Enough to check that not all of the first requests are done when they
	 * are cancelled. Their number depends on the reader's thread. */
	for (int i = 1; i <= 500; i++) {
		json_t *record = fix_canary("r-1", i, "lat", "isolated", 1);

		store_put_record(f->st, record, NULL, answer_cb, &gone);
		json_decref(record);
	}
	fix_put_record(f, fix_canary("r-2", 1, "lat", "isolated", 1));
	for (int i = 0; i < checks_asked; i++)
		store_ask_for(f->st, STORE_CHECK, NULL, &first, status_cb,
		    &checks);
	store_ask_for(f->st, STORE_CHECK, NULL, &second, answer_cb, &left);
	store_abandon(f->st, &first);
	fix_wait(f, &left.got, 2);
	assert_int_equal(left.status, 0);
	/* and before the other one */
	assert_int_equal(checks.cancelled + checks.rest, checks_asked);
	assert_true(checks.cancelled > 0);
	json_decref(own.result);
	json_decref(gone.result);
	json_decref(left.result);
}

static void
test_health(void **state)
{
	struct fix *f = *state;
	struct store_health h;

	fix_put_record(f, fix_canary("r-1", 1, "lat", "isolated", 1));
	store_health(f->st, &h);
	assert_true(h.writable);
	assert_string_equal(h.alarm, "");
	assert_true(h.db_bytes > 0);
	assert_true(h.free_bytes > 0);
	assert_int_equal(h.rows_total, 1);
	assert_int_equal(h.errors_total, 0);
	/* Every other caller gets the same result. */
	store_health(f->st, &h);
	assert_true(h.write_s_max > 0);
}

/* Values that agents and schedulers may send, also beyond the columns'
 * ranges. */
static void
test_odd_rows_harm_no_others(void **state)
{
	struct fix *f = *state;
	json_t *odd = json_pack("{s:s,s:i,s:s,s:f,s:s,s:s}", "run", "r-1",
	    "seq", 1, "probe", "phase", "n", 1.5, "mean", "fast", "test", "");
	char job[8001] = "";
	struct store_health h;
	json_t *body;

	/* A key that cannot be shortened is too long. */
	for (size_t i = 0; i < sizeof(job) - 1; i++)
		job[i] = (char)('0' + rng_mix(i) % 75);
	body = json_pack("{s:o,s:s,s:s,s:I}", "job", text_json(job), "whole",
	    "1", "name", "a", "start_unix_ns", (json_int_t)1);
	store_put_batch_job(f->st, body);
	json_decref(body);
	assert_int_equal(fix_put_record(f, odd), 0);
	assert_int_equal(fix_put_record(f,
			     fix_canary("r-1", 2, "lat", "isolated", 1)),
	    0);
	assert_int_equal(count_records(f, "r-1"), 2);
	store_health(f->st, &h);
	assert_true(h.writable && h.errors_total == 0);
}

static void
stored_cb(int status, json_t *result, void *arg)
{
	int *told = arg;

	json_decref(result);
	assert_int_equal(status, 0);
	++*told;
}

/* A caller that waits for a write finds it, and others need not wait. */
static void
test_stored_is_there(void **state)
{
	struct fix *f = *state;
	json_t *got;
	int told = 0;

	store_put_event(f->st, "order", "root", "stop");
	store_when_stored(f->st, stored_cb, &told);
	fix_wait(f, &told, 1);
	got = fix_ask(f, STORE_EVENTS, json_object(), 0);
	assert_int_equal(json_array_size(got), 1);
	json_decref(got);
}

struct tally {
	int got, stored, refused, other;
};

static void
tally_cb(int status, json_t *result, void *arg)
{
	struct tally *t = arg;

	json_decref(result);
	t->got++;
	t->stored += status == 0;
	t->refused += status == -EAGAIN;
	t->other += status != 0 && status != -EAGAIN;
}

/* More writes than the queue holds, before the loop runs: each rejected write
 * is reported, and no other one is lost. */
static void
test_full_queue_says_so(void **state)
{
	struct fix *f = *state;
	struct tally t = { 0 };
	struct store_health h;
	json_t *list = json_array();
	int told = 0;

	/* Long to write and quick to put, so that the writer cannot keep up. */
	for (int i = 0; i < 400; i++)
		json_array_append_new(list, json_integer(i));
	for (int seq = 1; seq <= 60000; seq++) {
		json_t *record = json_pack("{s:s,s:i,s:s,s:O}", "run", "q",
		    "seq", seq, "probe", "phase", "nodes", list);

		store_put_record(f->st, record, NULL, tally_cb, &t);
		json_decref(record);
		if (seq % 1000 == 0) /* a sender that does not retry */
			store_tell(f->st,
			    &(struct store_event){ "alarm", "q", "full", NULL },
			    stored_cb, &told);
	}
	json_decref(list);
	fix_wait(f, &t.got, 60000);
	fix_wait(f, &told, 60);
	assert_int_equal(t.other, 0);
	assert_true(t.refused > 0);
	assert_int_equal(count_records(f, "q"), t.stored);
	store_health(f->st, &h);
	assert_int_equal(h.queue_rows, 0);
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_record_digits),
		T(test_record_comes_back_as_it_was),
		T(test_odd_histograms_survive),
		T(test_exactly_once),
		T(test_acks_stop_at_the_gap),
		T(test_runs_filters),
		T(test_live_runs_and_replace),
		T(test_lists_of_runs_are_short),
		T(test_records_without_run),
		T(test_line_is_stored_as_it_arrived),
		T(test_pages_of_text),
		T(test_settings_events_nodes_counters),
		T(test_old_rows_are_deleted),
		T(test_topology_has_a_past),
		T(test_open_verdicts),
		T(test_jobs),
		T(test_impacts),
		T(test_speedups),
		T(test_heard),
		T(test_backup_and_check),
		T(test_one_collector),
		T(test_close_answers_everyone),
		T(test_askers_outside),
		T(test_health),
		T(test_odd_rows_harm_no_others),
		T(test_stored_is_there),
		T(test_full_queue_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
