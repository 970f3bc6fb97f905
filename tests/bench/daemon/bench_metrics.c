/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_metrics.c - the cost of a scrape of 10,000 nodes for the loop, with the
 * collector's own roster, scores and api. The bound is about ten times the
 * measured time, so that only an error in the code fails, not a busy machine.
 */
#include <event2/event.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/log.h"
#include "common/xalloc.h"
#include "daemon/schedule/campaign.h"
#include "daemon/schedule/scheduler.h"
#include "daemon/run/cost.h"
#include "daemon/collector.h"
#include "daemon/diagnosis/diagnosis.h"
#include "daemon/series/series.h"
#include "daemon/export/metrics.h"
#include "daemon/cluster/roster.h"
#include "daemon/store/store.h"
#include "daemon/api/api_int.h"
#include "tests/evidence.h"
#include "tests/sim/verdict/defaults.h"

#define NODES      10000
#define TURNS      20
#define SCRAPE_MAX 0.5 /* s */

static void
name_of(int i, char ret[32])
{
	snprintf(ret, 32, "node%d", i + 1);
}

static void
fill_roster(struct roster *r)
{
	json_t *heartbeat = json_pack("{s:f,s:i}", "load", 0.25, "spool_bytes",
	    12345);
	char name[32];

	for (int i = 0; i < NODES; i++) {
		json_t *hello;

		name_of(i, name);
		hello = json_pack("{s:s,s:s,s:s,s:{s:i}}", "node", name,
		    "software", COALMINE_VERSION, "boot", "b", "inventory",
		    "cores", 64);
		roster_heartbeat(r,
		    roster_hello(r, hello, "10.0.0.1", NULL, clk_ns()),
		    heartbeat);
		json_decref(hello);
	}
	json_decref(heartbeat);
}

/* Measure every node, so that all have a score. */
static void
fill_scores(struct series *s, struct diagnosis *d, const struct roster *r)
{
	json_t *nodes = json_array(), *record;
	uint64_t at_ns;
	char name[32];

	for (int i = 0; i < NODES; i++) {
		name_of(i, name);
		json_array_append_new(nodes,
		    json_pack("{s:s,s:f,s:f}", "node", name, "q25",
			1e-5 * (1 + i % 7 * 0.001), "q75", 2e-5));
	}
	record = json_pack("{s:s,s:s,s:s,s:s,s:i,s:f,s:s,s:o}", "run", "bench",
	    "probe", "canary", "test", "lat", "phase", "isolated", "n", NODES,
	    "p50", 1e-5, "unit", "s", "nodes", nodes);
	at_ns = clk_ns();
	series_record(s, "exclusive", record, NULL);
	evidence_score_old(d, r, record);
	printf("score     a record of %d nodes: %.1f ms\n", NODES,
	    (double)(clk_ns() - at_ns) / 1e6);
	json_decref(record);
}

static double
seconds_since(uint64_t at_ns)
{
	return (double)(clk_ns() - at_ns) / 1e9;
}

static int
measure(const struct metrics_in *in)
{
	double best_s = 1e9, list_s = 1e9;
	size_t page_bytes = 0;

	for (int i = 0; i < TURNS; i++) {
		const struct api_node *nodes;
		struct strbuf page = { 0 };
		uint64_t at_ns = clk_ns();
		double took_s;

		api_node_list(in->api, &nodes);
		took_s = seconds_since(at_ns);
		list_s = took_s < list_s ? took_s : list_s;
		at_ns = clk_ns();
		metrics_render(in, &page);
		took_s = seconds_since(at_ns);
		best_s = took_s < best_s ? took_s : best_s;
		page_bytes = page.len_bytes;
		strbuf_clear(&page);
	}
	printf("metrics   %d nodes: %.1f ms, %.2f MB; %.1f ms of it for the "
	       "list of nodes\n",
	    NODES, best_s * 1e3, (double)page_bytes / 1e6, list_s * 1e3);
	/* A complete scrape has at least a line for each node. */
	return best_s > SCRAPE_MAX || page_bytes < (size_t)NODES * 40;
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
bench(struct event_base *base, struct store *store, const char *dir)
{
	static struct metrics_http http;
	struct collector_options ho = { .heartbeat_ns = CLK_NS_PER_S,
		.silence_ns = 60 * CLK_NS_PER_S,
		.agents_max = NODES,
		.mesh.net = "",
		.diagnosis.judge = *judge_defaults() };
	struct store_health health = { .writable = 1, .leads = 1 };
	struct series *series = series_new();
	struct collector *collector = collector_new(base, NULL, series, &ho);
	struct cost_rules rules = { 0 };
	struct costs *costs = costs_new(store, &rules);
	struct campaigns *campaigns = campaigns_new(dir);
	struct scheduler *scheduler = scheduler_new(campaigns,
	    collector_runs(collector), store);
	struct api_parts parts = { .collector = collector,
		.campaigns = campaigns,
		.scheduler = scheduler,
		.store = store,
		.costs = costs,
		.series = series };
	struct api *api = api_new(&parts);
	struct metrics_in in = { .api = api, .health = &health, .http = &http };
	int bad;

	fill_roster(collector_roster(collector));
	fill_scores(series, collector_diagnosis(collector),
	    collector_roster(collector));
	bad = measure(&in);
	api_free(api);
	scheduler_free(scheduler);
	campaigns_free(campaigns);
	costs_free(costs);
	collector_free(collector);
	series_free(series);
	return bad;
}

int
main(void)
{
	char dir[] = "/tmp/coalmine-bench-XXXXXX";
	struct event_base *base = event_base_new();
	struct store_options o = { .dir = mkdtemp(dir) };
	struct store *store;
	int bad;

	log_init("bench", LOG_LEVEL_WARN);
	if (o.dir == NULL || store_open(&o, base, &store) < 0)
		fatalx("no store in %s", dir);
	bad = bench(base, store, dir);
	store_close(store);
	event_base_free(base);
	nftw(dir, unlink_cb, 8, FTW_DEPTH | FTW_PHYS);
	return bad;
}
