/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_jobs.c - the output of a scheduler, and the jobs made from it. The lines
 * have the format of Slurm 22.05, with errors that occurred at sites.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <time.h>

#include "daemon/jobs/jobs.c"
#include "daemon/jobs/job_join.h"
#include "daemon/jobs/ledger/job_costs.h"
#include "schema/mesh.h"

#define T0   1795000000LL /* s */
#define NS   1000000000LL
#define NOON "2026-11-24T12:00:00"

/* The store: the newest row of each job and start, and how many were put. */
static json_t *rows;
static unsigned puts_count;
static json_t *occasions;

void
store_put_batch_job(struct store *st, const json_t *job)
{
	char key[KEY_OF_BYTES];

	(void)st;
	jobs_key_of(member_text(job, "job"),
	    member_int(job, "start_unix_ns") / NS, key);
	json_object_set_new(rows, key, json_deep_copy(job));
	puts_count++;
}

static char kept_key[JOBS_OWNER_BYTES];

void
store_put_setting(struct store *st, const char *key, const char *value,
    store_cb *cb, void *arg)
{
	(void)st;
	(void)cb;
	(void)arg;
	if (strcmp(key, "jobs/key") == 0)
		snprintf(kept_key, sizeof(kept_key), "%s", value);
	else
		assert_string_equal(key, "jobs/seen");
}

void
store_put_occasion(struct store *st, const json_t *occasion)
{
	(void)st;
	json_array_append(occasions, (json_t *)(uintptr_t)occasion);
}

static json_t *in_band_rows;

void
store_put_in_band(struct store *st, const json_t *row)
{
	(void)st;
	json_array_append(in_band_rows, (json_t *)(uintptr_t)row);
}

static void
in_band_take(struct jobs *js, const char *node, const json_t *list)
{
	struct in_band_report report;
	const json_t *o;
	size_t i;

	json_array_foreach (list, i, o) {
		in_band_report_read(o, &report);
		jobs_in_band(js, node, &report);
	}
}

/* Nodes n0 to n15, four on each leaf, for the ledger. */
static struct node nodes[16];

struct node *
roster_by_id(const struct roster *r, size_t id)
{
	(void)r;
	nodes[id].id = id;
	snprintf(nodes[id].leaf, sizeof(nodes[id].leaf), "leaf%zu", id / 4);
	return &nodes[id];
}

size_t
roster_count(const struct roster *r)
{
	(void)r;
	return ARRAY_LEN(nodes);
}

struct node *
roster_find_host(const struct roster *r, const char *name)
{
	static struct node n = { .leaf = "leaf1" };
	static char copy[40];
	unsigned id;

	(void)r;
	snprintf(copy, sizeof(copy), "%s", name);
	n.name = copy;
	if (sscanf(name, "m%u", &id) == 1 && id < 16)
		return roster_by_id(r, id);
	return strcmp(name, "n9") == 0 ? NULL : &n;
}

/* No agent reports communicators here. */
struct node *
roster_find(const struct roster *r, const char *name)
{
	return roster_find_host(r, name);
}

int
roster_is_up(const struct node *n)
{
	(void)n;
	return 1;
}

void
store_put_event(struct store *st, const char *kind, const char *subject,
    const char *text)
{
	(void)st;
	(void)kind;
	(void)subject;
	(void)text;
}

static char dir[] = "/tmp/coalmine-jobs.XXXXXX";

static struct jobs *
make(struct jobs_options o)
{
	struct jobs *js;
	struct err err;

	o.source = JOBS_COMMAND;
	o.job_names = 1;
	o.dir = dir;
	o.sample_ns = 60 * NS;
	assert_int_equal(jobs_open(&o, &js, &err), 0);
	json_decref(rows);
	rows = json_object();
	puts_count = 0;
	return js;
}

static const json_t *
row(const char *key)
{
	const json_t *o = json_object_get(rows, key);

	if (o == NULL)
		fail_msg("no row %s", key);
	return o;
}

static int64_t
end_s(const char *key)
{
	return member_int(row(key), "end_unix_ns") / NS;
}

static void
test_lines(void **state)
{
	static const struct {
		const char *line;
		int rc, runs;
		int64_t start_s, end_s;
		const char *name;
	} lines[] = {
		{ "7|ann|RUNNING|" NOON "|2026-11-25T12:00:00|n[1-4]|a", 1, 1,
		    1795521600, 0, "a" },
		{ "7_3|ann|COMPLETED|1795000000|1795000060|n1|a|b|", 1, 0, T0,
		    T0 + 60, "a|b|" },
		{ "7+1|ann|CANCELLED by 1000|" NOON "Z|Unknown|n1|", 1, 0,
		    1795521600, 0, "" },
		{ "9|ann|REQUEUED|1795000000|1795000004|n1|a", 1, 0, T0, T0 + 4,
		    "a" },
		{ "9|ann|REQUEUED|" NOON "|N/A|n1|a", 0, 0, 0, 0, NULL },
		{ "8|ann|PENDING|" NOON "|N/A||a", 0, 0, 0, 0, NULL },
		{ "8|ann|FAILED|" NOON "|" NOON "|(null)|a", 0, 0, 0, 0, NULL },
		{ "8|ann|CANCELLED|None|" NOON "|None assigned|a", 0, 0, 0, 0,
		    NULL },
		{ "8|ann|RUNNING|-5|N/A|n1|a", -EINVAL, 0, 0, 0, NULL },
		{ "8|ann|RUNNING|99999999999|N/A|n1|a", -EINVAL, 0, 0, 0,
		    NULL },
		{ "8|ann|RUNNING|9999-12-31T00:00:00|N/A|n1|a", -EINVAL, 0, 0,
		    0, NULL },
		{ "8|ann|FAILED|-5|N/A|n1|a", 0, 0, 0, 0, NULL },
		{ "f2|ann|COMPLETED|1795000000.25|1795000060.5|n1|a", 1, 0, T0,
		    T0 + 60, "a" },
		{ "f2|ann|RUNNING|" NOON ".123Z||n1|a", 1, 1, 1795521600, 0,
		    "a" },
		{ "f2|ann|RUNNING|1795000000.x||n1|a", -EINVAL, 0, 0, 0, NULL },
		{ "8|ann|RUNNING|" NOON "|N/A|n1", 1, 1, 1795521600, 0, NULL },
		{ "8|ann|RUNNING|" NOON "|N/A", -EINVAL, 0, 0, 0, NULL },
		{ "|ann|RUNNING|" NOON "|N/A|n1|a", -EINVAL, 0, 0, 0, NULL },
		{ "slurm_load_jobs error: Unable to contact", -EINVAL, 0, 0, 0,
		    NULL },
	};
	struct job_line l;
	char text[200];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		snprintf(text, sizeof(text), "%s", lines[i].line);
		assert_int_equal(job_line_parse(text, &l), lines[i].rc);
		if (lines[i].rc != 1)
			continue;
		assert_int_equal(l.runs, lines[i].runs);
		assert_int_equal(l.start_unix_s, lines[i].start_s);
		assert_int_equal(l.end_unix_s, lines[i].end_s);
		assert_int_equal(l.name == NULL, lines[i].name == NULL);
		if (l.name != NULL)
			assert_string_equal(l.name, lines[i].name);
	}
}

