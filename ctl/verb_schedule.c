/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "common/table.h"
#include "ctl/ctl.h"
#include "ctl/print.h"

static void
print_table(const json_t *rows)
{
	struct table *t = table_new("campaign|enabled|every|at|window|"
				    "next (UTC)|last run|last state");
	size_t i;
	json_t *row;

	json_array_foreach (rows, i, row) {
		char every[PRINT_BYTES], next[PRINT_BYTES];
		double every_s = print_number(row, "every_s");

		print_span(every_s > 0 ? every_s : -1, every);
		print_time(row, "next_unix_ns", next);
		table_cell(t, "%s", print_member(row, "campaign", "?"));
		table_cell(t, "%s",
		    json_is_true(json_object_get(row, "enabled")) ? "yes"
								  : "no");
		table_cell(t, "%s", every);
		table_cell(t, "%s", print_member(row, "at", "-"));
		table_cell(t, "%s", print_member(row, "window", "-"));
		table_cell(t, "%s", next);
		table_cell(t, "%s", print_member(row, "last_run", "-"));
		table_cell(t, "%s", print_member(row, "last_state", "-"));
	}
	table_print(t, stdout);
	table_free(t);
}

static int
schedule_list(struct ctl *c)
{
	json_t *rows;
	int rc = ctl_get(c, "schedule", NULL, &rows);

	if (rc != 0)
		return rc;
	if (opts_given(&c->opts, OPT_JSON))
		print_json(rows);
	else
		print_table(rows);
	json_decref(rows);
	return EXIT_CODE_OK;
}

static void
print_forecast(const json_t *rows)
{
	struct table *t = table_new("due (UTC)|start (UTC)|campaign|answer|"
				    "takes|>nodes|>bytes|why");
	size_t i;
	json_t *row;

	json_array_foreach (rows, i, row) {
		char due[PRINT_BYTES], at[PRINT_BYTES], takes[PRINT_BYTES];
		char bytes[PRINT_BYTES] = "-";
		double sent = print_number(row, "bytes");

		print_time(row, "due_unix_ns", due);
		print_time(row, "at_unix_ns", at);
		print_span(print_number(row, "duration_s"), takes);
		if (sent > 0)
			str_bytes_format(sent, bytes, sizeof(bytes));
		table_cell(t, "%s", due);
		table_cell(t, "%s",
		    strcmp(print_member(row, "answer", ""), "missed") == 0
			? "-"
			: at);
		table_cell(t, "%s", print_member(row, "campaign", "?"));
		table_cell(t, "%s", print_member(row, "answer", "?"));
		table_cell(t, "%s", takes);
		table_cell(t, "%.0f", print_number(row, "nodes"));
		table_cell(t, "%s", bytes);
		table_cell(t, "%s", print_member(row, "why", "-"));
	}
	table_print(t, stdout);
	table_free(t);
}

/* A start that will be missed is a warning. */
static int
forecast_code(const json_t *rows)
{
	size_t i;
	json_t *row;

	json_array_foreach (rows, i, row)
		if (strcmp(print_member(row, "answer", ""), "missed") == 0)
			return EXIT_CODE_WARN;
	return EXIT_CODE_OK;
}

static int
schedule_forecast(struct ctl *c)
{
	struct strbuf path = { 0 };
	json_t *rows;
	int rc;

	client_part(&path, "forecast");
	client_param(&path, "hours", opts_value(&c->opts, OPT_HOURS));
	rc = client_get(ctl_client(c), path.text, &rows);
	strbuf_clear(&path);
	if (rc < 0)
		return ctl_fail_client(c);
	if (opts_given(&c->opts, OPT_JSON))
		print_json(rows);
	else
		print_forecast(rows);
	rc = forecast_code(rows);
	json_decref(rows);
	return rc;
}

static int
order(struct ctl *c, const char *word)
{
	struct strbuf path = { 0 };
	json_t *answer;
	int rc;

	client_part(&path, "schedule");
	client_part(&path, c->args[0]);
	client_part(&path, word);
	rc = client_post(ctl_client(c), path.text, NULL, &answer);
	strbuf_clear(&path);
	if (rc < 0)
		return ctl_fail_client(c);
	json_decref(answer);
	printf("schedule of %s %sd\n", c->args[0], word);
	return EXIT_CODE_OK;
}

static int
schedule_enable(struct ctl *c)
{
	return order(c, "enable");
}

static int
schedule_disable(struct ctl *c)
{
	return order(c, "disable");
}

const struct verb verbs_schedule[] = {
	{ "schedule", "list", "", 0, 0, "json", "",
	    "List the campaigns that start by themselves, and when.", NULL,
	    schedule_list },
	{ "schedule", "horizon", "", 0, 0, "json hours", "",
	    "Forecast which runs will start, wait or be missed, and why.",
	    "As far as is known now: the nodes that are up, what campaigns "
	    "have cost, blackouts and the budget. The exit code is 1 when a "
	    "start will be missed.",
	    schedule_forecast },
	{ "schedule", "enable", "NAME", 1, 1, "", "campaigns",
	    "Follow a campaign's schedule again.", NULL, schedule_enable },
	{ "schedule", "disable", "NAME", 1, 1, "", "campaigns",
	    "Stop following a campaign's schedule; outlives restarts.", NULL,
	    schedule_disable },
	{ 0 },
};
