/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.c - the page's parts in their order, the numbers of records, and the
 * collector's own. One function writes a family, so every family is contiguous.
 *
 * The page is made from the current state at every scrape: a series without a
 * value disappears, and no series keeps its last valid value. Samples have no
 * time stamps, since these would outlive their series.
 */
#include "daemon/export/metrics.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "common/clk.h"
#include "daemon/events/events.h"
#include "daemon/export/metrics_cluster.h"
#include "daemon/export/exposition.h"
#include "daemon/series/series.h"
#include "daemon/series/series_rows.h"

/* Canaries that take longer than 8 s are in +Inf alone. */
#define LE_LAST   3
#define OWN_PARTS 5 /* the first parts below: on standbys, too */

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
metrics_render_build(const struct metrics_in *in, struct strbuf *to)
{
	(void)in;
	exposition_family(to, "coalmine_build_info", "gauge",
	    "The collector's version; the value is always 1.");
	exposition_sample(to, "coalmine_build_info",
	    EXPOSITION_LABELS({ "version", COALMINE_VERSION }), 1);
}

static void
metrics_render_cluster(const struct metrics_in *in, struct strbuf *to)
{
	const char *name = api_cluster_name(in->api);

	if (name[0] == '\0')
		return;
	exposition_family(to, "coalmine_cluster_info", "gauge",
	    "The cluster's name; the value is always 1.");
	exposition_sample(to, "coalmine_cluster_info",
	    EXPOSITION_LABELS({ "cluster", name }), 1);
}

/* Only the active collector exports nodes and runs: a standby would count them
 * twice. */
static void
metrics_render_active(const struct metrics_in *in, struct strbuf *to)
{
	exposition_single(to, "coalmine_collector_active", "gauge",
	    "1: active, accepts agents and starts runs; 0: standby, which "
	    "exports its own process only.",
	    in->health->leads);
}

static void
metrics_render_db(const struct metrics_in *in, struct strbuf *to)
{
	const struct store_health *h = in->health;

	exposition_single(to, "coalmine_db_writable", "gauge",
	    "1 while the store accepts records, 0 when it is full or broken.",
	    h->writable);
	exposition_single(to, "coalmine_db_alarm", "gauge",
	    "1 while the store has an alarm.", h->alarm[0] != '\0');
	exposition_single(to, "coalmine_db_queue_rows", "gauge",
	    "Rows that wait to be written to the store.",
	    (double)h->queue_rows);
	exposition_single(to, "coalmine_db_rows_total", "counter",
	    "Rows that were committed.", (double)h->rows_total);
	exposition_single(to, "coalmine_db_dropped_rows_total", "counter",
	    "Rows that were dropped because too many waited.",
	    (double)h->dropped_rows);
	exposition_single(to, "coalmine_db_errors_total", "counter",
	    "Commits that failed.", (double)h->errors_total);
	exposition_single(to, "coalmine_db_size_bytes", "gauge",
	    "Size of the store.", (double)h->db_bytes);
	if (h->wal_bytes != UINT64_MAX)
		exposition_single(to, "coalmine_db_wal_bytes", "gauge",
		    "Size of the write-ahead log of the store.",
		    (double)h->wal_bytes);
	if (h->free_bytes != UINT64_MAX)
		exposition_single(to, "coalmine_db_free_bytes", "gauge",
		    "Free space on the store's disk.", (double)h->free_bytes);
	exposition_single(to, "coalmine_db_commit_max_seconds", "gauge",
	    "Longest commit in this minute and the previous one.",
	    h->write_s_max);
}

enum sink_value {
	SINK_SENT,
	SINK_REFUSED,
	SINK_EXPIRED,
	SINK_FAILURES,
	SINK_UP,
	SINK_LAG,
	SINK_VALUES
};

static double
metrics_sink_value(const struct events_sink *s, enum sink_value what)
{
	double now_s = (double)clk_unix_ns() / 1e9;
	double of[SINK_VALUES] = { [SINK_SENT] = (double)s->sent,
		[SINK_REFUSED] = (double)s->refused,
		[SINK_EXPIRED] = (double)s->expired,
		[SINK_FAILURES] = (double)s->failures,
		[SINK_UP] = s->error[0] == '\0',
		[SINK_LAG] = s->oldest_unix_ns == 0
		    ? 0
		    : fmax(0, now_s - (double)s->oldest_unix_ns / 1e9) };

	return of[what];
}

static void
metrics_render_sinks(const struct metrics_in *in, struct strbuf *to)
{
	static const struct {
		const char *name, *type, *help;
	} rows[SINK_VALUES] = {
		[SINK_SENT] = { "coalmine_sink_sent_total", "counter",
		    "Events that the sink has accepted." },
		[SINK_REFUSED] = { "coalmine_sink_refused_total", "counter",
		    "Events that were dropped because the sink rejected them "
		    "permanently." },
		[SINK_EXPIRED] = { "coalmine_sink_expired_total", "counter",
		    "Events that were dropped because they waited for longer "
		    "than events.keep." },
		[SINK_FAILURES] = { "coalmine_sink_failures_total", "counter",
		    "Attempts to send events that failed and were repeated." },
		[SINK_UP] = { "coalmine_sink_up", "gauge",
		    "1 while the sink accepts events." },
		[SINK_LAG] = { "coalmine_sink_lag_seconds", "gauge",
		    "Age of the oldest event that waits for the sink; 0: no "
		    "event waits." },
	};
	struct events *e = api_events(in->api);
	struct events_sink s;

	for (int what = 0; events_count(e) > 0 && what < SINK_VALUES; what++) {
		exposition_family(to, rows[what].name, rows[what].type,
		    rows[what].help);
		for (size_t i = 0; i < events_count(e); i++) {
			events_look(e, i, &s);
			exposition_sample(to, rows[what].name,
			    EXPOSITION_LABELS({ "sink", s.name }),
			    metrics_sink_value(&s, (enum sink_value)what));
		}
	}
}