#define RUNS  "7|ann|RUNNING|1795000000|0|n[1-2,9]|solver\n"
#define ENDED "7|ann|COMPLETED|1795000000|1795000500|n[1-2,9]|solver\n"

static void
test_a_job_from_start_to_end(void **state)
{
	struct jobs *js = make((struct jobs_options){ 0 });
	struct jobs_health h;

	(void)state;
	jobs_take(js, RUNS, 0, (T0 + 60) * NS);
	jobs_take(js, RUNS, 0, (T0 + 120) * NS);
	assert_int_equal(puts_count, 1); /* only changes */
	assert_null(json_object_get(row("7 1795000000"), "end_unix_ns"));
	assert_int_equal(member_int(row("7 1795000000"), "node_count"), 3);
	assert_non_null(
	    json_object_get(json_object_get(row("7 1795000000"), "leaves"),
		"leaf1"));
	jobs_health(js, &h);
	assert_int_equal(h.unknown, 1);
	assert_string_equal(h.unknown_as, "n9");
	for (int i = 0; i < 3; i++) /* squeue lists it for some minutes */
		jobs_take(js, ENDED, 0, (T0 + 540 + 60 * i) * NS);
	assert_int_equal(puts_count, 2);
	assert_int_equal(end_s("7 1795000000"), T0 + 500);
	jobs_free(js);
}

/* A user's text is not a line of Slurm's. */
static void
test_a_line_end_in_a_name(void **state)
{
	struct jobs *js = make((struct jobs_options){ 0 });
	struct jobs_health h;
	char text[600];

	(void)state;
	js->o.source = JOBS_SLURM;
	snprintf(text, sizeof(text),
	    "7|ann|RUNNING|1795000000|N/A|n1|%-*s\n"
	    "8|ann|RUNNING|1795000000|N/A|n2|%-*s\n",
	    NAME_BYTES, "a\n9|bob|RUNNING|1795000000|N/A|n[1-65536]|x",
	    NAME_BYTES, "b|c");
	jobs_take(js, text, 0, (T0 + 60) * NS);
	assert_int_equal(json_object_size(rows), 2);
	assert_string_equal(member_text(row("8 1795000000"), "name"), "b|c");
	/* Not the requested width: the whole answer is rejected. */
	jobs_take(js, "9|bob|RUNNING|1795000000|N/A|n1|short\n", 0,
	    (T0 + 120) * NS);
	assert_int_equal(json_object_size(rows), 2);
	assert_null(json_object_get(row("7 1795000000"), "end_unix_ns"));
	jobs_health(js, &h);
	assert_int_equal(h.unreadable, 1);
	/* Accounting has no names: the job keeps its own. */
	jobs_take(js, "8|ann|FAILED|1795000000|1795000070|n2\n", 1,
	    (T0 + 120) * NS);
	assert_string_equal(member_text(row("8 1795000000"), "name"), "b|c");
	jobs_free(js);
}

/* Of this process: the machine may be busy. */
static uint64_t
cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * CLK_NS_PER_S + (uint64_t)t.tv_nsec;
}

/* Short lines that list many nodes cost neither time nor memory. */
static void
test_more_nodes_than_there_are(void **state)
{
	struct jobs *js = make((struct jobs_options){ 0 });
	struct strbuf sb = { 0 };
	struct jobs_health h;
	uint64_t began_ns;

	(void)state;
	for (int i = 0; i < 2000; i++)
		strbuf_addf(&sb,
		    "%d|ann|RUNNING|1795000000|0|n[1-65536]|x\n"
		    "%d|ann|RUNNING|1795000000|0|x[1-4000]|x\n",
		    i, 5000 + i);
	began_ns = cpu_ns();
	jobs_take(js, sb.text, 0, (T0 + 60) * NS);
	jobs_loud_look(js, (T0 + 60) * NS);
	assert_true(cpu_ns() - began_ns < 2 * CLK_NS_PER_S);
	assert_int_equal(member_int(row("1 1795000000"), "node_count"), 0);
	assert_int_equal(member_int(row("5001 1795000000"), "node_count"),
	    4000);
	assert_int_equal(member_int(row("6999 1795000000"), "node_count"), 0);
	jobs_health(js, &h);
	assert_true(h.unreadable > 2000);
	free(sb.text);
	jobs_free(js);
}

