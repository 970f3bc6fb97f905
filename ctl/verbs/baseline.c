/* SPDX-License-Identifier: Apache-2.0 */
/*
 * baseline.c - named baselines: a run's canaries, for example from the
 * commissioning of the cluster. "recent" is the collector's own baseline: the
 * cluster and each node in the last weeks.
 */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/member.h"
#include "common/robust.h"
#include "common/table.h"
#include "common/xalloc.h"
#include "ctl/lib/print.h"
#include "ctl/lib/records.h"
#include "ctl/lib/runs.h"
#include "ctl/lib/spread.h"
#include "ctl/verbs/compare.h"
#include "ctl/verbs/verbs.h"
#include "schema/names_probe.h"

#define RECENT      "recent" /* the collector's own */
#define NODES_SHOWN 20
#define ROUNDS_DAY  200  /* about those that watch has in a day */
#define SIGMA_MIN   0.02 /* the histograms' resolution */
#define NODE_TITLES                                                            \
	"node|test|>vs baseline|>peers vs baseline|>vs own weeks|"             \
	">vs peers now"

static const json_t *
baseline_records_of(const json_t *baseline)
{
	return json_object_get(json_object_get(baseline, "body"), "records");
}

/* Warn of means of a few rounds: they include every fault of these minutes.
 * Return EXIT_CODE_WARN then, or EXIT_CODE_OK. */
static int
baseline_check_recent(struct ctl *c)
{
	json_t *recent, *o;
	json_int_t most = 0;
	size_t i;
	int rc = ctl_get(c, "baselines/*", RECENT, &recent);

	if (rc != 0)
		return rc;
	json_array_foreach (baseline_records_of(recent), i, o)
		if (strcmp(print_member(o, "probe", ""), "canary") == 0 &&
		    member_int(o, "n") > most)
			most = member_int(o, "n");
	json_decref(recent);
	if (most >= ROUNDS_DAY)
		return EXIT_CODE_OK;
	fprintf(stderr,
	    "coalctl: these means cover only %lld rounds, and faults of this "
	    "time are part of them; repeat the order after a day (%d rounds) "
	    "without faults\n",
	    (long long)most, ROUNDS_DAY);
	return EXIT_CODE_WARN;
}

static int
baseline_pin(struct ctl *c)
{
	const char *text = c->args[1] != NULL ? c->args[1] : "last";
	int is_recent = strcmp(text, RECENT) == 0, rc = 0;
	json_t *body, *reply = NULL;
	char *run = NULL;

	/* The recent weeks can stand in place of a run. */
	if (is_recent)
		run = xstrdup(text);
	else
		rc = runs_find(c, text, &run);
	if (rc != 0)
		return rc;
	body = json_pack("{s:s}", "run", run);
	free(run);
	rc = ctl_post(c, "baselines/*", c->args[0], body, &reply);
	json_decref(body);
	if (rc != 0)
		return rc;
	if (opts_given(&c->opts, OPT_JSON))
		print_json_line(reply);
	else
		printf("%s: %lld canary records of run %s\n",
		    print_member(reply, "name", "?"),
		    (long long)member_int(reply, "records"),
		    print_member(reply, "run", "?"));
	json_decref(reply);
	return is_recent ? baseline_check_recent(c) : EXIT_CODE_OK;
}

static const char *
baseline_nodes_of(const json_t *record, char *scratch)
{
	snprintf(scratch, PRINT_BYTES, "%zu",
	    json_array_size(json_object_get(record, "nodes")));
	return scratch;
}

static const struct print_column record_columns[] = {
	{ "test", "test", "?", PRINT_TEXT, NULL },
	{ "phase", "phase", "?", PRINT_TEXT, NULL },
	{ ">p50", "p50", NULL, PRINT_OWN, NULL },
	{ ">p99", "p99", NULL, PRINT_OWN, NULL },
	{ ">mean", "mean", NULL, PRINT_OWN, NULL },
	{ ">nodes", NULL, NULL, PRINT_OF, baseline_nodes_of },
	{ 0 },
};

static const struct print_column columns[] = {
	{ "baseline", "name", "?", PRINT_TEXT, NULL },
	{ "pinned (UTC)", "at_unix_ns", NULL, PRINT_TIME, NULL },
	{ 0 },
};

static int
baseline_show(struct ctl *c)
{
	json_t *baseline;
	int rc;

	if (c->args[0] == NULL) {
		rc = ctl_get(c, "baselines", NULL, &baseline);
		return rc == 0 ? print_list(c, baseline, columns, NULL) : rc;
	}
	rc = ctl_get(c, "baselines/*", c->args[0], &baseline);
	if (rc != 0)
		return rc;
	if (opts_given(&c->opts, OPT_JSON))
		print_json(baseline);
	else
		print_rows(baseline_records_of(baseline), record_columns);
	json_decref(baseline);
	return EXIT_CODE_OK;
}

/* Production load is compared with the quiet network: a wild phase has no
 * counterpart in a baseline without one. */
