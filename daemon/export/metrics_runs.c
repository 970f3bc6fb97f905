/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics_runs.c - runs and schedule, by campaign: names of campaigns are few,
 * ids of runs are without bound and no label.
 */
#include <string.h>

#include "common/member.h"
#include "daemon/export/metrics_int.h"

static double
seconds_of(const json_t *object, const char *key)
{
	return member_number(object, key) / 1e9;
}

void
metrics_run_counts(const struct metrics_in *in, struct strbuf *to)
{
	const struct view_run_count *rows;
	size_t count = view_run_counts(in->view, &rows);

	exposition_family(to, "coalmine_runs_total", "counter",
	    "Runs that ended, by campaign and state.");
	for (size_t i = 0; i < count; i++)
		exposition_sample(to, "coalmine_runs_total",
		    EXPOSITION_LABELS({ "campaign", rows[i].campaign },
			{ "state", names_run_states[rows[i].state].name }),
		    (double)rows[i].count);
	exposition_family(to,
	    "coalmine_campaign_last_success_timestamp_seconds", "gauge",
	    "When the newest finished run of the campaign ended.");
	for (size_t i = 0; i < count; i++) {
		double newest = rows[i].last_success_unix_s;
		size_t first = 0;

		while (strcmp(rows[first].campaign, rows[i].campaign) != 0)
			first++;
		for (size_t j = i; j < count; j++)
			if (strcmp(rows[j].campaign, rows[i].campaign) == 0 &&
			    rows[j].last_success_unix_s > newest)
				newest = rows[j].last_success_unix_s;
		if (first == i && newest > 0)
			exposition_sample(to,
			    "coalmine_campaign_last_success_timestamp_seconds",
			    EXPOSITION_LABELS({ "campaign", rows[i].campaign }),
			    newest);
	}
}

void
metrics_live_runs(const struct metrics_in *in, struct strbuf *to)
{
	uint64_t by_state[RUN_STATE_MAX] = { 0 };
	json_t *runs = view_runs(in->view), *run;
	size_t i;

	json_array_foreach (runs, i, run) {
		int state = names_run_state_find(member_text(run, "state"));

		if (state >= 0)
			by_state[state]++;
	}
	json_decref(runs);
	exposition_family(to, "coalmine_runs", "gauge",
	    "Runs that live now, by state.");
	for (int s = 0; s < RUN_STATE_MAX; s++)
		if (!names_run_states[s].final)
			exposition_sample(to, "coalmine_runs",
			    EXPOSITION_LABELS(
				{ "state", names_run_states[s].name }),
			    (double)by_state[s]);
}

void
metrics_schedule(const struct metrics_in *in, struct strbuf *to)
{
	json_t *schedule = view_schedule(in->view), *row;
	size_t i;

	exposition_family(to, "coalmine_campaign_next_start_timestamp_seconds",
	    "gauge", "When the campaign is due next.");
	json_array_foreach (schedule, i, row) {
		double next_s = seconds_of(row, "next_unix_ns");

		if (next_s > 0 && member_text(row, "campaign")[0] != '\0')
			exposition_sample(to,
			    "coalmine_campaign_next_start_timestamp_seconds",
			    EXPOSITION_LABELS(
				{ "campaign", member_text(row, "campaign") }),
			    next_s);
	}
	exposition_family(to, "coalmine_campaign_schedule_enabled", "gauge",
	    "1 while the campaign's schedule is followed.");
	json_array_foreach (schedule, i, row)
		if (member_text(row, "campaign")[0] != '\0')
			exposition_sample(to,
			    "coalmine_campaign_schedule_enabled",
			    EXPOSITION_LABELS(
				{ "campaign", member_text(row, "campaign") }),
			    member_bool(row, "enabled"));
	json_decref(schedule);
}
