/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.c - one function per family, so every family stands in one piece.
 *
 * The page is made of the present state at every scrape: what is gone from
 * the state is gone from the page, and nothing shows its last good value for
 * ever. Samples carry no time stamps (they would outlive their series).
 */
#include "daemon/metrics.h"

#include <assert.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/xalloc.h"

#define NODE_EXPIRY_S 86400 /* a node silent for longer is not shown */

/* Bounds of exported histograms: powers of two are bounds of our own buckets,
 * so export is exact. 2^-20 s is about 1 us, 2^3 is 8 s. */
#define LE_FIRST -20
#define LE_LAST  3

static void
family(struct strbuf *to, const char *name, const char *type, const char *help)
{
	strbuf_addf(to, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void
add(struct strbuf *to, const char *text)
{
	strbuf_add(to, text, strlen(text));
}

static void
add_escaped(struct strbuf *to, const char *value)
{
	for (;;) {
		size_t plain = strcspn(value, "\\\"\n");

		strbuf_add(to, value, plain);
		value += plain;
		if (*value == '\0')
			return;
		add(to,
		    *value == '\n'      ? "\\n"
			: *value == '"' ? "\\\""
					: "\\\\");
		value++;
	}
}

/* Not printf's business: the locale may write commas, and whole numbers below
 * 2^53 are most of what there is. */
static void
add_value(struct strbuf *to, double value)
{
	char text[40];

	if (isnan(value))
		add(to, "NaN");
	else if (isinf(value))
		add(to, value > 0 ? "+Inf" : "-Inf");
	else if (value == floor(value) && fabs(value) < 9007199254740992.0)
		strbuf_addf(to, "%lld", (long long)value);
	else {
		char *comma;

		/* Nine digits of a time stamp would be tens of seconds. */
		snprintf(text, sizeof(text),
		    fabs(value) < 1e6 ? "%.9g" : "%.3f", value);
		comma = strchr(text, ',');
		if (comma != NULL)
			*comma = '.';
		add(to, text);
	}
}

struct label {
	const char *name; /* NULL ends a list */
	const char *value;
};

static void
sample(struct strbuf *to, const char *name, const struct label *labels,
    double value)
{
	const char *open = "{";

	add(to, name);
	for (; labels != NULL && labels->name != NULL; labels++) {
		add(to, open);
		add(to, labels->name);
		add(to, "=\"");
		add_escaped(to, labels->value);
		add(to, "\"");
		open = ",";
	}
	add(to, *open == ',' ? "} " : " ");
	add_value(to, value);
	add(to, "\n");
}

#define LABELS(...) ((const struct label[]){ __VA_ARGS__, { NULL, NULL } })

static void
single(struct strbuf *to, const char *name, const char *type, const char *help,
    double value)
{
	family(to, name, type, help);
	sample(to, name, NULL, value);
}

static const char *
text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static double
seconds_of(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key)) / 1e9;
}

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
	family(to, "coalmine_build_info", "gauge",
	    "The collector's version; the value is always 1.");
	sample(to, "coalmine_build_info",
	    LABELS({ "version", COALMINE_VERSION }), 1);
}

/* What the page tells of a node. */
struct node_view {
	const char *name;
	int state; /* enum agent_state, or -1 */
	double last_seen_s;
	double spool_bytes;
	int fresh; /* not expired */
};

static int
agent_state_find(const char *name)
{
	for (int i = 0; name != NULL && i < AGENT_STATE_MAX; i++)
		if (strcmp(names_agent_states[i], name) == 0)
			return i;
	return -1;
}

static struct node_view
node_view(const json_t *node, double now_s)
{
	struct node_view v = {
		.name = text_of(node, "node"),
		.state = agent_state_find(text_of(node, "state")),
		.last_seen_s = seconds_of(node, "last_seen_unix_ns"),
		.spool_bytes = json_number_value(
		    json_object_get(node, "spool_bytes")),
	};

	v.fresh = v.name != NULL && v.state >= 0 &&
	    (v.state != AGENT_LOST || now_s - v.last_seen_s < NODE_EXPIRY_S);
	return v;
}

