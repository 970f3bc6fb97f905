/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.c - compare two runs, a run and a baseline, or two periods: the ratio
 * of their headlines with an interval, and a verdict.
 */
#include "ctl/verbs/compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clk.h"
#include "common/str.h"
#include "common/table.h"
#include "common/xalloc.h"
#include "ctl/lib/opts_check.h"
#include "ctl/lib/print.h"
#include "ctl/lib/ratio.h"
#include "ctl/lib/records.h"
#include "ctl/lib/runs.h"
#include "ctl/lib/spread.h"
#include "ctl/verbs/verbs.h"
#include "schema/names_probe.h"
#include "schema/names_verdict.h"
#include "schema/record.h"

#define MARGIN_ELSE 0.05
#define LEVEL       0.95
#define RUNS_LIMIT  "10000" /* rows of a list */

static int
compare_has_interval(const struct estimate *e)
{
	return isfinite(e->lo) && isfinite(e->hi);
}

static void
compare_say(struct compare_row *r, const char *text)
{
	size_t n = strlen(r->text);

	snprintf(r->text + n, sizeof(r->text) - n, "%s%s", n > 0 ? "; " : "",
	    text);
}

static double
compare_logarithm_of(const json_t *run, const struct compare_row *r)
{
	const json_t *ends = json_object_get(run, "interval");

	if (strcmp(r->phase, "impact") == 0)
		return log(member_number(run, "value"));
	if (strcmp(r->a.of, "mean") == 0 || strcmp(r->a.of, "p50") == 0)
		return log(member_number(run, r->a.of));
	/* Lists name no p01, but the ends of the headline's interval. */
	ends = ends != NULL ? ends : run;
	return log(member_number(ends, "lo") * member_number(ends, "hi")) / 2;
}

/* Add the uncertainty that follows from the earlier runs of the row. */
static void
compare_doubt_add(const struct compare_out *o, struct compare_row *r)
{
	int impact = strcmp(r->phase, "impact") == 0;
	const json_t *list = impact ? o->impacts : o->runs;
	double *logs = xcalloc(json_array_size(list) + 1, sizeof(*logs));
	const json_t *run;
	char text[40];
	size_t n = 0, i;

	json_array_foreach (list, i, run) {
		double x = compare_logarithm_of(run, r);

		if (strcmp(print_member(run, "test", ""), r->test) == 0 &&
		    (!impact ||
			strcmp(print_member(run, "of", ""), r->a.of) == 0) &&
		    (impact ||
			strcmp(print_member(run, "phase", ""), r->phase) ==
			    0) &&
		    isfinite(x))
			logs[n++] = x;
	}
	r->doubt = spread_of_runs(logs, n);
	free(logs);
	if (isfinite(r->doubt.se)) {
		if (isfinite(r->ratio.value) && !isfinite(r->ratio.lo))
			r->ratio.lo = r->ratio.hi = r->ratio.value;
		return;
	}
	snprintf(text, sizeof(text), "%zu earlier runs, %d needed", n,
	    SPREAD_RUNS_MIN);
	compare_say(r, text);
}

static void
compare_row_ratio(const struct compare_out *o, struct compare_row *r)
{
	r->ratio = ratio_take(&r->a, &r->b);
	r->level = fmin(r->a.level, r->b.level);
	if (!isfinite(r->level))
		r->level = LEVEL;
	if (o->runs != NULL)
		compare_doubt_add(o, r);
	if (isfinite(r->ratio.lo) && isfinite(r->ratio.hi))
		return;
	r->ratio.lo = r->ratio.hi = NAN;
	if (strcmp(r->a.of, "mean") != 0)
		compare_say(r, "too few rounds for an interval");
}

static struct compare_row
compare_row_empty(const char *test, const char *phase)
{
	struct compare_row r = { .test = test,
		.phase = phase,
		.ratio = { NAN, NAN, NAN },
		.level = LEVEL,
		.doubt = { NAN, NAN } };

	return r;
}

