/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb_baseline.c - what the cluster was when it was commissioned: a run's
 * canaries under a name. "recent" is the collector's own: what the cluster and
 * each node were like in the last weeks.
 */
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "ctl/baseline.h"
#include "ctl/compare.h"
#include "ctl/print.h"
#include "ctl/records.h"
#include "ctl/runs.h"

#define RECENT "recent" /* the collector's own */

static const json_t *
records_of(const json_t *baseline)
{
	return json_object_get(json_object_get(baseline, "body"), "records");
}

/* A run's id, or the recent weeks in place of a run. */
static int
pin_find(struct ctl *c, char **ret_run)
{
	const char *text = c->args[1] != NULL ? c->args[1] : "last";

	if (strcmp(text, RECENT) != 0)
		return runs_find(c, text, ret_run);
	*ret_run = xstrdup(text);
	return 0;
}

static int
baseline_pin(struct ctl *c)
{
	struct strbuf path = { 0 };
	json_t *body, *reply = NULL;
	char *run;
	int rc = pin_find(c, &run);

	if (rc != 0)
		return rc;
	body = json_pack("{s:s}", "run", run);
	free(run);
	client_part(&path, "baselines");
	client_part(&path, c->args[0]);
	rc = client_post(ctl_client(c), path.text, body, &reply);
	strbuf_clear(&path);
	json_decref(body);
	if (rc != 0)
		return ctl_fail_client(c);
	if (opts_given(&c->opts, OPT_JSON))
		print_json_line(reply);
	else
		printf("%s: %lld canary records of run %s\n",
		    print_member(reply, "name", "?"),
		    (long long)json_integer_value(
			json_object_get(reply, "records")),
		    print_member(reply, "run", "?"));
	json_decref(reply);
	return EXIT_CODE_OK;
}

static int
baseline_list(struct ctl *c)
{
	struct table *t;
	json_t *list, *o;
	size_t i;
	int rc = ctl_get(c, "baselines", NULL, &list);

	if (rc != 0)
		return rc;
	t = table_new("baseline|pinned (UTC)");
	json_array_foreach (list, i, o) {
		char at[PRINT_BYTES];

		print_time(o, "at_unix_ns", at);
		table_cell(t, "%s", print_member(o, "name", "?"));
		table_cell(t, "%s", at);
	}
	if (opts_given(&c->opts, OPT_JSON))
		print_json(list);
	else
		table_print(t, stdout);
	table_free(t);
	json_decref(list);
	return EXIT_CODE_OK;
}

static void
print_record(struct table *t, const json_t *r)
{
	static const char *const names[] = { "p50", "p99", "mean" };
	const char *unit = print_member(r, "unit", "s");

	table_cell(t, "%s", print_member(r, "test", "?"));
	table_cell(t, "%s", print_member(r, "phase", "?"));
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		char text[PRINT_BYTES];

		print_quantity(print_number(r, names[i]), unit, text);
		table_cell(t, "%s", text);
	}
	table_cell(t, "%zu", json_array_size(json_object_get(r, "nodes")));
}

static int
baseline_show(struct ctl *c)
{
	struct table *t;
	json_t *baseline, *r;
	size_t i;
	int rc;

	if (c->args[0] == NULL)
		return baseline_list(c);
	rc = ctl_get(c, "baselines/*", c->args[0], &baseline);
	if (rc != 0)
		return rc;
	t = table_new("test|phase|>p50|>p99|>mean|>nodes");
	json_array_foreach (records_of(baseline), i, r)
		print_record(t, r);
	if (opts_given(&c->opts, OPT_JSON))
		print_json(baseline);
	else
		table_print(t, stdout);
	table_free(t);
	json_decref(baseline);
	return EXIT_CODE_OK;
}

/* Production load is told against the quiet network: a wild phase has no
 * counterpart in a baseline that was taken without one. */