static void
render_agent_states(const struct node_view *v, size_t count, struct strbuf *to)
{
	uint64_t by_state[AGENT_STATE_MAX] = { 0 };

	for (size_t i = 0; i < count; i++)
		if (v[i].fresh)
			by_state[v[i].state]++;
	family(to, "coalmine_agents", "gauge", "Agents by state.");
	for (int s = 0; s < AGENT_STATE_MAX; s++)
		sample(to, "coalmine_agents",
		    LABELS({ "state", names_agent_states[s] }),
		    (double)by_state[s]);
}

static double
value_up(const struct node_view *v, const struct latest *l)
{
	(void)l;
	return v->state != AGENT_LOST;
}

static double
value_last_seen(const struct node_view *v, const struct latest *l)
{
	(void)l;
	return v->last_seen_s > 0 ? v->last_seen_s : NAN;
}

/* A lost node has no score: it was not measured. */
static double
value_score(const struct node_view *v, const struct latest *l)
{
	return v->state != AGENT_LOST ? latest_node_score(l, v->name) : NAN;
}

static double
value_spool(const struct node_view *v, const struct latest *l)
{
	(void)l;
	return v->state != AGENT_LOST ? v->spool_bytes : NAN;
}

/* NAN leaves a sample out. */
static const struct node_family {
	const char *name;
	const char *help;
	double (*value)(const struct node_view *, const struct latest *);
} node_families[] = {
	{ "coalmine_agent_up",
	    "1 while the node's agent is heard of, 0 when it is lost.",
	    value_up },
	{ "coalmine_agent_last_seen_timestamp_seconds",
	    "When the node's agent was last heard of.", value_last_seen },
	{ "coalmine_agent_spool_bytes",
	    "Records that wait on the node for the collector.", value_spool },
	{ "coalmine_node_score",
	    "Robust z of the node against its peers, worst test; positive "
	    "is worse.",
	    value_score },
};

static void
render_nodes(const struct metrics_in *in, struct strbuf *to)
{
	json_t *nodes = view_nodes(in->view), *node;
	double now_s = (double)clk_unix_ns() / 1e9;
	size_t count = json_array_size(nodes), i;
	struct node_view *v = xcalloc(count + 1, sizeof(*v));

	json_array_foreach (nodes, i, node)
		v[i] = node_view(node, now_s);
	render_agent_states(v, count, to);
	for (size_t f = 0; f < ARRAY_LEN(node_families); f++) {
		const struct node_family *nf = &node_families[f];

		family(to, nf->name, "gauge", nf->help);
		for (i = 0; i < count; i++) {
			double value = v[i].fresh ? nf->value(&v[i], in->latest)
						  : NAN;

			if (!isnan(value))
				sample(to, nf->name,
				    LABELS({ "node", v[i].name }), value);
		}
	}
	free(v);
	json_decref(nodes);
}

static void
canary_sample(struct strbuf *to, const char *name, const struct latest_test *t,
    const char *quantile, double value)
{
	if (!isnan(value))
		sample(to, name,
		    LABELS({ "test", names_tests[t->test].name },
			{ "phase", names_phases[t->phase] },
			{ "quantile", quantile }, { "class", t->class }),
		    value);
}

static void
canary_family(const struct metrics_in *in, struct strbuf *to, const char *name,
    const char *unit, const char *help)
{
	const struct latest_test *t;
	size_t count = latest_tests(in->latest, &t);

	/* A summary without sum and count: of quantiles nothing else is
	 * allowed to bear the label. */
	family(to, name, "summary", help);
	for (size_t i = 0; i < count; i++) {
		if (!t[i].known ||
		    strcmp(names_tests[t[i].test].unit, unit) != 0)
			continue;
		canary_sample(to, name, &t[i], "0.5", t[i].p50);
		canary_sample(to, name, &t[i], "0.9", t[i].p90);
		canary_sample(to, name, &t[i], "0.99", t[i].p99);
		canary_sample(to, name, &t[i], "0.999", t[i].p999);
	}
}

static void
render_canaries(const struct metrics_in *in, struct strbuf *to)
{
	canary_family(in, to, "coalmine_canary_latency_seconds", "s",
	    "Latency quantiles of the newest run, by test and phase.");
	canary_family(in, to, "coalmine_canary_bandwidth_bytes_per_second",
	    "B/s", "Bandwidth quantiles of the newest run, by test and phase.");
}