/* The headlines of two records, either may be NULL. */
static struct compare_row
compare_row_make(const struct compare_out *o, const char *test,
    const char *phase, const json_t *a, const json_t *b)
{
	struct compare_row r = compare_row_empty(test, phase);

	r.a = records_estimate(a);
	r.b = records_estimate(b);
	if (a == NULL || b == NULL) {
		compare_say(&r,
		    a == NULL ? "not in the first run"
			      : "not in the second run");
	} else if (strcmp(r.a.of, r.b.of) != 0 ||
	    strcmp(r.a.unit, r.b.unit) != 0) {
		char text[96];

		snprintf(text, sizeof(text),
		    "the main statistic is %s in the first run and %s in the "
		    "second: no ratio",
		    r.a.of, r.b.of);
		compare_say(&r, text);
	} else if (!isfinite(r.a.value) || !isfinite(r.b.value)) {
		compare_say(&r,
		    print_member(isfinite(r.a.value) ? b : a, "cause",
			"no result"));
	} else {
		/* Where a run was too short for an interval of its headline,
		 * the medians are compared. Impacts have none. */
		if ((!compare_has_interval(&r.a) ||
			!compare_has_interval(&r.b)) &&
		    json_object_get(a, "hist") != NULL &&
		    json_object_get(b, "hist") != NULL) {
			r.a = records_median(a);
			r.b = records_median(b);
			compare_say(&r,
			    "the main statistic has no interval: medians are "
			    "compared");
		}
		compare_row_ratio(o, &r);
	}
	return r;
}

static struct estimate
compare_mean_of(const json_t *record)
{
	struct estimate e = { "mean", print_member(record, "unit", "s"),
		member_number(record, "mean"), NAN, NAN, NAN };

	return e;
}

static void
compare_estimate_cell(struct table *t, const struct estimate *e)
{
	char text[PRINT_BYTES];

	print_quantity(e->value, e->unit, text);
	table_cell(t, "%s", text);
}

static json_t *
compare_row_json(const struct compare_row *r, const struct ratio *w,
    const char *verdict)
{
	json_t *interval = json_null();

	if (isfinite(w->lo) && isfinite(w->hi))
		interval = json_pack("{s:o, s:f, s:f}", "level",
		    record_number(r->level), "lo", w->lo, "hi", w->hi);
	return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:s, s:s}",
	    "test", r->test, "phase", r->phase, "of",
	    r->a.of != NULL       ? r->a.of
		: r->b.of != NULL ? r->b.of
				  : "",
	    "unit", r->a.of != NULL ? r->a.unit : r->b.unit, "a",
	    record_number(r->a.value), "b", record_number(r->b.value), "ratio",
	    record_number(w->value), "interval", interval, "verdict", verdict,
	    "text", r->text);
}

static void
compare_put(struct compare_out *o, const struct compare_row *r)
{
	o->rows = xmore(o->rows, o->count, sizeof(*o->rows));
	o->rows[o->count++] = *r;
}

/* A line of the table and of the array; 1 when it is worse. */
static int
compare_row_print(struct compare_row *r, double margin, struct table *t,
    json_t *list)
{
	const char *of = r->a.of != NULL ? r->a.of : r->b.of;
	const char *unit = r->a.of != NULL ? r->a.unit : r->b.unit;
	struct ratio w = spread_widen(&r->ratio, r->level, &r->doubt, r->level);
	const char *verdict = ratio_verdict(&w, unit, margin);

	if ((w.lo > 1 + margin || w.hi < 1 / (1 + margin)) && !r->found) {
		verdict = "unclear";
		compare_say(r,
		    "may be chance, since this many rows are compared");
	}
	json_array_append_new(list, compare_row_json(r, &w, verdict));
	table_cell(t, "%s", r->test);
	table_cell(t, "%s", r->phase);
	table_cell(t, "%s", of != NULL ? of : "-");
	compare_estimate_cell(t, &r->a);
	compare_estimate_cell(t, &r->b);
	if (isfinite(w.value))
		table_cell(t, "%.3f", w.value);
	else
		table_cell(t, "-");
	if (print_is_unknown(w.lo, w.hi))
		table_cell(t, "undetermined");
	else if (isfinite(w.lo) && isfinite(w.hi))
		table_cell(t, "%.3f .. %.3f", w.lo, w.hi);
	else
		table_cell(t, "-");
	table_cell(t, "%s", verdict);
	table_cell(t, "%s", r->text);
	return strcmp(verdict, "worse") == 0;
}

void
compare_add(struct compare_out *o, const char *test, const char *phase,
    const json_t *a, const json_t *b)
{
	struct compare_row r;

	if (a == NULL && b == NULL)
		return;
	r = compare_row_make(o, test, phase, a, b);
	compare_put(o, &r);
	/* The mean has no interval but what equal runs differ by. */
	if (a == NULL || b == NULL || !isfinite(r.ratio.value) ||
	    strcmp(phase, "impact") == 0 || strcmp(r.a.of, "mean") == 0)
		return;
	r = compare_row_empty(test, phase);
	r.a = compare_mean_of(a);
	r.b = compare_mean_of(b);
	compare_row_ratio(o, &r);
	compare_put(o, &r);
}

