/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accept.c - measure a cluster against a promise file, and report for each part
 * whether it keeps the promise. The report file is written after every run, so
 * that an interrupted acceptance continues.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/file.h"
#include "common/hostlist.h"
#include "common/table.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "ctl/accept/accept_report.h"
#include "ctl/accept/accept_rows.h"
#include "ctl/accept/seal.h"
#include "ctl/lib/print.h"
#include "ctl/lib/records.h"
#include "ctl/lib/reference.h"
#include "ctl/lib/runs.h"
#include "ctl/verbs/nic.h"
#include "ctl/verbs/verbs.h"
#include "schema/names_agent.h"
#include "schema/names_run.h"
#include "schema/names_verdict.h"
#include "schema/promise.h"
#include "schema/window.h"

#define FILE_MAX        (64U << 20)
#define FOUND_WITH      0.95
#define PUBLISHED_BYTES 1073741824.0 /* published results near this size */
#define POSTPONED_MAX   8    /* orders of a run that found no time to start */
#define IN_VAIN_MAX     2    /* runs of all nodes that measure nothing */
#define WAITED_S        10.0 /* less: the budget never fits the run */
#define WINDOW_POLL_NS  (5 * CLK_NS_PER_S)

enum { EXIT_KEPT, EXIT_BROKEN, EXIT_OPEN }; /* else EXIT_CODE_UNKNOWN */

struct acceptance {
	struct ctl *c;
	char *text; /* the promise file */
	struct conf *promise;
	json_t *report, *records; /* of each run */
	struct evidence *e;
	size_t rounds;
	struct window_list window;
	int postponed; /* how often the next run was */
	int in_vain;   /* runs in succession that measured nothing */
};

static void
accept_clear(struct acceptance *a)
{
	evidence_free(a->e);
	conf_free(a->promise);
	json_decref(a->report);
	json_decref(a->records);
	free(a->text);
}

static int
accept_read_json(const char *path, json_t **ret)
{
	json_error_t error;
	struct err err;
	size_t len;
	char *text;

	if (file_read(path, FILE_MAX, &text, &len, &err) < 0)
		return ctl_fail("%s", err.text);
	*ret = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	free(text);
	if (*ret == NULL)
		return ctl_fail("%s:%d: not valid JSON: %s", path, error.line,
		    error.text);
	return 0;
}

/* ---- windows ---- */

/* Return the number of windows that runs of this time take, the last minutes of
 * each window being unused if no run fits. */
static size_t
accept_windows_count(const struct window_list *w, double span_s,
    double longest_s)
{
	uint64_t at = window_opens_ns(w, 0), left;
	size_t ret = 0;

	while (span_s > 0) {
		left = window_left_ns(w, at);
		if ((double)left / CLK_NS_PER_S > longest_s) {
			span_s -= (double)left / CLK_NS_PER_S - longest_s;
			ret++;
		}
		at = window_opens_ns(w, at + left - 1);
	}
	return ret;
}

/* The longest run fits at least one window. */
static int
accept_window_check(const struct acceptance *a)
{
	const char *text = opts_value(&a->c->opts, OPT_WINDOW);
	double longest_s = evidence_cost(a->e, a->promise, a->rounds).longest_s;
	uint64_t most = 0, at = 0, left;
	char need[PRINT_BYTES];

	if (text == NULL)
		return 0;
	for (size_t i = 0; i < a->window.count; i++) {
		at = window_opens_ns(&a->window, at);
		left = window_left_ns(&a->window, at);
		most = left > most ? left : most;
	}
	print_span(longest_s, need);
	return (double)most / CLK_NS_PER_S > longest_s
	    ? 0
	    : ctl_fail("--window %.80s: expected a window longer than the "
		       "longest run, about %s",
		  text, need);
}

/* Wait until a window is open. */
static void
accept_window_wait(const struct acceptance *a)
{
	uint64_t now = clk_unix_ns();
	char opens[40];

	if (window_left_ns(&a->window, now) > 0)
		return;
	clk_unix_format(window_opens_ns(&a->window, now), opens, sizeof(opens));
	fprintf(stderr, "outside of --window %s UTC: waiting until %s\n",
	    opts_value(&a->c->opts, OPT_WINDOW), opens);
	while (window_left_ns(&a->window, clk_unix_ns()) == 0)
		clk_sleep_ns(WINDOW_POLL_NS);
	fprintf(stderr, "the window is open: continuing\n");
}

/* ---- the cluster ---- */

