/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The metrics page and its numbers: errors that promtool does not detect
 * (series twice, no +Inf, buckets that shrink, families in pieces, escapes),
 * and promtool itself if it is installed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "daemon/export/metrics_cluster.c"

#include "common/xalloc.h"
#include "daemon/export/exposition.h"
#include "daemon/series/series.h"
#include "daemon/series/series_rows.h"
#include "schema/names_probe.h"
#include "tests/unit/daemon/http/fake_api.h"
#include "schema/record.h"

#define LATENCY_HISTOGRAM "coalmine_canary_latency_distribution_seconds"

static json_t *
canary(const char *test, const char *phase, double scale, int nodes)
{
	json_t *record = json_pack("{s:s,s:i,s:s,s:s,s:s,s:s}", "run", "r-1",
	    "seq", 1, "probe", "canary", "test", test, "phase", phase, "unit",
	    "s");
	json_t *list = json_array();
	struct hist *h = xcalloc(1, sizeof(*h));

	hist_clear(h);
	for (int i = 1; i <= 200; i++)
		hist_add(h, scale * (1 + i / 100.0));
	record_put_hist(record, h);
	free(h);
	for (int i = 0; i < nodes; i++) {
		char name[32];

		snprintf(name, sizeof(name), "node%d", i + 1);
		json_array_append_new(list,
		    json_pack("{s:s,s:i,s:f,s:f}", "node", name, "n", 100,
			"q25", scale * (i == 2 ? 1.3 : 1), "q75",
			scale * (i == 2 ? 1.3 : 1)));
	}
	json_object_set_new(record, "nodes", list);
	return record;
}

static void
take_new(struct series *l, json_t *record)
{
	series_record(l, "exclusive", record, NULL);
	json_decref(record);
}

static json_t *
impact(const char *test, const char *of, double value)
{
	return json_pack("{s:s,s:s,s:s,s:f,s:{s:f,s:f}}", "probe", "impact",
	    "test", test, "of", of, "value", value, "interval", "lo",
	    value * 0.9, "hi", value * 1.1);
}

static json_t *
on_device(json_t *record, const char *device)
{
	json_object_set_new(record, "device", json_string(device));
	return record;
}

static json_t *
of_bytes(json_t *record, int bytes)
{
	json_object_set_new(record, "bytes", json_integer(bytes));
	return record;
}

static json_t *
speedup(const char *of, const char *order, double value)
{
	return json_pack("{s:s,s:s,s:s,s:s,s:f}", "probe", "speedup", "of", of,
	    "order", order, "baseline", "MPI_Neighbor_allgather", "value",
	    value);
}

/* Bytes per second of ours; the MPI's own has half of it. */
static json_t *
collective(const char *run, const char *name, double bytes, double per_s)
{
	return json_pack("{s:s,s:s,s:s,s:s,s:s,s:f,s:f,s:f,s:f,s:f}", "probe",
	    "speedup", "of", "collective", "run", run, "collective", name,
	    "baseline_impl", "mpi", "bytes", bytes, "throughput", per_s,
	    "baseline_throughput", per_s / 2, "bound", 44e6, "value", 2.0);
}

/* A group of some size in some run. */
static json_t *
group(const char *run, const char *pattern, int k, double bytes, double per_s)
{
	return json_pack("{s:s,s:s,s:s,s:s,s:s,s:i,s:f,s:{s:f},s:i,s:f,s:f}",
	    "probe", "group", "of", "whole", "run", run, "pattern", pattern,
	    "direction", "bi", "k", k, "bytes", bytes, "bandwidth",
	    "median_middle", per_s, "groups", 4, "node_bandwidth", per_s / 2,
	    "rated_ratio", per_s / 44e6);
}

static json_t *
sparse(const char *run, const char *pattern, double speedup)
{
	return json_pack("{s:s,s:s,s:s,s:s,s:s,s:i,s:f,s:f}", "probe",
	    "speedup", "of", "sparse", "run", run, "pattern", pattern, "scope",
	    "inter", "stripes", 2, "bytes", 1e6, "value", speedup);
}

