/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_job_ras.c [TRIALS] - jobs of made-up clusters through the agent's reader
 * and the collector's join: replies as NCCL prints them, of a healthy job and
 * with a process stopped or hung, a GPU that fell off, a node that died, a
 * link or a leaf that was cut. Which rank, node and class of cause is named;
 * and that no job is blamed that is healthy.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/jobs/job_ras.c"

#include "agents/sensor/ras_read.h"
#include "common/rng.h"
#include "common/str.h"

#define NS     ((int64_t)CLK_NS_PER_S)
#define LEAF_N 4
#define N_MAX  32
#define G_MAX  8
#define LOOKS  4

/* ---- the collector's other parts ---- */

static struct node nodes[N_MAX + 1]; /* the last one is of no job */
static int down[N_MAX + 1];
static size_t node_count;
static json_t *open_cases;
static char events[8][JOB_TEXT_BYTES];
static size_t event_count;

struct node *
roster_find(const struct roster *r, const char *name)
{
	(void)r;
	for (size_t i = 0; i < N_MAX + 1; i++)
		if (nodes[i].name != NULL && strcmp(nodes[i].name, name) == 0)
			return &nodes[i];
	return NULL;
}

struct node *
roster_find_host(const struct roster *r, const char *name)
{
	return roster_find(r, name);
}

int
roster_is_up(const struct node *n)
{
	return !down[n - nodes];
}

void
store_put_event(struct store *st, const char *kind, const char *subject,
    const char *text)
{
	(void)st;
	assert_string_equal(kind, "job");
	assert_string_equal(subject, "41");
	assert_true(event_count < 8);
	snprintf(events[event_count++], JOB_TEXT_BYTES, "%s", text);
}

static json_t *
cases(void *arg)
{
	(void)arg;
	return json_incref(open_cases);
}

static enum verdict
verdict(void *arg, const struct node *n)
{
	json_t *row;
	size_t i;

	(void)arg;
	json_array_foreach (open_cases, i, row)
		if (strcmp(member_text(row, "subject"), n->name) == 0)
			return VERDICT_BAD;
	return VERDICT_OK;
}

static void
take(struct job_ras *jr, const json_t *job, const struct node *from,
    const json_t *report, int64_t now_unix_ns)
{
	struct ras_report r;

	ras_report_read(report, &r);
	job_ras_take(jr, "41 1", job, from, &r, now_unix_ns);
	ras_report_clear(&r);
}

/* ---- a job ---- */

enum fault {
	HEALTHY,
	STOPPED, /* a process that does not answer */
	HUNG,    /* a process launches no more */
	XID,     /* its GPU is gone, and it with it */
	DIED,    /* a node */
	LINK_CUT,
	LEAF_CUT,
	FAULT_MAX
};
static const enum job_cause causes[FAULT_MAX] = { [STOPPED] = JOB_CAUSE_PROCESS,
	[HUNG] = JOB_CAUSE_PROCESS,
	[XID] = JOB_CAUSE_GPU,
	[DIED] = JOB_CAUSE_NODE,
	[LINK_CUT] = JOB_CAUSE_NETWORK,
	[LEAF_CUT] = JOB_CAUSE_NETWORK };

/* Communicators: all ranks; the ranks of a node; the Nth ranks of all nodes. */
struct world {
	struct rng rng;
	int n, g;
	int64_t launched[N_MAX * G_MAX];
	int silent[N_MAX * G_MAX];
	int is_text, has_commas;
	int bad_node, bad_rank;
	int64_t start_ns;
	json_t *job;
};

static unsigned
draw(struct world *w, unsigned below)
{
	return (unsigned)rng_below(&w->rng, below);
}

static void
rank_put(const struct world *w, struct strbuf *to, int of, int rank,
    int is_missing, int is_first)
{
	int node = of / w->g, gpu = of % w->g;

	strbuf_addf(to,
	    "%s{\"rank\": %d,\n\"host\": \"10.0.0.%d\",\n\"pid\": %d,\n"
	    "\"cuda_dev\": 0,\n\"nvml_dev\": %d%s\n\"status\": {",
	    is_first ? "" : ",", rank, node + 1, 1000 + of, gpu,
	    is_missing && !w->has_commas ? "" : ",");
	if (is_missing)
		strbuf_addf(to,
		    "\"unresponsive\": true, \"considered_dead\": "
		    "false}\n}");
	else
		strbuf_addf(to,
		    "\"init_state\": 0, \"async_error\": 0, "
		    "\"finalize_called\": false, \"destroy_flag\": false, "
		    "\"abort_flag\": false},\n\"collective_counts\": "
		    "{\"Broadcast\": 3, \"AllReduce\": %lld}\n}",
		    (long long)w->launched[of]);
}