static json_t *
accept_mtus(const json_t *nodes)
{
	json_t *ret = json_object(), *o;
	size_t i;

	json_array_foreach ((json_t *)(uintptr_t)nodes, i, o)
		json_object_set_new(ret, member_text(o, "node"),
		    json_integer(member_int(nic_of_mpi(o), "mtu")));
	return ret;
}

/* Warn before hours of measurements of rails, which would have no result.
 * nodes: the nodes that measure; list: all nodes with their inventories. */
static void
accept_rails_warn(const struct acceptance *a, const json_t *nodes,
    const json_t *list)
{
	size_t want = (size_t)conf_int(a->promise, "nic", "count"), i, k;
	json_t *few, *node, *o;
	const json_t *rails;
	char *names;

	if (want < 2)
		return;
	few = json_array();
	json_array_foreach ((json_t *)(uintptr_t)list, i, o) {
		rails = json_object_get(json_object_get(o, "inventory"),
		    "rails");
		if (json_array_size(rails) >= want)
			continue;
		json_array_foreach ((json_t *)(uintptr_t)nodes, k, node)
			if (strcmp(member_text(node, "node"),
				member_text(o, "node")) == 0)
				json_array_append(few,
				    json_object_get(node, "node"));
	}
	names = print_hostlist(few, NULL);
	if (json_array_size(few) > 0)
		fprintf(stderr,
		    "warning: nic.count is %zu, but mpi.nics of the agent does "
		    "not list %zu NICs on %s: rails and planes will be "
		    "undetermined\n",
		    want, want, names);
	free(names);
	json_decref(few);
}

/* Return the verdict that MPI cannot exchange messages with the node, or with
 * its leaf, or NULL. */
static json_t *
accept_verdict_of(const json_t *verdicts, const json_t *node)
{
	json_t *o;
	size_t i;

	json_array_foreach ((json_t *)(uintptr_t)verdicts, i, o) {
		const char *of = strcmp(member_text(o, "kind"), "leaf") == 0
		    ? "leaf"
		    : "node";

		if (strcmp(member_text(node, of), member_text(o, "subject")) ==
		    0)
			return o;
	}
	return NULL;
}

static int
accept_has(const json_t *list, const json_t *one)
{
	const json_t *o;
	size_t i;

	json_array_foreach (list, i, o)
		if (json_equal(o, one))
			return 1;
	return 0;
}

/* Split the nodes of the promise into those that can measure and others. The
 * newest rates in rounds of bandwidth are for objective.report. excluded:
 * verdicts of nodes and leaves that cannot measure. */
static int
accept_nodes_get(struct acceptance *a, const json_t *verdicts, json_t *nodes,
    json_t *away, json_t *excluded, json_t *leaves)
{
	const char *want = conf_string(a->promise, "promise", "nodes");
	struct hostlist hl = { 0 };
	json_t *facts, *list, *mtus, *o, *verdict;
	struct err err;
	size_t i;
	int rc;

	if (strcmp(want, "all") != 0 && hostlist_parse(want, &hl, &err) < 0)
		return ctl_fail("%s: %s",
		    conf_where(a->promise, "promise", "nodes"), err.text);
	rc = ctl_get(a->c, "shares", NULL, &facts);
	if (rc == 0 && (rc = ctl_get(a->c, "nodes", NULL, &list)) != 0)
		json_decref(facts);
	if (rc != 0) {
		hostlist_clear(&hl);
		return rc;
	}
	mtus = accept_mtus(list);
	member_foreach (facts, "nodes", i, o) {
		const char *name = member_text(o, "node");

		if (hl.count > 0 && !hostlist_has(&hl, name))
			continue;
		if (strcmp(member_text(o, "state"),
			names_agent_states[AGENT_OK]) != 0)
			json_array_append_new(away, json_string(name));
		else if ((verdict = accept_verdict_of(verdicts, o)) == NULL)
			json_array_append_new(nodes,
			    json_pack("{s:s, s:s, s:O*, s:O*}", "node", name,
				"leaf", member_text(o, "leaf"), "mtu",
				json_object_get(mtus, name), "rate",
				json_object_get(o, "rate")));
		else if (!accept_has(excluded, verdict))
			json_array_append(excluded, verdict);
	}
	for (i = 0; i < hl.count; i++)
		if (json_object_get(mtus, hl.names[i]) == NULL)
			json_array_append_new(away, json_string(hl.names[i]));
	member_foreach (facts, "leaves", i, o)
		json_array_append_new(leaves,
		    json_pack("{s:O*, s:O*}", "leaf",
			json_object_get(o, "leaf"), "rate",
			json_object_get(o, "rate")));
	accept_rails_warn(a, nodes, list);
	json_decref(mtus);
	json_decref(list);
	json_decref(facts);
	hostlist_clear(&hl);
	return json_array_size(nodes) > 1
	    ? 0
	    : ctl_fail("%zu nodes of the promise can measure: at least 2 are "
		       "needed",
		  json_array_size(nodes));
}

