/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.c - what plans reached and gained, as tables of a report: a table is a
 * row that says which records it shows, a column is a row within it.
 */
#include "ctl/lib/tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/member.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "ctl/lib/print.h"
#include "ctl/lib/records.h"

/* ---- cells of more than one member ---- */

static const char *
tables_step_text(const json_t *r, char *scratch)
{
	if (!records_is(r, NULL, "step"))
		return print_member(r, "of", "-");
	if (records_is(r, "binding", NULL))
		snprintf(scratch, PRINT_BYTES, "%.30s k=%.0f",
		    print_member(r, "pattern", "?"), member_number(r, "k"));
	else
		snprintf(scratch, PRINT_BYTES, "step %.0f",
		    member_number(r, "step"));
	return scratch;
}

static const char *
tables_interval_text(const json_t *r, char *scratch)
{
	const json_t *interval = json_object_get(r, "interval");

	snprintf(scratch, PRINT_BYTES, "-");
	if (json_is_object(interval))
		snprintf(scratch, PRINT_BYTES, "%.2f .. %.2f",
		    member_number(interval, "lo"),
		    member_number(interval, "hi"));
	return scratch;
}

static double
tables_worse(double a, double b)
{
	return isfinite(b) && !(fabs(a) >= fabs(b)) ? b : a;
}

/* For each design, compute two shares of the bytes in the list of transfers,
 * for the worst node: retransmitted bytes, since a queue dropped them, and the
 * excess either way, which counts retransmitted bytes once. Empty if no bytes
 * had to pass or none were counted. */
static void
tables_wire_derive(json_t *row)
{
	static const struct {
		const char *design, *beyond, *resent;
	} designs[] = { { "direct", "wire_direct", "resent_direct" },
		{ "leader", "wire_leader", "resent_leader" } };
	size_t i;
	json_t *node;

	for (size_t k = 0; k < ARRAY_LEN(designs); k++) {
		double beyond = NAN, resent = NAN;

		member_foreach (row, "wire", i, node) {
			double again = member_number(node, "resent_bytes");
			double once = member_number(node, "out_bytes") -
			    (isfinite(again) ? again : 0);
			double want = member_number(node, "expected_out_bytes");

			if (strcmp(print_member(node, "design", ""),
				designs[k].design) != 0)
				continue;
			resent = tables_worse(resent, again / want);
			beyond = tables_worse(beyond, once / want - 1);
			beyond = tables_worse(beyond,
			    member_number(node, "in_bytes") /
				    member_number(node, "expected_in_bytes") -
				1);
		}
		json_object_set_new(row, designs[k].beyond, json_real(beyond));
		json_object_set_new(row, designs[k].resent, json_real(resent));
	}
}

/* Compute the rate of a plan, or at a k of a fit, and its share of the
 * prediction. */
static void
tables_rate_derive(json_t *row)
{
	double rate = member_number(row, "bandwidth");

	if (!isfinite(rate))
		rate = records_rate(row);
	json_object_set_new(row, "rate", json_real(rate));
	json_object_set_new(row, "of_model",
	    json_real(rate / member_number(row, "model")));
}

/* ---- tables ---- */

static const struct print_column neighbor_columns[] = {
	{ ">density", "density", NULL, PRINT_RATIO, NULL },
	{ ">message", "bytes", NULL, PRINT_BYTES_OF, NULL },
	{ "order", "order", "-", PRINT_TEXT, NULL },
	{ ">MPI", "baseline_seconds", NULL, PRINT_SPAN, NULL },
	{ ">leader", "seconds", NULL, PRINT_SPAN, NULL },
	{ ">speed-up", "value", NULL, PRINT_RATIO, NULL },
	{ "interval", "", NULL, PRINT_OF, tables_interval_text },
	{ ">bound", "load_bound", NULL, PRINT_RATIO, NULL },
	{ ">byte ratio", "byte_ratio", NULL, PRINT_RATIO, NULL },
	{ ">expected", "byte_ratio_expected", NULL, PRINT_RATIO, NULL },
	{ ">wire MPI", "wire_direct", NULL, PRINT_BEYOND, NULL },
	{ ">leader", "wire_leader", NULL, PRINT_BEYOND, NULL },
	{ ">resent MPI", "resent_direct", NULL, PRINT_BEYOND, NULL },
	{ ">leader", "resent_leader", NULL, PRINT_BEYOND, NULL },
	{ "", "text", "", PRINT_TEXT, NULL },
	{ 0 },
};