static const json_t *
counterpart(const json_t *was, const json_t *r)
{
	const char *test = print_member(r, "test", "");
	const char *phase = print_member(r, "phase", "");
	const json_t *same = records_find(was, "canary", test, phase);

	if (same == NULL && strcmp(phase, names_phases[PHASE_WILD]) == 0)
		return records_find(was, "canary", test,
		    names_phases[PHASE_ISOLATED]);
	return same;
}

/* The collector's own weeks of a test; NULL: it has heard none. */
static const json_t *
recent_of(const json_t *recent, const json_t *r)
{
	return records_find(recent, "canary", print_member(r, "test", ""),
	    names_phases[PHASE_WILD]);
}

static int
diff(struct ctl *c, const json_t *was, const json_t *recent, const json_t *is,
    double margin)
{
	struct table *nodes = table_new(BASELINE_NODES);
	struct compare_out o;
	const json_t *r;
	size_t i, shown = 0;
	int rc;

	compare_begin(&o, margin);
	json_array_foreach (is, i, r) {
		const json_t *old = counterpart(was, r);

		if (strcmp(print_member(r, "probe", ""), "canary") != 0)
			continue;
		compare_add(&o, print_member(r, "test", "?"),
		    print_member(r, "phase", "?"), old, r);
		shown += baseline_nodes(nodes, old,
		    strcmp(print_member(r, "phase", ""),
			names_phases[PHASE_CONGESTED]) == 0
			? NULL
			: recent_of(recent, r),
		    r, margin);
	}
	rc = compare_end(c, &o);
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
	double margin;
	char *run = NULL;
	int rc = compare_margin(c, &margin);

	if (rc == 0)
		rc = ctl_get(c, "baselines/*", c->args[0], &baseline);
	if (rc == 0)
		rc = ctl_get(c, "baselines/*", RECENT, &recent);
	if (rc == 0)
		rc = runs_find(c, c->args[1] != NULL ? c->args[1] : "last",
		    &run);
	if (rc == 0)
		rc = records_get(c, run, &is);
	if (rc == 0)
		rc = diff(c, records_of(baseline), records_of(recent), is,
		    margin);
	free(run);
	json_decref(is);
	json_decref(recent);
	json_decref(baseline);
	return rc;
}

static int
baseline_drop(struct ctl *c)
{
	struct strbuf path = { 0 };
	json_t *reply = NULL;
	int rc;

	client_part(&path, "baselines");
	client_part(&path, c->args[0]);
	client_part(&path, "drop");
	rc = client_post(ctl_client(c), path.text, NULL, &reply);
	strbuf_clear(&path);
	json_decref(reply);
	return rc == 0 ? EXIT_CODE_OK : ctl_fail_client(c);
}

const struct verb verbs_baseline[] = {
	{ "baseline", "pin", "NAME [RUN]", 1, 2, "json", "",
	    "Keep a run's canaries under a name: what the cluster was.",
	    "Without RUN it is the last one; recent in its place pins what the "
	    "collector has learned of the last weeks. It stays when the run's "
	    "records are deleted, and a second pin takes its place. The one "
	    "that verdict.baseline names, commissioning, is what verdicts "
	    "hold nodes against.",
	    baseline_pin },
	{ "baseline", "show", "[NAME]", 0, 1, "json", "",
	    "List the baselines, or show one.",
	    "The baseline recent is kept by the collector itself.",
	    baseline_show },
	{ "baseline", "diff", "NAME [RUN]", 1, 2, "json margin", "",
	    "Say how a run differs from a baseline.",
	    "The tests as compare tells them, a wild phase against the "
	    "baseline's isolated one where it has none of its own; then the "
	    "nodes that got worse by the margin more than their peers did, "
	    "against the baseline or against their own last weeks, with how "
	    "they stand among their peers now.",
	    baseline_diff },
	{ "baseline", "drop", "NAME", 1, 1, "", "", "Forget a baseline.", NULL,
	    baseline_drop },
	{ 0 },
};