/* An answer is read in slices: the loop has its turn between them. */
static void
test_slices(void **state)
{
	struct jobs *js = make((struct jobs_options){ 0 });
	struct strbuf sb = { 0 };
	uint64_t longest_ns = 0;
	int slices = 0, done = 0;

	(void)state;
	for (int i = 0; i < 20000; i++)
		strbuf_addf(&sb, "%d|ann|RUNNING|1795000000|0|n[1-3]|x\n", i);
	jobs_answer_begin(js, sb.text, 0, (T0 + 60) * NS);
	for (; !done; slices++) {
		uint64_t began_ns = cpu_ns(), took_ns;

		done = jobs_answer_read(js, 0, clk_ns() + SLICE_NS);
		took_ns = cpu_ns() - began_ns;
		longest_ns = took_ns > longest_ns ? took_ns : longest_ns;
	}
	assert_true(slices > 1);
	assert_true(longest_ns < 5 * SLICE_NS);
	assert_int_equal(json_object_size(js->running), 20000);
	for (slices = 1;
	     jobs_loud_look(js, (T0 + 60) * NS), js->loud_at != NULL;)
		slices++;
	assert_true(slices > 1);
	free(sb.text);
	jobs_free(js);
}

/* Programs of array tasks and of parts of heterogeneous jobs have only a
 * number. */
static void
test_in_band_of_parts(void **state)
{
#define PART(job, nodes) job "|u|RUNNING|1795000000|0|" nodes "|a\n"
	static const struct {
		const char *lines, *before, *node, *said, *want;
	} tasks[] = {
		{ PART("12_3:15", "n[1-2]") PART("12_4:16", "n[1-2]"), "", "n1",
		    "16", "12_4" },
		{ PART("12_3:15", "n[1-2]") PART("12_4:12", "n[1-2]"), "", "n1",
		    "12", "12_4" },
		{ PART("12_3:15", "n1"), "", "n1", "12_3", "12_3" },
		{ PART("12_3:15", "n1"), "", "n1", "17", "" },
		/* without a number of the scheduler */
		{ PART("12_3", "n[1-2]"), "", "n2", "15", "12_3" },
		{ PART("12_3", "n[1-2]"), "15", "n1", "15", "12_3" },
		{ PART("12_3", "n[1-2]"), "15", "n2", "16", "" },
		{ PART("12_3", "n1"), "", "n2", "15", "" },
		{ PART("12_3", "n1") PART("12_4", "n1"), "", "n1", "15", "" },
		{ PART("12_3", "n1"), "", "n1", "mine", "" },
		{ PART("7", "n1"), "", "n1", "8", "" },
		{ PART("7:7", "n1"), "", "n1", "7", "7" },
		/* programs of all parts may have the number of the first */
		{ PART("4+0:4", "n1") PART("4+1:5", "n2"), "", "n1", "4",
		    "4+0" },
		{ PART("4+0:4", "n1") PART("4+1:5", "n2"), "", "n2", "4",
		    "4+1" },
		{ PART("4+0:4", "n1") PART("4+1:5", "n2"), "", "n2", "5",
		    "4+1" },
	};
#undef PART

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(tasks); i++) {
		struct jobs *js = make((struct jobs_options){ 0 });
		json_t *before = json_pack("[{s:s, s:[]}]", "job",
		    tasks[i].before, "rows");
		json_t *list = json_pack("[{s:s, s:[]}]", "job", tasks[i].said,
		    "rows");
		const char *got;

		in_band_rows = json_array();
		jobs_take(js, tasks[i].lines, 0, (T0 + 60) * NS);
		in_band_take(js, "n1", before);
		json_array_clear(in_band_rows);
		in_band_take(js, tasks[i].node, list);
		got = member_text(json_array_get(in_band_rows, 0), "job");
		if (strcmp(got, tasks[i].want) != 0)
			fail_msg("row %zu: \"%s\"", i, got);
		json_decref(in_band_rows);
		json_decref(before);
		json_decref(list);
		jobs_free(js);
	}
}

/* Others' files name it too. */
static void
test_in_band_of_its_owner(void **state)
{
	struct jobs *js = make((struct jobs_options){ 0 });
	json_t *list =
	    json_loads("[{\"job\": \"8\", \"uid\": 71, \"rows\":"
		       " [1]}, {\"job\": \"8\", \"uid\": 70,"
		       " \"rows\": [2]}, {\"job\": \"8\", \"uid\": 0,"
		       " \"rows\": [3]}, {\"job\": \"8\", \"rows\":"
		       " [4]}]",
		0, NULL);

	(void)state;
	in_band_rows = json_array();
	jobs_take(js, "8|ann:70|RUNNING|1794990000|0|n1|a\n", 0,
	    (T0 + 60) * NS);
	in_band_take(js, "n1", list);
	assert_int_equal(json_array_size(in_band_rows), 3);
	assert_int_equal(json_integer_value(json_array_get(
			     json_object_get(json_array_get(in_band_rows, 0),
				 "rows"),
			     0)),
	    2);
	json_decref(in_band_rows);
	json_decref(list);
	jobs_free(js);
}