/* Rank i of a communicator is rank of[i] of the job. */
static void
comm_json(const struct world *w, struct strbuf *to, const int *of, int size,
    int id)
{
	int missing = 0, first = 1;

	for (int i = 0; i < size; i++)
		missing += w->silent[of[i]];
	strbuf_addf(to,
	    "%s{\"hash\": \"0x%x\",\n\"secondary_hash\": \"0x1:0x2\",\n"
	    "\"size\": %d,\n\"ranks_count\": %d,\n\"missing_ranks_count\": "
	    "%d,\n\"ranks\": [",
	    id == 0 ? "" : ",", 0xabc000 + id, size, size - missing, missing);
	for (int i = 0; i < size; i++)
		if (!w->silent[of[i]]) {
			rank_put(w, to, of[i], i, 0, first);
			first = 0;
		}
	strbuf_addf(to, "],\n\"missing_ranks\": [");
	first = 1;
	for (int i = 0; i < size; i++)
		if (w->silent[of[i]]) {
			rank_put(w, to, of[i], i, 1, first);
			first = 0;
		}
	strbuf_addf(to, "]}\n");
}

static void
rank_text(const struct world *w, struct strbuf *to, int of, int rank,
    const char *more)
{
	strbuf_addf(to,
	    "  Rank %d%s -- GPU 0 (NVML %d) managed by process %d on node "
	    "10.0.0.%d\n",
	    rank, more, of % w->g, 1000 + of, of / w->g + 1);
}

/* Of the world alone. */
static void
world_text(const struct world *w, struct strbuf *to)
{
	int size = w->n * w->g, missing = 0;
	int64_t most = 0, least = INT64_MAX;
	char more[64];

	for (int i = 0; i < size; i++) {
		missing += w->silent[i];
		if (w->silent[i])
			continue;
		most = w->launched[i] > most ? w->launched[i] : most;
		least = w->launched[i] < least ? w->launched[i] : least;
	}
	strbuf_addf(to,
	    "NCCL version 2.28.9 compiled with CUDA 13.0\n\nCommunicators... "
	    "(0.00s)\n=============\n\nGroup\n%5d  %8d  %8d  %8d  %8d  %8d   "
	    "RUNNING  %s\n\nErrors\n======\n\n",
	    0, 1, w->n, w->g, size, size, missing > 0 ? "INCOMPLETE" : "OK");
	if (missing > 0) {
		strbuf_addf(to,
		    "#0-0 (0000000000abc000) INCOMPLETE\n  Missing "
		    "communicator data from %d rank%s\n",
		    missing, missing == 1 ? "" : "s");
		for (int i = 0; i < size; i++)
			if (w->silent[i])
				rank_text(w, to, i, i, "");
	}
	strbuf_addf(to, "\nWarnings\n========\n\n");
	if (most == least)
		return;
	strbuf_addf(to,
	    "#0-0 (0000000000abc000) MISMATCH\n  Communicator "
	    "ranks have different AllReduce operation counts\n");
	for (int64_t v = most; v >= least; v--) {
		int at = 0;

		for (int i = 0; i < size; i++)
			at += !w->silent[i] && w->launched[i] == v;
		if (at > 1)
			strbuf_addf(to,
			    "  %d ranks have launched up to operation %lld\n",
			    at, (long long)v);
		snprintf(more, sizeof(more),
		    " has launched up to operation %lld", (long long)v);
		for (int i = 0; i < size && 2 * at < size; i++)
			if (!w->silent[i] && w->launched[i] == v)
				rank_text(w, to, i, i, at > 1 ? "" : more);
	}
	strbuf_addf(to, "\n");
}

static void
world_json(const struct world *w, struct strbuf *to)
{
	int of[N_MAX * G_MAX], id = 0;

	strbuf_addf(to,
	    "OK\n{\n\"nccl_version\": \"2.28.9\",\n"
	    "\"communicators\": [");
	for (int i = 0; i < w->n * w->g; i++)
		of[i] = i;
	comm_json(w, to, of, w->n * w->g, id++);
	for (int k = 0; k < w->n; k++)
		comm_json(w, to, of + k * w->g, w->g, id++);
	for (int k = 0; k < w->g; k++) {
		for (int i = 0; i < w->n; i++)
			of[i] = i * w->g + k;
		comm_json(w, to, of, w->n, id++);
	}
	strbuf_addf(to, "],\n\"ras\": {\"timeouts_count\": 0}\n}\n");
}