/* The forms of one all-reduce differ in their options: the plan is the first
 * column, before those of every collective. */
static const char *
tables_bound_of(const json_t *r, char *scratch)
{
	if (json_object_get(r, "bound_exceeded") != NULL)
		return "exceeded";
	print_quantity(member_number(r, "bound"), "B/s", scratch);
	return scratch;
}

static const char *
tables_bound_share_of(const json_t *r, char *scratch)
{
	double ratio = member_number(r, "bound_ratio");

	if (!isfinite(ratio))
		return "-";
	snprintf(scratch, PRINT_BYTES, "%.0f %%", ratio * 100);
	return scratch;
}

static const struct print_column allreduce_columns[] = {
	{ "plan", "plan", "?", PRINT_TEXT, NULL },
	{ "collective", "collective", "?", PRINT_TEXT, NULL },
	{ ">all blocks", "bytes", NULL, PRINT_BYTES_OF, NULL },
	{ ">measured", "throughput", NULL, PRINT_RATE, NULL },
	{ ">baseline", "baseline_throughput", NULL, PRINT_RATE, NULL },
	{ ">bound", NULL, NULL, PRINT_OF, tables_bound_of },
	{ ">of bound", NULL, NULL, PRINT_OF, tables_bound_share_of },
	{ ">speed-up", "value", NULL, PRINT_RATIO, NULL },
	{ "interval", "", NULL, PRINT_OF, tables_interval_text },
	{ "", "text", "", PRINT_TEXT, NULL },
	{ 0 },
};

static const struct print_column spmm_columns[] = {
	{ ">rows", "rows", NULL, PRINT_COUNT, NULL },
	{ ">nonzeros", "nonzeros", NULL, PRINT_COUNT, NULL },
	{ ">columns", "columns", NULL, PRINT_COUNT, NULL },
	{ "order", "order", "-", PRINT_TEXT, NULL },
	{ ">MPI", "baseline_seconds", NULL, PRINT_SPAN, NULL },
	{ ">leader", "seconds", NULL, PRINT_SPAN, NULL },
	{ ">speed-up", "steady_value", NULL, PRINT_RATIO, NULL },
	{ "interval", "", NULL, PRINT_OF, tables_interval_text },
	{ ">set-up MPI", "baseline_setup_s", NULL, PRINT_SPAN, NULL },
	{ ">leader", "setup_s", NULL, PRINT_SPAN, NULL },
	{ ">with set-up", "value", NULL, PRINT_RATIO, NULL },
	{ ">products", "n", NULL, PRINT_COUNT, NULL },
	{ "", "text", "", PRINT_TEXT, NULL },
	{ 0 },
};

static const struct print_column plan_columns[] = {
	{ "plan", "plan", "", PRINT_TEXT, NULL },
	{ "of", "", NULL, PRINT_OF, tables_step_text },
	{ "via", "via", "-", PRINT_TEXT, NULL },
	{ ">bytes", "bytes", NULL, PRINT_BYTES_OF, NULL },
	{ ">n", "n", NULL, PRINT_COUNT, NULL },
	{ ">best", "min", NULL, PRINT_SECONDS, NULL },
	{ ">median", "median_middle", NULL, PRINT_SECONDS, NULL },
	{ ">bandwidth", "rate", NULL, PRINT_RATE, NULL },
	{ ">predicted", "model", NULL, PRINT_RATE, NULL },
	{ ">of predicted", "of_model", NULL, PRINT_SHARE, NULL },
	{ "", "cause", "", PRINT_TEXT, NULL },
	{ 0 },
};

static const struct print_column scale_columns[] = {
	{ "pattern", "pattern", "?", PRINT_TEXT, NULL },
	{ "direction", "direction", "?", PRINT_TEXT, NULL },
	{ ">k", "k", NULL, PRINT_COUNT, NULL },
	{ ">nodes", "groups", NULL, PRINT_COUNT, NULL },
	{ ">bytes", "bytes", NULL, PRINT_BYTES_OF, NULL },
	{ ">per node", "node_bandwidth", NULL, PRINT_RATE, NULL },
	{ ">rated", "rated", NULL, PRINT_RATE, NULL },
	{ ">of rated", "rated_ratio", NULL, PRINT_SHARE, NULL },
	{ ">of predicted", "ratio", NULL, PRINT_SHARE, NULL },
	{ 0 },
};