/* Of a job that is known, by its newest start; no more than is allowed. */
static void
test_in_band_of_known_jobs(void **state)
{
	struct jobs *js = make((struct jobs_options){ 0 });
	json_t *list = json_loads("[{\"job\": \"7\", \"rows\": []}, {\"job\":"
				  " \"71\", \"rows\": []}, {\"job\": \"7\"},"
				  " {\"job\": 7}, 1]",
	    0, NULL);
	json_t *long_one = json_pack("[{s:s, s:[]}]", "job", "7", "rows");

	(void)state;
	in_band_rows = json_array();
	jobs_take(js, "7|ann|FAILED|1794990000|1794990100|n1|a\n" RUNS, 0,
	    (T0 + 60) * NS);
	in_band_take(js, "n1", list);
	assert_int_equal(json_array_size(in_band_rows), 1);
	assert_int_equal(member_int(json_array_get(in_band_rows, 0),
			     "start_unix_ns"),
	    T0 * NS);
	for (int i = 0; i < 5000; i++)
		json_array_append_new(json_object_get(json_array_get(long_one,
							  0),
					  "rows"),
		    json_integer(1000 + i));
	in_band_take(js, "n1", long_one);
	in_band_take(NULL, "n1", list);
	assert_int_equal(json_array_size(in_band_rows), 1);
	json_decref(in_band_rows);
	json_decref(list);
	json_decref(long_one);
	jobs_free(js);
}

/* A job that started and ended between two answers, or whose times are in the
 * accounting. */
static void
test_gone_without_a_word(void **state)
{
	struct jobs *js = make((struct jobs_options){ 0 });
	struct jobs_health h;

	(void)state;
	jobs_take(js, RUNS, 0, (T0 + 60) * NS);
	jobs_take(js, RUNS, 0, (T0 + 120) * NS);
	jobs_take(js, "", 0, (T0 + 180) * NS);
	assert_int_equal(end_s("7 1795000000"), T0 + 120); /* last seen */
	assert_true(member_bool(row("7 1795000000"), "end_is_guess"));
	jobs_health(js, &h);
	assert_int_equal(h.vanished, 1);
	jobs_take(js, ENDED "8|bob|RUNNING|1794000000|0|n1|runaway\n", 1,
	    (T0 + 600) * NS);
	assert_int_equal(end_s("7 1795000000"), T0 + 500);
	assert_null(json_object_get(row("7 1795000000"), "end_is_guess"));
	/* listed as running by the accounting for a fortnight */
	assert_null(json_object_get(rows, "8 1794000000"));
	/* nor did it end when the scheduler forgot it for a moment */
	jobs_take(js, "9|ann|RUNNING|1795000000|0|n1|a\n", 0, (T0 + 60) * NS);
	jobs_take(js, "", 0, (T0 + 120) * NS);
	jobs_take(js, "9|ann|RUNNING|1795000000|0|n1|a\n", 0, (T0 + 180) * NS);
	assert_null(json_object_get(row("9 1795000000"), "end_unix_ns"));
	jobs_free(js);
}

static void
test_what_cannot_be_is_kept_and_said(void **state)
{
	struct jobs *js = make((struct jobs_options){ 0 });
	struct jobs_health h;

	(void)state;
	jobs_take(js,
	    "1|ann|COMPLETED|1795000000|1794999000|n1|backwards\n"
	    "2|ann|RUNNING|1795000000|0|n[1|no list\n"
	    "3_[7-9]|ann|PENDING|N/A|N/A||waits\n"
	    "3_1|ann|RUNNING|1795000000|0|n1|array\n"
	    "4+0|ann|RUNNING|1795000000|0|n1|parts\n"
	    "4+1|ann|RUNNING|1795000000|0|n2|parts\n"
	    "5|ann|RUNNING|1795003600|0|n2|from the future\n"
	    "sinfo: error: something\n"
	    "6|\xff\xfe|RUNNING|1795000000|0|n1|\xff\n",
	    0, T0 * NS);
	assert_int_equal(end_s("1 1795000000"), T0);
	assert_true(member_bool(row("1 1795000000"), "backwards"));
	assert_string_equal(member_text(row("2 1795000000"), "nodes"), "n[1");
	assert_string_equal(member_text(row("3_1 1795000000"), "whole"), "3");
	assert_string_equal(member_text(row("4+1 1795000000"), "whole"), "4");
	row("5 1795003600");
	row("6 1795000000");
	jobs_health(js, &h);
	assert_int_equal(h.backwards, 1);
	assert_int_equal(h.unreadable, 2);
	assert_int_equal(h.ahead_s, 3600);
	/* a line that is there again counts once; another one counts */
	for (int i = 0; i < 3; i++)
		jobs_take(js,
		    "2|ann|RUNNING|1795000000|0|n[1|no list\n"
		    "sinfo: error: something\nsinfo: \xff\xfe\n",
		    0, (T0 + i) * NS);
	jobs_health(js, &h);
	assert_int_equal(h.unreadable, 3);
	/* requeued: the same job begins again, and has two rows */
	jobs_take(js, "3_1|ann|RUNNING|1795000900|0|n2|array\n", 0,
	    (T0 + 960) * NS);
	assert_int_equal(end_s("3_1 1795000000"), T0);
	assert_null(json_object_get(row("3_1 1795000900"), "end_unix_ns"));
	jobs_free(js);
}

/* A collector that was down has its earlier state. */
static void
test_after_a_restart(void **state)
{
	struct jobs *js = make((struct jobs_options){ 0 });
	json_t *list = json_array(), *settings;

	(void)state;
	jobs_take(js, RUNS "8|ann|COMPLETED|1795000000|1795000030|n1|x\n", 0,
	    (T0 + 60) * NS);
	json_array_append(list, json_object_get(rows, "7 1795000000"));
	json_array_append(list, json_object_get(rows, "8 1795000000"));
	jobs_free(js);
	js = make((struct jobs_options){ 0 });
	settings = json_pack("{s:s}", "jobs/seen", "1795000060000000000");
	jobs_load(js, list);
	jobs_load_settings(js, settings);
	jobs_take(js, "8|ann|COMPLETED|1795000000|1795000030|n1|x\n", 0,
	    (T0 + 4000) * NS);
	assert_int_equal(puts_count, 1); /* 8 is as it was */
	assert_int_equal(end_s("7 1795000000"), T0 + 60);
	json_decref(settings);
	json_decref(list);
	jobs_free(js);
}