static void
take_delivered(struct series *l)
{
	take_new(l, group("r-1", "rail", 2, 4e6, 9e6));
	take_new(l, group("r-2", "rail", 2, 4e6, 22e6));
	take_new(l, group("r-2", "rail", 2, 4, 1e3)); /* smaller */
	take_new(l, group("r-2", "rail", 1, 4e6, 11e6));
	take_new(l, group("r-2", "sideways", 2, 4e6, 18e6));
	take_new(l, sparse("r-4", "halo8", 1.5));
	take_new(l, sparse("r-5", "halo8", 1.25));
	take_new(l, sparse("r-5", "a\"b", 3));
	take_new(l,
	    json_pack("{s:s,s:s,s:s,s:s,s:s,s:i,s:f,s:[{s:i,s:[{s:s,s:f}]}]}",
		"probe", "speedup", "of", "stripe", "baseline", "direct", "run",
		"r-3", "via", "ipc+mpi+ipc", "g", 4, "efficiency", 0.75,
		"rails", "rail", 1, "nodes", "node", "node3", "ratio", 0.1));
	take_new(l,
	    json_pack("{s:s,s:s,s:[{s:s,s:f}, {s:s}]}", "probe", "self", "of",
		"whole", "nodes", "node", "node3", "memory_ratio", 0.95, "node",
		"node4"));
}

static int leads = 1;

static struct strbuf
render(const struct series *l)
{
	static struct metrics_http http;
	struct store_health health = { .writable = 1,
		.leads = leads,
		.rows_total = 1 << 30,
		.write_s_max = 0.012 };
	struct metrics_in in = { .health = &health, .http = &http };
	struct strbuf page = { 0 };

	fake.series = (struct series *)(uintptr_t)l;
	fake.scored = 3;
	fake.cluster = "east";
	memset(&http, 0, sizeof(http));
	metrics_http_count(&http, "metrics", 200);
	metrics_http_count(&http, "metrics", 200);
	metrics_http_count(&http, "runs", 404);
	metrics_render(&in, &page);
	return page;
}

static struct series *
full_series(void)
{
	struct series *l = series_new();

	for (int t = 0; t < CANARY_MAX; t++)
		for (int p = 0; p < 2; p++)
			take_new(l,
			    canary(names_tests[t].name, names_phases[p],
				p == 0 ? 3e-5 : 2e-3, 12));
	take_new(l, impact("lat", "p99", 28.5));
	take_new(l, impact("lat", "mean", 16));
	take_new(l, on_device(impact("lat", "p99", 3), "cuda"));
	take_new(l, on_device(impact("lat", "p99", 99), "x\"y"));
	take_new(l, of_bytes(impact("lat", "p99", 5), 4096));
	take_new(l, speedup("neighbor", "phased", 2));
	take_new(l, speedup("neighbor", "phased", 2.5));
	take_new(l, speedup("neighbor", "sideways", 7));
	take_new(l, speedup("other", "dataflow", 8));
	take_new(l,
	    json_pack("{s:s,s:s,s:s,s:f}", "probe", "speedup", "of",
		"multipath", "pair_class", "same-socket", "value", 1.75));
	take_new(l, collective("r-1", "broadcast", 4e6, 20e6));
	take_new(l, collective("r-2", "broadcast", 16e6, 22e6));
	take_new(l, collective("r-2", "broadcast", 4e6, 18e6)); /* smaller */
	take_new(l, collective("r-2", "sideways", 4e6, 18e6));
	take_delivered(l);
	return l;
}

static void
assert_line(const char *page, const char *line)
{
	char *whole = xasprintf("\n%s\n", line);

	if (strstr(page, whole) == NULL)
		fail_msg("the page lacks: %s", line);
	free(whole);
}

/* Of a standby too, nodes would count twice. */
static void
test_standby(void **state)
{
	struct series *l = full_series();
	struct strbuf page;

	(void)state;
	leads = 0;
	page = render(l);
	leads = 1;
	assert_line(page.text, "coalmine_collector_active 0");
	assert_non_null(strstr(page.text, "coalmine_build_info"));
	assert_non_null(strstr(page.text, "process_start_time_seconds"));
	assert_null(strstr(page.text, "coalmine_nodes"));
	assert_null(strstr(page.text, "coalmine_db_writable"));
	assert_null(strstr(page.text, "coalmine_canary"));
	free(page.text);
	series_free(l);
}

