/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.c - a run as tables for people, as JSON or CSV for scripts, or as
 * one file with plots; and what its collectives were tuned by.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "common/table.h"
#include "common/xalloc.h"
#include "ctl/lib/headline.h"
#include "ctl/lib/histogram.h"
#include "ctl/lib/html.h"
#include "ctl/lib/print.h"
#include "ctl/lib/progress.h"
#include "ctl/lib/ratio.h"
#include "ctl/lib/record_csv.h"
#include "ctl/lib/record_file.h"
#include "ctl/lib/records.h"
#include "ctl/lib/runs.h"
#include "ctl/lib/scatter.h"
#include "ctl/lib/tables.h"
#include "ctl/verbs/import.h"
#include "ctl/verbs/verbs.h"
#include "schema/names_probe.h"
#include "schema/names_verdict.h"

#define NODES_SHOWN 5
#define PAIRS_SHOWN 5

static const char *const impact_ofs[] = { "mean", "p99" };

static void
report_quantity_cell(struct table *t, double value, const char *unit)
{
	char text[PRINT_BYTES];

	print_quantity(value, unit, text);
	table_cell(t, "%s", text);
}

/* "2.41 ms .. 2.49 ms" */
static void
report_interval_cell(struct table *t, const struct estimate *e)
{
	char lo[PRINT_BYTES], hi[PRINT_BYTES];

	print_quantity(e->lo, e->unit, lo);
	print_quantity(e->hi, e->unit, hi);
	if (print_is_unknown(e->lo, e->hi))
		table_cell(t, "undetermined");
	else if (isfinite(e->lo) && isfinite(e->hi))
		table_cell(t, "%s .. %s", lo, hi);
	else
		table_cell(t, "-");
}

/* The columns for times and for rates: the bad end on the right. */
static const struct form {
	const char *unit;
	const char *heads;
	struct statistic {
		const char *name;
		double q; /* where a record does not have it */
	} statistics[7];
} forms[] = {
	{ "s",
	    "test|>n|>mean|>min|>p50|>p90|>p99|>p99.9|>max|of|interval|"
	    "stopped by",
	    { { "mean", NAN }, { "min", 0 }, { "p50", 0.5 }, { "p90", 0.9 },
		{ "p99", 0.99 }, { "p999", 0.999 }, { "max", 1 } } },
	{ "B/s",
	    "test|>n|>mean|>max|>p50|>p10|>p01|>p0.1|>min|of|interval|"
	    "stopped by",
	    { { "mean", NAN }, { "max", 1 }, { "p50", 0.5 }, { "p10", 0.1 },
		{ "p01", 0.01 }, { "p001", 0.001 }, { "min", 0 } } },
};

/* The records of one probe, phase and unit, in the order of the names. */
static void
report_print_form(const struct form *form, const json_t *records,
    const char *probe, const char *phase)
{
	struct table *t = table_new(form->heads);
	int canary = strcmp(probe, "canary") == 0;
	struct estimate e;
	int rows = 0;

	for (int i = 0; i < (canary ? (int)CANARY_MAX : (int)CONGESTOR_MAX);
	     i++) {
		const json_t *r = records_find(records, probe,
		    canary ? names_tests[i].name : names_congestors[i].name,
		    phase);

		if (r == NULL ||
		    strcmp(print_member(r, "unit", ""), form->unit) != 0)
			continue;
		e = records_estimate(r);
		table_cell(t, "%s", print_member(r, "test", "?"));
		table_cell(t, "%.0f", member_number(r, "n"));
		for (size_t k = 0; k < ARRAY_LEN(form->statistics); k++)
			report_quantity_cell(t,
			    records_statistic(r, form->statistics[k].name,
				form->statistics[k].q),
			    form->unit);
		table_cell(t, "%s", e.of);
		report_interval_cell(t, &e);
		table_cell(t, "%s",
		    print_member(r, "cause",
			print_member(r, "stopped_by", "-")));
		rows++;
	}
	if (rows > 0) {
		printf("\n%s, %s of %s\n", phase,
		    form == forms ? "times" : "rates",
		    canary ? "the canaries" : "the congestors");
		table_print(t, stdout);
	}
	table_free(t);
}

static void
report_print_phase(const json_t *records, const char *probe, const char *phase)
{
	for (size_t i = 0; i < ARRAY_LEN(forms); i++)
		report_print_form(&forms[i], records, probe, phase);
}

/* With canary.exact = gpcnet: the statistics of GPCNeT's table, by ring and
 * rank. */
