/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_disk.c - the size of the store, day by day, compared with the formula
 * of coalmined(8): bench_disk NODES DAYS [DIR FROM].
 *
 * All data of a site goes through the real store at its simulated times: the
 * mesh's records as mesh_gather makes them, two light campaigns every five
 * minutes on 256 nodes, one that loads 512 nodes a day, all with their
 * counters and events. Only the wall clock is simulated. Every day begins with
 * the store's start and ends when housekeeping has removed all that is due.
 *
 * With DIR and FROM it continues after the last day of an earlier call, because
 * thirty days of ten thousand nodes take half an hour.
 */
#include <errno.h>
#include <event2/event.h>
#include <ftw.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/hist.h"
#include "common/log.h"
#include "common/rng.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "daemon/mesh/mesh_gather.h"
#include "daemon/store/store.h"
#include "daemon/store/store_db.h"
#include "schema/record.h"

#define STEP_S         300 /* mesh.interval and the light campaigns */
#define STEPS_A_DAY    (86400 / STEP_S)
#define RAW_DAYS       7
#define RETENTION_DAYS 21 /* shorter than by default, to see its end */
#define LIGHT_NODES    256
#define LOAD_NODES     512
#define AT_ONCE        8 /* mesh records that may wait for their commit */
#define QUEUE_ROWS     2000
#define SHAPES         4 /* mesh records that differ; each is packed alone */
#define KEEP_LIMIT_S   600
#define RATIO_MAX      1.25 /* limit of measured over formula, and inverse */

/* The constants of the formula in coalmined(8), in bytes. */
#define MESH_NODE_BYTES 45.0
#define MESH_HOUR_BYTES 1000.0
#define RUN_BYTES       3000.0
#define LIST_NODE_BYTES 32.0
#define COUNTERS_BYTES  320.0
#define NODE_BYTES      1000.0

static uint64_t sim_unix_ns = 1800000000 * CLK_NS_PER_S;
static struct rng rng;

struct sim {
	struct event_base *base;
	struct store *store;
	char dir[256];
	int nodes, days;
	json_t *mesh[SHAPES][MESH_CLASS_MAX];
	json_t *names[3]; /* of all, light and load nodes */
	char mesh_run[32];
	int mesh_seq;
	int put, acked, failed;
};

static uint64_t
sim_clock(void)
{
	return sim_unix_ns;
}

static void
ack_cb(int status, json_t *result, void *arg)
{
	struct sim *s = arg;

	json_decref(result);
	s->acked++;
	s->failed += status != 0;
}

static void
wait_acks(struct sim *s, int open)
{
	while (s->put - s->acked > open)
		event_base_loop(s->base, EVLOOP_ONCE);
}

/* Wait until the writer can accept the rows of one more step. */
static void
wait_room(struct sim *s)
{
	struct store_health h;

	store_health(s->store, &h);
	while (h.queue_rows > QUEUE_ROWS) {
		event_base_loop(s->base, EVLOOP_NONBLOCK);
		usleep(1000);
		store_health(s->store, &h);
	}
}

/* Takes record. */
static void
put(struct sim *s, json_t *record)
{
	s->put++;
	store_put_record(s->store, record, NULL, ack_cb, s);
	json_decref(record);
}

static double
draw_s(double median_s)
{
	double s = median_s * (0.9 + 0.2 * rng_unit(&rng));

	return floor(s * 1e9) / 1e9; /* clocks count nanoseconds */
}

static long
id_find(void *arg, const char *name)
{
	(void)arg;
	return atol(name + 4);
}

static const char *
id_name(void *arg, size_t id)
{
	static char name[32];

	(void)arg;
	snprintf(name, sizeof(name), "node%05zu", id);
	return name;
}

static struct hist *
hist_of(int samples, double median_s)
{
	struct hist *h = xcalloc(1, sizeof(*h));

	hist_clear(h);
	for (int i = 0; i < samples; i++)
		hist_add(h, draw_s(median_s) * (1 + i % 50 / 50.0));
	return h;
}

static json_t *
class_json(const char *class)
{
	json_t *o = json_pack("{s:s,s:i,s:i,s:i,s:i}", "class", class,
	    "answered", 240, "lost", 0, "unknown", 0, "unsent", 0);
	struct hist *h = hist_of(240, 4e-5);

	record_put_hist(o, h);
	json_object_set_new(o, "answered", json_integer(240));
	free(h);
	return o;
}