static void
test_promised_names(void **state)
{
	static const char *const lines[] = {
		"coalmine_build_info{version=\"" COALMINE_VERSION "\"} 1",
		"coalmine_agents{state=\"ok\"} 9",
		"coalmine_agents{state=\"lost\"} 1",
		"coalmine_agent_up{node=\"node1\"} 1",
		"coalmine_agent_up{node=\"node9\"} 0",
		"coalmine_congestion_impact{test=\"lat\",of=\"p99\"} 28.5",
		"coalmine_congestion_impact{test=\"lat\",of=\"p99\","
		"device=\"cuda\"} 3",
		"coalmine_congestion_impact{test=\"lat\",of=\"p99\","
		"bytes=\"4096\"} 5",
		"coalmine_congestion_impact_low{test=\"lat\",of=\"p99\"} 25.65",
		"coalmine_congestion_impact_high{test=\"lat\",of=\"mean\"} "
		"17.6",
		"coalmine_runs_total{campaign=\"quick\",state=\"finished\"} 7",
		"coalmine_campaign_last_success_timestamp_seconds"
		"{campaign=\"canary\"} 1800000000.125",
		"coalmine_http_requests_total{handler=\"metrics\","
		"code=\"200\"} 2",
		"coalmine_multipath_speedup_ratio{pair_class="
		"\"same-socket\"} 1.75",
		"coalmine_neighbor_speedup_ratio{order=\"phased\","
		"baseline=\"MPI_Neighbor_allgather\"} 2.5",
		"coalmine_collective_throughput_bytes_per_second"
		"{collective=\"broadcast\",impl=\"coalmine\"} 22000000",
		"coalmine_collective_throughput_bytes_per_second"
		"{collective=\"broadcast\",impl=\"mpi\"} 11000000",
		"coalmine_collective_bound_ratio"
		"{collective=\"broadcast\",impl=\"coalmine\"} 0.5",
		"coalmine_group_bandwidth_bytes_per_second"
		"{pattern=\"rail\",direction=\"bi\",k=\"2\"} 22000000",
		"coalmine_node_bandwidth_bytes_per_second"
		"{pattern=\"rail\",direction=\"bi\",k=\"2\",groups=\"4\"} "
		"11000000",
		"coalmine_node_bandwidth_bytes_per_second"
		"{pattern=\"rail\",direction=\"bi\",k=\"1\",groups=\"4\"} "
		"5500000",
		"coalmine_node_bandwidth_ratio"
		"{pattern=\"rail\",direction=\"bi\",k=\"2\",groups=\"4\"} "
		"0.5",
		"coalmine_sparse_speedup_ratio"
		"{pattern=\"halo8\",scope=\"inter\",stripes=\"2\"} 1.25",
		"coalmine_stripe_efficiency_ratio{via=\"ipc+mpi+ipc\","
		"g=\"4\"} 0.75",
		"coalmine_rail_bandwidth_ratio{node=\"node3\",rail=\"1\"} "
		"0.1",
		"coalmine_self_bandwidth_ratio{node=\"node3\"} 0.95",
		"coalmine_node_score{node=\"node3\"} 9.5",
		"coalmine_outlier_threshold 3.5",
		"coalmine_collector_active 1",
		"coalmine_cluster_info{cluster=\"east\"} 1",
		"coalmine_db_writable 1",
		"coalmine_db_rows_total 1073741824",
	};
	static const char *const begins[] = {
		"coalmine_canary_latency_seconds{test=\"lat\","
		"phase=\"isolated\",quantile=\"0.99\",class=\"exclusive\"} ",
		"coalmine_canary_bandwidth_bytes_per_second{test=\"bw-sync\","
		"phase=\"congested\",quantile=\"0.5\",class=\"exclusive\"} ",
		"coalmine_canary_latency_distribution_seconds_bucket{"
		"test=\"lat\",phase=\"isolated\",class=\"exclusive\","
		"le=\"9.5367431640625e-07\"} 0",
		"coalmine_campaign_next_start_timestamp_seconds"
		"{campaign=\"quick\"} ",
		"coalmine_runs{state=\"running\"} 0",
		"process_resident_memory_bytes ",
		"process_start_time_seconds ",
	};
	struct series *l = full_series();
	struct strbuf page = render(l);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		assert_line(page.text, lines[i]);
	for (size_t i = 0; i < ARRAY_LEN(begins); i++)
		if (strstr(page.text, begins[i]) == NULL)
			fail_msg("the page lacks: %s", begins[i]);
	assert_null(strstr(page.text, "sideways"));
	assert_null(strstr(page.text, "order=\"dataflow\""));
	strbuf_clear(&page);
	series_free(l);
}