static void
report_print_rings(const json_t *records, const char *phase)
{
	static const char *const names[] = { "min", "max", "avg", "avg_worst" };
	struct table *t = table_new("test|>Min|>Max|>Avg|>Avg(Worst)|>99%|"
				    ">99.9%");
	int rows = 0;

	for (int i = 0; i < CANARY_MAX; i++) {
		const json_t *r = records_find(records, "canary",
		    names_tests[i].name, phase);
		const json_t *rings = json_object_get(r, "rings");
		const char *unit = names_tests[i].unit;
		int is_time = strcmp(unit, "s") == 0;

		if (rings == NULL)
			continue;
		table_cell(t, "%s", names_tests[i].title);
		for (size_t k = 0; k < ARRAY_LEN(names); k++)
			report_quantity_cell(t, member_number(rings, names[k]),
			    unit);
		report_quantity_cell(t,
		    member_number(r, is_time ? "p99" : "p01"), unit);
		report_quantity_cell(t,
		    is_time ? member_number(r, "p999")
			    : member_number(rings, "p001"),
		    unit);
		rows++;
	}
	if (rows > 0) {
		printf("\n%s, the columns of GPCNeT\n", phase);
		table_print(t, stdout);
	}
	table_free(t);
}

static void
report_print_impacts(const json_t *records)
{
	struct table *t = table_new("test|of|>impact|interval|>level|");
	int rows = 0;

	for (int i = 0; i < CANARY_MAX; i++)
		for (size_t k = 0; k < ARRAY_LEN(impact_ofs); k++) {
			const json_t *r = records_impact(records,
			    names_tests[i].name, impact_ofs[k]);
			struct estimate e = records_estimate(r);

			if (r == NULL)
				continue;
			rows++;
			table_cell(t, "%s", names_tests[i].name);
			table_cell(t, "%s", e.of);
			report_quantity_cell(t, e.value, e.unit);
			report_interval_cell(t, &e);
			if (isfinite(e.level))
				table_cell(t, "%.0f %%", e.level * 100);
			else
				table_cell(t, "-");
			table_cell(t, "%s", print_member(r, "cause", ""));
		}
	if (rows > 0) {
		printf("\nimpact: how many times worse than without congestors "
		       "(isolated)\n");
		table_print(t, stdout);
	}
	table_free(t);
}

struct node_row {
	const char *node;
	double n, p50, p99, q25, q75;
	double worse; /* to sort by: higher is worse */
};

static int
report_compare_cb(const void *a, const void *b)
{
	const struct node_row *x = a, *y = b;

	return (x->worse < y->worse) - (x->worse > y->worse);
}

/* The worst nodes of one record: those that are slow even with their better
 * partners, beyond the scatter of the nodes. Return their number. */
static int
report_print_nodes_of(struct table *t, const json_t *r)
{
	const json_t *nodes = json_object_get(r, "nodes");
	size_t count = json_array_size(nodes), i;
	const char *unit = print_member(r, "unit", "s");
	int sign = strcmp(unit, "s") == 0 ? 1 : -1;
	struct scatter s = scatter_of(r, sign);
	struct node_row *rows = xcalloc(count + 1, sizeof(*rows));
	json_t *n;

	json_array_foreach (nodes, i, n) {
		rows[i] = (struct node_row){ print_member(n, "node", "?"),
			member_number(n, "n"), member_number(n, "p50"),
			member_number(n, "p99"), member_number(n, "q25"),
			member_number(n, "q75"), 0 };
		rows[i].worse = sign > 0 ? rows[i].q25 : -rows[i].q75;
		if (!isfinite(rows[i].worse))
			rows[i].worse = -INFINITY;
	}
	qsort(rows, count, sizeof(*rows), report_compare_cb);
	for (i = 0; i < count && i < NODES_SHOWN &&
	     scatter_has_node(&s, sign > 0 ? rows[i].q25 : rows[i].q75);
	     i++) {
		table_cell(t, "%s", print_member(r, "test", "?"));
		table_cell(t, "%s", rows[i].node);
		table_cell(t, "%.0f", rows[i].n);
		report_quantity_cell(t, rows[i].p50, unit);
		report_quantity_cell(t, rows[i].p99, unit);
		report_quantity_cell(t, rows[i].q25, unit);
		report_quantity_cell(t, rows[i].q75, unit);
	}
	free(rows);
	return (int)i;
}