/* Nodes and leaves with which MPI cannot exchange messages, as their verdicts
 * say. */
static int
accept_verdicts_get(struct ctl *c, json_t *ret)
{
	static const enum what stops[] = { WHAT_MTU, WHAT_STUCK };
	json_t *list, *o;
	size_t i;
	int rc = ctl_get(c, "verdicts", NULL, &list);

	if (rc != 0)
		return rc;
	json_array_foreach (list, i, o)
		for (size_t k = 0; k < ARRAY_LEN(stops); k++)
			if (strcmp(member_text(o, "what"),
				names_whats[stops[k]].name) == 0 &&
			    (strcmp(member_text(o, "kind"), "node") == 0 ||
				strcmp(member_text(o, "kind"), "leaf") == 0))
				json_array_append_new(ret,
				    json_pack("{s:O, s:O, s:s, s:s}", "subject",
					json_object_get(o, "subject"), "kind",
					json_object_get(o, "kind"), "what",
					names_whats[stops[k]].name, "text",
					names_whats[stops[k]].text));
	json_decref(list);
	return 0;
}

static int
accept_report_begin(struct acceptance *a)
{
	json_t *nodes = json_array(), *away = json_array(), *o;
	json_t *excluded = json_array(), *leaves = json_array();
	json_t *verdicts = json_array();
	size_t i;
	int rc = accept_verdicts_get(a->c, verdicts);

	if (rc == 0)
		rc = accept_nodes_get(a, verdicts, nodes, away, excluded,
		    leaves);
	if (rc == 0) {
		json_array_foreach (excluded, i, o)
			fprintf(stderr, "%s is excluded: %s\n",
			    member_text(o, "subject"), member_text(o, "text"));
		json_decref(a->report);
		a->report = accept_report_new(a->text, a->promise, nodes, away,
		    excluded);
		json_object_set(a->report, "leaves", leaves);
	}
	json_decref(verdicts);
	json_decref(leaves);
	json_decref(nodes);
	json_decref(away);
	json_decref(excluded);
	return rc;
}

/* Continue the report of --out, if it is of the same promise. */
static int
accept_report_resume(struct acceptance *a, const char *path)
{
	struct conf *old;
	struct err err;
	int rc = accept_read_json(path, &a->report);

	if (rc != 0)
		return rc;
	if (accept_report_check(a->report, &old, &err) < 0)
		return ctl_fail("%s: %s", path, err.text);
	conf_free(old);
	if (strcmp(member_text(json_object_get(a->report, "promise"), "text"),
		a->text) != 0)
		return ctl_fail("%s: the report was made with another promise "
				"file; give another file to --out",
		    path);
	json_object_del(a->report, "seal");
	return 0;
}

static int
accept_open(struct acceptance *a)
{
	const char *out = opts_value(&a->c->opts, OPT_OUT);
	struct err err;
	size_t len;
	const char *window = opts_value(&a->c->opts, OPT_WINDOW);
	int rc;

	if (window != NULL)
		(void)window_parse(window, &a->window);
	if (file_read(a->c->args[0], FILE_MAX, &a->text, &len, &err) < 0 ||
	    conf_parse(options_promise, a->c->args[0], a->text, &a->promise,
		&err) < 0)
		return ctl_fail("%s", err.text);
	rc = out != NULL && strcmp(out, "-") != 0 && access(out, F_OK) == 0
	    ? accept_report_resume(a, out)
	    : accept_report_begin(a);
	if (rc != 0)
		return rc;
	a->records = json_array();
	a->e = evidence_new(a->promise, json_object_get(a->report, "nodes"));
	evidence_judge(a->e);
	/* The difference of two times scatters more than one of them. */
	a->rounds = accept_runs(&a->e->options,
	    1.5 * conf_real(a->promise, "accept", "scatter"),
	    conf_real(a->promise, "accept", "found"), FOUND_WITH);
	return accept_window_check(a);
}

/* ---- the plan ---- */