static int
compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The series of every sample line; the caller frees all. */
static size_t
series_of(const char *page, char ***ret)
{
	char *copy = xstrdup(page), *rest = copy, *line;
	size_t count = 0;

	*ret = NULL;
	while ((line = strsep(&rest, "\n")) != NULL) {
		char *value = strrchr(line, ' ');

		if (*line == '#' || value == NULL)
			continue;
		*ret = xreallocarray(*ret, count + 1, sizeof(**ret));
		(*ret)[count++] = xstrndup(line, (size_t)(value - line));
	}
	free(copy);
	return count;
}

static void
test_no_series_twice(void **state)
{
	struct series *l = full_series();
	struct strbuf page;
	char **series;
	size_t count;

	(void)state;
	page = render(l);
	count = series_of(page.text, &series);
	assert_true(count > 300);
	qsort(series, count, sizeof(*series), compare_lines);
	for (size_t i = 1; i < count; i++)
		if (strcmp(series[i - 1], series[i]) == 0)
			fail_msg("twice: %s", series[i]);
	for (size_t i = 0; i < count; i++)
		free(series[i]);
	free(series);
	strbuf_clear(&page);
	series_free(l);
}

/* The family a series belongs to: its name without a histogram's endings. */
static void
family_of(const char *line, char ret[128])
{
	static const char *const ends[] = { "_bucket", "_sum", "_count" };
	size_t len = strcspn(line, "{ ");

	snprintf(ret, 128, "%.*s", (int)len, line);
	if (strncmp(ret, LATENCY_HISTOGRAM, strlen(LATENCY_HISTOGRAM)) != 0 &&
	    strncmp(ret, "coalmine_mesh_rtt", 17) != 0)
		return;
	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		size_t end = strlen(ends[i]);

		if (len > end && strcmp(ret + len - end, ends[i]) == 0)
			ret[len - end] = '\0';
	}
}

static void
test_families_in_one_piece(void **state)
{
	struct series *l = full_series();
	struct strbuf page = render(l);
	char *rest = page.text, *line, family_now[128] = "", got[128];
	json_t *seen = json_object();

	(void)state;
	while ((line = strsep(&rest, "\n")) != NULL && *line != '\0') {
		if (strncmp(line, "# HELP ", 7) == 0) {
			snprintf(family_now, sizeof(family_now), "%.*s",
			    (int)strcspn(line + 7, " "), line + 7);
			if (json_object_get(seen, family_now) != NULL)
				fail_msg("family again: %s", family_now);
			json_object_set_new(seen, family_now, json_true());
		} else if (*line != '#') {
			family_of(line, got);
			assert_string_equal(got, family_now);
		}
	}
	json_decref(seen);
	strbuf_clear(&page);
	series_free(l);
}

static void
test_histograms_add_up(void **state)
{
	struct series *l = full_series();
	struct strbuf page = render(l);
	char *rest = page.text, *line;
	unsigned long long last = 0, infs = 0, counts = 0;

	(void)state;
	while ((line = strsep(&rest, "\n")) != NULL) {
		unsigned long long n;

		if (strncmp(line, LATENCY_HISTOGRAM,
			strlen(LATENCY_HISTOGRAM)) != 0)
			continue;
		n = strtoull(strrchr(line, ' '), NULL, 10);
		if (strstr(line, "_bucket") != NULL) {
			assert_true(n >= last);
			last = n;
			infs += strstr(line, "le=\"+Inf\"") != NULL;
		} else if (strstr(line, "_count") != NULL) {
			assert_true(n == last && n == 200);
			last = 0;
			counts++;
		}
	}
	assert_int_equal(infs, 8); /* four tests in seconds, two phases */
	assert_int_equal(counts, infs);
	strbuf_clear(&page);
	series_free(l);
}