static void
test_owners(void **state)
{
	struct jobs *js = make((struct jobs_options){ 0 });
	char ann[JOBS_OWNER_BYTES], again[JOBS_OWNER_BYTES], *text;

	(void)state;
	jobs_take(js, RUNS, 0, T0 * NS);
	text = json_dumps(rows, 0);
	assert_null(strstr(text, "ann"));
	free(text);
	jobs_owner(js, "ann", ann);
	assert_int_equal(strlen(ann), strlen("user-0123456789"));
	assert_string_equal(member_text(row("7 1795000000"), "owner"), ann);
	jobs_owner(js, "bob", again);
	assert_string_not_equal(again, ann);
	jobs_free(js);
	js = make((struct jobs_options){ 0 }); /* the same key */
	jobs_owner(js, "ann", again);
	assert_string_equal(again, ann);
	jobs_free(js);
	js = make((struct jobs_options){ .owner_names = 1 });
	jobs_owner(js, "ann", again);
	assert_string_equal(again, "ann");
	jobs_free(js);
}

static void
load_key(struct jobs *js, const char *had, const char *want_kept)
{
	json_t *settings = had == NULL ? json_object()
				       : json_pack("{s:s}", "jobs/key", had);

	kept_key[0] = '\0';
	jobs_load_settings(js, settings);
	assert_string_equal(kept_key, want_kept);
	json_decref(settings);
}

/* Two collectors of one store must have one key. */
static void
test_whose_key_it_is(void **state)
{
	struct jobs *js = make((struct jobs_options){ 0 });
	char own[JOBS_OWNER_BYTES];

	(void)state;
	jobs_owner(js, "jobs/key", own);
	load_key(js, NULL, own);
	load_key(js, own, "");
	load_key(js, "user-0123456789", own);
	jobs_free(js);
	js = make((struct jobs_options){ .owner_names = 1 });
	load_key(js, own, "");
	jobs_free(js);
}

/* A truncated key is rejected. */
static void
test_a_key_that_is_cut(void **state)
{
	struct jobs *js = make((struct jobs_options){ 0 });
	struct jobs_options o = { .source = JOBS_COMMAND, .dir = dir };
	char path[sizeof(dir) + 20];
	struct err err;

	(void)state;
	jobs_free(js);
	snprintf(path, sizeof(path), "%s/jobs.key", dir);
	assert_int_equal(truncate(path, 7), 0);
	assert_int_equal(jobs_open(&o, &js, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "is not a valid key"));
	unlink(path);
}

static void
test_without_a_source_nothing_is_there(void **state)
{
	struct jobs *js = (struct jobs *)1;
	struct jobs_options o = { .source = JOBS_OFF, .dir = "/nonexistent" };
	struct jobs_health h;
	struct err err;

	(void)state;
	assert_int_equal(jobs_open(&o, &js, &err), 0);
	assert_null(js);
	jobs_tick(js);
	jobs_load(js, NULL);
	jobs_health(js, &h);
	assert_int_equal(h.source, JOBS_OFF);
	jobs_free(js);
}

/* ---- jobs and verdicts ---- */

#define VERDICT(at, kind, subject, verdict)                                    \
	"{\"at_unix_ns\": " #at ", \"kind\": \"" kind                          \
	"\", \"subject\": \"" subject "\", \"verdict\": \"" verdict            \
	"\", \"text\": \"" subject " is " verdict "\"}"

static json_t *
read_json(const char *text)
{
	json_error_t e;
	json_t *o = json_loads(text, 0, &e);

	if (o == NULL)
		fail_msg("%s: %s", e.text, text);
	return o;
}

/* Times in seconds: 3600 to 7200, on n1 and n2 of leaf1. */
#define JOB                                                                    \
	"{\"job\": \"7\", \"node_count\": 2, \"nodes\": \"n[1-2]\","           \
	" \"leaves\": {\"leaf1\": true}, \"start_unix_ns\": 3600000000000,"    \
	" \"end_unix_ns\": 7200000000000}"

/* Its twentieth byte is within a character. */
#define OP "allreduce_of_chunks\u00e9"
#define IN_BAND(node, start, bytes, calls, seconds, least_s)                   \
	"{\"job\": \"7\", \"node\": \"" node "\", \"start_unix_ns\": " #start  \
	", \"rows\": [{\"source\": \"pmpi\", \"op\": \"" OP "\","              \
	" \"ranks\": 4, \"nodes\": 2, \"bytes\": " #bytes                      \
	", \"calls\": " #calls ", \"seconds\": " #seconds                      \
	", \"least_s\": " #least_s "}]}"

/* The newest first. */
static json_t *
around_verdicts(void)
{
	return read_json("[" VERDICT(7300000000000, "node", "n2",
	    "warn") "," VERDICT(6000000000000, "node", "n1",
	    "ok") "," VERDICT(5700000000000, "leaf", "leaf1",
	    "ok") "," VERDICT(5400000000000, "leaf", "leaf1",
	    "warn") "," VERDICT(5000000000000, "node", "n3",
	    "bad") "," VERDICT(4500000000000, "node", "n1",
	    "bad") "," VERDICT(3000000000000, "node", "n1",
	    "warn") "," VERDICT(1000000000000, "leaf", "n1", "bad") "]");
}

static json_t *
around_events(void)
{
	return read_json(
	    "[{\"at_unix_ns\": 4000000000000, \"kind\": \"agent\","
	    " \"subject\": \"n2\", \"text\": \"lost\"},"
	    " {\"at_unix_ns\": 4000000000000, \"kind\": \"verdict\","
	    " \"subject\": \"n2\", \"text\": \"told\"},"
	    " {\"at_unix_ns\": 4000000000000, \"kind\": \"agent\","
	    " \"subject\": \"n3\", \"text\": \"lost\"}]");
}

