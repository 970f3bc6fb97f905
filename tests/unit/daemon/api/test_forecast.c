/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_forecast.c - the starts of the schedule and those that do not fit,
 * because of missing nodes, a blackout, other campaigns or the budget. The
 * clock is at 11:23:20.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "daemon/run/blackout.h"
#include "daemon/run/budget.h"
#include "daemon/schedule/campaign.h"
#include "daemon/schedule/scheduler.h"
#include "daemon/collector.h"
#include "daemon/api/api_int.h"
#include "daemon/api/forecast.h"
#include "tests/unit/daemon/run/run_fix.h"

#define HOUR_NS   (3600 * CLK_NS_PER_S)
#define MINUTE_NS (60 * CLK_NS_PER_S)
#define NODES     3

/* 60 s on three nodes; each sends 1 MiB. */
#define LIGHT                                                                  \
	"[campaign]\nnodes_min = 3\ndeadline = 60s\nbytes = 1M\n"              \
	"[congestor]\nmix = none\n"

struct forecast_fix {
	char dir[64];
	struct api api;
	json_t *list; /* the newest answer */
};
static struct forecast_fix hf;

/* The only function of a collector that the forecast calls. */
struct roster *
collector_roster(struct collector *h)
{
	(void)h;
	return fix.roster;
}