static void
test_labels_are_escaped(void **state)
{
	struct series *l = series_new();
	struct strbuf page;

	(void)state;
	fake.first_node = "a\"b\\c\nd";
	page = render(l);
	fake.first_node = NULL;
	assert_line(page.text, "coalmine_agent_up{node=\"a\\\"b\\\\c\\nd\"} 1");
	strbuf_clear(&page);
	series_free(l);
}

static void
test_values(void **state)
{
	static const struct {
		double value;
		const char *want;
	} rows[] = {
		{ 0, "0" },
		{ -3, "-3" },
		{ 16777217, "16777217" },
		{ 9007199254740991.0, "9007199254740991" },
		{ 0.1, "0.1" },
		{ 3.6e-5, "3.6e-05" },
		{ INFINITY, "+Inf" },
		{ -INFINITY, "-Inf" },
		{ NAN, "NaN" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct strbuf sb = { 0 };

		exposition_value(&sb, rows[i].value);
		assert_string_equal(sb.text, rows[i].want);
		strbuf_clear(&sb);
	}
}

static void
test_no_number_is_no_number(void **state)
{
	struct series *l = series_new();
	json_t *record = canary("lat", "isolated", 1e-5, 12);
	struct strbuf page;

	(void)state;
	take_new(l, record);
	take_new(l,
	    json_pack("{s:s,s:s,s:s,s:i,s:n,s:s}", "probe", "canary", "test",
		"lat", "phase", "isolated", "n", 0, "p50", "cause", "timeout"));
	page = render(l);
	assert_null(
	    strstr(page.text, "coalmine_canary_latency_seconds{test=\"lat\""));
	assert_line(page.text,
	    "coalmine_canary_test_failures_total{test="
	    "\"lat\",phase=\"isolated\",class=\"exclusive\"} 1");
	strbuf_clear(&page);
	series_free(l);
}

/* The stored record comes after a record of this process, and is older. */
static void
test_remembered(void **state)
{
	static const double values[] = { 5, 6, 7, 8 };
	static const int are_old[] = { 1, 1, 0, 1 };
	struct series *l = series_new();
	struct strbuf page;
	char want[100];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		json_t *record = impact("lat", "p99", values[i]);

		if (are_old[i])
			series_record_old(l, "exclusive", record);
		else
			series_record(l, "exclusive", record, NULL);
		json_decref(record);
		page = render(l);
		snprintf(want, sizeof(want),
		    "coalmine_congestion_impact{test=\"lat\",of=\"p99\"} %g",
		    fmin(values[i], 7));
		assert_line(page.text, want);
		strbuf_clear(&page);
	}
	series_free(l);
}

static void
test_strange_records_change_nothing(void **state)
{
	static const char *const rows[] = { "{}", "{\"probe\":\"canary\"}",
		"{\"probe\":\"canary\",\"test\":\"no\",\"phase\":\"isolated\"}",
		"{\"probe\":\"canary\",\"test\":\"lat\",\"phase\":7}",
		"{\"probe\":\"impact\",\"test\":\"lat\",\"of\":\"p98\"}",
		"{\"probe\":\"impact\",\"test\":5}", "{\"probe\":\"end\"}" };
	struct series *l = series_new();
	const struct series_sample *samples;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		take_new(l, json_loads(rows[i], 0, NULL));
	for (size_t r = 0; series_rows[r].family != NULL; r++)
		assert_int_equal(series_samples(l, r, &samples), 0);
	series_free(l);
}

static void
test_lost_nodes_expire(void **state)
{
	struct api_node n = { .name = "n",
		.state = AGENT_LOST,
		.last_seen_unix_ns = 5000000000u };

	(void)state;
	assert_true(metrics_cluster_is_fresh(&n, 10));
	assert_false(metrics_cluster_is_fresh(&n, 2 * NODE_EXPIRY_S));
	n.state = AGENT_OK;
	assert_true(metrics_cluster_is_fresh(&n, 2 * NODE_EXPIRY_S));
}