static json_t *
around_impacts(void)
{
	return read_json(
	    "[{\"at_unix_ns\": 4000000000000, \"test\": \"lat\", \"of\":"
	    " \"p99\", \"value\": 2.0},"
	    " {\"at_unix_ns\": 5000000000000, \"test\": \"lat\", \"of\":"
	    " \"p99\", \"value\": 8.0},"
	    " {\"at_unix_ns\": 3000000000000, \"test\": \"lat\", \"of\":"
	    " \"p99\", \"value\": 1.5}]");
}

/* At 2000: n1 at half; at 5000: the uplinks of leaf1, which the job does not
 * cross, n2, and a node of other jobs; at 7500: all normal, n2 unknown. */
static json_t *
around_shares(void)
{
	return read_json(
	    "[{\"at_unix_ns\": 9000000000000000, \"slow\": []},"
	    " {\"at_unix_ns\": 7500000000000, \"known\": \"n1\","
	    " \"slow\": []},"
	    " {\"at_unix_ns\": 5000000000000, \"known\": \"n[1-3]\","
	    " \"slow\": [{\"kind\": \"leaf\", \"subject\": \"leaf1\","
	    " \"share\": 0.1}, {\"kind\": \"node\", \"subject\": \"n2\","
	    " \"share\": 0.25}, {\"kind\": \"node\", \"subject\": \"n3\","
	    " \"share\": 0.05}]},"
	    " {\"at_unix_ns\": 2000000000000, \"known\": \"n[1-2]\","
	    " \"slow\": [{\"kind\": \"node\", \"subject\": \"n1\","
	    " \"share\": 0.5}]},"
	    " {\"at_unix_ns\": 1000000000000, \"known\": \"n[1-2]\","
	    " \"slow\": [{\"kind\": \"node\", \"subject\": \"n1\","
	    " \"share\": 0.01}]}]");
}

static void
test_join(void **state)
{
	json_t *verdicts = around_verdicts(), *events = around_events();
	json_t *impacts = around_impacts(), *shares = around_shares();
	struct job_around around = { verdicts, events, impacts, shares, NULL,
		9000 * NS };
	json_t *job = read_json(JOB), *list, *first;

	(void)state;
	job_join(job, &around);
	/* n1 was warn or bad until 6000: 2400 s, the leaf's within, times 2 */
	assert_true(member_number(job, "exposed_node_s") == 4800);
	list = json_object_get(job, "verdicts");
	assert_int_equal(json_array_size(list), 4);
	first = json_array_get(list, 0);
	assert_string_equal(member_text(first, "subject"), "n2");
	assert_string_equal(member_text(first, "when"), "after");
	assert_null(json_object_get(first, "until_unix_ns"));
	assert_string_equal(member_text(json_array_get(list, 3), "when"),
	    "during");
	list = json_object_get(job, "events");
	assert_int_equal(json_array_size(list), 1);
	first = json_array_get(json_object_get(job, "impacts"), 0);
	assert_true(fabs(member_number(first, "during") - 4) < 1e-9);
	assert_true(fabs(member_number(first, "before") - 1.5) < 1e-9);
	assert_null(json_object_get(first, "after"));
	list = json_object_get(job, "expectation");
	first = json_object_get(list, "before");
	assert_true(member_number(first, "share") == 0.5);
	first = json_object_get(list, "during");
	assert_true(member_number(first, "share") == 0.25);
	assert_int_equal(json_array_size(json_object_get(first, "slow")), 1);
	first = json_object_get(list, "after");
	assert_true(member_number(first, "share") == 1);
	assert_int_equal(json_array_size(json_object_get(first, "unknown")), 1);
	/* one of two leaves uses their uplinks */
	json_object_set_new(json_object_get(job, "leaves"), "leaf2",
	    json_true());
	job_join(job, &around);
	first = json_object_get(json_object_get(job, "expectation"), "during");
	assert_true(member_number(first, "share") == 0.1);
	json_decref(shares);
	json_decref(job);
	json_decref(verdicts);
	json_decref(events);
	json_decref(impacts);
}

static void
test_join_in_band(void **state)
{
	/* n1's and n2's of about 1 MiB are alike; n3 is not its node, and it
	 * was another start of it */
	json_t *in_band = read_json("[" IN_BAND("n1", 3600000000000, 1048576,
	    10, 0.5, 0.04) "," IN_BAND("n2", 3600000000000, 1500000, 30, 0.9,
	    0.02) "," IN_BAND("n2", 3600000000000, 4096, 5, 0.1,
	    0.01) "," IN_BAND("n3", 3600000000000, 1048576, 1, 1,
	    0.001) "," IN_BAND("n1", 100000000000, 1048576, 1, 1,
	    0.001) "," IN_BAND("n1", 3600000000000, 1048576, 0, 1, -1) "]");
	struct job_around around = { .in_band = in_band };
	json_t *job = read_json(JOB), *list, *first;
	size_t i;

	(void)state;
	job_join(job, &around);
	list = json_object_get(job, "in_band");
	assert_int_equal(json_array_size(list), 2);
	json_array_foreach (list, i, first)
		if (member_number(first, "bytes") > 1e6) {
			assert_true(member_number(first, "calls") == 40);
			assert_true(member_number(first, "seconds") == 1.4);
			assert_true(member_number(first, "least_s") == 0.02);
			assert_string_equal(member_text(first, "node"), "n2");
		}
	json_decref(in_band);
	json_decref(job);
}