static void
accept_print_plan(const struct acceptance *a, FILE *to)
{
	struct evidence_cost cost = evidence_cost(a->e, a->promise, a->rounds);
	double rate = conf_real(a->promise, "nic", "rate") / 8e-9;
	char lo[PRINT_BYTES], hi[PRINT_BYTES], each[PRINT_BYTES];

	print_span(cost.fewest_s, lo);
	print_span(cost.most_s, hi);
	str_bytes_format(rate * cost.sending_s *
		(double)conf_int(a->promise, "nic", "count"),
	    each, sizeof(each));
	fprintf(to,
	    "%zu nodes on %zu lea%s: %zu to %zu runs, about %s to %s; each "
	    "node sends at most %s in the first %zu runs\n",
	    a->e->nodes.count, a->e->leaves.count,
	    a->e->leaves.count == 1 ? "f" : "ves", cost.fewest, cost.most, lo,
	    hi, each, cost.fewest);
	fprintf(to,
	    "with %zu rounds, a part at %.0f %% of its promised value is "
	    "detected with probability %.2f, if repeated runs differ by %.1f "
	    "%%\n",
	    a->rounds, 100 * conf_real(a->promise, "accept", "found"),
	    FOUND_WITH, 100 * conf_real(a->promise, "accept", "scatter"));
	if (a->window.count > 0)
		fprintf(to, "with --window %s UTC: %zu to %zu windows\n",
		    opts_value(&a->c->opts, OPT_WINDOW),
		    accept_windows_count(&a->window, cost.fewest_s,
			cost.longest_s),
		    accept_windows_count(&a->window, cost.most_s,
			cost.longest_s));
	if (a->e->leaves_why != NULL)
		fprintf(to, "uplinks of leaves are not measured: %s\n",
		    a->e->leaves_why);
}

static int
accept_plan(struct ctl *c)
{
	struct acceptance a = { .c = c };
	int rc = accept_open(&a);

	if (rc == 0)
		accept_print_plan(&a, stdout);
	accept_clear(&a);
	return rc;
}

/* ---- runs ---- */

/* The order of a run. */
static json_t *
accept_order_make(const struct acceptance *a, const json_t *run)
{
	const struct opt_values *given = &a->c->opts.of[OPT_OVERRIDE];
	struct hostlist hl = { 0 };
	json_t *o = json_object();
	char *closed;

	(void)hostlist_parse(member_text(run, "nodes"), &hl, NULL);
	json_object_set(o, "campaign.nodes", json_object_get(run, "nodes"));
	json_object_set_new(o, "campaign.nodes_min",
	    json_sprintf("%zu", hl.count));
	hostlist_clear(&hl);
	json_object_update(o, json_object_get(run, "options"));
	if (a->window.count > 0) {
		/* A run can wait for its nodes beyond the end of a window. */
		closed = window_closed_format(&a->window);
		json_object_set_new(o, "schedule.blackout",
		    json_string(closed));
		free(closed);
	}
	for (size_t i = 0; i < given->count; i++) {
		char *name = xstrndup(given->values[i],
		    strcspn(given->values[i], "="));
		const char *value = strchr(given->values[i], '=');

		json_object_set_new(o, name,
		    json_string(value == NULL ? "" : value + 1));
		free(name);
	}
	return json_pack("{s:o}", "overrides", o);
}

/* The result records of a run; its digest goes into the report. */
static int
accept_records_get(struct ctl *c, const char *run, json_t **ret,
    char digest[PKI_DIGEST_TEXT])
{
	int rc = records_get(c, run, ret);

	if (rc == 0)
		seal_digest(*ret, digest);
	return rc;
}

/* The run could not start in time, since others had its nodes, the budget was
 * used, or a blackout was near. It measured nothing, so it is ordered again. */
static int
accept_is_postponed(const json_t *ended)
{
	int cause = STR_FIND(names_causes, member_text(ended, "cause"));

	return STR_FIND(names_run_states, member_text(ended, "state")) ==
	    RUN_MISSED &&
	    (cause == CAUSE_BUDGET || cause == CAUSE_BUSY ||
		cause == CAUSE_HELD);
}

static int
accept_postpone(struct acceptance *a, const json_t *ended)
{
	double waited_s = (member_number(ended, "ended_unix_ns") -
			      member_number(ended, "created_unix_ns")) /
	    CLK_NS_PER_S;

	runs_print_end(ended, stderr);
	if (waited_s < WAITED_S &&
	    STR_FIND(names_causes, member_text(ended, "cause")) == CAUSE_BUDGET)
		return ctl_fail("the run needs more than the budget of a whole "
				"hour: increase budget.bytes, "
				"budget.node_seconds or budget.link_share of "
				"the collector");
	if (++a->postponed == POSTPONED_MAX)
		return ctl_fail("the run could not start %d times: continue "
				"later with the same --out",
		    POSTPONED_MAX);
	fprintf(stderr, "the run is ordered again\n");
	return 0;
}