/* The worst pairs of one record, by the same limit. Return their number. */
static int
report_print_pairs_of(struct table *t, const json_t *r)
{
	const char *unit = print_member(r, "unit", "s");
	int sign = strcmp(unit, "s") == 0 ? 1 : -1, count = 0;
	struct scatter s = scatter_of(r, sign);
	size_t i;
	json_t *p;

	member_foreach (r, "pairs", i, p) {
		if (count == PAIRS_SHOWN)
			break;
		if (!scatter_has_pair(&s, member_number(p, "p50"),
			member_number(p, "n")))
			continue;
		table_cell(t, "%s", print_member(r, "test", "?"));
		table_cell(t, "%s", print_member(p, "a", "?"));
		table_cell(t, "%s", print_member(p, "b", "?"));
		table_cell(t, "%.0f", member_number(p, "n"));
		report_quantity_cell(t, member_number(p, "p50"), unit);
		count++;
	}
	return count;
}

/* Nodes and pairs are judged without congestors: the quiet phase. */
static void
report_print_worst(const json_t *records, const char *phase)
{
	struct table *nodes = table_new("test|node|>n|>p50|>p99|>q25|>q75");
	struct table *pairs = table_new("test|node|with|>n|>p50");
	int node_count = 0, pair_count = 0;

	for (int i = 0; i < CANARY_MAX; i++) {
		const json_t *r = records_find(records, "canary",
		    names_tests[i].name, phase);

		if (r == NULL)
			continue;
		node_count += report_print_nodes_of(nodes, r);
		pair_count += report_print_pairs_of(pairs, r);
	}
	if (node_count > 0) {
		printf("\nworst nodes, %s (q25, q75: quartiles of the medians "
		       "of a node's pairs)\n",
		    phase);
		table_print(nodes, stdout);
	}
	if (pair_count > 0) {
		printf("\nworst pairs, %s\n", phase);
		table_print(pairs, stdout);
	}
	table_free(nodes);
	table_free(pairs);
}

/* Print the heading of a test's histograms: the texts of tests describe rings.
 */
static void
report_print_test(enum canary_test test, const json_t *record)
{
	static const char *const pairs[PARTNERS_MAX] = {
		[PARTNERS_MATCH] = "each node with one partner in a round",
		[PARTNERS_PAIR] = "one pair of nodes in a round",
		[PARTNERS_ONE_WAY] = "one pair of nodes in a round, one "
				     "direction after the other"
	};
	const struct test_row *row = &names_tests[test];
	int i = row->may_stand_aside == 0
	    ? -1
	    : STR_FIND(names_partners, print_member(record, "partners", ""));

	printf("\n%s: %s\n", row->name,
	    i < 0 || pairs[i] == NULL ? row->text : pairs[i]);
}

/* quiet is the name of the phase without congestors. */
static void
report_print_histograms(const json_t *records, const char *quiet, int ascii)
{
	static struct hist left, right;

	for (int i = 0; i < CANARY_MAX; i++) {
		const char *test = names_tests[i].name;
		const json_t *a = records_find(records, "canary", test, quiet);
		const json_t *b = records_find(records, "canary", test,
		    names_phases[PHASE_CONGESTED]);

		hist_clear(&left);
		hist_clear(&right);
		records_hist(a, &left);
		records_hist(b, &right);
		if (left.count + right.count == 0)
			continue;
		report_print_test((enum canary_test)i, a != NULL ? a : b);
		histogram_print(&left, quiet, &right,
		    names_phases[PHASE_CONGESTED], names_tests[i].unit, ascii,
		    stdout);
	}
}

/* Whose memory messages left, where it is not the host's. */
static void
report_print_memory(const json_t *records)
{
	const json_t *r = records_find(records, "begin", NULL, NULL);

	if (json_object_get(r, "device") == NULL)
		return;
	printf("memory of %s%s%s, messages by %s\n",
	    print_member(r, "device", ""),
	    print_member(r, "device_name", "")[0] != '\0' ? ", " : "",
	    print_member(r, "device_name", ""),
	    json_object_get(r, "staging") != NULL
		? "mpi through host memory"
		: print_member(r, "impl", print_member(r, "via", "")));
}

/* Print what carried the bytes: "carried by tcp, eth0 eth1". Of several
 * records the first that has it, since all are of one run. */
static void
report_print_carrier(const json_t *records)
{
	const json_t *carried = NULL;
	char *devices;
	size_t i;
	json_t *r;

	json_array_foreach (records, i, r)
		if (carried == NULL)
			carried = json_object_get(r, "carried");
	if (print_member(carried, "transport", "")[0] == '\0')
		return;
	devices = print_texts(json_object_get(carried, "devices"), " ");
	printf("carried by %s%s%s\n", print_member(carried, "transport", ""),
	    devices != NULL && devices[0] != '\0' ? ", " : "",
	    devices != NULL ? devices : "");
	free(devices);
}

