/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_daemon.c - the cost of the collector's store and scores: records a
 * second from put to acknowledgement, and the time to judge a record of 10,000
 * nodes. The bound is a tenth of a laptop's rate, so that only an error in the
 * code fails the test, not a busy machine.
 */
#include <errno.h>
#include <event2/event.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/hist.h"
#include "common/log.h"
#include "common/xalloc.h"
#include "daemon/store/store.h"
#include "schema/record.h"

#define RECORDS          20000
#define AT_ONCE          5000 /* unacknowledged; agents wait for acks */
#define RATE_MIN         1000 /* records/s; 10,000 agents need about as many */
#define RECORD_BYTES_MIN 100

struct ingest {
	int acked;
	int failed;
};

static void
ack_cb(int status, json_t *result, void *arg)
{
	struct ingest *in = arg;

	json_decref(result);
	in->acked++;
	in->failed += status != 0;
}

static json_t *
record_new(int seq)
{
	json_t *record = json_pack("{s:s,s:i,s:s,s:s,s:s,s:s}", "run", "bench",
	    "seq", seq, "probe", "canary", "test", "lat", "phase", "isolated",
	    "unit", "s");
	struct hist *h = xcalloc(1, sizeof(*h));
	json_t *nodes = json_array();
	char name[32];

	hist_clear(h);
	for (int i = 1; i <= 1000; i++)
		hist_add(h, 1e-5 * (1 + (i * 7 % 100) / 50.0));
	record_put_hist(record, h);
	free(h);
	for (int i = 0; i < 12; i++) {
		snprintf(name, sizeof(name), "node%d", i);
		json_array_append_new(nodes,
		    json_pack("{s:s,s:i,s:f,s:f,s:f}", "node", name, "n", 100,
			"p50", 1e-5, "p99", 2e-5, "q75", 1e-5));
	}
	json_object_set_new(record, "nodes", nodes);
	return record;
}

static void
wait_acks(struct event_base *base, const struct ingest *in, int want)
{
	while (in->acked < want)
		event_base_loop(base, EVLOOP_ONCE);
}

static int
bench_ingest(struct store *store, struct event_base *base)
{
	struct ingest in = { 0 };
	double made_s = 0, rate, took_s, loop_s = 0;
	uint64_t began_ns = clk_ns(), at_ns;
	struct store_health h;

	for (int seq = 1; seq <= RECORDS; seq++) {
		json_t *record;

		at_ns = clk_ns();
		record = record_new(seq);
		made_s += (double)(clk_ns() - at_ns) / 1e9;
		at_ns = clk_ns();
		store_put_record(store, record, NULL, ack_cb, &in);
		loop_s += (double)(clk_ns() - at_ns) / 1e9;
		json_decref(record);
		wait_acks(base, &in, seq - AT_ONCE);
	}
	wait_acks(base, &in, RECORDS);
	took_s = (double)(clk_ns() - began_ns) / 1e9 - made_s;
	rate = RECORDS / took_s;
	store_health(store, &h);
	printf("ingest    %d records in %.2f s: %.0f/s; loop %.1f us each, "
	       "longest commit %.0f ms",
	    RECORDS, took_s, rate, loop_s / RECORDS * 1e6, h.write_s_max * 1e3);
	return in.failed > 0 || rate < RATE_MIN;
}

static double files_bytes;

static int
size_cb(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)path;
	(void)ftw;
	if (type == FTW_F)
		files_bytes += (double)st->st_size;
	return 0;
}

/* Print the size of the files of a closed store; the writer of an open store
 * reads their size only from time to time. Return 1 if it is too small: no
 * record fits in fewer bytes than its packed histogram and node medians. */
static int
bench_bytes(const char *dir)
{
	files_bytes = 0;
	nftw(dir, size_cb, 8, FTW_PHYS);
	printf(", %.0f bytes each\n", files_bytes / RECORDS);
	return files_bytes / RECORDS < RECORD_BYTES_MIN;
}

static int
unlink_cb(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

int
main(void)
{
	char dir[] = "/tmp/coalmine-bench-XXXXXX";
	struct event_base *base = event_base_new();
	struct store_options o = { .dir = mkdtemp(dir),
		/* set by on_postgresql.py */
		.url = getenv("COALMINE_TEST_STORE_URL"),
		.schema = "bench" };
	struct store *store;
	int bad = 0;

	if (o.dir == NULL || store_open(&o, base, &store) < 0)
		fatalx("no store in %s", dir);
	bad |= bench_ingest(store, base);
	store_close(store);
	if (o.url == NULL)
		bad |= bench_bytes(dir);
	else
		printf(", in PostgreSQL\n");
	event_base_free(base);
	nftw(dir, unlink_cb, 8, FTW_DEPTH | FTW_PHYS);
	return bad;
}
