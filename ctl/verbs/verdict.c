/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict.c - the worst verdict decides the exit code. Nodes without a verdict
 * are counted, and no node at all is not success either.
 */
#include <stdlib.h>
#include <string.h>

#include "common/hostlist.h"
#include "ctl/lib/print.h"
#include "ctl/lib/runs.h"
#include "ctl/verbs/verbs.h"
#include "schema/names_agent.h"
#include "schema/names_verdict.h"

#define RECHECK_NODES 7 /* others that it is measured with */
#define RECHECK_RUNS  5 /* as many as clear a node: verdict.clean */

static int
verdict_is_up(const json_t *node)
{
	const char *state = print_member(node, "state", "");

	return strcmp(state, names_agent_states[AGENT_LOST]) != 0 &&
	    strcmp(state, names_agent_states[AGENT_MAINTENANCE]) != 0;
}

static int
verdict_code_of(const json_t *v)
{
	const char *verdict = print_member(v, "verdict", "unknown");

	if (strcmp(verdict, names_verdicts[VERDICT_BAD]) == 0)
		return EXIT_CODE_BAD;
	return strcmp(verdict, names_verdicts[VERDICT_WARN]) == 0
	    ? EXIT_CODE_WARN
	    : EXIT_CODE_OK;
}

/* Nodes in maintenance are not expected to have a verdict. */
static int
verdict_is_missing(const json_t *v)
{
	return strcmp(print_member(v, "verdict", ""),
		   names_verdicts[VERDICT_UNKNOWN]) == 0 &&
	    json_object_get(v, "maintenance") == NULL;
}

static void
verdict_print_one(const json_t *v, int history)
{
	char at[PRINT_BYTES];

	print_time(v, history ? "at_unix_ns" : "since_unix_ns", at);
	printf("%-7s %-11s %s  %s%s%s\n", print_member(v, "verdict", "?"),
	    print_member(v, "what", print_member(v, "kind", "?")), at,
	    print_member(v, "text", print_member(v, "subject", "?")),
	    json_object_get(v, "pending") != NULL ? "; " : "",
	    print_member(v, "pending", ""));
}

/* Print all nodes, or the outliers and the number of unknown ones: a node
 * without data is not ok, and without nodes nothing is. */
static void
verdict_print_verdicts(const json_t *list, int all, int chosen)
{
	const char *unknown = NULL;
	size_t i, shown = 0, count = 0;
	json_t *v;

	json_array_foreach (list, i, v) {
		int is_case = json_object_get(v, "text") != NULL;

		shown += is_case;
		if (all || is_case)
			verdict_print_one(v, 0);
		if (!verdict_is_missing(v))
			continue;
		if (count++ == 0)
			unknown = print_member(v, "subject", "?");
	}
	if (json_array_size(list) == 0 && !chosen)
		puts("unknown, not ok: no node has been seen; see coalctl "
		     "diags");
	else if (shown == 0)
		printf("%sno outlier\n", count == 0 ? "ok: " : "");
	if (count > 0)
		printf("unknown, not ok: %zu node%s, for example %s; see "
		       "coalctl "
		       "diags\n",
		    count, count == 1 ? "" : "s", unknown);
}

/* Of all nodes: the worst, or unknown where some were not measured. */
static int
verdict_code_of_all(const json_t *list, int chosen)
{
	int worst = EXIT_CODE_OK,
	    unknown = json_array_size(list) == 0 && !chosen;
	json_t *v;
	size_t i;

	json_array_foreach (list, i, v) {
		if (verdict_code_of(v) > worst)
			worst = verdict_code_of(v);
		unknown |= verdict_is_missing(v);
	}
	return worst == EXIT_CODE_OK && unknown ? EXIT_CODE_UNKNOWN : worst;
}

/* Takes the list. */
static int
verdict_show(struct ctl *c, json_t *list, int history)
{
	int worst = history
	    ? EXIT_CODE_OK
	    : verdict_code_of_all(list, opts_given(&c->opts, OPT_WHERE));
	json_t *v;
	size_t i;

	for (i = json_array_size(list); i-- > 0 && !history;)
		if (opts_given(&c->opts, OPT_JSON) &&
		    !opts_given(&c->opts, OPT_ALL) &&
		    json_object_get(json_array_get(list, i), "text") == NULL)
			json_array_remove(list, i);
	if (opts_given(&c->opts, OPT_JSON))
		print_json(list);
	else if (history && json_array_size(list) == 0)
		puts("no verdicts yet");
	else if (history)
		json_array_foreach (list, i, v)
			verdict_print_one(v, 1);
	else
		verdict_print_verdicts(list, opts_given(&c->opts, OPT_ALL),
		    opts_given(&c->opts, OPT_WHERE));
	json_decref(list);
	return worst;
}

static int
verdict_list(struct ctl *c)
{
	json_t *list;
	int rc = ctl_list(c, &list, "verdicts", "all", "yes", NULL);

	return rc == 0 ? verdict_show(c, list, 0) : rc;
}