/* Why tests have no result, each reason once. */
static void
report_print_reasons(const json_t *records)
{
	const char *last = "";
	size_t i;
	json_t *r;

	json_array_foreach (records, i, r) {
		const char *text = print_member(r, "text", "");

		if (strcmp(print_member(r, "probe", ""), "canary") != 0 ||
		    text[0] == '\0' || strcmp(text, last) == 0)
			continue;
		last = text;
		printf("\n%s: %s: %s\n", print_member(r, "test", ""),
		    print_member(r, "cause", ""), text);
	}
}

static void
report_print_tables(const json_t *run, const json_t *records, int ascii)
{
	const char *quiet = records_quiet_phase(records), *key;
	json_t *overrides = json_object_get(run, "overrides"), *value;
	size_t count;
	char *hosts = print_hostlist(json_object_get(run, "nodes"), &count);
	char at[PRINT_BYTES], ranks[PRINT_BYTES], seed[PRINT_BYTES];
	char *sentence = headline(records);

	puts(sentence);
	free(sentence);
	print_time(run, "started_unix_ns", at);
	print_count(run, "ranks", ranks);
	print_count(run, "seed", seed);
	printf("run %s, campaign %s, %s\n", print_member(run, "run", "?"),
	    print_member(run, "campaign", "-"),
	    print_member(run, "state", "?"));
	printf("nodes %s (%zu), %s, %s ranks, seed %s, started %s UTC\n",
	    hosts[0] == '\0' ? "-" : hosts, count,
	    print_member(run, "mpi", "-"), ranks, seed, at);
	free(hosts);
	if (json_object_size(overrides) > 0)
		fputs("with", stdout);
	json_object_foreach (overrides, key, value)
		printf(" %s=%s", key, json_string_value(value));
	if (json_object_size(overrides) > 0)
		putchar('\n');
	report_print_memory(records);
	report_print_carrier(records);
	if (tables_print(records) == 0 &&
	    records_find(records, "canary", NULL, NULL) == NULL)
		puts("no canary has a result");
	for (int i = 0; i < PHASE_MAX; i++) {
		report_print_phase(records, "canary", names_phases[i]);
		report_print_rings(records, names_phases[i]);
	}
	report_print_impacts(records);
	for (int i = 0; i < PHASE_MAX; i++)
		report_print_phase(records, "congestor", names_phases[i]);
	report_print_reasons(records);
	report_print_worst(records, quiet);
	report_print_histograms(records, quiet, ascii);
}

static int
report_write_html(const json_t *run, const json_t *records, const char *path)
{
	char *text = html_report(run, records);
	int rc = ctl_write(path, text);

	free(text);
	return rc;
}

static int
report_has_results(const json_t *records)
{
	static const char *const progress[] = { "begin", "round" };
	json_t *r;
	size_t i;

	json_array_foreach (records, i, r)
		if (STR_FIND(progress, print_member(r, "probe", "")) < 0)
			return 1;
	return 0;
}

static int
report(struct ctl *c)
{
	const char *html = opts_value(&c->opts, OPT_HTML);
	static const enum opt forms_of[] = { OPT_JSON, OPT_CSV, OPT_HTML,
		OPT_FORMAT };
	json_t *run = NULL, *records = NULL;
	char *id = NULL;
	int asked = 0;
	int rc;

	for (size_t i = 0; i < ARRAY_LEN(forms_of); i++)
		asked += opts_given(&c->opts, forms_of[i]) != 0;
	if (asked > 1)
		return ctl_fail("--json, --csv, --html and "
				"--format exclude each other");
	if (record_file_is(c->args[0])) {
		rc = record_file_read(c->args[0], opts_given(&c->opts, OPT_RAW),
		    &run, &records);
	} else {
		rc = runs_find(c, c->args[0], &id);
		if (rc == 0)
			rc = runs_get(c, id, &run);
		if (rc == 0)
			rc = records_get(c, id, &records);
	}
	free(id);
	if (rc == 0 && html != NULL)
		rc = report_write_html(run, records, html);
	else if (rc == 0 && opts_given(&c->opts, OPT_JSON))
		print_json(records);
	else if (rc == 0 && opts_given(&c->opts, OPT_CSV))
		record_csv_print(run, records);
	else if (rc == 0 && opts_given(&c->opts, OPT_FORMAT))
		rc = import_print_as(records, opts_value(&c->opts, OPT_FORMAT));
	else if (rc == 0)
		report_print_tables(run, records,
		    opts_given(&c->opts, OPT_ASCII) || !progress_utf8());
	if (rc == 0) {
		rc = runs_exit_code(run);
		/* A run that has not measured yet is unknown, not ok. */
		if (rc == EXIT_CODE_OK && !runs_final(run) &&
		    !report_has_results(records))
			rc = EXIT_CODE_UNKNOWN;
		if (!runs_final(run) || rc != EXIT_CODE_OK) {
			fflush(stdout);
			runs_print_end(run, stderr);
		}
	}
	json_decref(run);
	json_decref(records);
	return rc;
}