/* A node of the report has a verdict that explains why runs measure nothing. */
static int
accept_is_explained(const struct acceptance *a, const json_t *verdicts)
{
	const json_t *node;
	size_t i;

	member_foreach (a->report, "nodes", i, node)
		if (accept_verdict_of(verdicts, node) != NULL)
			return 1;
	return 0;
}

/* All nodes took part in a run that measured nothing. Begin again without those
 * whose verdict explains this. Without such a verdict try once more. */
static int
accept_retry(struct acceptance *a, const json_t *ended)
{
	json_t *verdicts = json_array();
	int rc = accept_verdicts_get(a->c, verdicts);
	int is_explained = accept_is_explained(a, verdicts);

	json_decref(verdicts);
	runs_print_end(ended, stderr);
	if (rc != 0)
		return rc;
	if (is_explained) {
		fprintf(stderr, "the acceptance begins again\n");
		a->in_vain = 0;
		json_array_clear(a->records);
		return accept_report_begin(a);
	}
	if (++a->in_vain == IN_VAIN_MAX)
		return ctl_fail("%d runs of all nodes in succession measured "
				"nothing: repair the cause, then continue with "
				"the same --out",
		    IN_VAIN_MAX);
	fprintf(stderr, "the run is ordered again\n");
	return 0;
}

static int
accept_run_one(struct acceptance *a, json_t *run)
{
	json_t *order = accept_order_make(a, run), *answer, *ended, *records;
	char digest[PKI_DIGEST_TEXT];
	int is_of_all = strcmp(member_text(run, "class"),
			    evidence_classes[EVIDENCE_NODES]) == 0;
	size_t paths;
	int rc = ctl_post(a->c, "campaigns/*/run", member_text(run, "campaign"),
	    order, &answer);

	json_decref(order);
	if (rc != 0)
		return rc;
	json_object_set(run, "run", json_object_get(answer, "run"));
	json_decref(answer);
	rc = runs_wait(a->c, member_text(run, "run"), &ended);
	if (rc != 0)
		return rc;
	if (accept_is_postponed(ended)) {
		rc = accept_postpone(a, ended);
		json_decref(ended);
		return rc;
	}
	a->postponed = 0;
	json_object_set(run, "state", json_object_get(ended, "state"));
	json_object_set_new(run, "text", text_json(member_text(ended, "text")));
	rc = accept_records_get(a->c, member_text(run, "run"), &records,
	    digest);
	if (rc != 0) {
		json_decref(ended);
		return rc;
	}
	json_object_set_new(run, "sha256", json_string(digest));
	paths = evidence_add(a->e, a->promise, run, records);
	if (paths == 0 && is_of_all &&
	    STR_FIND(names_run_states, member_text(ended, "state")) !=
		RUN_FINISHED) {
		rc = accept_retry(a, ended);
		json_decref(records);
		json_decref(ended);
		return rc;
	}
	json_decref(ended);
	a->in_vain = 0;
	json_object_set_new(run, "paths", json_integer((json_int_t)paths));
	json_array_append(json_object_get(a->report, "runs"), run);
	json_array_append_new(a->records, records);
	return 0;
}

/* A report that is written before it ends has no results. */
static int
accept_save(const struct acceptance *a)
{
	const char *out = opts_value(&a->c->opts, OPT_OUT);
	char *text;
	int rc;

	if (out == NULL)
		return 0;
	text = json_dumps(a->report, JSON_INDENT(1) | JSON_SORT_KEYS);
	rc = ctl_write(out, text);
	free(text);
	return rc;
}

static int
accept_records_all(struct acceptance *a)
{
	char digest[PKI_DIGEST_TEXT];
	json_t *run, *records;
	size_t i;
	int rc = 0;

	member_foreach (a->report, "runs", i, run) {
		rc = rc != 0 ? rc
			     : accept_records_get(a->c, member_text(run, "run"),
				   &records, digest);
		if (rc != 0)
			break;
		json_array_append_new(a->records, records);
		if (strcmp(digest, member_text(run, "sha256")) == 0)
			continue;
		return ctl_fail("run %.64s: the stored records differ from "
				"those that the report was made from",
		    member_text(run, "run"));
	}
	return rc;
}

static void
accept_judge_now(struct acceptance *a)
{
	evidence_free(a->e);
	a->e = accept_report_evidence(a->report, a->promise, a->records);
}

/* ---- output ---- */