static void
test_promtool(void **state)
{
	struct series *l = full_series();
	struct strbuf page = render(l);
	FILE *fp;

	(void)state;
	if (system("command -v promtool >/dev/null") != 0) {
		print_message("skipped: promtool is not installed\n");
		skip();
	}
	fp = popen("promtool check metrics 2>&1", "w");
	assert_non_null(fp);
	assert_int_equal(fwrite(page.text, 1, page.len_bytes, fp),
	    page.len_bytes);
	assert_int_equal(pclose(fp), 0);
	strbuf_clear(&page);
	series_free(l);
}

/* By class and kind, whatever the reports; by name only the worst. */
static void
test_links(void **state)
{
	static const char *const lines[] = {
		"coalmine_link_ports{class=\"8 nvidia\"} 160\n",
		"coalmine_link_errors_total{class=\"8 nvidia\","
		"kind=\"corruption\"} 31\n",
		"coalmine_link_errors_total{class=\"no GPU\","
		"kind=\"device\"} 0\n",
		"coalmine_link_ports_with_errors{class=\"8 nvidia\","
		"kind=\"corruption\"} 1\n",
		"coalmine_link_worst_errors_per_hour{node=\"node3\","
		"port=\"ib\\\"0/1\",counter=\"symbol_error\","
		"kind=\"corruption\"} 12.5\n",
	};
	struct series *l = series_new();
	struct strbuf page = render(l);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		if (strstr(page.text, lines[i]) == NULL)
			fail_msg("no %s", lines[i]);
	strbuf_clear(&page);
	series_free(l);
}

/* An open case has a series; healthy nodes and leaves have none. */
static void
test_verdicts(void **state)
{
	struct series *l = series_new();
	struct strbuf page = render(l);

	(void)state;
	assert_non_null(strstr(page.text, "coalmine_nodes{verdict=\"bad\"} 1"));
	assert_non_null(
	    strstr(page.text, "coalmine_outliers{what=\"host\"} 0"));
	assert_null(strstr(page.text, "coalmine_node_verdict{node=\"node1\""));
	assert_non_null(strstr(page.text,
	    "coalmine_node_verdict{node=\"node3\",verdict=\"bad\","
	    "what=\"node\"} 1"));
	assert_non_null(strstr(page.text,
	    "coalmine_leaf_verdict{leaf=\"leaf2\",verdict=\"warn\","
	    "what=\"link\"} 1"));
	assert_non_null(
	    strstr(page.text, "coalmine_outliers{what=\"link\"} 1"));
	assert_non_null(
	    strstr(page.text, "coalmine_outliers{what=\"prediction\"} 0"));
	strbuf_clear(&page);
	series_free(l);
}

/* Shares without a total and limits that are not set are missing, not 0. */
static void
test_always(void **state)
{
	static const struct {
		const char *line;
		int there;
	} rows[] = {
		{ "coalmine_coverage_ratio{of=\"pairs\"} 0.5\n", 1 },
		{ "coalmine_coverage_ratio{of=\"leaves\"}", 0 },
		{ "coalmine_coverage_ratio{of=\"uplinks\"} 0\n", 1 },
		{ "coalmine_budget_bytes_limit 1000000000\n", 1 },
		{ "coalmine_budget_bytes_used 500000000\n", 1 },
		{ "coalmine_budget_node_seconds_limit ", 0 },
		{ "coalmine_budget_node_seconds_total 60\n", 1 },
		{ "coalmine_budget_link_ratio_limit ", 0 },
		{ "coalmine_certificate_expiry_timestamp_seconds"
		  "{of=\"ca\",node=\"\"} 2000000000\n",
		    1 },
		{ "coalmine_certificate_expiry_timestamp_seconds"
		  "{of=\"agent\",node=\"node7\"} 1900000000\n",
		    1 },
		{ "expiry_timestamp_seconds{of=\"collector\"", 0 },
		{ "coalmine_mesh_nodes 4\n", 1 },
		{ "coalmine_mesh_probes_total{class=\"spine\"} 12\n", 1 },
		{ "coalmine_mesh_probes_lost_total{class=\"spine\"} 2\n", 1 },
		{ "coalmine_mesh_rtt_seconds_count{class=\"spine\"} 10\n", 1 },
		{ "class=\"leaf\"}", 0 },
		{ "coalmine_runs_silent_total{state=\"missed\",cause=\"busy\"}"
		  " 3\n",
		    1 },
	};
	struct series *l = full_series();
	struct strbuf page = render(l);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if ((strstr(page.text, rows[i].line) != NULL) != rows[i].there)
			fail_msg("%s", rows[i].line);
	strbuf_clear(&page);
	series_free(l);
}

