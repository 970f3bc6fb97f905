/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_ledger.c - jobs at 10,000 nodes: the time that the loop is blocked by
 * an answer of the scheduler, by results of canaries, by the ledger's ticks,
 * and by requests about a week of jobs. bench_ledger [DAYS]. Times are CPU
 * times of the thread, so that a busy machine has no effect.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/rng.h"
#include "daemon/jobs/jobs.c"
#include "daemon/jobs/job_join.h"
#include "daemon/jobs/ledger/job_costs.h"
#include "schema/mesh.h"

#define NODES      10000
#define LEAF_NODES 40
#define EPOCH_S    300
#define SPINE      2    /* targets of a node on other leaves, in an epoch */
#define JOBS       4000 /* maximum number of concurrent jobs */
#define NAMES      200
#define BOUND_S    0.5 /* ten times the documented limit */
#define T0         1795000000LL
#define NS         ((int64_t)CLK_NS_PER_S)

static struct node nodes[NODES];
static json_t *rows; /* occasions */

void
store_put_occasion(struct store *st, const json_t *occasion)
{
	(void)st;
	json_array_append(rows, (json_t *)(uintptr_t)occasion);
}

struct node *
roster_by_id(const struct roster *r, size_t id)
{
	(void)r;
	return &nodes[id];
}

size_t
roster_count(const struct roster *r)
{
	(void)r;
	return NODES;
}

