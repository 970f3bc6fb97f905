/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.c - events are printed in the order of their ids, and followed by
 * asking for those after the last id.
 */
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "ctl/lib/print.h"
#include "ctl/verbs/verbs.h"
#include "schema/names_verdict.h"

#define FOLLOW_NS (1 * CLK_NS_PER_S)

/* Events after an id, or the newest ones for after = NULL. */
static int
events_fetch(struct ctl *c, const char *after, json_t **ret)
{
	const char *limit = opts_value(&c->opts, OPT_LIMIT);

	return ctl_list(c, ret, "events", "kind",
	    opts_value(&c->opts, OPT_KIND), "after_id", after, "limit",
	    limit == NULL ? "50" : limit, NULL);
}

/* Return the id of the newest event of each run, by subject. */
static json_t *
events_newest_of_runs(const json_t *list)
{
	json_t *newest = json_object();
	const json_t *e;
	size_t i;

	json_array_foreach (list, i, e)
		if (strcmp(print_member(e, "kind", ""), "run") == 0)
			json_object_set(newest, print_member(e, "subject", ""),
			    json_object_get(e, "id"));
	return newest;
}

/* Print the list in the order of its ids; of a run its newest event only, if
 * newest is not NULL. Return the highest id. */
static json_int_t
events_show(const json_t *list, const json_t *newest, json_int_t last)
{
	const json_t *e, *of_run;
	size_t i;

	json_array_foreach (list, i, e) {
		json_int_t id = member_int(e, "id");
		char at[PRINT_BYTES];

		if (id <= last)
			continue;
		last = id;
		of_run = strcmp(print_member(e, "kind", ""), "run") == 0
		    ? json_object_get(newest, print_member(e, "subject", ""))
		    : NULL;
		if (of_run != NULL && json_integer_value(of_run) != id)
			continue;
		print_time(e, "at_unix_ns", at);
		printf("%s  %-6s %s: %s\n", at, print_member(e, "kind", "-"),
		    print_member(e, "subject", "-"),
		    print_member(e, "text", ""));
	}
	fflush(stdout);
	return last;
}

static int
events(struct ctl *c)
{
	json_int_t last = 0;
	char after[32];
	json_t *list, *newest = NULL;
	int rc;

	if (opts_given(&c->opts, OPT_FOLLOW) && opts_given(&c->opts, OPT_WHERE))
		return ctl_fail(
		    "--follow cannot be combined with --where; use --kind to "
		    "select events");
	rc = events_fetch(c, NULL, &list);
	if (rc != 0)
		return rc;
	if (!opts_given(&c->opts, OPT_ALL))
		newest = events_newest_of_runs(list);
	if (opts_given(&c->opts, OPT_JSON))
		print_json(list);
	else
		last = events_show(list, newest, last);
	json_decref(newest);
	if (json_array_size(list) == 0)
		fputs("coalctl: no matching events yet\n", stderr);
	json_decref(list);
	if (!opts_given(&c->opts, OPT_FOLLOW) || opts_given(&c->opts, OPT_JSON))
		return EXIT_CODE_OK;
	for (;;) {
		clk_sleep_ns(FOLLOW_NS);
		snprintf(after, sizeof(after), "%lld", (long long)last);
		rc = events_fetch(c, after, &list);
		if (rc != 0)
			return rc;
		last = events_show(list, NULL, last);
		json_decref(list);
	}
}

const struct verb verbs_events[] = {
	{ "events", NULL, "", 0, 0, "json all kind limit follow where", "",
	    "Print events: changes of runs, agents and verdicts, "
	    "orders, alarms.",
	    "Only the newest event of each run is printed; --all, --json and "
	    "--follow print every event.",
	    events },
	{ 0 },
};
