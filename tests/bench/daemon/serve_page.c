/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve_page.c - serve the real page, metrics and API of a simulated cluster:
 * serve_page PORT [NODES [RECORDS]], 0 for any free port; RECORDS is a JSON
 * array of records, shown as run plans-1. It prints its address and the socket
 * for operators, and ends with its terminal or by kill.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <math.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/hist.h"
#include "common/log.h"
#include "common/rng.h"
#include "common/robust.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "daemon/http/http.h"
#include "schema/record.h"
#include "tests/unit/daemon/http/fake_api.h"

#define HOUR_NS (3600 * CLK_NS_PER_S)
#define RUNS    24

static struct rng rng;

/* Lognormal, with a tail when congested. */
static double
draw(double median, double sigma, double tail)
{
	double v = median *
	    exp(sigma * robust_normal_quantile(rng_unit(&rng) * 0.998 + 0.001));

	return rng_unit(&rng) < tail ? v * (2 + 4 * rng_unit(&rng)) : v;
}

/* Slowdown of a node compared with its peers: of node7, and of a few nodes of a
 * large cluster. */
static double
worse(int i)
{
	if (i == 6)
		return 1.4;
	if (i > 48 && i % 1499 == 0)
		return 1.2;
	return 1 + 0.01 * (i % 3) + 0.002 * (i % 7);
}

/* The values of all pairs; pairs of the slow node are slow. */
static json_t *
grid(double median, int is_rate)
{
	json_t *names = json_array(), *rows = json_array();
	char name[32];

	for (int i = 0; i < fake.nodes; i++) {
		json_t *row = json_array();

		for (int j = 0; j < i; j++) {
			double factor = fmax(worse(i), worse(j)) *
			    (0.97 + 0.06 * rng_unit(&rng));

			json_array_append_new(row,
			    json_real(
				is_rate ? median / factor : median * factor));
		}
		snprintf(name, sizeof(name), "node%d", i + 1);
		json_array_append_new(names, json_string(name));
		json_array_append_new(rows, row);
	}
	return json_pack("{s:o,s:o}", "nodes", names, "p50", rows);
}

static json_t *
canary(const char *run, int *seq, const char *test, const char *phase,
    const char *unit, double median, double sigma, double tail)
{
	json_t *record = json_pack("{s:s,s:i,s:s,s:s,s:s,s:s,s:s}", "run", run,
	    "seq", ++*seq, "probe", "canary", "test", test, "phase", phase,
	    "unit", unit, "stopped_by", tail > 0 ? "time" : "precision");
	struct hist *h = xcalloc(1, sizeof(*h));
	json_t *nodes = json_array(), *pairs = json_array();
	int is_rate = strcmp(unit, "B/s") == 0;
	/* All nodes of a large cluster once: they are a megabyte. */
	int measured = *seq == 1 ? fake.nodes : 12;
	char a[32], b[32];

	hist_clear(h);
	for (int i = 0; i < 20000; i++)
		hist_add(h, draw(median, sigma, tail));
	record_put_hist(record, h);
	json_object_set_new(record, "interval",
	    json_pack("{s:s,s:f,s:f,s:f}", "of", is_rate ? "p01" : "p99",
		"level", 0.95, "lo", hist_quantile(h, is_rate ? 0.008 : 0.988),
		"hi", hist_quantile(h, is_rate ? 0.012 : 0.992)));
	if (is_rate)
		json_object_set_new(record, "p01",
		    json_real(hist_quantile(h, 0.01)));
	for (int i = 0; i < fake.nodes && i < measured; i++) {
		double factor = is_rate ? 1 / worse(i) : worse(i);

		snprintf(a, sizeof(a), "node%d", i + 1);
		json_array_append_new(nodes,
		    json_pack("{s:s,s:i,s:f,s:f,s:f,s:f}", "node", a, "n", 1600,
			"p50", median, "p99", median * 2, "q25",
			median * 0.95 * factor, "q75", median * factor));
	}
	for (int i = 0; i < 4; i++) {
		snprintf(a, sizeof(a), "node%d", i + 2);
		snprintf(b, sizeof(b), "node%d", 9 - i);
		json_array_append_new(pairs,
		    json_pack("{s:s,s:s,s:i,s:f}", "a", a, "b", b, "n", 200,
			"p50", median * (2 - 0.1 * i)));
	}
	json_object_set_new(record, "nodes", nodes);
	json_object_set_new(record, "pairs", pairs);
	if (fake.nodes <= RECORD_GRID_MAX && strcmp(test, "allreduce") != 0)
		json_object_set_new(record, "grid", grid(median, is_rate));
	free(h);
	return record;
}