static void
metrics_render_http(const struct metrics_in *in, struct strbuf *to)
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

/* Families of records: every row of the table, in its order. */
static void
metrics_render_series(const struct metrics_in *in, struct strbuf *to)
{
	const struct series *series = api_series(in->api);
	const struct series_sample *list;
	const char *last = "";

	for (size_t r = 0; series_rows[r].family != NULL; r++) {
		const struct series_row *row = &series_rows[r];
		size_t count;

		if (strcmp(row->family, last) == 0)
			continue;
		last = row->family;
		exposition_family(to, row->family, row->type, row->help);
		count = series_samples(series, r, &list);
		for (size_t i = 0; i < count; i++)
			if (row->keep != SERIES_MERGED && !isnan(list[i].value))
				exposition_labelled(to, row->family,
				    list[i].labels, list[i].value);
			else if (list[i].hist != NULL)
				exposition_histogram(to, row->family,
				    list[i].labels, list[i].hist, LE_LAST);
	}
}

/* ---- the collector as a process, under the names that client libraries use
 * ---- */

/* Field n of /proc/self/stat, counted from 1, after the name in brackets. */
static unsigned long long
metrics_stat_field(const char *stat, int n)
{
	const char *at = strrchr(stat, ')');

	for (int i = 2; at != NULL && i < n; i++)
		at = strchr(at + 1, ' ');
	return at != NULL ? strtoull(at, NULL, 10) : 0;
}

static void
metrics_render_process(const struct metrics_in *in, struct strbuf *to)
{
	double tick = (double)sysconf(_SC_CLK_TCK), boot_unix_s;
	struct timespec now, up;
	struct rlimit files = { 0 };
	char stat[1024] = "";
	FILE *fp = fopen("/proc/self/stat", "re");
	size_t len = fp != NULL ? fread(stat, 1, sizeof(stat) - 1, fp) : 0;
	DIR *d = opendir("/proc/self/fd");
	int fds = d != NULL ? -3 : 0; /* ".", ".." and the folder's own */

	(void)in;
	stat[len] = '\0';
	if (fp != NULL)
		fclose(fp);
	while (d != NULL && readdir(d) != NULL)
		fds++;
	if (d != NULL)
		closedir(d);
	clock_gettime(CLOCK_REALTIME, &now);
	clock_gettime(CLOCK_BOOTTIME, &up);
	boot_unix_s = (double)(now.tv_sec - up.tv_sec) +
	    (double)(now.tv_nsec - up.tv_nsec) / 1e9;
	getrlimit(RLIMIT_NOFILE, &files);
	exposition_single(to, "process_cpu_seconds_total", "counter",
	    "Processor time, user and system.",
	    (double)(metrics_stat_field(stat, 14) +
		metrics_stat_field(stat, 15)) /
		tick);
	exposition_single(to, "process_resident_memory_bytes", "gauge",
	    "Memory that is resident.",
	    (double)metrics_stat_field(stat, 24) *
		(double)sysconf(_SC_PAGESIZE));
	exposition_single(to, "process_virtual_memory_bytes", "gauge",
	    "Memory that is mapped.", (double)metrics_stat_field(stat, 23));
	exposition_single(to, "process_open_fds", "gauge",
	    "Open file descriptors.", fds);
	exposition_single(to, "process_max_fds", "gauge",
	    "Limit of open file descriptors.", (double)files.rlim_cur);
	exposition_single(to, "process_start_time_seconds", "gauge",
	    "When the process started.",
	    boot_unix_s + (double)metrics_stat_field(stat, 22) / tick);
}

static metrics_part *const parts[] = {
	metrics_render_build,
	metrics_render_cluster,
	metrics_render_active,
	metrics_render_http,
	metrics_render_process,
	/* of the active one */
	metrics_nodes,
	metrics_certificates,
	metrics_verdicts,
	metrics_links,
	metrics_jobs,
	metrics_objectives,
	metrics_render_series,
	metrics_run_counts,
	metrics_live_runs,
	metrics_schedule,
	metrics_silence,
	metrics_mesh,
	metrics_coverage,
	metrics_budget,
	metrics_render_db,
	metrics_render_sinks,
};

void
metrics_render(const struct metrics_in *in, struct strbuf *to)
{
	size_t count = in->health->leads ? ARRAY_LEN(parts) : OWN_PARTS;

	for (size_t i = 0; i < count; i++)
		parts[i](in, to);
}
