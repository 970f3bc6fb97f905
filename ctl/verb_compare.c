/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb_compare.c - two runs, a run and a baseline, or two periods beside each
 * other: the ratio of their headlines with an interval, and a verdict.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clk.h"
#include "common/robust.h"
#include "common/table.h"
#include "ctl/compare.h"
#include "ctl/ctl.h"
#include "ctl/print.h"
#include "ctl/records.h"
#include "ctl/runs.h"
#include "schema/record.h"

#define MARGIN_ELSE 0.05
#define LEVEL       0.95

static int
has_interval(const struct estimate *e)
{
	return isfinite(e->lo) && isfinite(e->hi);
}

/* One line for two records, either may be NULL. */
static struct compare_row
row_make(const char *test, const char *phase, const json_t *a, const json_t *b,
    double margin)
{
	struct compare_row r = { .test = test,
		.phase = phase,
		.ratio = { NAN, NAN, NAN },
		.text = "" };

	r.a = records_estimate(a);
	r.b = records_estimate(b);
	r.verdict = "unknown";
	if (a == NULL || b == NULL) {
		r.text = a == NULL ? "not in the first run"
				   : "not in the second run";
	} else if (strcmp(r.a.of, r.b.of) != 0 ||
	    strcmp(r.a.unit, r.b.unit) != 0) {
		r.text = "the headlines are of different kinds";
	} else if (!isfinite(r.a.value) || !isfinite(r.b.value)) {
		r.text = print_member(isfinite(r.a.value) ? b : a, "cause",
		    "no number");
	} else {
		/* Where a run was too short for an interval of its headline,
		 * the medians are compared. Impacts have none. */
		if ((!has_interval(&r.a) || !has_interval(&r.b)) &&
		    json_object_get(a, "hist") != NULL &&
		    json_object_get(b, "hist") != NULL) {
			r.a = records_median(a);
			r.b = records_median(b);
			r.text = "the headline has no interval: medians";
		}
		r.ratio = ratio_take(&r.a, &r.b);
		r.verdict = ratio_verdict(&r.ratio, r.a.unit, margin);
		if (!isfinite(r.ratio.lo) || !isfinite(r.ratio.hi))
			r.text = "too few rounds for an interval";
	}
	return r;
}

static void
estimate_cell(struct table *t, const struct estimate *e)
{
	char text[PRINT_BYTES];

	print_quantity(e->value, e->unit, text);
	table_cell(t, "%s", text);
}

static json_t *
row_json(const struct compare_row *r)
{
	json_t *interval = json_null();

	if (isfinite(r->ratio.lo) && isfinite(r->ratio.hi))
		interval = json_pack("{s:o, s:f, s:f}", "level",
		    record_number(fmin(r->a.level, r->b.level)), "lo",
		    r->ratio.lo, "hi", r->ratio.hi);
	return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:s, s:s}",
	    "test", r->test, "phase", r->phase, "of",
	    r->a.of != NULL       ? r->a.of
		: r->b.of != NULL ? r->b.of
				  : "",
	    "unit", r->a.of != NULL ? r->a.unit : r->b.unit, "a",
	    record_number(r->a.value), "b", record_number(r->b.value), "ratio",
	    record_number(r->ratio.value), "interval", interval, "verdict",
	    r->verdict, "text", r->text);
}

void
compare_put(struct compare_out *o, const struct compare_row *r)
{
	const char *of = r->a.of != NULL ? r->a.of : r->b.of;
	struct table *t = o->table;

	o->worse += strcmp(r->verdict, "worse") == 0;
	json_array_append_new(o->json, row_json(r));
	table_cell(t, "%s", r->test);
	table_cell(t, "%s", r->phase);
	table_cell(t, "%s", of != NULL ? of : "-");
	estimate_cell(t, &r->a);
	estimate_cell(t, &r->b);
	if (isfinite(r->ratio.value))
		table_cell(t, "%.3f", r->ratio.value);
	else
		table_cell(t, "-");
	if (isfinite(r->ratio.lo) && isfinite(r->ratio.hi))
		table_cell(t, "%.3f .. %.3f", r->ratio.lo, r->ratio.hi);
	else
		table_cell(t, "-");
	table_cell(t, "%s", r->verdict);
	table_cell(t, "%s", r->text);
}

void
compare_add(struct compare_out *o, const char *test, const char *phase,
    const json_t *a, const json_t *b)
{
	struct compare_row r;

	if (a == NULL && b == NULL)
		return;
	r = row_make(test, phase, a, b, o->margin);
	compare_put(o, &r);
}