/* The report of agent i after five minutes: two targets a class. */
static json_t *
report(int nodes, int i)
{
	json_t *targets = json_array();
	char name[32];

	for (int t = 0; t < 4; t++) {
		snprintf(name, sizeof(name), "node%05d",
		    (i + 1 + t + (int)rng_below(&rng, 30)) % nodes);
		json_array_append_new(targets,
		    json_pack("{s:s,s:s,s:i,s:i,s:i,s:f}", "node", name,
			"class", t < 2 ? "leaf" : "spine", "answered", 120,
			"lost", 0, "unknown", 0, "p50", draw_s(4e-5)));
	}
	return json_pack("{s:{s:i,s:i,s:{s:f},s:{s:f},s:f},s:o,s:[o,o]}",
	    "host", "limited", 0, "drops", 0, "turn", "p99", draw_s(3e-5),
	    "wait", "p99", draw_s(6e-5), "stretch", 1.0, "targets", targets,
	    "classes", class_json("leaf"), class_json("spine"));
}

static void
shape_make(struct sim *s, json_t *ret[MESH_CLASS_MAX])
{
	struct mesh_names names = { id_find, id_name, NULL };
	struct mesh_gather *g = mesh_gather_new(1, 1, &names);
	struct err err;

	for (int i = 0; i < s->nodes; i++) {
		json_t *r = report(s->nodes, i);

		if (mesh_gather_add(g, (size_t)i, r, &err) < 0)
			fatalx("a report of node %d: %s", i, err.text);
		json_decref(r);
	}
	mesh_gather_close(g);
	for (int c = 0; c < MESH_CLASS_MAX; c++)
		ret[c] = mesh_gather_record(g, (enum mesh_class)c);
	mesh_gather_free(g);
}

static json_t *
names_make(int count)
{
	json_t *list = json_array();

	for (int i = 0; i < count; i++)
		json_array_append_new(list,
		    json_string(id_name(NULL, (size_t)i)));
	return list;
}

/* One of many records: a head with this run and number, and a shared body. */
static json_t *
numbered(const json_t *shape, const char *run, int seq)
{
	json_t *o = json_copy((json_t *)(uintptr_t)shape);

	json_object_set_new(o, "run", json_string(run));
	json_object_set_new(o, "seq", json_integer(seq));
	return o;
}

static void
put_mesh(struct sim *s, int step)
{
	for (int c = 0; c < MESH_CLASS_MAX; c++)
		put(s,
		    numbered(s->mesh[step % SHAPES][c], s->mesh_run,
			++s->mesh_seq));
	wait_acks(s, AT_ONCE);
}

static void
put_run(struct sim *s, const char *run, const char *class, const char *state,
    json_t *nodes)
{
	json_t *o = json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:O,s:i,s:I,s:s,"
			      "s:I,s:I,s:I,s:s}",
	    "run", run, "campaign", "bench", "class", class, "mpi", "openmpi",
	    "state", state, "cause", "none", "text", "", "nodes", nodes,
	    "ranks", (int)json_array_size(nodes), "seed", (json_int_t)12345,
	    "by", "schedule", "created_unix_ns", (json_int_t)sim_unix_ns,
	    "started_unix_ns", (json_int_t)sim_unix_ns, "ended_unix_ns",
	    (json_int_t)sim_unix_ns, "campaign_text",
	    "[campaign]\nabout = light background canary\nclass = background\n"
	    "nodes = all\nnodes_max = 256\n[canary]\ntests = lat,allreduce\n");

	s->put++;
	store_put_run(s->store, o,
	    &(struct store_event){ "run", run, "campaign bench finished",
		NULL },
	    ack_cb, s);
	json_decref(o);
}

static json_t *
nics_make(void)
{
	static const char *const names[] = { "rx_bytes", "tx_bytes",
		"rx_packets", "tx_packets", "rx_dropped", "tx_dropped",
		"rx_errors", "tx_errors", "rx_missed_errors", "rx_over_errors",
		"rx_crc_errors", "collisions", "multicast", "carrier_changes" };
	json_t *nics = json_array();

	for (int n = 0; n < 2; n++) {
		json_t *o = json_object();

		for (size_t i = 0; i < ARRAY_LEN(names); i++)
			json_object_set_new(o, names[i],
			    json_integer(i < 4
				    ? (json_int_t)rng_below(&rng, 1U << 30) *
					1000
				    : 0));
		json_array_append_new(nics,
		    json_pack("{s:s,s:o}", "nic", n == 0 ? "eth0" : "hsn0",
			"counters", o));
	}
	return nics;
}

static void
put_counters(struct sim *s, const char *run, const json_t *nodes, int border)
{
	json_t *node;
	size_t i;

	json_array_foreach (nodes, i, node) {
		json_t *nics = nics_make();

		store_put_counters(s->store, run, json_string_value(node),
		    border, (int64_t)sim_unix_ns, nics);
		json_decref(nics);
	}
	put(s,
	    json_pack("{s:s,s:i,s:s,s:s}", "run", run, "seq", border, "probe",
		"phase", "phase", "wild"));
	wait_room(s);
}