/* An undetermined objective has no budget, and an objective that nothing was
 * measured for no rate. */
static void
test_objectives(void **state)
{
	static const struct {
		const char *line;
		int there;
	} rows[] = {
		{ "coalmine_objective_target_ratio{objective=\"a\",of="
		  "\"peers\"} 0.995\n",
		    1 },
		{ "coalmine_objective_budget_ratio{objective=\"a\",of="
		  "\"peers\"} -0.5\n",
		    1 },
		{ "coalmine_objective_good_ratio{objective=\"a\",of=\"peers\"} "
		  "0.99\n",
		    1 },
		{ "coalmine_objective_measured_seconds{objective=\"b\",of="
		  "\"promise\"} 7200\n",
		    1 },
		{ "coalmine_objective_budget_ratio{objective=\"b\",", 0 },
		{ "coalmine_objective_burn_rate{objective=\"a\",of=\"peers\","
		  "alert=\"fast\","
		  "window=\"long\"} 15\n",
		    1 },
		{ "coalmine_objective_burn_rate{objective=\"a\",of=\"peers\","
		  "alert=\"fast\","
		  "window=\"short\"} 16\n",
		    1 },
		{ "coalmine_objective_burn_rate{objective=\"b\"", 0 },
		{ "coalmine_objective_alert{objective=\"a\",of=\"peers\",alert="
		  "\"fast\"} "
		  "1\n",
		    1 },
		{ "coalmine_objective_alert{objective=\"b\",of=\"promise\","
		  "alert=\"slow\"} "
		  "0\n",
		    1 },
	};
	struct series *l = series_new();
	struct strbuf page = render(l);

	(void)state;
	assert_null(strstr(page.text, "coalmine_objective_"));
	strbuf_clear(&page);
	fake.objective_count = 2;
	fake.objectives[0] = (struct objectives_view){ .name = "a",
		.of = "peers",
		.target = 0.995,
		.state = { .good = 0.99, .budget = -0.5 } };
	fake.objectives[1] = (struct objectives_view){ .name = "b",
		.of = "promise",
		.state = { .measured_hours = 2, .good = NAN, .budget = NAN } };
	for (int a = 0; a < OBJECTIVE_ALERT_MAX; a++) {
		fake.objectives[0].state.burn[a] = (struct objective_burn){
			.long_rate = 15,
			.short_rate = 16,
			.fires = a == 0
		};
		fake.objectives[1].state.burn[a] = (struct objective_burn){
			.long_rate = NAN,
			.short_rate = NAN
		};
	}
	page = render(l);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if ((strstr(page.text, rows[i].line) != NULL) != rows[i].there)
			fail_msg("%s", rows[i].line);
	fake.objective_count = 0;
	strbuf_clear(&page);
	series_free(l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_always),
		cmocka_unit_test(test_objectives),
		cmocka_unit_test(test_standby),
		cmocka_unit_test(test_promised_names),
		cmocka_unit_test(test_no_series_twice),
		cmocka_unit_test(test_families_in_one_piece),
		cmocka_unit_test(test_histograms_add_up),
		cmocka_unit_test(test_labels_are_escaped),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_no_number_is_no_number),
		cmocka_unit_test(test_remembered),
		cmocka_unit_test(test_strange_records_change_nothing),
		cmocka_unit_test(test_lost_nodes_expire),
		cmocka_unit_test(test_promtool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