static const json_t *
baseline_counterpart(const json_t *was, const json_t *r)
{
	const char *test = print_member(r, "test", "");
	const char *phase = print_member(r, "phase", "");
	const json_t *same = records_find(was, "canary", test, phase);

	if (same == NULL && strcmp(phase, names_phases[PHASE_PRODUCTION]) == 0)
		return records_find(was, "canary", test,
		    names_phases[PHASE_ISOLATED]);
	return same;
}

/* Return the collector's own statistics of a test in the last weeks; NULL:
 * none. */
static const json_t *
baseline_recent_of(const json_t *recent, const json_t *r)
{
	return records_find(recent, "canary", print_member(r, "test", ""),
	    names_phases[PHASE_PRODUCTION]);
}

struct node_row {
	const char *node;
	double now;    /* all are logarithms; larger is worse */
	double pinned; /* now against the baseline; NAN: not in it */
	double recent; /* against its own last weeks; NAN: nothing known */
};

/* A column of the rows and its typical value. */
struct column {
	size_t at; /* in struct node_row */
	double median, mad;
	double z; /* from which on a node stands out */
};

static int
baseline_sign_of(const json_t *record)
{
	return strcmp(print_member(record, "unit", "s"), "s") == 0 ? 1 : -1;
}

/* {node: logarithm of its good quartile}, an object for fast look-ups. */
static json_t *
baseline_numbers_of(const json_t *record)
{
	const char *key = baseline_sign_of(record) > 0 ? "q25" : "q75";
	json_t *by_node = json_object(), *o;
	size_t i;

	member_foreach (record, "nodes", i, o) {
		double q = member_number(o, key);

		if (q > 0)
			json_object_set_new(by_node,
			    print_member(o, "node", "?"),
			    json_real(baseline_sign_of(record) * log(q)));
	}
	return by_node;
}

static double
baseline_number_of(const json_t *by_node, const char *node)
{
	const json_t *v = json_object_get(by_node, node);

	return v == NULL ? NAN : json_real_value(v);
}

static void
baseline_column_find(struct column *c, const struct node_row *rows,
    size_t count)
{
	double *x = xcalloc(count + 1, sizeof(*x));
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		double v = *(
		    const double *)(const void *)((const char *)&rows[i] +
		    c->at);

		if (!isnan(v))
			x[n++] = v;
	}
	c->median = robust_median(x, n);
	c->mad = robust_mad(x, n, c->median);
	for (size_t i = 0; i < n; i++)
		x[i] = robust_z(x[i], c->median, c->mad, SIGMA_MIN);
	c->z = spread_z_limit(x, n);
	free(x);
}

static int
baseline_is_worse(const struct column *c, double x, double margin)
{
	return x - c->median >= margin &&
	    robust_z(x, c->median, c->mad, SIGMA_MIN) >= c->z;
}

static int
baseline_worse_first(const void *a, const void *b)
{
	const struct node_row *p = a, *q = b;
	/* In neither baseline: last. */
	double x = fmax(-INFINITY, fmax(p->pinned, p->recent));
	double y = fmax(-INFINITY, fmax(q->pinned, q->recent));

	return (x < y) - (x > y);
}

static void
baseline_cell(struct table *t, double x)
{
	if (isnan(x))
		table_cell(t, "-");
	else
		table_cell(t, "%.3f", exp(x));
}

static size_t
baseline_rows_make(const json_t *was, const json_t *recent, const json_t *is,
    struct node_row *ret)
{
	json_t *then = baseline_numbers_of(was),
	       *weeks = baseline_numbers_of(recent);
	json_t *now = baseline_numbers_of(is), *o;
	size_t n = 0, i;

	member_foreach (is, "nodes", i, o) {
		struct node_row *r = &ret[n];

		r->node = print_member(o, "node", "?");
		r->now = baseline_number_of(now, r->node);
		r->pinned = r->now - baseline_number_of(then, r->node);
		r->recent = r->now - baseline_number_of(weeks, r->node);
		n += !isnan(r->now);
	}
	json_decref(then);
	json_decref(weeks);
	json_decref(now);
	return n;
}

/* A line of the table for each node that got worse by margin more than its
 * peers did, against a pinned record and against its own last weeks (either may
 * be NULL), and how it stands among its peers now. What all nodes share is the
 * cluster's, not theirs. How many lines. */