/* Those stored before that. */
static void
compare_keep_before(json_t *list, json_int_t unix_ns)
{
	for (size_t i = json_array_size(list); i-- > 0;)
		if (member_int(json_array_get(list, i), "at_unix_ns") >=
		    unix_ns)
			json_array_remove(list, i);
}

int
compare_history(struct ctl *c, struct compare_out *o, char *const *runs,
    size_t count)
{
	json_t *about = NULL;
	char *campaign = NULL, until[32];
	json_int_t before = INT64_MAX, created;
	int rc = 0;

	for (size_t i = 0; i < count && rc == 0; i++) {
		rc = runs_get(c, runs[i], &about);
		if (rc != 0)
			break;
		created = member_int(about, "created_unix_ns");
		before = created < before ? created : before;
		xstrset(&campaign, print_member(about, "campaign", ""));
		json_decref(about);
	}
	snprintf(until, sizeof(until), "%" JSON_INTEGER_FORMAT, before);
	if (rc == 0)
		rc = ctl_list(c, &o->runs, "canaries", "campaign", campaign,
		    "to_unix_ns", until, "limit", RUNS_LIMIT, NULL);
	if (rc == 0)
		rc = ctl_list(c, &o->impacts, "impacts", "campaign", campaign,
		    "to_unix_ns", until, "limit", RUNS_LIMIT, NULL);
	free(campaign);
	if (rc != 0) {
		json_decref(o->runs);
		o->runs = NULL;
		return rc;
	}
	compare_keep_before(o->runs, before);
	compare_keep_before(o->impacts, before);
	return 0;
}

/* All canaries and impacts of two runs. */
static void
compare_records(struct compare_out *o, const json_t *a, const json_t *b)
{
	static const char *const ofs[] = { "mean", "p99" };

	for (int p = 0; p < PHASE_MAX; p++)
		for (int i = 0; i < CANARY_MAX; i++) {
			const char *test = names_tests[i].name;
			const char *phase = names_phases[p];

			compare_add(o, test, phase,
			    records_find(a, "canary", test, phase),
			    records_find(b, "canary", test, phase));
		}
	for (int i = 0; i < CANARY_MAX; i++)
		for (size_t k = 0; k < ARRAY_LEN(ofs); k++) {
			const char *test = names_tests[i].name;

			compare_add(o, test, "impact",
			    records_impact(a, test, ofs[k]),
			    records_impact(b, test, ofs[k]));
		}
}

double
compare_margin(const struct ctl *c)
{
	const char *text = opts_value(&c->opts, OPT_MARGIN);
	double ret = MARGIN_ELSE;

	if (text != NULL)
		(void)opts_share_parse(text, &ret);
	return ret;
}

void
compare_begin(struct compare_out *o, double margin)
{
	memset(o, 0, sizeof(*o));
	o->margin = margin;
}

int
compare_end(struct ctl *c, struct compare_out *o)
{
	struct table *t = table_new("test|phase|of|>first|>second|>ratio|"
				    "interval|verdict|");
	json_t *list = json_array();
	int worse = 0;

	spread_holm(o->rows, o->count, o->margin);
	for (size_t i = 0; i < o->count; i++)
		worse += compare_row_print(&o->rows[i], o->margin, t, list);
	if (opts_given(&c->opts, OPT_JSON))
		print_json(list);
	else
		table_print(t, stdout);
	table_free(t);
	json_decref(list);
	json_decref(o->runs);
	json_decref(o->impacts);
	free(o->rows);
	return worse > 0 ? EXIT_CODE_WARN : EXIT_CODE_OK;
}

/* ---- periods ---- */

struct period {
	uint64_t from_unix_ns, to_unix_ns;
	struct blocks of[CANARY_MAX][PHASE_MAX];
};

/* A date, a date and time, an age, or now. */
static int
compare_time_read(const char *text, uint64_t *ret_unix_ns)
{
	static const char *const shapes[] = { "%Y-%m-%dT%H:%M:%S",
		"%Y-%m-%dT%H:%M", "%Y-%m-%d" };
	uint64_t age_ns;

	if (strcmp(text, "now") == 0) {
		*ret_unix_ns = clk_unix_ns();
		return 0;
	}
	for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
		struct tm tm = { 0 };
		const char *end = strptime(text, shapes[i], &tm);

		if (end == NULL || *end != '\0')
			continue;
		*ret_unix_ns = (uint64_t)timegm(&tm) * CLK_NS_PER_S;
		return 0;
	}
	if (clk_span_parse(text, &age_ns) < 0 || age_ns > clk_unix_ns())
		return -1;
	*ret_unix_ns = clk_unix_ns() - age_ns;
	return 0;
}