static void
test_worst(void **state)
{
	json_t *verdicts = read_json("[" VERDICT(5000000000000, "node", "n1",
	    "ok") "," VERDICT(4000000000000, "node", "n1", "bad") "]");
	json_t *jobs = read_json(
	    "[" JOB ", {\"job\": \"8\", \"node_count\": 9, \"nodes\":"
	    " \"n[1-9]\", \"start_unix_ns\": 4900000000000,"
	    " \"end_unix_ns\": 9000000000000},"
	    " {\"job\": \"9\", \"node_count\": 1, \"nodes\": \"n5\","
	    " \"start_unix_ns\": 1000000000000},"
	    " {\"job\": \"10\", \"node_count\": 1, \"nodes\": \"n1\","
	    " \"start_unix_ns\": 6000000000000}]");
	struct job_around around = { verdicts, NULL, NULL, NULL, NULL,
		9000 * NS };
	json_t *list = job_worst(jobs, &around);

	(void)state;
	assert_int_equal(json_array_size(list), 2);
	assert_string_equal(member_text(json_array_get(list, 0), "job"), "7");
	assert_true(
	    member_number(json_array_get(list, 0), "exposed_node_s") == 2000);
	assert_true(
	    member_number(json_array_get(list, 1), "exposed_node_s") == 900);
	json_decref(list);
	json_decref(jobs);
	json_decref(verdicts);
}

/* Nodes report the time since their last heartbeat, two seconds before. */
static void
say_share(double told, double lately, int64_t ago_ns)
{
	for (size_t i = 0; i < 16; i += 4) {
		struct node *n = roster_by_id(NULL, i);

		n->heartbeat_ns = 2 * NS;
		n->host_ns = clk_ns() - (uint64_t)ago_ns;
		n->host.net_told = told;
		n->host.net = lately;
	}
}

/* A job is judged by its own traffic: it begins on nodes that a job which
 * filled their links has just left. */
static void
test_who_is_loud(void **state)
{
	struct jobs *js = make((struct jobs_options){ .interval_ns = 60 * NS });
	int64_t now_ns = T0 * NS;

	(void)state;
	json_object_set_new(js->running, "1 x",
	    json_pack("{s:s, s:s, s:I, s:{}}", "job", "1", "nodes", "m[0,4]",
		"start_unix_ns", (json_int_t)(now_ns - 3 * NS), "leaves"));
	say_share(0.9, 0.9, 2 * NS); /* most of it was before */
	jobs_loud_look(js, now_ns);
	assert_int_equal(json_object_size(js->loud), 0);
	say_share(0, 0.85, NS / 2);
	jobs_loud_look(js, now_ns);
	assert_int_equal(json_object_size(js->loud), 0);
	say_share(0.5, 0.85, NS / 2);
	jobs_loud_look(js, now_ns + NS);
	assert_int_equal(json_object_size(js->loud), 1);
	/* a pause is not its end */
	say_share(0, 0.4, NS / 2);
	jobs_loud_look(js, now_ns + 4 * NS);
	assert_int_equal(json_object_size(js->loud), 1);
	say_share(0, 0.01, NS / 2);
	jobs_loud_look(js, now_ns + 200 * NS);
	assert_int_equal(json_object_size(js->loud), 0);
	/* without counters, every running job counts as loud */
	nodes[0].host_ns = nodes[4].host_ns = 0;
	jobs_loud_look(js, now_ns + 201 * NS);
	assert_int_equal(json_object_size(js->loud), 1);
	jobs_free(js);
}

static json_t *
costs_by(enum job_costs_by by)
{
	struct job_costs *c = job_costs_new(by);
	json_t *list;

	job_costs_add(c, occasions);
	while (job_costs_next(c))
		;
	list = job_costs_told(c);
	job_costs_free(c);
	return list;
}

/* Of an epoch, all that has a part in leaves 0 and 1 20 % slower, or not. */
static void
echoes(struct job_ledger *l, int e, int slow, int64_t at_ns)
{
	struct mesh_path paths[16 * 15];
	size_t n = 0;

	for (uint32_t a = 0; a < 16; a++)
		for (uint32_t b = 0; b < 16; b++) {
			int turn = (int)(a + b + (unsigned)e) % 7;

			if (a == b)
				continue;
			paths[n++] = (struct mesh_path){ .a = a,
				.b = b,
				.p50_s = 1e-5 * (1 + 0.001 * turn) *
				    (slow && (a < 8 || b < 8) ? 1.2 : 1) };
		}
	job_ledger_paths(l, paths, n, at_ns);
}

/* Canaries of one run each, always on other nodes, in more series than the
 * limit, and one while the clock was a year ahead: later results are still
 * accepted. */
static void
long_before(struct job_ledger *l, const struct round *round, int64_t epoch_ns)
{
	static const int runs = 110000;
	int64_t at_ns;

	for (int e = 0; e < runs; e++) {
		const uint32_t met[] = { (uint32_t)e % 16,
			(uint32_t)e / 16 % 16, (uint32_t)e / 256 % 16,
			(uint32_t)e / 4096 % 16, (uint32_t)e / 65536 };

		at_ns = T0 * NS - (runs - e + 100) * epoch_ns;
		job_ledger_canary(l, met, ARRAY_LEN(met), round, at_ns);
		if (e % 16 == 0)
			job_ledger_tick(l, at_ns);
	}
	job_ledger_canary(l, (const uint32_t[]){ 1, 2 }, 2, round,
	    (T0 + 365 * 86400) * NS);
	job_ledger_tick(l, T0 * NS);
}

