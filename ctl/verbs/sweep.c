/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.c - run a campaign once for each value of a key, and print all results
 * as one table and one curve for each test.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/table.h"
#include "common/xalloc.h"
#include "ctl/lib/print.h"
#include "ctl/lib/progress.h"
#include "ctl/lib/record_csv.h"
#include "ctl/lib/records.h"
#include "ctl/lib/runs.h"
#include "ctl/verbs/campaign.h"
#include "ctl/verbs/verbs.h"
#include "schema/names_probe.h"
#include "schema/options.h"
#include "schema/record.h"

#define VALUES_MAX  64
#define CURVE_CELLS 40

/* The runs, in the order of the values. */
struct sweep {
	const char *key;
	size_t count;
	struct sweep_run {
		const char *value;
		json_t *order, *run, *records;
	} of[VALUES_MAX];
};

/* Only these sections: other keys select nodes and times, not what is
 * measured. */
static int
sweep_key_check(const char *key)
{
	if (strncmp(key, "canary.", 7) == 0 ||
	    strncmp(key, "congestor.", 10) == 0)
		return 0;
	return ctl_fail("cannot sweep %.80s: expected a key of canary or "
			"congestor, for example canary.bytes",
	    key);
}

/* Check all values before the first run. Return 0 or an exit code. */
static int
sweep_orders_make(struct ctl *c, struct sweep *s)
{
	const struct opt_values *given = &c->opts.of[OPT_OVERRIDE];
	int rc = sweep_key_check(s->key);

	for (size_t i = 0; rc == 0 && i < s->count; i++) {
		char *text = xasprintf("%s=%s", s->key, s->of[i].value);
		json_t *overrides = json_object();
		struct conf *conf = NULL;
		struct err err;

		conf_parse(options_campaign, "default", "", &conf, &err);
		for (size_t k = 0; rc == 0 && k < given->count; k++)
			rc = campaign_override_add(given->values[k],
			    "--override", conf, overrides);
		if (rc == 0)
			rc = campaign_override_add(text, "sweep", conf,
			    overrides);
		s->of[i].order = json_pack("{s:o}", "overrides", overrides);
		conf_free(conf);
		free(text);
	}
	return rc;
}

/* Run the values one after another: at the same time they would disturb each
 * other. A run that fails ends the sweep; earlier results are kept. */
static int
sweep_run(struct ctl *c, struct sweep *s)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < s->count; i++) {
		struct sweep_run *one = &s->of[i];
		char *id = NULL;

		rc = campaign_order_post(c, c->args[0], one->order, &id);
		if (rc == 0)
			rc = runs_wait(c, id, &one->run);
		if (rc == 0)
			rc = records_get(c, id, &one->records);
		free(id);
		if (rc == 0 && runs_exit_code(one->run) != EXIT_CODE_OK) {
			rc = runs_exit_code(one->run);
			runs_print_end(one->run, stderr);
		}
	}
	return rc;
}

/* One result: a test at a value. */
struct sweep_point {
	const char *value, *unit;
	double quiet, congested; /* means; NAN: none */
	struct estimate impact;  /* on the mean */
};

static int
sweep_point_get(const struct sweep_run *one, int test, struct sweep_point *ret)
{
	const json_t *records = one->records, *a, *b;
	const char *name = names_tests[test].name;

	if (records == NULL)
		return 0;
	a = records_find(records, "canary", name, records_quiet_phase(records));
	b = records_find(records, "canary", name,
	    names_phases[PHASE_CONGESTED]);
	*ret = (struct sweep_point){ one->value, names_tests[test].unit,
		member_number(a, "mean"), member_number(b, "mean"),
		records_estimate(records_impact(records, name, "mean")) };
	return a != NULL || b != NULL;
}

static void
sweep_quantity_cell(struct table *t, double value, const char *unit)
{
	char text[PRINT_BYTES];

	print_quantity(value, unit, text);
	table_cell(t, "%s", text);
}

static void
sweep_table_print(const struct sweep *s)
{
	char *heads = xasprintf("test|>%s|>without|>with congestors|>impact|"
				"interval|run",
	    s->key);
	struct table *t = table_new(heads);
	struct sweep_point p;

	free(heads);
	for (int test = 0; test < CANARY_MAX; test++)
		for (size_t i = 0; i < s->count; i++) {
			if (!sweep_point_get(&s->of[i], test, &p))
				continue;
			table_cell(t, "%s", names_tests[test].name);
			table_cell(t, "%s", p.value);
			sweep_quantity_cell(t, p.quiet, p.unit);
			sweep_quantity_cell(t, p.congested, p.unit);
			sweep_quantity_cell(t, p.impact.value, "x");
			if (print_is_unknown(p.impact.lo, p.impact.hi))
				table_cell(t, "undetermined");
			else if (isfinite(p.impact.lo) && isfinite(p.impact.hi))
				table_cell(t, "%.2fx .. %.2fx", p.impact.lo,
				    p.impact.hi);
			else
				table_cell(t, "-");
			table_cell(t, "%s",
			    print_member(s->of[i].run, "run", "?"));
		}
	puts("Means, and the impact on the mean");
	table_print(t, stdout);
	table_free(t);
}