static const struct print_column beside_columns[] = {
	{ "plan", "plan", "?", PRINT_TEXT, NULL },
	{ "against", "baseline", "?", PRINT_TEXT, NULL },
	{ ">bandwidth", "throughput", NULL, PRINT_RATE, NULL },
	{ ">baseline", "baseline_throughput", NULL, PRINT_RATE, NULL },
	{ ">speed-up", "value", NULL, PRINT_TIMES, NULL },
	{ "interval", "", NULL, PRINT_OF, tables_interval_text },
	{ ">efficiency", "efficiency", NULL, PRINT_SHARE, NULL },
	{ "", "text", "", PRINT_TEXT, NULL },
	{ 0 },
};

static const struct print_column multipath_columns[] = {
	{ "pair", "pair_class", "?", PRINT_TEXT, NULL },
	{ ">message", "bytes", NULL, PRINT_BYTES_OF, NULL },
	{ ">split", "seconds", NULL, PRINT_SPAN, NULL },
	{ ">direct", "baseline_seconds", NULL, PRINT_SPAN, NULL },
	{ ">speed-up", "value", NULL, PRINT_RATIO, NULL },
	{ "interval", "", NULL, PRINT_OF, tables_interval_text },
	{ ">predicted", "model_ratio", NULL, PRINT_RATIO, NULL },
	{ "choice", "choice", "-", PRINT_TEXT, NULL },
	{ "", "text", "", PRINT_TEXT, NULL },
	{ 0 },
};

static const struct print_column fit_columns[] = {
	{ ">k", "k", NULL, PRINT_COUNT, NULL },
	{ ">bandwidth", "rate", NULL, PRINT_RATE, NULL },
	{ ">model", "model", NULL, PRINT_RATE, NULL },
	{ ">of model", "of_model", NULL, PRINT_SHARE, NULL },
	{ 0 },
};

static const struct print_column rail_columns[] = {
	{ ">rail", "rail", NULL, PRINT_COUNT, NULL },
	{ "NIC", "nic", "-", PRINT_TEXT, NULL },
	{ "node", "node", "?", PRINT_TEXT, NULL },
	{ ">bandwidth", "bandwidth", NULL, PRINT_RATE, NULL },
	{ ">of normal", "ratio", NULL, PRINT_SHARE, NULL },
	{ 0 },
};

static const struct print_column self_columns[] = {
	{ "node", "node", "?", PRINT_TEXT, NULL },
	{ ">bytes", "bytes", NULL, PRINT_BYTES_OF, NULL },
	{ ">bandwidth", "bandwidth", NULL, PRINT_RATE, NULL },
	{ ">of measured", "memory_ratio", NULL, PRINT_SHARE, NULL },
	{ ">of rated", "rated_ratio", NULL, PRINT_SHARE, NULL },
	{ 0 },
};

/* Tables with one line per record of a probe and its subject, or of the records
 * that shows selects. The baseline of the first record is in the title. */
static const struct record_table {
	const char *title, *probe, *of;
	int (*shows)(const json_t *r);
	const struct print_column *columns;
	void (*derive)(json_t *row); /* members of a row that no record has */
	int has_baseline;
} record_tables[] = {
	{ "neighborhood collectives", "speedup", "neighbor", NULL,
	    neighbor_columns, tables_wire_derive, 1 },
	{ "collectives", "speedup", "collective", NULL, allreduce_columns + 1,
	    NULL, 1 },
	{ "all-reduces for devices of nodes", "speedup", "allreduce", NULL,
	    allreduce_columns, NULL, 1 },
	{ "messages over several paths", "speedup", "multipath", NULL,
	    multipath_columns, NULL, 0 },
	{ "products of sparse matrices", "spmm", NULL, NULL, spmm_columns, NULL,
	    1 },
	{ "plans", NULL, NULL, records_is_plan, plan_columns,
	    tables_rate_derive, 0 },
	{ "bandwidth of the busiest node, each direction", NULL, NULL,
	    records_is_scale, scale_columns, NULL, 0 },
	{ "comparison with other methods", NULL, NULL, records_is_beside,
	    beside_columns, NULL, 0 },
};

/* Prints rows under their title and a remark (NULL: none) and lets go of them;
 * how many. */
static int
tables_print_titled(const char *title, const char *remark, json_t *rows,
    const struct print_column *columns)
{
	int count = (int)json_array_size(rows);

	if (count > 0) {
		printf("\n%s:\n", title);
		if (remark != NULL)
			printf("%s\n", remark);
		print_rows(rows, columns);
	}
	json_decref(rows);
	return count;
}

