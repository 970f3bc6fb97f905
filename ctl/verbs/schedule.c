/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule.c - the collector computes the forecast; a start that will be
 * missed is exit code 1.
 */
#include <string.h>

#include "ctl/lib/print.h"
#include "ctl/verbs/verbs.h"
#include "schema/names_verdict.h"

static const struct print_column columns[] = {
	{ "campaign", "campaign", "?", PRINT_TEXT, NULL },
	{ "enabled", "enabled", NULL, PRINT_YES, NULL },
	{ "every", NULL, NULL, PRINT_OF, print_every },
	{ "at", "at", "-", PRINT_TEXT, NULL },
	{ "window", "window", "-", PRINT_TEXT, NULL },
	{ "next (UTC)", "next_unix_ns", NULL, PRINT_TIME, NULL },
	{ "last run", "last_run", "-", PRINT_TEXT, NULL },
	{ "last state", "last_state", "-", PRINT_TEXT, NULL },
	{ 0 },
};

static int
schedule_list(struct ctl *c)
{
	json_t *rows;
	int rc = ctl_get(c, "schedule", NULL, &rows);

	return rc == 0 ? print_list(c, rows, columns, NULL) : rc;
}

static int
schedule_is_missed(const json_t *row)
{
	return strcmp(print_member(row, "answer", ""), "missed") == 0;
}

static const char *
schedule_start_of(const json_t *row, char *scratch)
{
	print_time(row, "at_unix_ns", scratch);
	return schedule_is_missed(row) ? "-" : scratch;
}

static const struct print_column forecast_columns[] = {
	{ "due (UTC)", "due_unix_ns", NULL, PRINT_TIME, NULL },
	{ "start (UTC)", NULL, NULL, PRINT_OF, schedule_start_of },
	{ "campaign", "campaign", "?", PRINT_TEXT, NULL },
	{ "answer", "answer", "?", PRINT_TEXT, NULL },
	{ "takes", "duration_s", NULL, PRINT_SPAN, NULL },
	{ ">nodes", "nodes", NULL, PRINT_COUNT, NULL },
	{ ">bytes", "bytes", NULL, PRINT_BYTES_OF, NULL },
	{ "why", "why", "-", PRINT_TEXT, NULL },
	{ 0 },
};

/* Drop the rows after the first one of the same campaign and answer. Return
 * their number. */
static size_t
schedule_keep_first(json_t *rows)
{
	json_t *seen = json_object();
	size_t i = 0, dropped = 0;
	char key[128];

	while (i < json_array_size(rows)) {
		const json_t *row = json_array_get(rows, i);

		snprintf(key, sizeof(key), "%s %s",
		    print_member(row, "campaign", ""),
		    print_member(row, "answer", ""));
		if (json_object_get(seen, key) == NULL) {
			json_object_set_new(seen, key, json_true());
			i++;
		} else {
			json_array_remove(rows, i);
			dropped++;
		}
	}
	json_decref(seen);
	return dropped;
}

static int
schedule_forecast(struct ctl *c)
{
	int is_whole = opts_given(&c->opts, OPT_HOURS) ||
	    opts_given(&c->opts, OPT_JSON);
	json_t *rows, *row;
	size_t i, more;
	int rc = ctl_list(c, &rows, "forecast", "hours",
	    opts_value(&c->opts, OPT_HOURS), NULL);

	if (rc != 0)
		return rc;
	/* A start that will be missed is a warning. */
	json_array_foreach (rows, i, row)
		if (schedule_is_missed(row))
			rc = EXIT_CODE_WARN;
	more = is_whole ? 0 : schedule_keep_first(rows);
	print_list(c, rows, forecast_columns, NULL);
	if (more > 0)
		printf("%zu more start%s within 24 hours: --hours 24 lists "
		       "all\n",
		    more, more > 1 ? "s" : "");
	return rc;
}

static int
schedule_order(struct ctl *c, const char *part, const char *done)
{
	json_t *answer;
	int rc = ctl_post(c, part, c->args[0], NULL, &answer);

	if (rc != 0)
		return rc;
	json_decref(answer);
	printf("schedule of %s %s\n", c->args[0], done);
	return EXIT_CODE_OK;
}

static int
schedule_enable(struct ctl *c)
{
	return schedule_order(c, "schedule/*/enable", "enabled");
}

static int
schedule_disable(struct ctl *c)
{
	return schedule_order(c, "schedule/*/disable", "disabled");
}

const struct verb verbs_schedule[] = {
	{ "schedule", "list", "", 0, 0, "json where sort", "",
	    "List the campaigns that have a schedule, and their next starts.",
	    NULL, schedule_list },
	{ "schedule", "forecast", "", 0, 0, "json hours where sort", "",
	    "Forecast which runs will start, wait or be missed, and why.",
	    "Without --hours and --json only the first start of each "
	    "campaign and answer within 24 hours is listed. "
	    "The forecast assumes the present state: the nodes that "
	    "are up, the measured duration and bytes of campaigns, "
	    "blackouts and the budget. The exit code is 1 if a start "
	    "will be missed.",
	    schedule_forecast },
	{ "schedule", "enable", "NAME", 1, 1, "", "campaigns",
	    "Enable the schedule of a campaign.", NULL, schedule_enable },
	{ "schedule", "disable", "NAME", 1, 1, "", "campaigns",
	    "Disable the schedule of a campaign until it is enabled "
	    "again, also after restarts.",
	    NULL, schedule_disable },
	{ 0 },
};
