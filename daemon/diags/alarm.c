/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alarm.c - the problems that are alerts: outliers, lost agents, error budgets
 * that are spent too fast, and failed health checks, which stop the collector
 * from measuring.
 */
#include "daemon/diags/alarm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/member.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "daemon/api/api.h"
#include "daemon/diags/diags.h"
#include "daemon/events/alerts.h"

#define LOST_NS (60 * CLK_NS_PER_S) /* no alert for a short reboot */

struct alarm {
	struct api *api;
	struct alerts *alerts;
	uint64_t born_ns;
};

struct alarm *
alarm_open(struct events *events, const char *page, struct api *api)
{
	struct alarm *a;

	if (events == NULL)
		return NULL;
	a = xcalloc(1, sizeof(*a));
	a->api = api;
	a->alerts = alerts_new(events, page, api_cluster_name(api));
	a->born_ns = clk_ns();
	return a;
}

/* An alert about a node whose verdict becomes unknown stays active: missing
 * data does not resolve it. */
static void
alarm_see_case(struct alarm *a, const struct api_incident *v,
    uint64_t now_unix_ns)
{
	static const struct {
		const char *kind, *name, *severity;
	} rows[] = { { "leaf", "CoalmineLeafOutlier", "critical" },
		{ "spine", "CoalmineSpineOutlier", "critical" },
		{ "node", "CoalmineNodeOutlier", "warning" } };
	size_t k = 0;
	char summary[200], place[300] = "";
	struct alert_seen seen = { .subject = v->subject,
		.summary = summary,
		.text = v->text,
		.place = place };

	while (k < ARRAY_LEN(rows) - 1 && strcmp(v->kind, rows[k].kind) != 0)
		k++;
	seen.kind = rows[k].kind;
	seen.name = rows[k].name;
	seen.severity = rows[k].severity;
	snprintf(summary, sizeof(summary),
	    strcmp(seen.kind, "spine") == 0 ? "paths over %.80s are bad"
					    : "%.80s is slower than its peers",
	    seen.subject);
	if (strcmp(seen.kind, "node") == 0)
		snprintf(place, sizeof(place), "node/%.250s", seen.subject);
	alerts_see(a->alerts, &seen, now_unix_ns);
}

static void
alarm_see_lost(struct alarm *a, uint64_t now_unix_ns)
{
	const struct api_node *nodes;
	size_t count = api_node_list(a->api, &nodes), lost = 0;
	char text[200];

	/* After a restart of the collector agents reconnect within a minute. */
	if (clk_ns() - a->born_ns < LOST_NS)
		return;
	/* A time far ahead was noted before the clock was set back. */
	for (size_t i = 0; i < count; i++)
		lost += nodes[i].state == AGENT_LOST &&
		    (now_unix_ns > nodes[i].since_unix_ns + LOST_NS ||
			nodes[i].since_unix_ns > now_unix_ns + LOST_NS);
	if (lost == 0)
		return;
	snprintf(text, sizeof(text),
	    "%zu of %zu agents are lost: their nodes are not measured", lost,
	    count);
	alerts_see(a->alerts,
	    &(struct alert_seen){ .name = "CoalmineAgentsMissing",
		.severity = "warning",
		.kind = "",
		.subject = "",
		.summary = "Agents are lost",
		.text = text,
		.place = "" },
	    now_unix_ns);
}

/* An alert for each objective whose budget is spent too fast. */
static void
alarm_see_objectives(struct alarm *a, uint64_t now_unix_ns)
{
	struct objectives_view v;

	for (size_t i = 0; i < api_objectives_count(a->api); i++) {
		char summary[200];
		int fast, fires = 0;

		api_objective(a->api, i, &v);
		fast = v.state.burn[OBJECTIVE_FAST].fires;
		for (int k = 0; k < OBJECTIVE_ALERT_MAX; k++)
			fires |= v.state.burn[k].fires;
		if (!fires)
			continue;
		snprintf(summary, sizeof(summary),
		    "the error budget of objective %s is spent too fast",
		    v.name);
		alerts_see(a->alerts,
		    &(struct alert_seen){ .name = fast
			    ? "CoalmineObjectiveBurnFast"
			    : "CoalmineObjectiveBurn",
			.severity = fast ? "critical" : "warning",
			.kind = "objective",
			.subject = v.name,
			.summary = summary,
			.text = v.text,
			.place = "" },
		    now_unix_ns);
	}
}

void
alarm_tick(struct alarm *a)
{
	static struct api_incident cases[ALERTS_MAX];
	uint64_t now_unix_ns = clk_unix_ns();
	json_t *list, *o;
	size_t i, count;

	if (a == NULL)
		return;
	count = api_incidents(a->api, cases, ALERTS_MAX);
	for (i = 0; i < count; i++)
		if (cases[i].verdict != VERDICT_OK)
			alarm_see_case(a, &cases[i], now_unix_ns);
	alarm_see_lost(a, now_unix_ns);
	alarm_see_objectives(a, now_unix_ns);
	/* Problems that stop the collector from measuring; the text is the
	 * subject. */
	list = diags_json(a->api);
	json_array_foreach (list, i, o)
		if (strcmp(member_text(o, "severity"), "bad") == 0)
			alerts_see(a->alerts,
			    &(struct alert_seen){ .name = "CoalmineDiagnosis",
				.severity = "critical",
				.kind = "diagnosis",
				.subject = member_text(o, "text"),
				.summary = member_text(o, "text"),
				.text = member_text(o, "remedy"),
				.place = "" },
			    now_unix_ns);
	json_decref(list);
	alerts_end(a->alerts, now_unix_ns);
}

void
alarm_close(struct alarm *a)
{
	if (a == NULL)
		return;
	alerts_free(a->alerts);
	free(a);
}
