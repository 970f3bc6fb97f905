/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict.c - the worst verdict decides the exit code. Nodes without a verdict
 * are counted, and no node at all is not success either.
 */
#include <string.h>

#include "ctl/lib/print.h"
#include "ctl/verbs/verbs.h"
#include "schema/names_verdict.h"

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

/* Of all nodes, the outliers, and how many are unknown: a node
 * without data is not ok, and where there is no node nothing is. */
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
		if (strcmp(print_member(v, "verdict", ""),
			names_verdicts[VERDICT_UNKNOWN]) != 0)
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
		printf("unknown, not ok: %zu node%s, as %s; see coalctl "
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
		unknown |= strcmp(print_member(v, "verdict", ""),
			       names_verdicts[VERDICT_UNKNOWN]) == 0;
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
		puts("no verdict so far");
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

const struct verb verbs_verdict[] = {
	{ "verdict", "list", "", 0, 0, "json all where sort", "",
	    "List the outliers: what is slow and why, worst first.",
	    "The exit code follows the worst verdict: 0; 1 for an outlier; 2 "
	    "for one that a confirmation run has confirmed; 3 if no node is an "
	    "outlier and some or all were not measured. Unknown nodes are "
	    "counted; with --all they are listed, and nodes that are ok too.",
	    verdict_list },
	{ "verdict", "history", "[NODE]", 0, 1, "json limit where sort",
	    "nodes", "Show earlier verdicts, newest first.", NULL,
	    verdict_history },
	{ 0 },
};