static const char *
accept_interval(const json_t *row, char *scratch)
{
	double lo = member_number(row, "lo"), hi = member_number(row, "hi");

	if (!isfinite(lo) || !isfinite(hi))
		return "-";
	snprintf(scratch, PRINT_BYTES, "%.1f to %.1f %%", 100 * lo, 100 * hi);
	return scratch;
}

static const char *
accept_share(const json_t *row, char *scratch)
{
	double share = member_number(row, "share");

	if (!isfinite(share))
		return "-";
	snprintf(scratch, PRINT_BYTES, "%.1f %%", 100 * share);
	return scratch;
}

static const char *
accept_kpi_interval(const json_t *row, char *scratch)
{
	double lo = member_number(row, "lo"), hi = member_number(row, "hi");

	if (!isfinite(lo) || !isfinite(hi))
		return "unknown";
	snprintf(scratch, PRINT_BYTES, "%.4g to %.4g", lo, hi);
	return scratch;
}

/* Return the rows that are printed, which the caller decrefs. Parts that hold
 * are counted; with --all each part has a row. */
static json_t *
accept_print_rows(const struct ctl *c, const json_t *report)
{
	json_t *rows, *ret, *o;
	size_t i;

	if (opts_given(&c->opts, OPT_ALL))
		return json_incref(json_object_get(report, "results"));
	rows = json_array();
	member_foreach (report, "results", i, o)
		if (strcmp(member_text(o, "state"),
			accept_states[ACCEPT_HOLDS]) != 0)
			json_array_append(rows, o);
	ret = accept_rows_fold(rows);
	json_decref(rows);
	return ret;
}

static void
accept_print(const struct ctl *c, const json_t *report)
{
	static const struct print_column columns[] = {
		{ "result", "state", "?", PRINT_TEXT, NULL },
		{ "promise", "kind", "?", PRINT_TEXT, NULL },
		{ "part", "part", "?", PRINT_TEXT, NULL },
		{ ">of promise", NULL, NULL, PRINT_OF, accept_share },
		{ ">interval", NULL, NULL, PRINT_OF, accept_interval },
		{ "reason", "missing", "", PRINT_TEXT, NULL },
		{ 0 },
	};
	const json_t *summary = json_object_get(report, "summary");
	json_t *rows = accept_print_rows(c, report), *o;
	char text[PRINT_BYTES], *counts = accept_rows_counts(report);
	size_t i;

	printf("%s: %s\n", member_text(summary, "state"), counts);
	free(counts);
	if (json_array_size(rows) > 0)
		print_rows(rows, columns);
	member_foreach (report, "detects", i, o)
		printf("%s: a part at %.1f %% of its promised value is "
		       "detected with probability %.2f\n",
		    member_text(o, "kind"), 100 * member_number(o, "share"),
		    member_number(o, "probability"));
	member_foreach (report, "kpis", i, o)
		printf("%s: %s of a round: %.4g, 95 %% confidence interval %s "
		       "(%lld rounds)\n",
		    member_text(o, "kind"), member_text(o, "kpi"),
		    member_number(o, "value"), accept_kpi_interval(o, text),
		    (long long)member_int(o, "rounds"));
	member_foreach (report, "not_covered", i, o)
		printf("not covered: %s\n", json_string_value(o));
	member_foreach (json_object_get(report, "promise"), "guessed", i, o)
		printf("guessed value of the promise: %s\n",
		    json_string_value(o));
	member_foreach (report, "published", i, o) {
		str_bytes_format(member_number(o, "bytes"), text, sizeof(text));
		printf("published elsewhere: %s of %s, %s, %s, %.0f ranks: "
		       "%.4g GB/s of bus bandwidth: %s\n",
		    member_text(o, "op"), text,
		    member_text_or(o, "gpu", "any GPU"),
		    member_text_or(o, "fabric", "fabric not stated"),
		    member_number(o, "ranks"),
		    member_number(o, "busbw_bytes_per_s") / 1e9,
		    member_text(o, "source"));
	}
	json_decref(rows);
}

static int
accept_html_write(const struct ctl *c, const json_t *report)
{
	const char *path = opts_value(&c->opts, OPT_HTML);
	char *text;
	int rc;

	if (path == NULL)
		return 0;
	text = accept_report_html(report);
	rc = ctl_write(path, text);
	free(text);
	return rc;
}

/* Set the member published: results of the promised collectives on clusters of
 * the same class. No result depends on them. */