struct target {
	struct store *store;
	struct series *series;
};

static void
put(struct target *t, json_t *record)
{
	store_put_record(t->store, record, NULL, NULL, NULL);
	series_record(t->series, "exclusive", record, NULL);
	json_decref(record);
}

static void
impact(struct target *t, const char *run, int *seq, const char *test,
    const char *of, double value)
{
	put(t,
	    json_pack("{s:s,s:i,s:s,s:s,s:s,s:f,s:{s:f,s:f,s:f}}", "run", run,
		"seq", ++*seq, "probe", "impact", "test", test, "of", of,
		"value", value, "interval", "level", 0.95, "lo", value * 0.88,
		"hi", value * 1.13));
}

static void
put_run(struct target *t, int i, uint64_t now_unix_ns)
{
	uint64_t began_ns = now_unix_ns - (uint64_t)i * HOUR_NS;
	int failed = i == 5, seq = 0;
	double load = 1 + 0.5 * sin(i * 0.7);
	char run[64];
	json_t *row;

	snprintf(run, sizeof(run), "gpcnet-quick-%03d", 200 - i);
	row = json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:i,s:i,s:I,"
			"s:I,s:I,s:s}",
	    "run", run, "campaign", "gpcnet-quick", "class", "exclusive", "mpi",
	    "openmpi", "state", failed ? "failed" : "finished", "nodes",
	    "node[1-12]", "head", "node1", "ranks", 12, "seed", 4711 + i,
	    "created_unix_ns", (json_int_t)began_ns, "started_unix_ns",
	    (json_int_t)(began_ns + CLK_NS_PER_S), "ended_unix_ns",
	    (json_int_t)(began_ns + 48 * CLK_NS_PER_S), "by", "schedule");
	if (failed)
		json_object_set_new(row, "text",
		    json_string("node7: agent lost: silent for 10 s while the "
				"run lasted"));
	store_put_run(t->store, row, NULL, NULL, NULL);
	json_decref(row);
	if (failed)
		return;
	put(t, canary(run, &seq, "lat", "isolated", "s", 34e-6, 0.25, 0));
	put(t,
	    canary(run, &seq, "lat", "congested", "s", 560e-6 * load, 0.5,
		0.05));
	put(t, canary(run, &seq, "bw-sync", "isolated", "B/s", 22e6, 0.1, 0));
	put(t, canary(run, &seq, "bw-sync", "congested", "B/s", 6e6, 0.4, 0));
	put(t, canary(run, &seq, "allreduce", "isolated", "s", 61e-6, 0.2, 0));
	put(t,
	    canary(run, &seq, "allreduce", "congested", "s", 900e-6, 0.5,
		0.03));
	impact(t, run, &seq, "lat", "mean", 16.2 * load);
	impact(t, run, &seq, "lat", "p99", 26.8 * load);
	impact(t, run, &seq, "bw-sync", "mean", 3.6);
	impact(t, run, &seq, "bw-sync", "p99", 4.1);
	impact(t, run, &seq, "allreduce", "mean", 14.7);
	impact(t, run, &seq, "allreduce", "p99", 21.3);
}

/* A run for each kind of congestor, with a different effect on the p99 of each
 * canary. */
