/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objective.c - objectives with their error budgets and burn rates; an alert or
 * a spent budget decides the exit code.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ctl/lib/print.h"
#include "ctl/verbs/verbs.h"

/* Write a share of 0 to 1 in percent; "-" for null. */
static const char *
objective_percent(double share, char *scratch)
{
	if (isnan(share))
		return "-";
	snprintf(scratch, PRINT_BYTES, "%.4g %%", 100 * share);
	return scratch;
}

static const char *
objective_target_text(const json_t *row, char *scratch)
{
	return objective_percent(member_number(row, "target"), scratch);
}

static const char *
objective_good_text(const json_t *row, char *scratch)
{
	return objective_percent(member_number(row, "good"), scratch);
}

static const char *
objective_budget_text(const json_t *row, char *scratch)
{
	return objective_percent(member_number(row, "budget"), scratch);
}

/* An undetermined objective has its reason as text. */
static const char *
objective_state_text(const json_t *row, char *scratch)
{
	const char *state = member_text(row, "state");

	(void)scratch;
	return strcmp(state, "undetermined") == 0 ? member_text(row, "text")
						  : state;
}

static const char *
objective_worst_text(const json_t *row, char *scratch)
{
	const json_t *worst = json_array_get(json_object_get(row, "parts"), 0);

	if (worst == NULL)
		return "-";
	snprintf(scratch, PRINT_BYTES, "%.40s %.1f h",
	    member_text(worst, "subject"), member_number(worst, "bad_hours"));
	return scratch;
}

static const struct print_column objective_columns[] = {
	{ "name", "name", "?", PRINT_TEXT, NULL },
	{ "class", "class", "?", PRINT_TEXT, NULL },
	{ "share of", "of", "peers", PRINT_TEXT, NULL },
	{ "in", "window_s", NULL, PRINT_SPAN, NULL },
	{ ">target", NULL, NULL, PRINT_OF, objective_target_text },
	{ ">good", NULL, NULL, PRINT_OF, objective_good_text },
	{ ">budget left", NULL, NULL, PRINT_OF, objective_budget_text },
	{ "worst part", NULL, NULL, PRINT_OF, objective_worst_text },
	{ "state", NULL, NULL, PRINT_OF, objective_state_text },
	{ 0 },
};

static int
objective_list(struct ctl *c)
{
	json_t *list, *row;
	int rc = ctl_get(c, "objectives", NULL, &list), code = EXIT_CODE_OK;
	size_t i;

	if (rc != 0)
		return rc;
	json_array_foreach (list, i, row) {
		const char *state = member_text(row, "state");

		if (strcmp(state, "fast") == 0 || strcmp(state, "spent") == 0)
			code = EXIT_CODE_BAD;
		else if (strcmp(state, "ok") != 0 && code == EXIT_CODE_OK)
			code = EXIT_CODE_WARN;
	}
	print_list(c, list, objective_columns,
	    "no objectives; objective.rows in coalmined.conf sets them");
	return code;
}

const struct verb verbs_objective[] = {
	{ "objective", "list", "", 0, 0, "json where sort", "",
	    "List objectives with their error budgets.",
	    "Columns: share of: the bandwidth of peers, or the promised one; "
	    "in: the window; target: share of node-hours that must "
	    "be good; good: share that is good; budget left: share of the "
	    "error budget, below 0 if it is overspent; worst part: the node or "
	    "leaf with the most bad node-hours; state: ok, spent (no budget "
	    "left), fast, slow or lasting (the budget is spent too fast), or "
	    "undetermined, with the hours measured. The exit code is 2 if an "
	    "objective is fast or spent, 1 for other states except ok.",
	    objective_list },
	{ 0 },
};