/* What all rows say alike is taken out of them and returned for a line of its
 * own above the table; the caller frees. NULL: they differ, or say nothing. */
static char *
tables_common_text(json_t *rows)
{
	const char *text = print_member(json_array_get(rows, 0), "text", "");
	char *common;
	json_t *row;
	size_t i;

	if (text[0] == '\0' || json_array_size(rows) < 2)
		return NULL;
	json_array_foreach (rows, i, row)
		if (strcmp(print_member(row, "text", ""), text) != 0)
			return NULL;
	common = xstrdup(text);
	json_array_foreach (rows, i, row)
		json_object_del(row, "text");
	return common;
}

static int
tables_print_records(const struct record_table *rt, const json_t *records)
{
	json_t *rows = json_array(), *r, *row;
	const char *last = "", *plan, *baseline;
	char title[128], *common;
	size_t i;
	int count;

	json_array_foreach (records, i, r) {
		if (!records_is(r, rt->probe, rt->of) ||
		    (rt->shows != NULL && !rt->shows(r)))
			continue;
		row = json_copy(r);
		if (rt->derive != NULL)
			rt->derive(row);
		plan = print_member(r, "plan", "?");
		/* The steps of one plan stand below its name. */
		if (rt->columns == plan_columns && strcmp(plan, last) == 0)
			json_object_set_new(row, "plan", json_string(""));
		last = plan;
		json_array_append_new(rows, row);
	}
	/* "MPI_Bcast", or of many functions whose they are. */
	r = json_array_get(rows, 0);
	baseline = print_member(r, "baseline_impl",
	    print_member(r, "baseline", ""));
	snprintf(title, sizeof(title), "%s%s%s", rt->title,
	    rt->has_baseline && baseline[0] != '\0' ? ", against " : "",
	    rt->has_baseline ? baseline : "");
	common = tables_common_text(rows);
	count = tables_print_titled(title, common, rows, rt->columns);
	free(common);
	return count;
}

/* Every k of a fit, under the sentence that it ends in. */
static int
tables_print_fits(const json_t *records)
{
	json_t *r, *rows, *point;
	int count = 0;
	size_t i, k;

	json_array_foreach (records, i, r) {
		if (!records_is(r, "fit", NULL))
			continue;
		rows = json_deep_copy(json_object_get(r, "profile"));
		json_array_foreach (rows, k, point)
			tables_rate_derive(point);
		printf("\n%s\n", print_member(r, "text", "?"));
		print_rows(rows, fit_columns);
		json_decref(rows);
		count++;
	}
	return count;
}

/* Of the newest record that measures rails: all of a sweep say the same. */
static int
tables_print_rails(const json_t *records)
{
	json_t *rows = json_array(), *last = NULL, *r, *rail, *node, *row;
	size_t i, k;

	json_array_foreach (records, i, r)
		if ((records_is(r, "fit", NULL) ||
			records_is(r, "speedup", NULL)) &&
		    json_array_size(json_object_get(r, "rails")) > 0)
			last = r;
	member_foreach (last, "rails", i, rail)
		member_foreach (rail, "nodes", k, node) {
			row = json_copy(rail);
			json_object_update(row, node);
			json_array_append_new(rows, row);
		}
	return tables_print_titled("rails", NULL, rows, rail_columns);
}

static int
tables_print_selves(const json_t *records)
{
	json_t *rows = json_array(), *r, *node, *row;
	size_t i, k;

	json_array_foreach (records, i, r)
		member_foreach (r, "nodes", k, node) {
			if (!isfinite(member_number(node, "memory_ratio")))
				continue;
			row = json_copy(node);
			json_object_set(row, "bytes",
			    json_object_get(r, "bytes"));
			/* A described machine is the rating where the
			 * driver knows none. */
			if (json_object_get(row, "rated_ratio") == NULL)
				json_object_set(row, "rated_ratio",
				    json_object_get(node, "ratio"));
			json_array_append_new(rows, row);
		}
	return tables_print_titled("copies within nodes, against the memory's "
				   "bandwidth",
	    NULL, rows, self_columns);
}

int
tables_print(const json_t *records)
{
	int count = 0;

	for (size_t i = 0; i < ARRAY_LEN(record_tables); i++)
		count += tables_print_records(&record_tables[i], records);
	return count + tables_print_fits(records) +
	    tables_print_rails(records) + tables_print_selves(records);
}