/* Read FROM..TO. Return 0 or an exit code. */
static int
compare_period_read(const char *text, struct period *p)
{
	const char *dots = strstr(text, "..");
	char from[40] = "";

	if (dots != NULL && (size_t)(dots - text) < sizeof(from))
		memcpy(from, text, (size_t)(dots - text));
	if (compare_time_read(from, &p->from_unix_ns) < 0 ||
	    compare_time_read(dots + 2, &p->to_unix_ns) < 0)
		return ctl_fail("%.80s: expected FROM..TO, each a time as "
				"2026-11-20T14:30, an age as 7d, or now",
		    text);
	if (p->from_unix_ns >= p->to_unix_ns)
		return ctl_fail("%.80s: the period ends before it begins: "
				"expected FROM..TO with the earlier time "
				"first, for example 8d..7d",
		    text);
	return 0;
}

/* Get the counts of the runs in a period. Return 0 or an exit code. */
static int
compare_period_get(struct ctl *c, const char *text, struct period *p)
{
	char from[32], to[32];
	json_t *list, *row;
	size_t i;
	int rc;

	snprintf(from, sizeof(from), "%" PRIu64, p->from_unix_ns);
	snprintf(to, sizeof(to), "%" PRIu64, p->to_unix_ns);
	rc = ctl_list(c, &list, "canaries", "from_unix_ns", from, "to_unix_ns",
	    to, "campaign", opts_value(&c->opts, OPT_CAMPAIGN), "limit",
	    RUNS_LIMIT, NULL);
	if (rc != 0)
		return rc;
	if (json_array_size(list) == (size_t)atoi(RUNS_LIMIT)) {
		json_decref(list);
		return ctl_fail("%.80s: more than " RUNS_LIMIT " results: "
				"expected a shorter time, or one campaign with "
				"--campaign",
		    text);
	}
	json_array_foreach (list, i, row) {
		int test = STR_FIND(names_tests, print_member(row, "test", ""));
		const char *name = print_member(row, "phase", "");
		double x = member_number(row, "p50");
		int phase = 0;

		while (
		    phase < PHASE_MAX && strcmp(names_phases[phase], name) != 0)
			phase++;
		if (test < 0 || phase == PHASE_MAX || !(x > 0))
			continue;
		blocks_add(&p->of[test][phase],
		    (uint64_t)member_int(row, "at_unix_ns"), log(x));
	}
	json_decref(list);
	for (int t = 0; t < CANARY_MAX; t++)
		for (int ph = 0; ph < PHASE_MAX; ph++)
			blocks_end(&p->of[t][ph]);
	return 0;
}

static struct estimate
compare_estimate_of(const struct blocks *b, const char *unit)
{
	struct estimate e = { "p50", unit, NAN, NAN, NAN, LEVEL };

	if (b->n > 0)
		e.value = exp(b->mean);
	return e;
}

static void
compare_put_value(struct compare_out *o, int test, int phase,
    const struct blocks *a, const struct blocks *b)
{
	const char *unit = names_tests[test].unit;
	struct compare_row r = compare_row_empty(names_tests[test].name,
	    names_phases[phase]);

	r.a = compare_estimate_of(a, unit);
	r.b = compare_estimate_of(b, unit);
	r.doubt = spread_of_blocks(a, b);
	r.ratio.value = r.b.value / r.a.value;
	if (isfinite(r.doubt.se))
		r.ratio.lo = r.ratio.hi = r.ratio.value;
	snprintf(r.text, sizeof(r.text),
	    "%.0f and %.0f runs in %.0f and %.0f blocks of 6 h%s", a->runs,
	    b->runs, a->n, b->n,
	    a->n < SPREAD_BLOCKS_MIN || b->n < SPREAD_BLOCKS_MIN
		? ": not enough"
		: "");
	compare_put(o, &r);
}

/* Two stretches of time. Runs in a row resemble each other: the sample is the
 * mean of six hours, of the logarithms of the runs' medians. */
static int
compare_periods_compare(struct ctl *c, double margin)
{
	static struct period p[2];
	struct compare_out o;
	int rc = 0;

	memset(p, 0, sizeof(p));
	for (int i = 0; i < 2 && rc == 0; i++)
		rc = compare_period_read(c->args[i], &p[i]);
	for (int i = 0; i < 2 && rc == 0; i++)
		rc = compare_period_get(c, c->args[i], &p[i]);
	if (rc != 0)
		return rc;
	compare_begin(&o, margin);
	for (int t = 0; t < CANARY_MAX; t++)
		for (int ph = 0; ph < PHASE_MAX; ph++)
			if (p[0].of[t][ph].runs + p[1].of[t][ph].runs > 0)
				compare_put_value(&o, t, ph, &p[0].of[t][ph],
				    &p[1].of[t][ph]);
	return compare_end(c, &o);
}