void
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

/* --margin as "5%" or 0.05; 0 or an exit code. */
int
compare_margin(struct ctl *c, double *ret)
{
	const char *text = opts_value(&c->opts, OPT_MARGIN);
	char number_text[32];
	size_t n = text == NULL ? 0 : strlen(text);
	int percent;

	*ret = MARGIN_ELSE;
	if (text == NULL)
		return 0;
	percent = n > 0 && text[n - 1] == '%';
	if (n < sizeof(number_text)) {
		memcpy(number_text, text, n + 1);
		number_text[n - (size_t)percent] = '\0';
		if (str_to_double(number_text, 0, percent ? 100 : 1, ret) ==
		    0) {
			*ret /= percent ? 100 : 1;
			return 0;
		}
	}
	return ctl_fail("--margin %.30s: allowed is a share as 5%% or 0.05, "
			"at most 100%%",
	    text);
}

void
compare_begin(struct compare_out *o, double margin)
{
	o->table = table_new("test|phase|of|>first|>second|>ratio|interval|"
			     "verdict|");
	o->json = json_array();
	o->margin = margin;
	o->worse = 0;
}

int
compare_end(struct ctl *c, struct compare_out *o)
{
	if (opts_given(&c->opts, OPT_JSON))
		print_json(o->json);
	else
		table_print(o->table, stdout);
	table_free(o->table);
	json_decref(o->json);
	return o->worse > 0 ? EXIT_CODE_WARN : EXIT_CODE_OK;
}

/* ---- periods ---- */

struct sums {
	double n, mean, square; /* Welford's */
};

struct period {
	uint64_t from_unix_ns, to_unix_ns;
	struct sums of[CANARY_MAX][PHASE_MAX];
};

/* A date, a date and time, an age, or now. */
static int
time_read(const char *text, uint64_t *ret_unix_ns)
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

/* FROM..TO, and what the runs between them have counted. 0 or an exit code. */
static int
period_get(struct ctl *c, const char *text, struct period *p)
{
	const char *dots = strstr(text, "..");
	struct strbuf path = { 0 };
	char from[40] = "", to[32];
	json_t *list, *row;
	size_t i;
	int rc;

	if (dots != NULL && (size_t)(dots - text) < sizeof(from))
		memcpy(from, text, (size_t)(dots - text));
	if (time_read(from, &p->from_unix_ns) < 0 ||
	    time_read(dots + 2, &p->to_unix_ns) < 0 ||
	    p->from_unix_ns >= p->to_unix_ns)
		return ctl_fail("%.80s: allowed is FROM..TO, each a time as "
				"2026-11-20T14:30, an age as 7d, or now",
		    text);
	snprintf(from, sizeof(from), "%" PRIu64, p->from_unix_ns);
	snprintf(to, sizeof(to), "%" PRIu64, p->to_unix_ns);
	client_part(&path, "canaries");
	client_param(&path, "from_unix_ns", from);
	client_param(&path, "to_unix_ns", to);
	client_param(&path, "campaign", opts_value(&c->opts, OPT_CAMPAIGN));
	client_param(&path, "limit", "10000");
	rc = client_get(ctl_client(c), path.text, &list);
	strbuf_clear(&path);
	if (rc != 0)
		return ctl_fail_client(c);
	json_array_foreach (list, i, row) {
		int test = names_test_find(print_member(row, "test", ""));
		const char *name = print_member(row, "phase", "");
		double x = print_number(row, "p50"), d;
		int phase = 0;
		struct sums *s;

		while (
		    phase < PHASE_MAX && strcmp(names_phases[phase], name) != 0)
			phase++;
		if (test < 0 || phase == PHASE_MAX || !(x > 0))
			continue;
		s = &p->of[test][phase];
		d = log(x) - s->mean;
		s->n++;
		s->mean += d / s->n;
		s->square += d * (log(x) - s->mean);
	}
	json_decref(list);
	return 0;
}

static struct estimate
estimate_of(const struct sums *s, const char *unit)
{
	struct estimate e = { "p50", unit, NAN, NAN, NAN, LEVEL };

	if (s->n > 0)
		e.value = exp(s->mean);
	return e;
}

/* d -+ t(df) sqrt(v1/n1 + v2/n2)
 * df = (v1/n1 + v2/n2)^2 / ((v1/n1)^2/(n1-1) + (v2/n2)^2/(n2-1)) */