/* The report of the first node that is alive. */
static json_t *
world_report(const struct world *w, const char *job)
{
	struct ras_read *r = ras_read_new(NULL);
	struct strbuf text = { 0 };
	struct ras_reply reply;
	struct err err = { .text = "" };

	strbuf_addf(&text, "SERVER PROTOCOL 2\nOK\n");
	if (w->is_text)
		world_text(w, &text);
	else
		world_json(w, &text);
	(void)ras_read_feed(r, text.text, text.len_bytes);
	if (ras_read_end(r, &reply, &err) < 0)
		fail_msg("%s", err.text);
	ras_read_free(r);
	strbuf_clear(&text);
	json_object_set_new(reply.report, "job", json_string(job));
	json_object_set_new(reply.report, "addrs", json_array());
	return reply.report;
}

static void
world_begin(struct world *w, uint64_t seed)
{
	struct strbuf names = { 0 };
	char text[40];

	*w = (struct world){ .bad_node = -1, .bad_rank = -1 };
	rng_seed(&w->rng, seed);
	w->n = 2 + (int)draw(w, N_MAX - 2);
	w->g = draw(w, 2) ? 8 : 4;
	w->has_commas = draw(w, 2);
	w->start_ns = (int64_t)clk_unix_ns() - 3600 * NS;
	event_count = 0;
	open_cases = json_array();
	node_count = (size_t)w->n;
	for (int i = 0; i <= N_MAX; i++) {
		struct node *n = &nodes[i];

		free(n->name);
		free(n->gpu_error.text);
		free(n->link_error.text);
		json_decref(n->inventory);
		*n = (struct node){ .name = xasprintf("b%02d", i) };
		snprintf(n->leaf, sizeof(n->leaf), "r%d", i / LEAF_N);
		snprintf(text, sizeof(text), "10.0.0.%d", i + 1);
		n->inventory = json_pack("{s:[{s:[s, s]}]}", "nics", "addrs",
		    "fe80::1", text);
		down[i] = 0;
		if (i < w->n)
			strbuf_addf(&names, "%sb%02d", i > 0 ? "," : "", i);
	}
	w->job = json_pack("{s:s, s:s, s:s, s:I}", "job", "41", "owner",
	    "user-1", "nodes", names.text, "start_unix_ns",
	    (json_int_t)w->start_ns);
	strbuf_clear(&names);
	for (int i = 0; i < w->n * w->g; i++)
		w->launched[i] = 1000;
}

static void
case_put(const char *kind, const char *subject)
{
	json_array_append_new(open_cases,
	    json_pack("{s:s, s:s, s:s, s:I, s:s}", "kind", kind, "subject",
		subject, "verdict", "bad", "since_unix_ns",
		(json_int_t)clk_unix_ns() - 60 * NS, "text", "4 times slower"));
}

/* Set a node's error at this many seconds of the job. */
static void
error_put(const struct world *w, struct node_error *to, int at_s,
    const char *text)
{
	*to = (struct node_error){ xstrdup(text), w->start_ns + at_s * NS };
}

/* The fault occurs; ranks may still launch operations until their queues are
 * full. */
static void
world_break(struct world *w, enum fault fault)
{
	int ranks = w->n * w->g;
	int from, to;

	w->bad_rank = (int)draw(w, (unsigned)ranks);
	w->bad_node = w->bad_rank / w->g;
	from = w->bad_node * w->g;
	to = from + w->g;
	for (int i = 0; i < ranks; i++)
		w->launched[i] = 2000 + (fault == LINK_CUT ? 0 : draw(w, 3));
	if (fault == LEAF_CUT) {
		from = w->bad_node / LEAF_N * LEAF_N * w->g;
		to = from + LEAF_N * w->g < ranks ? from + LEAF_N * w->g
						  : ranks;
		case_put("leaf", nodes[w->bad_node].leaf);
		for (int i = from; i < to && draw(w, 2); i++)
			w->launched[i] = 1997;
	} else if (fault == LINK_CUT) {
		case_put("node", nodes[w->bad_node].name);
	} else if (fault == DIED) {
		for (int i = from; i < to; i++)
			w->silent[i] = 1;
		down[w->bad_node] = 1;
	} else if (fault == HUNG) {
		w->launched[w->bad_rank] = 1999;
	} else {
		w->silent[w->bad_rank] = 1;
		if (fault != XID)
			return;
		error_put(w, &nodes[w->bad_node].gpu_error, 60,
		    w->bad_rank % 2
			? "0000:c1:00.0 of b: a GPU is at fault (xid_79 +1)"
			: "0000:c1:00.0 of b: a GPU is at fault (gpu_lost +1)");
		/* A later error of a link hides no GPU. */
		error_put(w, &nodes[w->bad_node].link_error, 90,
		    "eth0 of b: the link went down (carrier_changes +2)");
	}
}

