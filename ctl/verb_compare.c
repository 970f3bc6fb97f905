/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/table.h"
#include "ctl/compare.h"
#include "ctl/ctl.h"
#include "ctl/print.h"
#include "ctl/ratio.h"
#include "ctl/records.h"
#include "ctl/runs.h"
#include "schema/record.h"

#define MARGIN_ELSE 0.05

static int
has_interval(const struct estimate *e)
{
	return isfinite(e->lo) && isfinite(e->hi);
}

/* Where a run was too short for an interval of its headline, the medians are
 * compared. Impacts have none. */
static void
fall_back(struct compare_row *r, const json_t *a, const json_t *b)
{
	if ((has_interval(&r->a) && has_interval(&r->b)) ||
	    json_object_get(a, "hist") == NULL ||
	    json_object_get(b, "hist") == NULL)
		return;
	r->a = records_median(a);
	r->b = records_median(b);
	r->text = "the headline has no interval: medians";
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
		fall_back(&r, a, b);
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

static void
row_table(struct table *t, const struct compare_row *r)
{
	table_cell(t, "%s", r->test);
	table_cell(t, "%s", r->phase);
	table_cell(t, "%s",
	    r->a.of != NULL       ? r->a.of
		: r->b.of != NULL ? r->b.of
				  : "-");
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
	o->worse += strcmp(r->verdict, "worse") == 0;
	row_table(o->table, r);
	json_array_append_new(o->json, row_json(r));
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

static int
compare(struct ctl *c)
{
	struct compare_out o = { 0 };
	json_t *records[2] = { NULL, NULL };
	double margin;
	int rc = compare_margin(c, &margin);

	if (rc == 0 && periods_are(c->args[0], c->args[1]))
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