/* The result over all occasions: one kind, which costs 20 %. */
static void
expect_cost(void)
{
	json_t *list, *o;
	size_t i;

	assert_true(json_array_size(occasions) >= 15);
	list = costs_by(JOB_COSTS_BY_NAME);
	assert_int_equal(json_array_size(list), 1);
	o = json_array_get(list, 0);
	assert_string_equal(member_text(o, "test"), "mesh");
	assert_true(member_bool(o, "blamed"));
	assert_true(fabs(member_number(o, "cost") - 0.2) < 0.01);
	assert_true(member_number(o, "lo") > 0.19);
	/* of probes of 10 us; most of them cross one of the two leaves */
	assert_true(fabs(member_number(o, "cost_s") - 2e-6) < 0.1e-6);
	assert_true(member_number(o, "lo_s") > 1.9e-6 &&
	    member_number(o, "hi_s") < 2.1e-6);
	assert_true(member_int(o, "jobs") >= 8);
	assert_true(member_int(o, "placebo_sets_blamed") <= 2);
	json_decref(list);
	/* a row for each week that it ran in, or for each of its jobs, compared
	 * with the random moments of all of them */
	list = costs_by(JOB_COSTS_BY_WEEK);
	assert_int_equal(json_array_size(list), 1);
	assert_int_equal(member_int(json_array_get(list, 0), "week_unix_ns") /
		NS,
	    1794787200); /* Monday, 16 November 2026 */
	json_decref(list);
	list = costs_by(JOB_COSTS_BY_JOB);
	assert_true(json_array_size(list) >= 8);
	o = json_array_get(list, 0);
	assert_true(member_bool(o, "blamed") && member_int(o, "jobs") == 1);
	assert_true(member_text(o, "job")[0] != '\0');
	json_array_foreach (list, i, o)
		assert_true(fabs(member_number(o, "cost") - 0.2) < 0.01);
	json_decref(list);
}

/* A new name has few random moments: the moments of all kinds are its reference
 * for chance. */
static void
expect_young(void)
{
	json_t *list, *o;
	size_t i;

	json_array_foreach (occasions, i, o) {
		json_object_set_new(o, "name",
		    json_string(i % 8 == 0 ? "young" : "old"));
		if (i % 8 == 0)
			json_object_set_new(o, "placebos", json_array());
	}
	list = costs_by(JOB_COSTS_BY_NAME);
	assert_int_equal(json_array_size(list), 2);
	json_array_foreach (list, i, o) {
		assert_true(member_bool(o, "blamed"));
		assert_true(member_int(o, "placebos") >= 12);
	}
	json_decref(list);
}

/* Jobs on leaves 0 and 1 that make echoes there 20 % slower: from samples and
 * lines to the statement. */
static void
test_what_a_job_costs(void **state)
{
	static const int64_t epoch_ns = 60 * NS;
	struct job_ledger *l = job_ledger_new(NULL, NULL, epoch_ns, 0);
	json_t *job = json_pack("{s:s, s:s}", "nodes", "m[0,4]", "leaves", "");
	struct round canary = { .is_canary = 1,
		.test = "lat",
		.phase = "wild",
		.mean = 1e-5 };
	json_t *none = json_object();
	static const uint32_t away[] = { 8, 12 };
	char name[320];

	(void)state;
	/* of any length */
	snprintf(name, sizeof(name), "%0299d\u00e9", 1);
	json_object_set_new(job, "name", json_string(name));
	occasions = json_array();
	long_before(l, &canary, epoch_ns);
	for (int e = 1; e < 400; e++) {
		int64_t at_ns = T0 * NS + e * epoch_ns;
		int runs = e % 40 >= 20;

		if (e % 20 == 0) {
			snprintf(name, sizeof(name), "%d", (e + 20) / 40);
			json_object_set_new(job, "job", json_string(name));
			json_object_set_new(job, "start_unix_ns",
			    json_integer(T0 * NS));
			job_ledger_step(l, job, runs ? 1 : -1, at_ns, none,
			    none);
		}
		/* Data that arrived while reports were awaited has no
		 * effect. */
		job_ledger_canary(l, away, 2, &canary, at_ns + epoch_ns);
		echoes(l, e, runs, at_ns + epoch_ns - 1);
		/* Begun a second after the last job, before its programs were,
		 * or over a second before the end of the one before, after
		 * they were: many, and of neither side. */
		for (int k = 0; (e == 380 || e == 359) && k < 4; k++)
			echoes(l, e, 0,
			    at_ns + epoch_ns + (e == 380 ? NS : -NS));
		job_ledger_tick(l, at_ns + epoch_ns);
	}
	expect_cost();
	expect_young();
	json_decref(occasions);
	json_decref(none);
	json_decref(job);
	job_ledger_free(l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_a_job_from_start_to_end),
		cmocka_unit_test(test_a_line_end_in_a_name),
		cmocka_unit_test(test_more_nodes_than_there_are),
		cmocka_unit_test(test_slices),
		cmocka_unit_test(test_in_band_of_known_jobs),
		cmocka_unit_test(test_in_band_of_its_owner),
		cmocka_unit_test(test_in_band_of_parts),
		cmocka_unit_test(test_gone_without_a_word),
		cmocka_unit_test(test_what_cannot_be_is_kept_and_said),
		cmocka_unit_test(test_after_a_restart),
		cmocka_unit_test(test_owners),
		cmocka_unit_test(test_whose_key_it_is),
		cmocka_unit_test(test_a_key_that_is_cut),
		cmocka_unit_test(test_without_a_source_nothing_is_there),
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_join_in_band),
		cmocka_unit_test(test_worst),
		cmocka_unit_test(test_who_is_loud),
		cmocka_unit_test(test_what_a_job_costs),
	};
	char key[sizeof(dir) + 20];
	int rc;

	if (mkdtemp(dir) == NULL)
		return 1;
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	snprintf(key, sizeof(key), "%s/jobs.key", dir);
	unlink(key);
	rmdir(dir);
	json_decref(rows);
	return rc;
}