static json_t *
canary(const json_t *nodes)
{
	json_t *o = json_pack("{s:s,s:s,s:s,s:s,s:s}", "probe", "canary",
	    "test", "lat", "phase", "wild", "unit", "s", "stopped_by",
	    "precision");
	struct hist *h = hist_of(4000, 2e-5);
	json_t *list = json_array(), *node;
	size_t i;

	record_put_hist(o, h);
	free(h);
	json_array_foreach (nodes, i, node)
		json_array_append_new(list,
		    json_pack("{s:O,s:i,s:f,s:f,s:f,s:f,s:i,s:i}", "node", node,
			"n", 32, "p50", draw_s(2e-5), "p99", draw_s(4e-5),
			"q25", draw_s(2e-5), "q75", draw_s(2e-5), "partners", 2,
			"slow_partners", 0));
	json_object_set_new(o, "nodes", list);
	return o;
}

/* Store a run with this number of canary records and of phase borders. */
static void
campaign(struct sim *s, const char *run, const char *class, json_t *nodes,
    int canaries, int borders)
{
	json_t *shape = canary(nodes);

	put_run(s, run, class, "running", nodes);
	for (int b = 1; b <= borders; b++)
		put_counters(s, run, nodes, b);
	for (int i = 0; i < canaries; i++)
		put(s, numbered(shape, run, borders + 1 + i));
	put_run(s, run, class, "finished", nodes);
	json_decref(shape);
}

static void
put_nodes(struct sim *s)
{
	json_t *name;
	size_t i;

	json_array_foreach (s->names[0], i, name) {
		json_t *o = json_pack("{s:O,s:s,s:I,s:s,s:s,s:{s:i,s:s,s:s}}",
		    "node", name, "state", "up", "last_seen_unix_ns",
		    (json_int_t)sim_unix_ns, "addr", "10.0.0.1", "software",
		    COALMINE_VERSION, "inventory", "cores", 64, "kernel",
		    "6.1.0-13-amd64", "cpu", "a processor of some kind");

		store_put_node(s->store, o);
		json_decref(o);
		if (i % 5000 == 4999)
			sleep(1); /* nodes have no acknowledgement */
	}
}

static int64_t
ask_int(const struct sim *s, const char *sql, int64_t before_unix_ns)
{
	char path[300];
	sqlite3_stmt *q = NULL;
	int64_t value = -1;
	sqlite3 *db;

	snprintf(path, sizeof(path), "%s/coalmine.db", s->dir);
	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) ==
	    SQLITE_OK) {
		sqlite3_busy_timeout(db, 5000);
		sqlite3_prepare_v2(db, sql, -1, &q, NULL);
		if (sqlite3_bind_parameter_count(q) > 0)
			sqlite3_bind_int64(q, 1, before_unix_ns);
		if (sqlite3_step(q) == SQLITE_ROW)
			value = sqlite3_column_int64(q, 0);
		sqlite3_finalize(q);
	}
	sqlite3_close(db);
	return value;
}

/* Wait until housekeeping has nothing left to do at this time. */
static void
wait_kept(struct sim *s)
{
	uint64_t end_ns = clk_ns() + KEEP_LIMIT_S * CLK_NS_PER_S;
	int64_t raw = (int64_t)(sim_unix_ns - RAW_DAYS * 86400 * CLK_NS_PER_S);
	int64_t old = (int64_t)(sim_unix_ns -
	    RETENTION_DAYS * 86400 * CLK_NS_PER_S);
	int64_t left;

	do {
		usleep(200000);
		left = ask_int(s,
			   "SELECT EXISTS (SELECT 1 FROM record WHERE raw = 2"
			   " AND at_unix_ns < ?1)",
			   raw) +
		    ask_int(s,
			"SELECT EXISTS (SELECT 1 FROM counters"
			" WHERE at_unix_ns < ?1)",
			raw) +
		    ask_int(s,
			"SELECT EXISTS (SELECT 1 FROM run WHERE final = 1"
			" AND created_unix_ns < ?1)",
			old);
	} while (left != 0 && clk_ns() < end_ns);
	if (left != 0)
		fatalx("housekeeping does not end");
}

static void
day(struct sim *s, int number)
{
	char run[64];

	s->mesh_seq = 0;
	snprintf(s->mesh_run, sizeof(s->mesh_run), "mesh-%d", number);
	put_run(s, s->mesh_run, "background", "finished", s->names[1]);
	for (int step = 0; step < STEPS_A_DAY; step++) {
		sim_unix_ns += STEP_S * CLK_NS_PER_S;
		put_mesh(s, step);
		snprintf(run, sizeof(run), "canary-%d-%d", number, step);
		campaign(s, run, "background", s->names[1], 2, 2);
		snprintf(run, sizeof(run), "watch-%d-%d", number, step);
		campaign(s, run, "background", s->names[1], 1, 2);
	}
	snprintf(run, sizeof(run), "load-%d", number);
	campaign(s, run, "exclusive", s->names[2], 6, 4);
	wait_acks(s, 0);
}