static void
canary_count(const struct metrics_in *in, struct strbuf *to, const char *name,
    const char *help, uint64_t (*value)(const struct latest_test *))
{
	const struct latest_test *t;
	size_t count = latest_tests(in->latest, &t);

	family(to, name, "counter", help);
	for (size_t i = 0; i < count; i++)
		sample(to, name,
		    LABELS({ "test", names_tests[t[i].test].name },
			{ "phase", names_phases[t[i].phase] },
			{ "class", t[i].class }),
		    (double)value(&t[i]));
}

static uint64_t
value_records(const struct latest_test *t)
{
	return t->records;
}

static uint64_t
value_failures(const struct latest_test *t)
{
	return t->failures;
}

static void
render_canary_counts(const struct metrics_in *in, struct strbuf *to)
{
	canary_count(in, to, "coalmine_canary_tests_total",
	    "Canary tests that were done, with or without a number.",
	    value_records);
	canary_count(in, to, "coalmine_canary_test_failures_total",
	    "Canary tests that gave no number.", value_failures);
}

/* How many samples lie at or below 2^octave. */
static uint64_t
below(const struct hist *h, int octave)
{
	uint64_t sum = 0;

	for (int i = HIST_FIRST; i <= octave * HIST_PER_OCTAVE; i++)
		sum += h->bucket[i - HIST_FIRST];
	return sum;
}

static void
bucket(struct strbuf *to, const char *name, const struct latest_test *t,
    const char *le, uint64_t count)
{
	sample(to, name,
	    LABELS({ "test", names_tests[t->test].name },
		{ "phase", names_phases[t->phase] }, { "class", t->class },
		{ "le", le }),
	    (double)count);
}

#define LATENCY_HISTOGRAM "coalmine_canary_latency_distribution_seconds"

static void
histogram(struct strbuf *to, const struct latest_test *t)
{
	const struct label labels[] = {
		{ "test", names_tests[t->test].name },
		{ "phase", names_phases[t->phase] },
		{ "class", t->class },
		{ NULL, NULL },
	};
	char le[40];

	for (int octave = LE_FIRST; octave <= LE_LAST; octave++) {
		snprintf(le, sizeof(le), "%.17g", ldexp(1, octave));
		bucket(to, LATENCY_HISTOGRAM "_bucket", t, le,
		    below(t->hist, octave));
	}
	bucket(to, LATENCY_HISTOGRAM "_bucket", t, "+Inf", t->hist->count);
	sample(to, LATENCY_HISTOGRAM "_sum", labels, t->hist->sum);
	sample(to, LATENCY_HISTOGRAM "_count", labels, (double)t->hist->count);
}

static void
render_histograms(const struct metrics_in *in, struct strbuf *to)
{
	const struct latest_test *t;
	size_t count = latest_tests(in->latest, &t);

	family(to, LATENCY_HISTOGRAM, "histogram",
	    "Latencies of all canaries since start, by class of campaign.");
	for (size_t i = 0; i < count; i++)
		if (t[i].hist != NULL &&
		    strcmp(names_tests[t[i].test].unit, "s") == 0)
			histogram(to, &t[i]);
}

static double
impact_value(const struct latest_impact *row)
{
	return row->value;
}

static double
impact_lo(const struct latest_impact *row)
{
	return row->lo;
}

static double
impact_hi(const struct latest_impact *row)
{
	return row->hi;
}

static void
render_impacts(const struct metrics_in *in, struct strbuf *to)
{
	static const struct {
		const char *name;
		const char *help;
		double (*value)(const struct latest_impact *);
	} rows[] = {
		{ "coalmine_congestion_impact",
		    "Congested against isolated, newest run; 1 is none.",
		    impact_value },
		{ "coalmine_congestion_impact_low",
		    "Lower end of the impact's interval.", impact_lo },
		{ "coalmine_congestion_impact_high",
		    "Upper end of the impact's interval.", impact_hi },
	};
	const struct latest_impact *list;
	size_t count = latest_impacts(in->latest, &list);

	for (size_t r = 0; r < ARRAY_LEN(rows); r++) {
		family(to, rows[r].name, "gauge", rows[r].help);
		for (size_t i = 0; i < count; i++) {
			double value = rows[r].value(&list[i]);

			if (isnan(value))
				continue;
			sample(to, rows[r].name,
			    LABELS({ "test", names_tests[list[i].test].name },
				{ "of", list[i].of }),
			    value);
		}
	}
}

