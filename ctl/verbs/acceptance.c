/* SPDX-License-Identifier: Apache-2.0 */
/*
 * acceptance.c - the report file is written after every run, so that an
 * interrupted acceptance continues.
 */
#include "ctl/verbs/acceptance.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/file.h"
#include "common/hostlist.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "ctl/accept/seal.h"
#include "ctl/lib/print.h"
#include "ctl/lib/records.h"
#include "ctl/lib/runs.h"
#include "ctl/verbs/campaign.h"
#include "ctl/verbs/nic.h"
#include "schema/names_agent.h"
#include "schema/names_run.h"
#include "schema/names_verdict.h"
#include "schema/promise.h"

#define FILE_MAX       (64U << 20)
#define POSTPONED_MAX  8    /* orders of a run that found no time to start */
#define IN_VAIN_MAX    2    /* runs of all nodes that measure nothing */
#define WAITED_S       10.0 /* less: the budget never fits the run */
#define WINDOW_POLL_NS (5 * CLK_NS_PER_S)

void
acceptance_clear(struct acceptance *a)
{
	evidence_free(a->e);
	conf_free(a->promise);
	json_decref(a->report);
	json_decref(a->records);
	free(a->text);
}

int
acceptance_read(const char *path, json_t **ret)
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

/* The longest run fits at least one window. */
static int
acceptance_window_check(const struct acceptance *a)
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
acceptance_window_wait(const struct acceptance *a)
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
acceptance_mtus(const json_t *nodes)
{
	json_t *ret = json_object(), *o;
	size_t i;

	json_array_foreach ((json_t *)(uintptr_t)nodes, i, o)
		json_object_set_new(ret, member_text(o, "node"),
		    json_integer(nic_mtu(o)));
	return ret;
}

/* Warn before hours of measurements of rails, which would have no result.
 * nodes: the nodes that measure; list: all nodes with their inventories. */