static int
accept_published_set(const struct acceptance *a)
{
	json_int_t rails = conf_int(a->promise, "nic", "count");
	struct reference_class class = { conf_string(a->promise, "promise",
					     "gpu"),
		conf_string(a->promise, "promise", "fabric"), NULL,
		conf_real(a->promise, "nic", "rate") * (double)rails,
		PUBLISHED_BYTES, (int)a->e->nodes.count,
		(int)(a->e->nodes.count * (size_t)rails) };
	json_t *all = json_array(), *reference, *rows;
	struct err err;

	if (reference_read(&reference, &err) < 0) {
		json_decref(all);
		return ctl_fail("%s", err.text);
	}
	for (size_t i = 0; i < ARRAY_LEN(a->e->loads); i++) {
		class.op = a->e->loads[i].word;
		if (a->e->loads[i].kind != LOAD_COLLECTIVE ||
		    class.op[0] == '\0')
			continue;
		rows = reference_match(reference, &class);
		json_array_extend(all, rows);
		json_decref(rows);
	}
	json_object_set_new(a->report, "published", all);
	json_decref(reference);
	return 0;
}

static int
accept_finish(struct acceptance *a)
{
	const char *out = opts_value(&a->c->opts, OPT_OUT);
	const char *state;
	int rc;

	accept_report_judge(a->report, a->promise, a->e);
	rc = accept_published_set(a);
	if (rc == 0)
		rc = accept_save(a);
	if (rc == 0)
		rc = accept_html_write(a->c, a->report);
	if (rc != 0)
		return rc;
	if (opts_given(&a->c->opts, OPT_JSON))
		print_json_line(a->report);
	else if (out == NULL || strcmp(out, "-") != 0)
		accept_print(a->c, a->report);
	state = member_text(json_object_get(a->report, "summary"), "state");
	return strcmp(state, accept_states[ACCEPT_HOLDS]) == 0 ? EXIT_KEPT
	    : strcmp(state, accept_states[ACCEPT_FAILS]) == 0  ? EXIT_BROKEN
							       : EXIT_OPEN;
}

static int
accept_run(struct ctl *c)
{
	struct acceptance a = { .c = c };
	json_t *run;
	int rc = accept_open(&a);

	if (rc == 0)
		rc = accept_records_all(&a);
	if (rc == 0) {
		accept_print_plan(&a, stderr);
		accept_judge_now(&a);
	}
	while (rc == 0 &&
	    (run = evidence_next(a.e, a.promise,
		 json_object_get(a.report, "runs"), a.rounds)) != NULL) {
		accept_window_wait(&a);
		rc = accept_run_one(&a, run);
		json_decref(run);
		if (rc == 0)
			rc = accept_save(&a);
		accept_judge_now(&a);
	}
	if (rc == 0)
		rc = accept_finish(&a);
	accept_clear(&a);
	return rc;
}

/* ---- show, sign, verify ---- */

/* A report has results after the last run. */
static int
accept_ended_check(const struct ctl *c, const json_t *report)
{
	return json_object_get(report, "summary") != NULL
	    ? 0
	    : ctl_fail("%s: the acceptance has not ended and has no results; "
		       "to continue it: coalctl accept run PROMISE --out %s",
		  c->args[0], c->args[0]);
}

static int
accept_show(struct ctl *c)
{
	json_t *report;
	struct conf *promise;
	struct err err;
	int rc = accept_read_json(c->args[0], &report);

	if (rc != 0)
		return rc;
	if (accept_report_check(report, &promise, &err) < 0) {
		rc = ctl_fail("%s: %s", c->args[0], err.text);
	} else {
		conf_free(promise);
		rc = accept_ended_check(c, report);
		if (rc == 0)
			rc = accept_html_write(c, report);
		if (rc == 0 && opts_given(&c->opts, OPT_JSON))
			print_json_line(report);
		else if (rc == 0)
			accept_print(c, report);
	}
	json_decref(report);
	return rc;
}

static int
accept_sign(struct ctl *c)
{
	json_t *report;
	struct conf *promise = NULL;
	struct err err;
	char *text;
	int rc = accept_read_json(c->args[0], &report);

	if (rc != 0)
		return rc;
	if (accept_report_check(report, &promise, &err) < 0)
		rc = ctl_fail("%s: %s", c->args[0], err.text);
	if (rc == 0)
		rc = accept_ended_check(c, report);
	if (rc == 0 && seal_sign(report, c->args[1], &err) < 0)
		rc = ctl_fail("%s", err.text);
	if (rc == 0) {
		text = json_dumps(report, JSON_INDENT(1) | JSON_SORT_KEYS);
		rc = ctl_write(c->args[0], text);
		free(text);
	}
	if (rc == 0)
		rc = accept_html_write(c, report);
	conf_free(promise);
	json_decref(report);
	return rc;
}