static size_t
baseline_nodes(struct table *t, const json_t *was, const json_t *recent,
    const json_t *is, double margin)
{
	size_t count = json_array_size(json_object_get(is, "nodes")), shown = 0;
	struct node_row *rows = xcalloc(count + 1, sizeof(*rows));
	struct column now = { offsetof(struct node_row, now), 0, 0, 0 };
	struct column pinned = { offsetof(struct node_row, pinned), 0, 0, 0 };
	struct column weeks = { offsetof(struct node_row, recent), 0, 0, 0 };

	count = baseline_rows_make(was, recent, is, rows);
	baseline_column_find(&now, rows, count);
	baseline_column_find(&pinned, rows, count);
	baseline_column_find(&weeks, rows, count);
	qsort(rows, count, sizeof(*rows), baseline_worse_first);
	for (size_t i = 0; i < count && shown < NODES_SHOWN; i++) {
		const struct node_row *r = &rows[i];

		if (!baseline_is_worse(&pinned, r->pinned, margin) &&
		    !baseline_is_worse(&weeks, r->recent, margin))
			continue;
		table_cell(t, "%s", r->node);
		table_cell(t, "%s", print_member(is, "test", "?"));
		baseline_cell(t, r->pinned);
		baseline_cell(t, pinned.median);
		baseline_cell(t, r->recent - weeks.median);
		baseline_cell(t, r->now - now.median);
		shown++;
	}
	free(rows);
	return shown;
}

static int
baseline_diff_rows(struct ctl *c, const json_t *was, const json_t *recent,
    const json_t *is, struct compare_out *o)
{
	struct table *nodes = table_new(NODE_TITLES);
	const json_t *r;
	size_t i, shown = 0;
	int rc;

	json_array_foreach (is, i, r) {
		const json_t *old = baseline_counterpart(was, r);

		if (strcmp(print_member(r, "probe", ""), "canary") != 0)
			continue;
		compare_add(o, print_member(r, "test", "?"),
		    print_member(r, "phase", "?"), old, r);
		shown += baseline_nodes(nodes, old,
		    strcmp(print_member(r, "phase", ""),
			names_phases[PHASE_CONGESTED]) == 0
			? NULL
			: baseline_recent_of(recent, r),
		    r, o->margin);
	}
	rc = compare_end(c, o);
	if (!opts_given(&c->opts, OPT_JSON) && shown > 0) {
		puts("\nNodes that changed more than their peers:");
		table_print(nodes, stdout);
	}
	table_free(nodes);
	return rc;
}

static int
baseline_diff(struct ctl *c)
{
	json_t *baseline = NULL, *recent = NULL, *is = NULL;
	struct compare_out o;
	char *run = NULL;
	int rc = ctl_get(c, "baselines/*", c->args[0], &baseline);

	compare_begin(&o, compare_margin(c));
	if (rc == 0)
		rc = ctl_get(c, "baselines/*", RECENT, &recent);
	if (rc == 0)
		rc = runs_find(c, c->args[1] != NULL ? c->args[1] : "last",
		    &run);
	if (rc == 0)
		rc = records_get(c, run, &is);
	if (rc == 0)
		rc = compare_history(c, &o, &run, 1);
	if (rc == 0)
		rc = baseline_diff_rows(c, baseline_records_of(baseline),
		    baseline_records_of(recent), is, &o);
	free(run);
	json_decref(is);
	json_decref(recent);
	json_decref(baseline);
	return rc;
}

static int
baseline_drop(struct ctl *c)
{
	json_t *reply = NULL, *known = NULL;
	int rc = ctl_get(c, "baselines/*", c->args[0], &known);

	json_decref(known);
	if (rc == 0)
		rc = ctl_post(c, "baselines/*/drop", c->args[0], NULL, &reply);

	json_decref(reply);
	return rc;
}

const struct verb verbs_baseline[] = {
	{ "baseline", "pin", "NAME [RUN]", 1, 2, "json", "",
	    "Store the canaries of a run under a name, as a pinned baseline.",
	    "Without RUN the last run is used. The word recent in "
	    "place of RUN stores the means that the collector has "
	    "learned over the last weeks; the exit code is 1 if they "
	    "cover less than about a day (200 rounds). A baseline "
	    "remains when the "
	    "records of its run are deleted. A baseline of the same "
	    "name is replaced. Verdicts compare nodes with the "
	    "baseline that verdict.baseline names, commissioning by "
	    "default.",
	    baseline_pin },
	{ "baseline", "show", "[NAME]", 0, 1, "json where sort", "",
	    "List the baselines, or show one.",
	    "The collector updates the baseline named recent automatically.",
	    baseline_show },
	{ "baseline", "diff", "NAME [RUN]", 1, 2, "json margin", "",
	    "Compare a run with a baseline.",
	    "The first table compares the tests, as the verb compare "
	    "does. If the baseline has no wild phase, the wild phase "
	    "of the run is compared with the isolated phase of the "
	    "baseline. The second table lists nodes that became slower "
	    "than their peers did by more than the margin. Columns: vs "
	    "baseline: time of the node over its time in the baseline; "
	    "peers vs baseline: the same for its peers; vs own weeks: "
	    "time of the node over its time in the last weeks, "
	    "relative to its peers; vs peers now: time of the node "
	    "over the time of its peers in this run. Values above 1 "
	    "are slower. About one in twenty of the listed nodes may "
	    "be listed by chance (Benjamini and Hochberg).",
	    baseline_diff },
	{ "baseline", "drop", "NAME", 1, 1, "", "", "Delete a baseline.", NULL,
	    baseline_drop },
	{ 0 },
};