static void
acceptance_rails_warn(const struct acceptance *a, const json_t *nodes,
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
acceptance_verdict_of(const json_t *verdicts, const json_t *node)
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
acceptance_has(const json_t *list, const json_t *one)
{
	const json_t *o;
	size_t i;

	json_array_foreach (list, i, o)
		if (json_equal(o, one))
			return 1;
	return 0;
}

static int
acceptance_state_is(const json_t *node, enum agent_state state)
{
	return strcmp(member_text(node, "state"), names_agent_states[state]) ==
	    0;
}

/* Split the nodes of the promise into those that can measure and others. The
 * newest rates in rounds of bandwidth are for objective.report. excluded:
 * verdicts of nodes and leaves that cannot measure. */
static int
acceptance_nodes_get(struct acceptance *a, const json_t *verdicts,
    json_t *nodes, json_t *away, json_t *excluded, json_t *leaves)
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
	mtus = acceptance_mtus(list);
	member_foreach (facts, "nodes", i, o) {
		const char *name = member_text(o, "node");

		if (hl.count > 0 && !hostlist_has(&hl, name))
			continue;
		/* The agent may be lost for the reason of the verdict. */
		verdict = acceptance_state_is(o, AGENT_MAINTENANCE)
		    ? NULL
		    : acceptance_verdict_of(verdicts, o);
		if (verdict != NULL && !acceptance_has(excluded, verdict))
			json_array_append(excluded, verdict);
		if (verdict != NULL)
			continue;
		if (acceptance_state_is(o, AGENT_OK))
			json_array_append_new(nodes,
			    json_pack("{s:s, s:s, s:O*, s:O*}", "node", name,
				"leaf", member_text(o, "leaf"), "mtu",
				json_object_get(mtus, name), "rate",
				json_object_get(o, "rate")));
		else
			json_array_append_new(away, json_string(name));
	}
	for (i = 0; i < hl.count; i++)
		if (json_object_get(mtus, hl.names[i]) == NULL)
			json_array_append_new(away, json_string(hl.names[i]));
	member_foreach (facts, "leaves", i, o)
		json_array_append_new(leaves,
		    json_pack("{s:O*, s:O*}", "leaf",
			json_object_get(o, "leaf"), "rate",
			json_object_get(o, "rate")));
	acceptance_rails_warn(a, nodes, list);
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
acceptance_verdicts_get(struct ctl *c, json_t *ret)
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
acceptance_report_begin(struct acceptance *a)
{
	json_t *nodes = json_array(), *away = json_array(), *o;
	json_t *excluded = json_array(), *leaves = json_array();
	json_t *verdicts = json_array();
	size_t i;
	int rc = acceptance_verdicts_get(a->c, verdicts);

	if (rc == 0)
		rc = acceptance_nodes_get(a, verdicts, nodes, away, excluded,
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
acceptance_report_resume(struct acceptance *a, const char *path)
{
	struct conf *old;
	struct err err;
	int rc = acceptance_read(path, &a->report);

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
acceptance_has_file(const struct acceptance *a)
{
	const char *out = opts_value(&a->c->opts, OPT_OUT);

	return out != NULL && strcmp(out, "-") != 0;
}

int
acceptance_open(struct acceptance *a)
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
	rc = acceptance_has_file(a) && access(out, F_OK) == 0
	    ? acceptance_report_resume(a, out)
	    : acceptance_report_begin(a);
	if (rc != 0)
		return rc;
	a->records = json_array();
	a->e = evidence_new(a->promise, json_object_get(a->report, "nodes"));
	evidence_judge(a->e);
	/* The difference of two times scatters more than one of them. */
	a->rounds = accept_runs(&a->e->options,
	    1.5 * conf_real(a->promise, "accept", "scatter"),
	    conf_real(a->promise, "accept", "found"), ACCEPTANCE_FOUND_WITH);
	return acceptance_window_check(a);
}

/* ---- runs ---- */

/* The order of a run. */
static json_t *
acceptance_order_make(const struct acceptance *a, const json_t *run)
{
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
	campaign_overrides_put(a->c, o);
	return json_pack("{s:o}", "overrides", o);
}

/* The result records of a run; its digest goes into the report. */
static int
acceptance_records_get(struct ctl *c, const char *run, json_t **ret,
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
acceptance_is_postponed(const json_t *ended)
{
	int cause = STR_FIND(names_causes, member_text(ended, "cause"));

	return STR_FIND(names_run_states, member_text(ended, "state")) ==
	    RUN_MISSED &&
	    (cause == CAUSE_BUDGET || cause == CAUSE_BUSY ||
		cause == CAUSE_HELD);
}

static int
acceptance_postpone(struct acceptance *a, const json_t *ended)
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
acceptance_is_explained(const struct acceptance *a, const json_t *verdicts)
{
	const json_t *node;
	size_t i;

	member_foreach (a->report, "nodes", i, node)
		if (acceptance_verdict_of(verdicts, node) != NULL)
			return 1;
	return 0;
}

/* All nodes took part in a run that measured nothing. Begin again without those
 * whose verdict explains this. Without such a verdict try once more. */
static int
acceptance_retry(struct acceptance *a, const json_t *ended)
{
	json_t *verdicts = json_array();
	int rc = acceptance_verdicts_get(a->c, verdicts);
	int is_explained = acceptance_is_explained(a, verdicts);

	json_decref(verdicts);
	runs_print_end(ended, stderr);
	if (rc != 0)
		return rc;
	if (is_explained) {
		fprintf(stderr, "the acceptance begins again\n");
		a->in_vain = 0;
		json_array_clear(a->records);
		return acceptance_report_begin(a);
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
acceptance_run(struct acceptance *a, json_t *run)
{
	json_t *order = acceptance_order_make(a, run), *answer, *ended,
	       *records;
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
	if (acceptance_is_postponed(ended)) {
		rc = acceptance_postpone(a, ended);
		json_decref(ended);
		return rc;
	}
	a->postponed = 0;
	json_object_set(run, "state", json_object_get(ended, "state"));
	json_object_set_new(run, "text", text_json(member_text(ended, "text")));
	rc = acceptance_records_get(a->c, member_text(run, "run"), &records,
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
		rc = acceptance_retry(a, ended);
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
int
acceptance_save(const struct acceptance *a)
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

static void
acceptance_judge(struct acceptance *a)
{
	evidence_free(a->e);
	a->e = accept_report_evidence(a->report, a->promise, a->records);
}

int
acceptance_load(struct acceptance *a)
{
	char digest[PKI_DIGEST_TEXT];
	json_t *run, *records;
	size_t i;
	int rc;

	member_foreach (a->report, "runs", i, run) {
		rc = acceptance_records_get(a->c, member_text(run, "run"),
		    &records, digest);
		if (rc != 0)
			return rc;
		json_array_append_new(a->records, records);
		if (strcmp(digest, member_text(run, "sha256")) != 0)
			return ctl_fail("run %.64s: the stored records differ "
					"from those that the report was made "
					"from",
			    member_text(run, "run"));
	}
	acceptance_judge(a);
	return 0;
}

int
acceptance_measure(struct acceptance *a)
{
	json_t *run;
	int rc = 0;

	while (rc == 0 &&
	    (run = evidence_next(a->e, a->promise,
		 json_object_get(a->report, "runs"), a->rounds)) != NULL) {
		acceptance_window_wait(a);
		rc = acceptance_run(a, run);
		json_decref(run);
		if (rc == 0 && acceptance_has_file(a))
			rc = acceptance_save(a);
		acceptance_judge(a);
	}
	return rc;
}