static void
render_run_counts(const struct metrics_in *in, struct strbuf *to)
{
	const struct view_run_count *rows;
	size_t count = view_run_counts(in->view, &rows);

	family(to, "coalmine_runs_total", "counter",
	    "Runs that ended, by campaign and state.");
	for (size_t i = 0; i < count; i++)
		sample(to, "coalmine_runs_total",
		    LABELS({ "campaign", rows[i].campaign },
			{ "state", names_run_states[rows[i].state].name }),
		    (double)rows[i].count);
	family(to, "coalmine_campaign_last_success_timestamp_seconds", "gauge",
	    "When the newest finished run of the campaign ended.");
	for (size_t i = 0; i < count; i++) {
		double newest = rows[i].last_success_unix_s;
		size_t first = 0;

		while (strcmp(rows[first].campaign, rows[i].campaign) != 0)
			first++;
		for (size_t j = i; j < count; j++)
			if (strcmp(rows[j].campaign, rows[i].campaign) == 0 &&
			    rows[j].last_success_unix_s > newest)
				newest = rows[j].last_success_unix_s;
		if (first == i && newest > 0)
			sample(to,
			    "coalmine_campaign_last_success_timestamp_seconds",
			    LABELS({ "campaign", rows[i].campaign }), newest);
	}
}

static void
render_live_runs(const struct metrics_in *in, struct strbuf *to)
{
	uint64_t by_state[RUN_STATE_MAX] = { 0 };
	json_t *runs = view_runs(in->view), *run;
	size_t i;

	json_array_foreach (runs, i, run) {
		const char *name = text_of(run, "state");
		int state = name != NULL ? names_run_state_find(name) : -1;

		if (state >= 0)
			by_state[state]++;
	}
	json_decref(runs);
	family(to, "coalmine_runs", "gauge", "Runs that live now, by state.");
	for (int s = 0; s < RUN_STATE_MAX; s++)
		if (!names_run_states[s].final)
			sample(to, "coalmine_runs",
			    LABELS({ "state", names_run_states[s].name }),
			    (double)by_state[s]);
}

static void
render_schedule(const struct metrics_in *in, struct strbuf *to)
{
	json_t *schedule = view_schedule(in->view), *row;
	size_t i;

	family(to, "coalmine_campaign_next_start_timestamp_seconds", "gauge",
	    "When the campaign is due next.");
	json_array_foreach (schedule, i, row) {
		double next_s = seconds_of(row, "next_unix_ns");

		if (next_s > 0 && text_of(row, "campaign") != NULL)
			sample(to,
			    "coalmine_campaign_next_start_timestamp_seconds",
			    LABELS({ "campaign", text_of(row, "campaign") }),
			    next_s);
	}
	family(to, "coalmine_campaign_schedule_enabled", "gauge",
	    "1 while the campaign's schedule is followed.");
	json_array_foreach (schedule, i, row)
		if (text_of(row, "campaign") != NULL)
			sample(to, "coalmine_campaign_schedule_enabled",
			    LABELS({ "campaign", text_of(row, "campaign") }),
			    json_is_true(json_object_get(row, "enabled")));
	json_decref(schedule);
}