static struct ratio
welch(const struct sums *a, const struct sums *b)
{
	struct ratio r = { NAN, NAN, NAN };
	double va, vb, df, reach;

	r.value = exp(b->mean - a->mean);
	if (a->n < 2 || b->n < 2)
		return r;
	va = a->square / (a->n - 1) / a->n;
	vb = b->square / (b->n - 1) / b->n;
	if (!(va + vb > 0))
		return r;
	df = (va + vb) * (va + vb) /
	    (va * va / (a->n - 1) + vb * vb / (b->n - 1));
	reach = robust_t_quantile(0.5 + LEVEL / 2, df) * sqrt(va + vb);
	r.lo = r.value * exp(-reach);
	r.hi = r.value * exp(reach);
	return r;
}

static void
put(struct compare_out *o, int test, int phase, const struct sums *a,
    const struct sums *b)
{
	const char *unit = names_tests[test].unit;
	struct compare_row r = { .test = names_tests[test].name,
		.phase = names_phases[phase],
		.a = estimate_of(a, unit),
		.b = estimate_of(b, unit),
		.ratio = { NAN, NAN, NAN },
		.verdict = "unknown",
		.text = "" };
	char text[80];

	snprintf(text, sizeof(text), "%.0f and %.0f runs%s", a->n, b->n,
	    a->n < 2 || b->n < 2 ? ": too few for an interval" : "");
	r.text = text;
	if (a->n > 0 && b->n > 0) {
		r.ratio = welch(a, b);
		r.verdict = ratio_verdict(&r.ratio, unit, o->margin);
	}
	compare_put(o, &r);
}

/* Two stretches of time: the run is the sample. Logarithms of the runs'
 * medians have a mean and a variance in each period, and the difference of
 * means an interval by Welch (1947). */
static int
periods_compare(struct ctl *c, double margin)
{
	static struct period p[2];
	struct compare_out o;
	int rc = 0;

	memset(p, 0, sizeof(p));
	for (int i = 0; i < 2 && rc == 0; i++)
		rc = period_get(c, c->args[i], &p[i]);
	if (rc != 0)
		return rc;
	compare_begin(&o, margin);
	for (int t = 0; t < CANARY_MAX; t++)
		for (int ph = 0; ph < PHASE_MAX; ph++)
			if (p[0].of[t][ph].n + p[1].of[t][ph].n > 0)
				put(&o, t, ph, &p[0].of[t][ph],
				    &p[1].of[t][ph]);
	return compare_end(c, &o);
}

static int
compare(struct ctl *c)
{
	struct compare_out o = { 0 };
	json_t *records[2] = { NULL, NULL };
	double margin;
	int rc = compare_margin(c, &margin);

	if (rc == 0 && strstr(c->args[0], "..") != NULL &&
	    strstr(c->args[1], "..") != NULL)
		return periods_compare(c, margin);
	for (int i = 0; i < 2 && rc == 0; i++) {
		char *run = NULL;

		rc = runs_find(c, c->args[i], &run);
		if (rc == 0)
			rc = records_get(c, run, &records[i]);
		free(run);
	}
	if (rc == 0) {
		compare_begin(&o, margin);
		compare_records(&o, records[0], records[1]);
		rc = compare_end(c, &o);
	}
	json_decref(records[0]);
	json_decref(records[1]);
	return rc;
}

const struct verb verbs_compare[] = {
	{ "compare", NULL, "RUN RUN", 2, 2, "json margin campaign", "runs",
	    "Say how the second run, or period, differs from the first.",
	    "For every test and phase, and for the impacts, the ratio of the "
	    "second run's headline to the first's, with an interval. The "
	    "interval is recovered from the recorded intervals of the two "
	    "headlines, which the engine took over rounds (the method of "
	    "variance estimates recovery on logarithms); the histograms are "
	    "not resampled, since operations of one round are not "
	    "independent. Where a run was too short for an interval of its "
	    "headline, the medians are compared, with an interval from the "
	    "histogram that counts every round as one sample. The verdict is "
	    "worse or better where the whole "
	    "interval lies beyond the margin, same where all of it lies "
	    "inside, unclear otherwise, and unknown without an interval. The "
	    "exit code is 1 when anything is worse. Instead of runs two "
	    "periods "
	    "can be given, as FROM..TO: each a time in UTC "
	    "(2026-11-20 or 2026-11-20T14:30), an age (2h, 7d) or now. Of each "
	    "run of a period the logarithm of its median counts once; the "
	    "ratio is of their means, with Welch's interval.",
	    compare },
	{ 0 },
};