const struct verb verbs_report[] = {
	{ "report", NULL, "RUN|FILE", 1, 1, "json csv html ascii raw format",
	    "runs", "Show the results of a run.",
	    "FILE has records that coalmine-probe run --json wrote: then no "
	    "collector is contacted. A name with a slash or the ending .json "
	    "or .jsonl is a file, - is the standard input. The report begins "
	    "with the result in one sentence. It has a table for every phase, "
	    "the impact of congestion with its confidence interval, the nodes "
	    "and pairs that are slower than the usual scatter, and for every "
	    "test the histograms of the isolated and the congested phase. For "
	    "neighborhood collectives and products of sparse matrices, the "
	    "report has the speed-up over the MPI's own operation, by density "
	    "and size, and the bytes that crossed the network. For plans, the "
	    "report has the measured and the predicted bandwidth, the NIC "
	    "that serves each device, and the bandwidth of every rail. --json "
	    "prints an array of the records as in coalmine-output(7). --csv "
	    "prints a line for each canary, congestor, impact, plan and "
	    "speed-up, in base units, with size, carrier and overrides. "
	    "--html writes one file with the plots and tables of the run's "
	    "page, for mail and tickets; its plots can be saved as PNG. For "
	    "an active run the results so far are shown. The exit code "
	    "follows the state of the run; it is 3 for an active run without "
	    "results.",
	    report },
	{ 0 },
};

/* ---- tuning: why collectives have their shapes ---- */

/* The candidates, measured ones first; * is the choice. */
static void
report_print_tuning(const json_t *r)
{
	static const struct print_column columns[] = {
		{ "", "mark", "", PRINT_TEXT, NULL },
		{ "shape", "words", "?", PRINT_TEXT, NULL },
		{ ">predicted", "predicted", NULL, PRINT_SPAN, NULL },
		{ ">measured", "seconds", NULL, PRINT_SPAN, NULL },
		{ 0 },
	};
	const char *choice = print_member(r, "choice", "");
	char size[PRINT_BYTES];
	json_t *o;
	size_t i;

	str_bytes_format(member_number(r, "bytes"), size, sizeof(size));
	printf("\n%s, %s in all, %.0f ranks on %s: %s\n",
	    print_member(r, "asked", "?"), size, member_number(r, "ranks"),
	    print_member(r, "machine", "?"), print_member(r, "why", "?"));
	member_foreach (r, "tried", i, o)
		if (strcmp(print_member(o, "words", "?"), choice) == 0)
			json_object_set_new(o, "mark", json_string("*"));
	print_rows(json_object_get(r, "tried"), columns);
}

static int
report_tuning(struct ctl *c)
{
	json_t *records = NULL, *list = json_array(), *r;
	char *id = NULL;
	size_t i;
	int rc = runs_find(c, c->args[0], &id);

	if (rc == 0)
		rc = records_get(c, id, &records);
	json_array_foreach (records, i, r)
		if (strcmp(print_member(r, "probe", ""), "tuning") == 0)
			json_array_append(list, r);
	if (rc == 0 && opts_given(&c->opts, OPT_JSON))
		print_json(list);
	else if (rc == 0 && json_array_size(list) == 0)
		puts("the run has tuned no collective");
	else
		json_array_foreach (list, i, r)
			report_print_tuning(r);
	json_decref(list);
	json_decref(records);
	free(id);
	return rc;
}

const struct verb verbs_tuning[] = {
	{ "tuning", NULL, "RUN", 1, 1, "json", "runs",
	    "Show why a run used certain shapes for its collectives.",
	    "A shape is the hierarchy, stripes, ring, depth and "
	    "transports of a collective. The output lists the shapes "
	    "that tune = auto considered, with predicted and measured "
	    "time; * marks the one that was used. remembered: measured "
	    "in an earlier run and read from collective.table.",
	    report_tuning },
	{ 0 },
};