static void
render_db(const struct metrics_in *in, struct strbuf *to)
{
	const struct store_health *h = in->health;

	single(to, "coalmine_db_writable", "gauge",
	    "1 while the store takes records, 0 when it is full or broken.",
	    h->writable);
	single(to, "coalmine_db_alarm", "gauge",
	    "1 while the store has something to tell an operator.",
	    h->alarm[0] != '\0');
	single(to, "coalmine_db_queue_rows", "gauge",
	    "Rows that wait for the writer.", (double)h->queue_rows);
	single(to, "coalmine_db_rows_total", "counter",
	    "Rows that were committed.", (double)h->rows_total);
	single(to, "coalmine_db_dropped_rows_total", "counter",
	    "Rows that were dropped because too many waited.",
	    (double)h->dropped_rows);
	single(to, "coalmine_db_errors_total", "counter",
	    "Commits that failed.", (double)h->errors_total);
	single(to, "coalmine_db_size_bytes", "gauge", "The store's file.",
	    (double)h->db_bytes);
	single(to, "coalmine_db_wal_bytes", "gauge",
	    "The store's write-ahead log.", (double)h->wal_bytes);
	single(to, "coalmine_db_free_bytes", "gauge",
	    "Free space on the store's disk.", (double)h->free_bytes);
	single(to, "coalmine_db_commit_max_seconds", "gauge",
	    "Longest commit since the last look.", h->write_s_max);
}

static void
render_http(const struct metrics_in *in, struct strbuf *to)
{
	const struct metrics_http *m = in->http;
	char code[16];

	single(to, "coalmine_http_connections", "gauge",
	    "HTTP connections that are open.", in->http_connections);
	family(to, "coalmine_http_requests_total", "counter",
	    "HTTP answers by handler and status code.");
	for (size_t i = 0; i < m->count; i++) {
		snprintf(code, sizeof(code), "%d", m->row[i].status);
		sample(to, "coalmine_http_requests_total",
		    LABELS({ "handler", m->row[i].name }, { "code", code }),
		    (double)m->row[i].count);
	}
}

static int
count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int count = 0;

	if (d == NULL)
		return 0;
	while (readdir(d) != NULL)
		count++;
	closedir(d);
	return count - 3; /* ".", ".." and the folder's own */
}

/* Field n of /proc/self/stat, counted from 1, after the name in brackets. */
static unsigned long long
stat_field(const char *stat, int n)
{
	const char *at = strrchr(stat, ')');

	for (int i = 2; at != NULL && i < n; i++)
		at = strchr(at + 1, ' ');
	return at != NULL ? strtoull(at, NULL, 10) : 0;
}

static double
boot_unix_s(void)
{
	struct timespec now, up;

	clock_gettime(CLOCK_REALTIME, &now);
	clock_gettime(CLOCK_BOOTTIME, &up);
	return (double)(now.tv_sec - up.tv_sec) +
	    (double)(now.tv_nsec - up.tv_nsec) / 1e9;
}

static void
render_process(const struct metrics_in *in, struct strbuf *to)
{
	double tick = (double)sysconf(_SC_CLK_TCK);
	struct rlimit files = { 0 };
	char stat[1024] = "";
	FILE *fp = fopen("/proc/self/stat", "re");
	size_t len = fp != NULL ? fread(stat, 1, sizeof(stat) - 1, fp) : 0;

	(void)in;
	stat[len] = '\0';
	if (fp != NULL)
		fclose(fp);
	getrlimit(RLIMIT_NOFILE, &files);
	single(to, "process_cpu_seconds_total", "counter",
	    "Processor time, user and system.",
	    (double)(stat_field(stat, 14) + stat_field(stat, 15)) / tick);
	single(to, "process_resident_memory_bytes", "gauge",
	    "Memory that is resident.",
	    (double)stat_field(stat, 24) * (double)sysconf(_SC_PAGESIZE));
	single(to, "process_virtual_memory_bytes", "gauge",
	    "Memory that is mapped.", (double)stat_field(stat, 23));
	single(to, "process_open_fds", "gauge", "Open file descriptors.",
	    count_fds());
	single(to, "process_max_fds", "gauge",
	    "Limit of open file descriptors.", (double)files.rlim_cur);
	single(to, "process_start_time_seconds", "gauge",
	    "When the process started.",
	    boot_unix_s() + (double)stat_field(stat, 22) / tick);
}

static void (*const parts[])(const struct metrics_in *, struct strbuf *) = {
	render_build,
	render_nodes,
	render_canaries,
	render_canary_counts,
	render_histograms,
	render_impacts,
	render_run_counts,
	render_live_runs,
	render_schedule,
	render_db,
	render_http,
	render_process,
};

void
metrics_render(const struct metrics_in *in, struct strbuf *to)
{
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		parts[i](in, to);
}