/* A healthy job: its ranks are at the position of their queues at that moment.
 * Some answers are late, a pause is shorter than two intervals, and a node of
 * another job is slow. */
static void
world_step(struct world *w, int look)
{
	int64_t base = 1000 + 700 * (look + 1);

	for (int i = 0; i < w->n * w->g; i++) {
		w->launched[i] = base + draw(w, 5);
		w->silent[i] = 0;
	}
	if (look % 2 == 1 && draw(w, 3) == 0)
		w->silent[draw(w, (unsigned)(w->n * w->g))] = 1;
}

/* ---- trials ---- */

static char last_text[JOB_TEXT_BYTES], last_state[16], last_cause[16];

/* The finding after the last report. */
static void
world_run(struct world *w, enum fault fault)
{
	struct job_ras *jr = job_ras_new(
	    &(struct job_ras_options){ .store = (struct store *)w,
		.cases = cases,
		.verdict = verdict });
	int64_t now_ns = (int64_t)clk_unix_ns() - LOOKS * 30 * NS;
	json_t *report, *o;

	w->is_text = fault != HEALTHY && fault != LINK_CUT &&
	    fault != LEAF_CUT && draw(w, 5) == 0;
	if (fault == HEALTHY && draw(w, 2)) {
		case_put("node", nodes[N_MAX].name);
		error_put(w, &nodes[0].gpu_error, -60,
		    "0000:c1:00.0 of b00: x (xid_63 +1)");
	}
	for (int i = 0; i < LOOKS; i++) {
		const struct node *from = &nodes[0];

		if (fault == HEALTHY || i == 0)
			world_step(w, i);
		if (fault != HEALTHY && i == 1)
			world_break(w, fault);
		if (fault == DIED && w->bad_node == 0)
			from = &nodes[1];
		report = world_report(w, "41");
		take(jr, w->job, from, report, now_ns);
		/* Another node's report arrives soon after. */
		take(jr, w->job, from, report, now_ns + NS);
		json_decref(report);
		now_ns += 30 * NS;
	}
	o = job_ras_json(jr, "41 1");
	snprintf(last_text, sizeof(last_text), "%s", member_text(o, "text"));
	snprintf(last_state, sizeof(last_state), "%s", member_text(o, "state"));
	snprintf(last_cause, sizeof(last_cause), "%s", member_text(o, "cause"));
	json_decref(o);
	job_ras_free(jr);
	json_decref(w->job);
	json_decref(open_cases);
}

static int
is_right(const struct world *w, enum fault fault)
{
	char rank[80], node[40];

	snprintf(node, sizeof(node), "node b%02d", w->bad_node);
	snprintf(rank, sizeof(rank), "rank %d (node b%02d, GPU %d)",
	    w->bad_rank, w->bad_node, w->bad_rank % w->g);
	if (strcmp(last_cause, names_job_causes[causes[fault]]) != 0)
		return 0;
	if (fault == LEAF_CUT)
		snprintf(node, sizeof(node), "leaf r%d", w->bad_node / LEAF_N);
	if (strcmp(last_state,
		names_job_findings[fault == STOPPED || fault == XID ||
			    fault == DIED
			? JOB_SILENT
			: JOB_STALLED]) != 0 ||
	    event_count == 0 || event_count > 2 ||
	    strcmp(events[event_count - 1], last_text) != 0)
		return 0;
	return strstr(last_text,
		   fault == STOPPED || fault == HUNG || fault == XID
		       ? rank
		       : node) != NULL;
}

static uint64_t trials = 60;

static void
test_trials(void **state)
{
	unsigned right = 0, broken = 0, blamed = 0, healthy = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= trials; seed++) {
		enum fault fault = seed % 3 == 0
		    ? HEALTHY
		    : (enum fault)(1 + seed % (FAULT_MAX - 1));
		struct world w;

		world_begin(&w, seed);
		world_run(&w, fault);
		if (fault == HEALTHY) {
			healthy++;
			blamed += strcmp(last_state, "progresses") != 0 ||
			    event_count > 0;
			if (event_count > 0)
				printf("%llu healthy: %s\n",
				    (unsigned long long)seed, events[0]);
			continue;
		}
		broken++;
		right += is_right(&w, fault);
		if (!is_right(&w, fault))
			printf("%llu fault %d rank %d node %d: %s %s: %s\n",
			    (unsigned long long)seed, fault, w.bad_rank,
			    w.bad_node, last_state, last_cause, last_text);
	}
	printf("%u of %u faults named, %u of %u healthy jobs blamed\n", right,
	    broken, blamed, healthy);
	assert_int_equal(blamed, 0);
	assert_true(20 * right >= 19 * broken);
}