static int
verdict_history(struct ctl *c)
{
	json_t *list, *node;
	int rc = ctl_list(c, &list, "verdicts/history", "subject", c->args[0],
	    "limit", opts_value(&c->opts, OPT_LIMIT), NULL);

	/* A name that was never seen is more often a slip. */
	if (rc == 0 && json_array_size(list) == 0 && c->args[0] != NULL) {
		rc = ctl_get(c, "nodes/*", c->args[0], &node);
		json_decref(rc == 0 ? node : list);
	}
	return rc == 0 ? verdict_show(c, list, 1) : rc;
}

/* NODE and up to RECHECK_NODES others that are up, from all of the list, as a
 * hostlist that the caller frees; NULL after a message. */
static char *
verdict_recheck_nodes(const char *name, const json_t *nodes)
{
	const char *all[RECHECK_NODES + 1] = { name };
	size_t i, up = 0, count = 1, at = 0;
	int found = 0;
	json_t *node;

	json_array_foreach (nodes, i, node)
		if (strcmp(print_member(node, "node", ""), name) == 0)
			found = verdict_is_up(node);
		else
			up += (size_t)verdict_is_up(node);
	if (!found || up < 2) {
		ctl_fail(found ? "%s: cannot be measured: fewer than two other "
				 "nodes are up"
			       : "%s: this node is not up or does not exist; "
				 "see coalctl "
				 "node list",
		    name);
		return NULL;
	}
	json_array_foreach (nodes, i, node) {
		const char *other = print_member(node, "node", "");

		if (strcmp(other, name) == 0 || !verdict_is_up(node))
			continue;
		/* spread over the list, which is in the order of leaves */
		if (at++ * RECHECK_NODES / up >= count - 1 &&
		    count <= RECHECK_NODES)
			all[count++] = other;
	}
	return hostlist_format(all, count);
}

/* One run; 0, or an exit code after a message. */
static int
verdict_recheck_run(struct ctl *c, const char *nodes)
{
	json_t *body = json_pack("{s:{s:s, s:s}}", "overrides",
	    "campaign.nodes", nodes, "campaign.nodes_min", "3");
	json_t *answer = NULL, *run = NULL;
	int rc = ctl_post(c, "campaigns/*/run", "watch-bw", body, &answer);

	json_decref(body);
	if (rc == 0)
		rc = runs_wait(c, print_member(answer, "run", ""), &run);
	json_decref(answer);
	if (rc != 0)
		return rc;
	rc = runs_exit_code(run);
	if (rc != EXIT_CODE_OK)
		runs_print_end(run, stderr);
	json_decref(run);
	return rc == EXIT_CODE_OK ? 0 : EXIT_CODE_UNKNOWN;
}

static int
verdict_recheck(struct ctl *c)
{
	json_t *nodes, *node = NULL;
	char *list;
	int rc = ctl_get(c, "nodes", NULL, &nodes), is_pending = 1;

	if (rc != 0)
		return rc;
	list = verdict_recheck_nodes(c->args[0], nodes);
	json_decref(nodes);
	if (list == NULL)
		return EXIT_CODE_UNKNOWN;
	for (int i = 1; i <= RECHECK_RUNS && rc == 0 && is_pending; i++) {
		const char *pending;

		rc = verdict_recheck_run(c, list);
		if (rc == 0)
			rc = ctl_get(c, "nodes/*", c->args[0], &node);
		if (rc != 0)
			break;
		pending = print_member(node, "pending", NULL);
		printf("run %d of at most %d on %s: verdict %s%s%s\n", i,
		    RECHECK_RUNS, list, print_member(node, "verdict", "?"),
		    pending != NULL ? ", " : "",
		    pending != NULL ? pending : "");
		is_pending = pending != NULL;
		if (i == RECHECK_RUNS || !is_pending)
			rc = strcmp(print_member(node, "verdict", ""),
				 names_verdicts[VERDICT_UNKNOWN]) == 0
			    ? EXIT_CODE_UNKNOWN
			    : verdict_code_of(node);
		json_decref(node);
	}
	free(list);
	return rc;
}

const struct verb verbs_verdict[] = {
	{ "verdict", "list", "", 0, 0, "json all where sort", "",
	    "List the outliers with their evidence, worst first.",
	    "An outlier is a node, leaf or link that is slower than "
	    "its peers. Nodes without a verdict (unknown) are only "
	    "counted. --all also lists these nodes and nodes that are "
	    "ok. The exit code is 0 if there is no outlier, 1 for an "
	    "outlier (warn), 2 for an outlier that a confirmation run "
	    "has confirmed (bad), and 3 if there is no outlier but "
	    "some or all nodes were not measured.",
	    verdict_list },
	{ "verdict", "recheck", "NODE", 1, 1, "", "nodes",
	    "Measure a node now, for example after a repair.",
	    "The campaign watch-bw runs on this node and up to seven "
	    "others until the verdict on the node is settled, at most "
	    "five times. The results count like those of scheduled "
	    "runs. The exit code is 0 for ok, 1 for warn, 2 for bad "
	    "and 3 for unknown.",
	    verdict_recheck },
	{ "verdict", "history", "[NODE]", 0, 1, "json limit where sort",
	    "nodes", "Show earlier verdicts, newest first.", NULL,
	    verdict_history },
	{ 0 },
};
