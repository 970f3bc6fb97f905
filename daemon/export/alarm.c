/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alarm.c - what is worth an alert: outliers, lost agents, what stops the
 * collector from measuring.
 */
#include "daemon/export/alarm.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "daemon/export/alerts.h"
#include "common/member.h"
#include "daemon/view/view.h"
#include "daemon/export/webhook.h"

#define REPEAT_NS (4 * 3600 * CLK_NS_PER_S) /* as Alertmanager does */
#define LOST_NS   (60 * CLK_NS_PER_S)       /* a reboot is no alert at once */

struct alarm {
	struct view *view;
	struct alerts *alerts;
	struct webhook *webhook;
};

int
alarm_open(const char *urls, const char *page, struct view *view,
    struct alarm **ret, struct err *err)
{
	struct webhook *webhook;
	size_t count;
	char **list = str_list_parse(urls, &count);
	int rc = 0;

	*ret = NULL;
	if (list == NULL)
		return err_set(err, -EINVAL, "%s: an address is empty", urls);
	if (count > 0)
		rc = webhook_open(list, &webhook, err);
	str_list_free(list);
	if (count == 0 || rc < 0)
		return rc;
	*ret = xcalloc(1, sizeof(**ret));
	(*ret)->view = view;
	(*ret)->alerts = alerts_new(page, REPEAT_NS);
	(*ret)->webhook = webhook;
	return 0;
}

/* A case that is unknown for a while goes on: no data is no all-clear. */
static void
see_case(struct alarm *a, const json_t *v, uint64_t now_unix_ns)
{
	int is_leaf = strcmp(member_text(v, "kind"), "leaf") == 0;
	char summary[200], place[300] = "";
	struct alert_seen seen = { .kind = is_leaf ? "leaf" : "node",
		.name = is_leaf ? "CoalmineLeafOutlier" : "CoalmineNodeOutlier",
		.severity = is_leaf ? "critical" : "warning",
		.subject = member_text(v, "subject"),
		.summary = summary,
		.text = member_text(v, "text"),
		.place = place };

	snprintf(summary, sizeof(summary), "%.80s is slower than its peers",
	    seen.subject);
	if (!is_leaf)
		snprintf(place, sizeof(place), "node/%.250s", seen.subject);
	alerts_see(a->alerts, &seen, now_unix_ns);
}

static void
see_cases(struct alarm *a, uint64_t now_unix_ns)
{
	json_t *list = view_verdicts(a->view, 0), *v;
	size_t i;

	json_array_foreach (list, i, v)
		if (strcmp(member_text(v, "verdict"), "ok") != 0)
			see_case(a, v, now_unix_ns);
	json_decref(list);
}

static void
see_lost(struct alarm *a, uint64_t now_unix_ns)
{
	const struct view_node *nodes;
	size_t count = view_node_list(a->view, &nodes), lost = 0;
	char text[200];

	for (size_t i = 0; i < count; i++)
		lost += nodes[i].state == AGENT_LOST &&
		    now_unix_ns - nodes[i].since_unix_ns > LOST_NS;
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

/* What stops the collector from measuring; the words are the subject. */
static void
see_diags(struct alarm *a, uint64_t now_unix_ns)
{
	json_t *list = view_diags(a->view), *d;
	size_t i;

	json_array_foreach (list, i, d)
		if (strcmp(member_text(d, "severity"), "bad") == 0)
			alerts_see(a->alerts,
			    &(struct alert_seen){ .name = "CoalmineDiagnosis",
				.severity = "critical",
				.kind = "diagnosis",
				.subject = member_text(d, "text"),
				.summary = member_text(d, "text"),
				.text = member_text(d, "remedy"),
				.place = "" },
			    now_unix_ns);
	json_decref(list);
}

void
alarm_tick(struct alarm *a)
{
	uint64_t now_unix_ns = clk_unix_ns();
	json_t *message;

	if (a == NULL)
		return;
	alerts_begin(a->alerts);
	see_cases(a, now_unix_ns);
	see_lost(a, now_unix_ns);
	see_diags(a, now_unix_ns);
	message = alerts_end(a->alerts, now_unix_ns);
	if (message != NULL)
		webhook_post(a->webhook, message);
}

void
alarm_close(struct alarm *a)
{
	if (a == NULL)
		return;
	webhook_close(a->webhook);
	alerts_free(a->alerts);
	free(a);
}