static int
min_int(int a, int b)
{
	return a < b ? a : b;
}

/* Return the bytes after this number of days by the formula of coalmined(8). */
static double
formula(const struct sim *s, int days)
{
	int raw = min_int(days, RAW_DAYS), all = min_int(days, RETENTION_DAYS);
	double light = json_array_size(s->names[1]);
	double load = json_array_size(s->names[2]);

	return raw * STEPS_A_DAY * 2.0 * s->nodes * MESH_NODE_BYTES +
	    all * 48 * MESH_HOUR_BYTES +
	    all * (2 * STEPS_A_DAY + 1) * RUN_BYTES +
	    raw * STEPS_A_DAY * light * (3 * LIST_NODE_BYTES) +
	    all * load * 6 * LIST_NODE_BYTES +
	    raw * (STEPS_A_DAY * 2 * 2 * light + 4 * load) * COUNTERS_BYTES +
	    s->nodes * NODE_BYTES;
}

/* Return the bytes of used pages. The file also has free pages, which are
 * returned step by step. */
static double
used_bytes(const struct sim *s)
{
	return (double)(ask_int(s, "PRAGMA page_count", 0) -
		   ask_int(s, "PRAGMA freelist_count", 0)) *
	    (double)ask_int(s, "PRAGMA page_size", 0);
}

static int
tell(const struct sim *s, int days, double took_s, double cpu_s)
{
	double used = used_bytes(s), want = formula(s, days);
	char path[300];
	struct stat st;

	snprintf(path, sizeof(path), "%s/coalmine.db", s->dir);
	if (stat(path, &st) < 0)
		st.st_size = 0;
	printf("| %d | %.1f | %.1f | %.1f | %.2f | %.0f | %.0f |\n", days,
	    used / 1e6, (double)st.st_size / 1e6, want / 1e6, used / want,
	    took_s, cpu_s);
	fflush(stdout);
	return used > want * RATIO_MAX || used < want / RATIO_MAX;
}

/* CPU time of both threads, which does not depend on other load. */
static double
cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int
one_day(struct sim *s, int number)
{
	struct store_options o = { .dir = s->dir,
		.retention_ns = RETENTION_DAYS * 86400 * CLK_NS_PER_S,
		.raw_retention_ns = RAW_DAYS * 86400 * CLK_NS_PER_S };
	uint64_t began_ns = clk_ns();
	double began_cpu_s = cpu_seconds();
	int bad;

	if (store_open(&o, s->base, &s->store) < 0)
		fatalx("no store in %s", s->dir);
	if (number == 1)
		put_nodes(s);
	day(s, number);
	store_close(s->store);
	/* Housekeeping starts a second after the start of the store. */
	if (store_open(&o, s->base, &s->store) < 0)
		fatalx("no store in %s", s->dir);
	wait_kept(s);
	store_close(s->store);
	bad = tell(s, number, (double)(clk_ns() - began_ns) / 1e9,
	    cpu_seconds() - began_cpu_s);
	return bad || s->failed > 0;
}

static int
unlink_cb(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int
arg_int(const char *text, const char *what, int least)
{
	int64_t value;

	if (str_to_int(text, least, 100000, &value) < 0)
		fatalx("%s: %s, allowed: %d to 100000", what, text, least);
	return (int)value;
}

int
main(int argc, char **argv)
{
	struct sim s = { .base = event_base_new() };
	int from = 1, bad = 0, own = argc < 4;

	if (argc != 3 && argc != 5)
		fatalx("usage: bench_disk NODES DAYS [DIR FROM]");
	s.nodes = arg_int(argv[1], "NODES", 40);
	s.days = arg_int(argv[2], "DAYS", 1);
	from = own ? 1 : arg_int(argv[4], "FROM", 1);
	snprintf(s.dir, sizeof(s.dir), "%s",
	    own ? "/tmp/coalmine-bench-XXXXXX" : argv[3]);
	if (own && mkdtemp(s.dir) == NULL)
		fatalx("no folder in /tmp");
	rng_seed(&rng, 7);
	clk_set_source(NULL, sim_clock);
	sim_unix_ns += (uint64_t)(from - 1) * 86400 * CLK_NS_PER_S;
	for (int i = 0; i < SHAPES; i++)
		shape_make(&s, s.mesh[i]);
	s.names[0] = names_make(s.nodes);
	s.names[1] = names_make(min_int(s.nodes, LIGHT_NODES));
	s.names[2] = names_make(min_int(s.nodes, LOAD_NODES));
	for (int d = from; d <= s.days; d++)
		bad |= one_day(&s, d);
	event_base_free(s.base);
	if (own)
		nftw(s.dir, unlink_cb, 8, FTW_DEPTH | FTW_PHYS);
	return bad;
}