/* The impact if there is one, otherwise the mean. */
static void
sweep_curve_print(const struct sweep *s, int test, int ascii)
{
	double values[VALUES_MAX], most = 0;
	int has_impact = 0, count = 0;
	struct sweep_point p;

	for (size_t i = 0; i < s->count; i++)
		has_impact |= sweep_point_get(&s->of[i], test, &p) &&
		    isfinite(p.impact.value);
	for (size_t i = 0; i < s->count; i++) {
		values[i] = NAN;
		if (sweep_point_get(&s->of[i], test, &p))
			values[i] = has_impact ? p.impact.value : p.quiet;
		if (isfinite(values[i])) {
			most = fmax(most, values[i]);
			count++;
		}
	}
	if (count < 2)
		return;
	printf("\n%s: %s over %s\n", names_tests[test].name,
	    has_impact ? "impact on the mean" : "mean", s->key);
	for (size_t i = 0; i < s->count; i++) {
		char bar[CURVE_CELLS * 3 + 1], text[PRINT_BYTES];
		size_t n;

		if (!isfinite(values[i]))
			continue;
		print_quantity(values[i],
		    has_impact ? "x" : names_tests[test].unit, text);
		table_bar(most > 0 ? values[i] / most : 0, CURVE_CELLS, ascii,
		    bar, sizeof(bar));
		for (n = strlen(bar); n > 0 && bar[n - 1] == ' ';)
			bar[--n] = '\0';
		printf("%10s  %12s%s%s\n", s->of[i].value, text,
		    n > 0 ? "  " : "", bar);
	}
}

static json_t *
sweep_json(const struct sweep *s)
{
	json_t *list = json_array();
	struct sweep_point p;

	for (int test = 0; test < CANARY_MAX; test++)
		for (size_t i = 0; i < s->count; i++)
			if (sweep_point_get(&s->of[i], test, &p))
				json_array_append_new(list,
				    json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, "
					      "s:o, s:o, s:o, s:o}",
					"key", s->key, "value", p.value, "run",
					print_member(s->of[i].run, "run", ""),
					"test", names_tests[test].name, "unit",
					p.unit, "isolated",
					record_number(p.quiet), "congested",
					record_number(p.congested), "impact",
					record_number(p.impact.value), "lo",
					record_number(p.impact.lo), "hi",
					record_number(p.impact.hi)));
	return list;
}

static void
sweep_print(struct ctl *c, const struct sweep *s)
{
	int ascii = opts_given(&c->opts, OPT_ASCII) || !progress_utf8();
	json_t *list;

	if (opts_given(&c->opts, OPT_JSON)) {
		list = sweep_json(s);
		print_json(list);
		json_decref(list);
		return;
	}
	if (opts_given(&c->opts, OPT_CSV)) {
		record_csv_head();
		for (size_t i = 0; i < s->count; i++)
			if (s->of[i].records != NULL)
				record_csv_lines(s->of[i].run,
				    s->of[i].records);
		return;
	}
	sweep_table_print(s);
	for (int test = 0; test < CANARY_MAX; test++)
		sweep_curve_print(s, test, ascii);
}

static int
sweep(struct ctl *c)
{
	struct sweep s = { .key = c->args[1],
		.count = (size_t)c->args_count - 2 };
	int rc;

	if (s.count > VALUES_MAX)
		return ctl_fail("%zu values: expected at most %d", s.count,
		    VALUES_MAX);
	if (opts_given(&c->opts, OPT_JSON) && opts_given(&c->opts, OPT_CSV))
		return ctl_fail("--json and --csv exclude each other");
	for (size_t i = 0; i < s.count; i++)
		s.of[i].value = c->args[i + 2];
	rc = sweep_orders_make(c, &s);
	if (rc == 0) {
		rc = sweep_run(c, &s);
		if (s.of[0].records != NULL)
			sweep_print(c, &s);
	}
	for (size_t i = 0; i < s.count; i++) {
		json_decref(s.of[i].order);
		json_decref(s.of[i].run);
		json_decref(s.of[i].records);
	}
	return rc;
}

const struct verb verbs_sweep[] = {
	{ "sweep", NULL, "CAMPAIGN KEY VALUE...", 3, -1,
	    "json csv ascii override", "campaigns",
	    "Run a campaign for each value of a key, and compare.",
	    "KEY is a key of the sections canary or congestor, for example "
	    "canary.bytes or congestor.bytes. The runs follow each other. The "
	    "output is one table with the mean of each canary without and with "
	    "congestors, the impact on it with its interval, and a curve for "
	    "each test: of the impact, or of the mean in a campaign without "
	    "congestors. --csv prints the lines of coalctl report --csv for "
	    "all runs; their column overrides has the value. If a run fails, "
	    "the sweep ends with its exit code, and the results of earlier "
	    "runs are printed.",
	    sweep },
	{ 0 },
};