struct node *
roster_find_host(const struct roster *r, const char *name)
{
	long id = strtol(name + 1, NULL, 10);

	(void)r;
	return id < NODES ? &nodes[id] : NULL;
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

/* ---- */

struct stopwatch {
	const char *what;
	double sum_s, worst_s;
	size_t count;
};

static double
thread_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void
took(struct stopwatch *w, double began_s)
{
	double s = thread_s() - began_s;

	w->sum_s += s;
	w->worst_s = fmax(w->worst_s, s);
	w->count++;
}

static struct rng rng;

/* Jobs of 1 to 512 nodes from anywhere, an hour on the average. */
struct place {
	int64_t from_s, to_s; /* from_s 0: none yet */
	unsigned job;
	char line[160];
};
static struct place places[JOBS];

static char *
answer_of(int64_t now_s)
{
	struct strbuf sb = { 0 };
	static unsigned serial;
	int used = 0;

	for (size_t i = 0; i < JOBS && used < NODES; i++) {
		struct place *p = &places[i];
		int size = 1 << rng_below(&rng, 10);

		/* An ended job is listed once more. */
		if (p->from_s != 0 && p->to_s < now_s - 60)
			p->from_s = 0;
		if (p->from_s == 0) {
			int first = used + size > NODES ? 0 : used;

			*p = (struct place){ now_s - 30,
				now_s + 300 + (int64_t)rng_below(&rng, 6600),
				++serial, "" };
			snprintf(p->line, sizeof(p->line), "|n[%d-%d]|app%d\n",
			    first, first + size - 1,
			    (int)rng_below(&rng, NAMES));
		}
		used += size;
		strbuf_addf(&sb, "%u|u%zu|%s|%" PRId64 "|%" PRId64 "%s", p->job,
		    i % 300, p->to_s > now_s ? "RUNNING" : "COMPLETED",
		    p->from_s, p->to_s, p->line);
	}
	return sb.text;
}

static size_t
paths_make(struct mesh_path *paths)
{
	size_t n = 0;

	for (uint32_t a = 0; a < NODES; a++)
		for (int k = 0; k < SPINE; k++)
			paths[n++] = (struct mesh_path){ .a = a,
				.b = (uint32_t)rng_below(&rng, NODES),
				.p50_s = 1e-5 * (1 + 0.1 * rng_unit(&rng)) };
	return n;
}

static void
canaries_tell(struct jobs *js, int64_t at_ns, struct stopwatch *w)
{
	static const char *const tests[] = { "lat", "bw", "allreduce" };
	uint32_t of[64];

	for (size_t i = 0; i < 60; i++) {
		struct round canary = { .is_canary = 1,
			.test = tests[i % 3],
			.phase = "wild",
			.mean = 1e-5 * (1 + 0.1 * rng_unit(&rng)) };
		double began_s;

		for (uint32_t k = 0; k < 64; k++)
			of[k] = (uint32_t)((i / 3 * 500 + k * 7) % NODES);
		began_s = thread_s();
		job_ledger_canary(js->ledger, of, 64, &canary, at_ns);
		took(w, began_s);
	}
}

/* Simulate every second of this number of days. */
static void
live(struct jobs *js, double days, struct stopwatch *watches)
{
	struct mesh_path *paths = xcalloc(NODES * SPINE, sizeof(*paths));
	double began_s;
	size_t count;

	for (int64_t s = T0; s < T0 + (int64_t)(days * 86400); s++) {
		if (s % 60 == 0) {
			char *text = answer_of(s);

			began_s = thread_s();
			jobs_take(js, text, 0, s * NS);
			took(&watches[0], began_s);
			free(text);
		}
		if (s % 10 == 0) {
			for (size_t i = 0; i < NODES; i++) {
				double net = rng_unit(&rng) < 0.02 ? 0 : 0.5;

				nodes[i].host_ns = clk_ns();
				nodes[i].host.net = nodes[i].host.net_told =
				    net;
			}
			began_s = thread_s();
			jobs_loud_look(js, s * NS);
			took(&watches[1], began_s);
		}
		if (s % EPOCH_S == 0) {
			count = paths_make(paths);
			began_s = thread_s();
			job_ledger_paths(js->ledger, paths, count, s * NS);
			took(&watches[2], began_s);
			canaries_tell(js, s * NS, &watches[3]);
		}
		began_s = thread_s();
		job_ledger_tick(js->ledger, s * NS);
		took(&watches[4], began_s);
	}
	free(paths);
}

/* Compute the costs by job name from a week of such rows. */
static json_t *
costs_of(double days, size_t *ret_week, struct stopwatch *watches)
{
	struct job_costs *costs;
	double began_s;
	json_t *told;
	size_t week;
	int more;

	costs = job_costs_new(JOB_COSTS_BY_NAME);
	week = (size_t)((double)json_array_size(rows) * fmax(1, 7 / days));
	for (size_t i = 0; i < week;) {
		json_t *page = json_array();

		for (; i < week && json_array_size(page) < 2000; i++)
			json_array_append(page,
			    json_array_get(rows, i % json_array_size(rows)));
		began_s = thread_s();
		job_costs_add(costs, page);
		took(&watches[0], began_s);
		json_decref(page);
	}
	do {
		began_s = thread_s();
		more = job_costs_next(costs);
		took(&watches[1], began_s);
	} while (more);
	told = job_costs_told(costs);
	job_costs_free(costs);
	*ret_week = week;
	return told;
}

int
main(int argc, char **argv)
{
	struct stopwatch watches[] = { { .what = "an answer of squeue" },
		{ .what = "jobs with traffic" },
		{ .what = "an epoch of the mesh" },
		{ .what = "a record of a canary" }, { .what = "a tick" },
		{ .what = "2,000 rows of costs" },
		{ .what = "a statement by name" } };
	double days = argc > 1 ? atof(argv[1]) : 0.25, worst_s = 0;
	struct jobs_options o = { .source = JOBS_COMMAND,
		.job_names = 1,
		.interval_ns = 60 * CLK_NS_PER_S,
		.sample_ns = EPOCH_S * CLK_NS_PER_S };
	char dir[] = "/tmp/coalmine-ledger.XXXXXX", key[80];
	struct jobs *js;
	struct err err;
	json_t *told;
	size_t week;

	o.dir = mkdtemp(dir);
	if (o.dir == NULL || jobs_open(&o, &js, &err) < 0)
		return 1;
	rng_seed(&rng, 1);
	rows = json_array();
	for (size_t i = 0; i < NODES; i++) {
		nodes[i].id = i;
		snprintf(nodes[i].leaf, sizeof(nodes[i].leaf), "leaf%zu",
		    i / LEAF_NODES);
	}
	live(js, days, watches);
	told = costs_of(days, &week, &watches[5]);
	printf("%.2f days of jobs on %d nodes: %zu rows, repeated to %zu as in "
	       "a week; %zu statements\n\n"
	       "| call | calls | mean | longest |\n"
	       "| --- | ---: | ---: | ---: |\n",
	    days, NODES, json_array_size(rows), week, json_array_size(told));
	for (size_t i = 0; i < ARRAY_LEN(watches); i++) {
		const struct stopwatch *w = &watches[i];

		printf("| %s | %zu | %.2f ms | %.1f ms |\n", w->what, w->count,
		    1e3 * w->sum_s / (double)w->count, 1e3 * w->worst_s);
		worst_s = fmax(worst_s, w->worst_s);
	}
	jobs_free(js);
	json_decref(told);
	json_decref(rows);
	snprintf(key, sizeof(key), "%s/jobs.key", dir);
	unlink(key);
	rmdir(dir);
	return worst_s > BOUND_S || week == 0;
}