static int
unlink_cb(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void
forecast_setup(const struct budget_limits *limits, const char *blackout)
{
	static const struct budget_limits none = { 0, 0, 0 };
	struct cost_rules rules = { .limits = limits ? *limits : none };
	struct api_parts *p = &hf.api.p;
	struct err err;

	memset(&hf, 0, sizeof(hf));
	fix_setup(NODES);
	snprintf(hf.dir, sizeof(hf.dir), "/tmp/coalmine-test-XXXXXX");
	assert_non_null(mkdtemp(hf.dir));
	assert_int_equal(blackout_parse(blackout, &rules.blackout, &err), 0);
	p->costs = costs_new(NULL, &rules);
	p->campaigns = campaigns_new(hf.dir);
	p->scheduler = scheduler_new(p->campaigns, fix.runs, NULL);
}

/* A forecast starts no run. */
static void
forecast_teardown(void)
{
	assert_null(fix_last(WIRE_PREPARE));
	json_decref(hf.list);
	scheduler_free(hf.api.p.scheduler);
	campaigns_free(hf.api.p.campaigns);
	costs_free(hf.api.p.costs);
	fix_teardown();
	nftw(hf.dir, unlink_cb, 8, FTW_DEPTH | FTW_PHYS);
}

/* Add a campaign that is due this many seconds from now, and then at its
 * interval, aligned to the clock. */
static void
add(const char *name, const char *text, const char *every, double due_s)
{
	struct campaign *c;
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.conf", hf.dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "%s[schedule]\nevery = %s\n", text, every);
	assert_int_equal(fclose(f), 0);
	campaigns_scan(hf.api.p.campaigns);
	c = campaigns_find(hf.api.p.campaigns, name);
	assert_non_null(c);
	if (c->error != NULL)
		fail_msg("%s", c->error);
	c->base_unix_ns = c->next_unix_ns = clk_unix_ns() +
	    (uint64_t)(due_s * 1e9);
}

static void
look(uint64_t span_ns)
{
	json_decref(hf.list);
	hf.list = forecast_json(&hf.api, span_ns);
}

static const json_t *
start(size_t i, const char *key)
{
	const json_t *v = json_object_get(json_array_get(hf.list, i), key);

	assert_non_null(v);
	return v;
}

/* Check the i-th start: its answer and its reason, or "" without one. */
static void
expect(size_t i, const char *campaign, const char *answer, const char *why)
{
	const char *said = json_string_value(start(i, "why"));

	assert_string_equal(json_string_value(start(i, "campaign")), campaign);
	assert_string_equal(json_string_value(start(i, "answer")), answer);
	if (why[0] == '\0')
		assert_string_equal(said, "");
	else if (strstr(said, why) == NULL)
		fail_msg("start %zu: \"%s\" lacks \"%s\"", i, said, why);
}

/* Seconds from now. */
static json_int_t
seconds(size_t i, const char *key)
{
	json_int_t at = json_integer_value(start(i, key));

	return (at - (json_int_t)clk_unix_ns()) / (json_int_t)CLK_NS_PER_S;
}

/* Every start in the span, in the order of time, and its cost. Bytes that were
 * neither measured nor configured are null, never 0. */
static void
test_what_runs(void **state)
{
	(void)state;
	forecast_setup(NULL, "");
	add("hourly", LIGHT, "1h", 600);
	add("other", "[campaign]\ndeadline = 30s\n[congestor]\nmix = none\n",
	    "1d", 300);
	look(2 * HOUR_NS);
	assert_int_equal(json_array_size(hf.list), 4);
	expect(0, "other", "runs", "");
	assert_true(json_is_null(start(0, "bytes")));
	expect(1, "hourly", "runs", "");
	assert_int_equal(seconds(1, "due_unix_ns"), 600);
	assert_int_equal(seconds(1, "at_unix_ns"), 600);
	assert_int_equal(json_integer_value(start(1, "nodes")), NODES);
	assert_float_equal(json_number_value(start(1, "duration_s")), 60, 1e-6);
	assert_float_equal(json_number_value(start(1, "node_seconds")), 180,
	    1e-6);
	assert_float_equal(json_number_value(start(1, "bytes")), 3 * 1048576.0,
	    1e-6);
	/* the next full hour, since 11:33:20 is not a multiple of the
	 * interval */
	expect(2, "hourly", "runs", "");
	assert_int_equal(seconds(2, "due_unix_ns"), 2200);
	expect(3, "hourly", "runs", "");
	assert_int_equal(seconds(3, "due_unix_ns"), 5800);
	/* one that is switched off is not waited for */
	scheduler_enable(hf.api.p.scheduler,
	    campaigns_find(hf.api.p.campaigns, "other"), 0);
	look(2 * HOUR_NS);
	assert_int_equal(json_array_size(hf.list), 3);
	/* a whole day is listed, even with a start every few minutes */
	add("often", LIGHT, "2m", 120);
	look(24 * HOUR_NS);
	assert_int_equal(json_array_size(hf.list), 25 + 720);
	forecast_teardown();
}

static void
test_nodes(void **state)
{
	(void)state;
	forecast_setup(NULL, "");
	add("all", LIGHT, "1d", 60);
	add("four", "[campaign]\nnodes_min = 4\n[congestor]\nmix = none\n",
	    "1d", 3600);
	add("beside",
	    "[campaign]\nclass = background\nnodes = n[1-2]\n"
	    "nodes_min = 2\n[congestor]\nmix = none\n",
	    "1d", 7200);
	look(24 * HOUR_NS);
	expect(0, "all", "runs", "");
	expect(1, "four", "missed", "3 nodes usable now, 4 needed");
	expect(2, "beside", "runs", "");
	assert_int_equal(json_integer_value(start(2, "nodes")), 2);
	/* a job is in the way of exclusive runs only */
	fix_node("n2")->busy = xstrdup("job 7");
	look(24 * HOUR_NS);
	expect(0, "all", "missed", "2 nodes usable now, 3 needed");
	expect(2, "beside", "runs", "");
	/* a node without heartbeats blocks both */
	fix_pass(6, "n2");
	look(24 * HOUR_NS);
	expect(2, "beside", "missed", "1 nodes usable now, 2 needed");
	forecast_teardown();
}

/* Return the CPU time of a forecast of 201 starts over this many nodes, by
 * name. */
static double
many_s(int nodes)
{
	struct timespec from, to;
	char name[16], text[200];

	forecast_setup(NULL, "");
	for (int i = NODES + 1; i <= nodes; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		fix_hello(name);
	}
	snprintf(text, sizeof(text),
	    "[campaign]\nnodes = n[1-%d]\ndeadline = 30s\n"
	    "[congestor]\nmix = none\n",
	    nodes);
	add("many", text, "1h", 600);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	look(200 * HOUR_NS);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
	assert_int_equal(json_array_size(hf.list), 201);
	assert_int_equal(json_integer_value(start(199, "nodes")), nodes);
	forecast_teardown();
	return (double)(to.tv_sec - from.tv_sec) +
	    (double)(to.tv_nsec - from.tv_nsec) / 1e9;
}

/* A client that requests all starts of a large cluster does not block others: a
 * name is not compared with all other names. */
static void
test_many(void **state)
{
	double few_s = many_s(400), most_s = many_s(8000);

	(void)state;
	if (most_s > 80 * few_s + 0.001)
		fail_msg("%.6f s of 8000 nodes, %.6f s of 400", most_s, few_s);
}

/* Beyond the limit of starts the latest are dropped, of any campaign. */
static void
test_too_many(void **state)
{
	static const char text[] = "[campaign]\nnodes = n1\ndeadline = 5s\n"
				   "[congestor]\nmix = none\n";
	json_int_t last = 0;
	int late = 0;

	(void)state;
	forecast_setup(NULL, "");
	add("a", text, "1m", 5);
	add("b", text, "1m", 25);
	add("z", text, "1h", 45);
	look(24 * HOUR_NS);
	assert_int_equal(json_array_size(hf.list), 2000);
	for (size_t i = 0; i < 2000; i++) {
		json_int_t due = json_integer_value(start(i, "due_unix_ns"));

		assert_true(due >= last);
		last = due;
		late += json_string_value(start(i, "campaign"))[0] == 'z';
	}
	assert_true(late >= 16);
	forecast_teardown();
}

/* A blackout that ends soon delays, a longer one makes the start pointless. */
static void
test_blackout(void **state)
{
	(void)state;
	forecast_setup(NULL, "11:30-11:40,12:00-12:30");
	add("early", LIGHT, "1d", 60);
	add("within", LIGHT, "1d", 500); /* 11:31:40 */
	add("into", LIGHT, "1d", 2170);  /* 11:59:30 */
	add("light", LIGHT "[campaign]\nclass = background\n", "1d", 2300);
	look(HOUR_NS);
	assert_int_equal(json_array_size(hf.list), 4);
	expect(0, "early", "runs", "");
	expect(1, "within", "waits", "T11:40:00");
	assert_int_equal(seconds(1, "due_unix_ns"), 500);
	assert_int_equal(seconds(1, "at_unix_ns"), 1000);
	expect(2, "into", "missed", "T12:30:00");
	/* the site's blackouts are of exclusive runs */
	expect(3, "light", "runs", "");
	forecast_teardown();
}

/* One after the other on the same nodes, as long as that is worth it. */
static void
test_others(void **state)
{
	(void)state;
	forecast_setup(NULL, "");
	add("first", LIGHT, "1d", 60);
	add("second", LIGHT, "1d", 70);
	add("elsewhere", "[campaign]\nnodes = n9\n[congestor]\nmix = none\n",
	    "1d", 80);
	add("long", "[campaign]\ndeadline = 20m\n[congestor]\nmix = none\n",
	    "1d", 3600);
	add("late", LIGHT, "1d", 3610);
	look(24 * HOUR_NS);
	expect(0, "first", "runs", "");
	expect(1, "second", "waits",
	    "for the end of campaign first, which uses");
	assert_int_equal(seconds(1, "at_unix_ns"), 120);
	expect(2, "elsewhere", "missed", "0 nodes usable now, 1 needed");
	expect(3, "long", "runs", "");
	expect(4, "late", "missed", "reserved by campaign long for longer");
	forecast_teardown();
}

/* Two starts of 3 MiB fit into 8 MB an hour; earlier runs count. */
static void
test_budget(void **state)
{
	struct budget_limits limits = { 8e6, 0, 0 };

	(void)state;
	forecast_setup(&limits, "");
	add("often", LIGHT, "10m", 400); /* 11:30 */
	look(400 * CLK_NS_PER_S + 70 * MINUTE_NS);
	assert_int_equal(json_array_size(hf.list), 7);
	expect(0, "often", "runs", "");
	expect(1, "often", "runs", "");
	for (size_t i = 2; i < 6; i++)
		expect(i, "often", "missed", "budget.bytes: needs 3.0 MiB");
	/* an hour after the first, that one no longer counts */
	expect(6, "often", "runs", "");
	budget_use(costs_budget(hf.api.p.costs), clk_ns(), 4e6, 0);
	look(400 * CLK_NS_PER_S + 20 * MINUTE_NS);
	expect(0, "often", "runs", "");
	expect(1, "often", "missed", "budget.bytes");
	forecast_teardown();
	/* a run that exceeds the budget of any hour */
	limits = (struct budget_limits){ 0, 100, 0 };
	forecast_setup(&limits, "");
	add("dear", LIGHT, "1d", 60);
	look(HOUR_NS);
	expect(0, "dear", "missed",
	    "budget.node_seconds: needs 180 node-seconds");
	forecast_teardown();
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_runs),
		cmocka_unit_test(test_nodes),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_blackout),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