static void
put_matrix(struct target *t, uint64_t now_unix_ns)
{
	static const struct {
		const char *mix;
		double lat, bw;
	} kinds[] = { { "alltoall", 14.1, 3.9 }, { "incast", 31.7, 2.2 },
		{ "put-incast", 9.4, 1.8 }, { "get-bcast", 1.1, 1.0 } };

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		json_int_t at = (json_int_t)(now_unix_ns - (240 + i) * HOUR_NS);
		char run[32];
		json_t *o;
		int seq = 1;

		snprintf(run, sizeof(run), "matrix-%zu", i + 1);
		o = json_pack("{s:s,s:s,s:s,s:s,s:s,s:I,s:I,s:I}", "run", run,
		    "campaign", "matrix", "class", "exclusive", "state",
		    "finished", "nodes", "node[1-12]", "created_unix_ns", at,
		    "started_unix_ns", at, "ended_unix_ns", at);
		store_put_run(t->store, o, NULL, NULL, NULL);
		json_decref(o);
		o = json_pack("{s:s,s:i,s:s,s:{s:s}}", "run", run, "seq", seq,
		    "probe", "begin", "options", "congestor.mix", kinds[i].mix);
		store_put_record(t->store, o, NULL, NULL, NULL);
		json_decref(o);
		impact(t, run, &seq, "lat", "p99", kinds[i].lat);
		impact(t, run, &seq, "bw-sync", "p99", kinds[i].bw);
	}
}

static void
put_plans(struct target *t, const char *path, uint64_t now_unix_ns)
{
	json_error_t error;
	json_t *list = json_load_file(path, 0, &error), *record, *row;
	size_t i;

	if (!json_is_array(list))
		fatalx("%s:%d: %s", path, error.line, error.text);
	row = json_pack("{s:s,s:s,s:s,s:s,s:s,s:I,s:I,s:I}", "run", "plans-1",
	    "campaign", "plans", "class", "exclusive", "state", "finished",
	    "nodes", "node[1-2]", "created_unix_ns",
	    (json_int_t)(now_unix_ns - 25 * HOUR_NS), "started_unix_ns",
	    (json_int_t)(now_unix_ns - 25 * HOUR_NS), "ended_unix_ns",
	    (json_int_t)(now_unix_ns - 24 * HOUR_NS));
	store_put_run(t->store, row, NULL, NULL, NULL);
	json_decref(row);
	json_array_foreach (list, i, record)
		store_put_record(t->store, record, NULL, NULL, NULL);
	json_decref(list);
}

static json_t *
live_run(uint64_t now_unix_ns)
{
	return json_pack("[{s:s,s:s,s:s,s:s,s:[s,s,s],s:I,s:I,s:{s:f,s:s,s:s,"
			 "s:i}}]",
	    "run", "gpcnet-quick-201", "campaign", "gpcnet-quick", "class",
	    "exclusive", "state", "running", "nodes", "node1", "node2", "node3",
	    "created_unix_ns", (json_int_t)(now_unix_ns - 20 * CLK_NS_PER_S),
	    "started_unix_ns", (json_int_t)(now_unix_ns - 19 * CLK_NS_PER_S),
	    "progress", "share", 0.42, "phase", "congested", "test", "bw-sync",
	    "remaining_s", 27);
}

/* Three jobs; one was on node7, whose links lost half their rate meanwhile. */
static void
put_jobs(struct target *t, uint64_t now_unix_ns)
{
	static const struct {
		const char *job, *name, *nodes;
		int ago_h, lasts_h; /* 0: it runs */
	} jobs[] = { { "4711", "lammps", "node[5-8]", 6, 4 },
		{ "4712_3", "gromacs", "node[1-2,9]", 5, 1 },
		{ "4713", "lammps", "node[1-4]", 1, 0 } };
	json_int_t now = (json_int_t)now_unix_ns, hour = (json_int_t)HOUR_NS;
	json_t *o;

	for (size_t i = 0; i < ARRAY_LEN(jobs); i++) {
		o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:{s:b, "
			      "s:b}, s:I}",
		    "job", jobs[i].job, "whole", jobs[i].job, "owner",
		    "user-3f9ac01b22", "name", jobs[i].name, "state",
		    jobs[i].lasts_h > 0 ? "COMPLETED" : "RUNNING", "nodes",
		    jobs[i].nodes, "node_count", 4, "leaves", "leaf1", 1,
		    "leaf2", 1, "start_unix_ns", now - jobs[i].ago_h * hour);
		if (jobs[i].lasts_h > 0)
			json_object_set_new(o, "end_unix_ns",
			    json_integer(now -
				(jobs[i].ago_h - jobs[i].lasts_h) * hour));
		store_put_batch_job(t->store, o);
		json_decref(o);
	}
	for (int i = 0; i < 3; i++) {
		o = json_pack("{s:I, s:s, s:[]}", "at_unix_ns",
		    now - (7 - 3 * i) * hour, "known", "node[1-8]", "slow");
		if (i == 1)
			json_array_append_new(json_object_get(o, "slow"),
			    json_pack("{s:s, s:s, s:f, s:f}", "kind", "node",
				"subject", "node7", "share", 0.5, "spread",
				0.03));
		store_put_shares(t->store, o);
		json_decref(o);
		for (int k = 0; k < 4; k++) {
			o = json_pack("{s:s, s:I, s:I, s:s, s:s, s:i, s:f, "
				      "s:f, s:[f, f, f, f]}",
			    "job", jobs[i].job, "start_unix_ns",
			    now - jobs[i].ago_h * hour, "at_unix_ns",
			    now - jobs[i].ago_h * hour + k, "test",
			    k % 2 == 0 ? "mesh" : "lat", "name", jobs[i].name,
			    "sign", 1, "log_ratio", i == 1 ? 0.001 : 0.09,
			    "beside_node_s", 7200.0, "placebos", 0.001, -0.001,
			    0.002, 0.0005);
			store_put_occasion(t->store, o);
			json_decref(o);
		}
	}
}