/* Return the results without the reasons, which a later version can word in
 * another way. The caller decrefs them. */
static json_t *
accept_results_bare(const json_t *report, const char *member)
{
	json_t *ret = json_deep_copy(json_object_get(report, member)), *o;
	size_t i;

	json_array_foreach (ret, i, o)
		if (json_is_object(o))
			json_object_del(o, "missing");
	return ret;
}

/* Make the results again from the stored records, and compare. */
static int
accept_recompute(struct acceptance *a)
{
	static const char *const made[] = { "efficiency", "results", "detects",
		"summary", "kpis", "not_covered" };
	json_t *old = json_deep_copy(a->report);
	int rc = accept_records_all(a);

	if (rc == 0) {
		accept_judge_now(a);
		accept_report_judge(a->report, a->promise, a->e);
	}
	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(made); i++) {
		json_t *was = accept_results_bare(old, made[i]);
		json_t *now = accept_results_bare(a->report, made[i]);

		if (was == NULL || !json_equal(was, now))
			rc = ctl_fail("%s: %s differs from the result of the "
				      "stored records",
			    a->c->args[0], made[i]);
		json_decref(was);
		json_decref(now);
	}
	json_decref(old);
	return rc;
}

static int
accept_verify(struct ctl *c)
{
	struct acceptance a = { .c = c, .records = json_array() };
	const char *ca = opts_value(&c->opts, OPT_CA);
	char name[256];
	struct err err;
	int rc = accept_read_json(c->args[0], &a.report);

	if (ca == NULL)
		ca = getenv("COALMINE_CA");
	if (ca == NULL)
		ca = "/etc/coalmine/pki/ca.pem";
	if (rc == 0 &&
	    (accept_report_check(a.report, &a.promise, &err) < 0 ||
		seal_check(a.report, ca, name, &err) < 0))
		rc = ctl_fail("%s: %s", c->args[0], err.text);
	if (rc == 0)
		rc = accept_recompute(&a);
	if (rc == 0)
		printf("valid: signed by %s, and equal to the result of %zu "
		       "stored runs\n",
		    name, json_array_size(json_object_get(a.report, "runs")));
	accept_clear(&a);
	return rc;
}

const struct verb verbs_accept[] = {
	{ "accept", "plan", "PROMISE", 1, 1, "window", "file",
	    "Print how many runs an acceptance needs, how long they take, and "
	    "how many bytes nodes send.",
	    "PROMISE is a file of coalmine-promise(5). Nothing is measured. "
	    "With --window also in how many windows.",
	    accept_plan },
	{ "accept", "run", "PROMISE", 1, 1, "all html json out override window",
	    "file", "Measure the cluster against a promise file.",
	    "Neighbouring nodes exchange messages in pairs, then neighbouring "
	    "leaves with all their nodes, then each node copies memory. Then "
	    "all nodes run the collectives, incast, congestion and soak of "
	    "the promise. Each "
	    "part holds its promise, fails it, or is undetermined; the failed "
	    "ones are listed first, worst first. --out stores the report as "
	    "JSON after every run; started again with the same file, an "
	    "interrupted acceptance continues. --html writes the report for "
	    "print. --override sets options of all its campaigns. "
	    "With --window runs start only in these times; between them the "
	    "verb waits. "
	    "A node or leaf whose verdict says that MPI cannot exchange "
	    "messages with it (mtu, stuck) is excluded and fails. "
	    "Exit code 0: all promises hold; 1: some fail; 2: undetermined; "
	    "3: not measured. The verb requires root or the collector's user "
	    "on the collector's host, or a certificate with role operator. "
	    "coalctl(8) describes the method.",
	    accept_run },
	{ "accept", "show", "FILE", 1, 1, "all html json", "file",
	    "Print a stored report.", NULL, accept_show },
	{ "accept", "sign", "FILE DIR", 2, 2, "html", "file",
	    "Sign a stored report with the authority of the site.",
	    "DIR is the folder of coalctl pki init. The signature covers the "
	    "promise, the results, and the SHA-256 of the records of every "
	    "run. No collector is needed.",
	    accept_sign },
	{ "accept", "verify", "FILE", 1, 1, "", "file",
	    "Check the signature of a report, and compute its results again "
	    "from the stored records.",
	    "The signature must be made by the authority of --ca. The "
	    "collector must still store the runs. Exit code 0: valid; 3: "
	    "invalid.",
	    accept_verify },
	{ 0 },
};