/* Records of older engines have no size. */
static double
compare_bytes(const json_t *record, int test)
{
	double bytes = member_number(record, "bytes");

	return isfinite(bytes) ? bytes : (double)names_tests[test].bytes;
}

/* Records of other partners measure something else: a ring has the pace of its
 * slowest node. Return 0, or an exit code if a test differs in this, or in the
 * size of messages. */
static int
compare_partners_check(const json_t *a, const json_t *b)
{
	const char *ring = names_partners[PARTNERS_RING];

	for (int t = 0; t < CANARY_MAX; t++) {
		const char *test = names_tests[t].name;
		const json_t *x = records_find(a, "canary", test, NULL);
		const json_t *y = records_find(b, "canary", test, NULL);
		const char *first = print_member(x, "partners", ring);
		const char *second = print_member(y, "partners", ring);

		if (x != NULL && y != NULL && strcmp(first, second) != 0)
			return ctl_fail("cannot compare these runs: "
					"canary.partners of test %s is %s in "
					"the first run and %s in the second",
			    test, first, second);
		if (x != NULL && y != NULL &&
		    compare_bytes(x, t) != compare_bytes(y, t))
			return ctl_fail("cannot compare these runs: messages "
					"of test %s have %.0f bytes in the "
					"first run and %.0f in the second",
			    test, compare_bytes(x, t), compare_bytes(y, t));
	}
	return 0;
}

/* The history consists of runs before both. */
static int
compare_runs_compare(struct ctl *c, double margin, char *const *runs)
{
	json_t *records[2] = { NULL, NULL };
	struct compare_out o;
	int rc = 0;

	compare_begin(&o, margin);
	for (int i = 0; i < 2 && rc == 0; i++)
		rc = records_get(c, runs[i], &records[i]);
	if (rc == 0)
		rc = compare_partners_check(records[0], records[1]);
	if (rc == 0)
		rc = compare_history(c, &o, runs, 2);
	if (rc == 0) {
		compare_records(&o, records[0], records[1]);
		if (o.count > 0) {
			rc = compare_end(c, &o);
		} else {
			rc = ctl_fail("nothing to compare: neither run has "
				      "results of canaries");
			json_decref(o.runs);
			json_decref(o.impacts);
		}
	}
	json_decref(records[0]);
	json_decref(records[1]);
	return rc;
}

static int
compare(struct ctl *c)
{
	char *runs[2] = { NULL, NULL };
	double margin = compare_margin(c);
	int is_period = strstr(c->args[0], "..") != NULL, rc = 0;

	if ((strstr(c->args[1], "..") != NULL) != is_period)
		return ctl_fail("cannot compare %.60s with %.60s: expected two "
				"runs or two periods FROM..TO",
		    c->args[0], c->args[1]);
	if (is_period)
		return compare_periods_compare(c, margin);
	for (int i = 0; i < 2 && rc == 0; i++)
		rc = runs_find(c, c->args[i], &runs[i]);
	if (rc == 0)
		rc = compare_runs_compare(c, margin, runs);
	free(runs[0]);
	free(runs[1]);
	return rc;
}

const struct verb verbs_compare[] = {
	{ "compare", NULL, "RUN RUN|FROM..TO FROM..TO", 2, 2,
	    "json margin campaign", "runs",
	    "Compare two runs, or two periods, for example "
	    "20261118-191446-3f2a last:watch, or 8d..7d 1d..now.",
	    "For every test and phase, and for the impacts, the output "
	    "has the main statistic of both runs (such as the p99 "
	    "latency), the ratio of the second to the first with a "
	    "confidence interval, and a verdict: worse or better if "
	    "the whole interval is beyond the margin, same if all of "
	    "it is within the margin, unclear otherwise, and unknown "
	    "without an interval. The exit code is 1 if anything is "
	    "worse, and 3 if the runs cannot be compared: they have no "
	    "results, or differ in canary.partners or canary.bytes. Two "
	    "periods FROM..TO can replace the two runs; FROM and TO "
	    "are a time in UTC (2026-11-20 or 2026-11-20T14:30), an "
	    "age (2h, 7d) or now. coalctl(8) describes the intervals.",
	    compare },
	{ 0 },
};