/* *port is set to the port that was bound. */
static int
listen_on(int *port)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)*port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
	socklen_t len = sizeof(at);

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
	    listen(fd, 64) < 0 ||
	    getsockname(fd, (struct sockaddr *)&at, &len) < 0)
		fatal("port %d", *port);
	*port = ntohs(at.sin_port);
	return fd;
}

/* The verdict of node7, as after a confirmation run. */
static json_t *
verdicts_of(uint64_t now_unix_ns)
{
	return json_pack("[{s:s,s:s,s:s,s:s,s:I,s:i,s:s}]", "kind", "node",
	    "subject", "node7", "verdict", "bad", "what", "node",
	    "since_unix_ns", (json_int_t)(now_unix_ns - 3 * HOUR_NS), "rounds",
	    6, "text",
	    "node7: 40 % slower than 5 of 5 partners over 6 rounds (lat); its "
	    "partners are normal with other nodes; confirmation run: the "
	    "node is slow, not its leaf");
}

static void
end_cb(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	event_base_loopbreak(arg);
}

static void
serve(struct event_base *base, int port, const char *dir, const char *plans)
{
	char *socket = xasprintf("%s/http.sock", dir);
	struct store_options so = { .dir = dir };
	struct http_options o = { .listen = "",
		.socket = socket,
		.tls_listen = "",
		.connections_max = 64 };
	struct target t = { .series = series_new() };
	uint64_t now_unix_ns = clk_unix_ns();
	struct http *http;

	if (store_open(&so, base, &t.store) < 0)
		exit(1);
	put_jobs(&t, now_unix_ns);
	put_matrix(&t, now_unix_ns);
	for (int i = RUNS; i >= 1; i--)
		put_run(&t, i, now_unix_ns);
	if (plans != NULL)
		put_plans(&t, plans, now_unix_ns);
	fake.runs = live_run(now_unix_ns);
	fake.verdicts = verdicts_of(now_unix_ns);
	fake.series = t.series;
	fake.scored = 7;
	fake.jobs = 1;
	o.listen_fd = listen_on(&port);
	if (http_open(&o, base, NULL, t.store, &http) < 0)
		exit(1);
	http_start(http);
	printf("http://127.0.0.1:%d/\n%s\n", port, socket);
	fflush(stdout);
	event_base_dispatch(base);
	http_close(http);
	store_close(t.store);
	series_free(t.series);
	json_decref(fake.runs);
	json_decref(fake.verdicts);
	free(socket);
}

int
main(int argc, char **argv)
{
	char dir[] = "/tmp/coalmine-page-XXXXXX", command[64];
	struct event_base *base = event_base_new();
	struct event *end;

	if (argc < 2 || mkdtemp(dir) == NULL)
		fatalx("usage: serve_page PORT [NODES [RECORDS]]");
	fake.nodes = argc > 2 ? atoi(argv[2]) : 12;
	rng_seed(&rng, 1);
	end = evsignal_new(base, SIGTERM, end_cb, base);
	event_add(end, NULL);
	serve(base, atoi(argv[1]), dir, argc > 3 ? argv[3] : NULL);
	event_free(end);
	event_base_free(base);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command) != 0;
}