/* Dropped reports; the end of a finding; reports that cannot be interpreted. */
static void
test_reports(void **state)
{
	struct job_ras *jr = job_ras_new(
	    &(struct job_ras_options){ .store = (struct store *)events,
		.cases = cases,
		.verdict = verdict });
	int64_t now_ns = (int64_t)clk_unix_ns() - 300 * NS;
	json_t *report, *o,
	    *error = json_pack("{s:s}", "error",
		"cannot interpret the reply of NCCL 3.1.0");
	size_t counts[JOB_FINDING_MAX];
	struct world w;

	(void)state;
	world_begin(&w, 1);
	report = world_report(&w, "41");
	/* A node that the job is not on reports it. */
	take(jr, w.job, &nodes[N_MAX], error, now_ns);
	take(jr, w.job, &nodes[N_MAX], report, now_ns);
	assert_null(job_ras_json(jr, "41 1"));
	take(jr, w.job, &nodes[0], error, now_ns);
	job_ras_counts(jr, counts);
	assert_int_equal(counts[JOB_UNREAD], 1);
	take(jr, w.job, &nodes[0], report, now_ns);
	job_ras_counts(jr, counts);
	assert_int_equal(counts[JOB_PROGRESSES], 1);
	take(jr, w.job, &nodes[0], report, now_ns + 30 * NS);
	job_ras_counts(jr, counts);
	assert_int_equal(counts[JOB_STALLED], 1);
	assert_int_equal(event_count, 1);
	assert_non_null(strstr(events[0],
	    "no rank is behind, and no collective has been launched since"));
	assert_non_null(strstr(events[0],
	    "; no fault was found in the nodes and leaves of the job"));
	/* The next reports differ. */
	json_decref(report);
	world_step(&w, 0);
	report = world_report(&w, "41");
	take(jr, w.job, &nodes[0], report, now_ns + 60 * NS);
	assert_int_equal(event_count, 2);
	assert_string_equal(events[1], "the job progresses again");
	/* An error is shown where it is the only news for a while. */
	take(jr, w.job, &nodes[1], error, now_ns + 70 * NS);
	job_ras_counts(jr, counts);
	assert_int_equal(counts[JOB_UNREAD], 0);
	take(jr, w.job, &nodes[1], error, now_ns + 200 * NS);
	o = job_ras_list(jr);
	assert_int_equal(json_array_size(o), 1);
	assert_string_equal(member_text(json_array_get(o, 0), "text"),
	    "cannot interpret the reply of NCCL 3.1.0");
	json_decref(o);
	o = json_object();
	job_ras_keep(jr, o);
	json_decref(o);
	assert_null(job_ras_json(jr, "41 1"));
	job_ras_free(jr);
	json_decref(report);
	json_decref(error);
	json_decref(w.job);
	json_decref(open_cases);
}

/* A job that progresses, and whose ranks on one leaf lag in each report. */
static void
test_behind(void **state)
{
	struct job_ras *jr = job_ras_new(
	    &(struct job_ras_options){ .cases = cases, .verdict = verdict });
	int64_t now_ns = (int64_t)clk_unix_ns() - 300 * NS;
	struct world w;
	json_t *o, *report;

	(void)state;
	world_begin(&w, 3);
	for (int i = 0; i < 4; i++) {
		for (int k = 0; k < w.n * w.g; k++)
			w.launched[k] = 1000 * (i + 1) -
			    (k / w.g / LEAF_N == 1 ? 3 : 0);
		report = world_report(&w, "41");
		take(jr, w.job, &nodes[0], report, now_ns + 30 * i * NS);
		json_decref(report);
		o = job_ras_json(jr, "41 1");
		/* Without a verdict on the leaf it is chance. */
		assert_string_equal(member_text(o, "state"),
		    i < 3 ? "progresses" : "behind");
		if (i == 3)
			assert_non_null(strstr(member_text(o, "text"),
			    "ranks on leaf r1 are 3 collectives behind; leaf "
			    "r1 is bad since "));
		json_decref(o);
		if (i == 1)
			case_put("leaf", "r1");
	}
	job_ras_free(jr);
	json_decref(w.job);
	json_decref(open_cases);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reports),
		cmocka_unit_test(test_behind),
		cmocka_unit_test(test_trials),
	};

	if (argc > 1)
		trials = strtoull(argv[1], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
