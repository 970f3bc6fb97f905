/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.c - the page's parts in their order, and the small ones of them. One
 * function makes a family, so every family stands in one piece.
 *
 * The page is made of the present state at every scrape: what is gone from
 * the state is gone from the page, and nothing shows its last good value for
 * ever. Samples carry no time stamps (they would outlive their series).
 */
#include "daemon/export/metrics.h"

#include <stdio.h>
#include <string.h>

#include "daemon/export/metrics_int.h"

void
metrics_http_count(struct metrics_http *m, const char *name, int status)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->row[i].status == status &&
		    strcmp(m->row[i].name, name) == 0) {
			m->row[i].count++;
			return;
		}
	if (m->count == METRICS_HTTP_MAX)
		return;
	m->row[m->count].name = name;
	m->row[m->count].status = status;
	m->row[m->count++].count = 1;
}

static void
render_build(const struct metrics_in *in, struct strbuf *to)
{
	(void)in;
	exposition_family(to, "coalmine_build_info", "gauge",
	    "The collector's version; the value is always 1.");
	exposition_sample(to, "coalmine_build_info",
	    EXPOSITION_LABELS({ "version", COALMINE_VERSION }), 1);
}

static void
render_db(const struct metrics_in *in, struct strbuf *to)
{
	const struct store_health *h = in->health;

	exposition_single(to, "coalmine_db_writable", "gauge",
	    "1 while the store takes records, 0 when it is full or broken.",
	    h->writable);
	exposition_single(to, "coalmine_db_alarm", "gauge",
	    "1 while the store has something to tell an operator.",
	    h->alarm[0] != '\0');
	exposition_single(to, "coalmine_db_queue_rows", "gauge",
	    "Rows that wait for the writer.", (double)h->queue_rows);
	exposition_single(to, "coalmine_db_rows_total", "counter",
	    "Rows that were committed.", (double)h->rows_total);
	exposition_single(to, "coalmine_db_dropped_rows_total", "counter",
	    "Rows that were dropped because too many waited.",
	    (double)h->dropped_rows);
	exposition_single(to, "coalmine_db_errors_total", "counter",
	    "Commits that failed.", (double)h->errors_total);
	exposition_single(to, "coalmine_db_size_bytes", "gauge",
	    "The store's file.", (double)h->db_bytes);
	exposition_single(to, "coalmine_db_wal_bytes", "gauge",
	    "The store's write-ahead log.", (double)h->wal_bytes);
	exposition_single(to, "coalmine_db_free_bytes", "gauge",
	    "Free space on the store's disk.", (double)h->free_bytes);
	exposition_single(to, "coalmine_db_commit_max_seconds", "gauge",
	    "Longest commit since the last look.", h->write_s_max);
}

static void
render_http(const struct metrics_in *in, struct strbuf *to)
{
	const struct metrics_http *m = in->http;
	char code[16];

	exposition_single(to, "coalmine_http_connections", "gauge",
	    "HTTP connections that are open.", in->http_connections);
	exposition_family(to, "coalmine_http_requests_total", "counter",
	    "HTTP answers by handler and status code.");
	for (size_t i = 0; i < m->count; i++) {
		snprintf(code, sizeof(code), "%d", m->row[i].status);
		exposition_sample(to, "coalmine_http_requests_total",
		    EXPOSITION_LABELS({ "handler", m->row[i].name },
			{ "code", code }),
		    (double)m->row[i].count);
	}
}

static void (*const parts[])(const struct metrics_in *, struct strbuf *) = {
	render_build,
	metrics_nodes,
	metrics_verdicts,
	metrics_canaries,
	metrics_canary_counts,
	metrics_histograms,
	metrics_impacts,
	metrics_speedups,
	metrics_multipaths,
	metrics_collectives,
	metrics_deliver,
	metrics_run_counts,
	metrics_live_runs,
	metrics_schedule,
	metrics_silence,
	metrics_mesh,
	metrics_coverage,
	metrics_budget,
	render_db,
	render_http,
	metrics_process,
};

void
metrics_render(const struct metrics_in *in, struct strbuf *to)
{
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		parts[i](in, to);
}
