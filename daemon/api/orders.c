/* SPDX-License-Identifier: Apache-2.0 */
/*
 * orders.c - carry out an order, and record in the event log who gave it.
 */
#include "daemon/api/orders.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/clk.h"
#include "common/hostlist.h"
#include "common/log.h"
#include "common/member.h"
#include "common/xalloc.h"
#include "daemon/agents/enroll.h"
#include "daemon/api/api_int.h"
#include "daemon/cluster/roster.h"
#include "daemon/collector.h"
#include "daemon/diagnosis/diagnosis.h"
#include "daemon/run/run.h"
#include "daemon/run/run_order.h"
#include "daemon/schedule/campaign.h"
#include "daemon/schedule/schedule.h"
#include "daemon/schedule/scheduler.h"
#include "daemon/store/store.h"

static void
orders_event_put(struct api *api, const char *subject, const char *what,
    const char *by, const char *more)
{
	char text[300];

	snprintf(text, sizeof(text), "%s by %s%s%s", what, by,
	    more[0] == '\0' ? "" : ": ", more);
	log_info("order %s: %s", subject, text);
	store_put_event(api->p.store, "order", subject, text);
}

/* If none of the nodes was ever seen, the list is probably mistyped: refuse it
 * now, rather than report the run as missed later. Of several, return those
 * that were never seen. */
static int
orders_nodes_check(struct api *api, const struct conf *c,
    const json_t *overrides, char **ret_unseen, struct err *err)
{
	const char *text = member_text_or(overrides, "campaign.nodes",
	    conf_string(c, "campaign", "nodes"));
	struct roster *r = collector_roster(api->p.collector);
	struct hostlist hl = { 0 };
	const char **unseen;
	size_t count = 0, all;

	if (strcmp(text, "all") == 0 || hostlist_parse(text, &hl, NULL) < 0)
		return 0;
	all = hl.count;
	unseen = xcalloc(all, sizeof(*unseen));
	for (size_t i = 0; i < all; i++)
		if (roster_find(r, hl.names[i]) == NULL)
			unseen[count++] = hl.names[i];
	if (count > 0 && count < all)
		*ret_unseen = hostlist_format(unseen, count);
	free(unseen);
	hostlist_clear(&hl);
	return count < all
	    ? 0
	    : err_set(err, -EINVAL,
		  "campaign.nodes = %.80s: no agent of these nodes "
		  "was ever seen; coalctl node list shows the nodes",
		  text);
}

int
orders_submit(struct api *api, const char *campaign, const char *text,
    const json_t *overrides, const char *by, char ret_run[64],
    char **ret_unseen, struct err *err)
{
	const struct campaign *c = campaigns_find(api->p.campaigns, campaign);
	struct run_order o = { .campaign = campaign,
		.by = by,
		.overrides = overrides };
	struct schedule schedule;
	struct conf *own = NULL;
	char *unseen = NULL;
	int rc;

	if (campaign_name_check(campaign) < 0)
		return err_set(err, -EINVAL, "invalid campaign name");
	if (text != NULL) {
		rc = campaign_parse(campaign, text, &own, &schedule, err);
		if (rc < 0)
			return rc;
		campaigns_submit(api->p.campaigns, campaign, text, own,
		    &schedule);
	} else if (c == NULL) {
		return err_set(err, -ENOENT,
		    "campaign %s not found; coalctl campaign list shows the "
		    "campaigns",
		    campaign);
	} else if (c->error != NULL) {
		return err_set(err, -EINVAL, "%s", c->error);
	}
	o.conf = text != NULL ? own : c->conf;
	rc = orders_nodes_check(api, o.conf, overrides, &unseen, err);
	if (rc == 0)
		rc = runs_submit(collector_runs(api->p.collector), &o, ret_run,
		    err);
	conf_free(own);
	if (rc == 0)
		orders_event_put(api, campaign, "run ordered", by, ret_run);
	if (rc == 0)
		*ret_unseen = unseen; /* handed over */
	else
		free(unseen);
	return rc;
}

int
orders_cancel(struct api *api, const char *run, const char *by, struct err *err)
{
	int rc = runs_cancel(collector_runs(api->p.collector), run, by, err);

	if (rc == 0)
		orders_event_put(api, run, "cancelled", by, "");
	return rc;
}

int
orders_stop_all(struct api *api, const char *by)
{
	size_t count = runs_stop_all(collector_runs(api->p.collector), by);
	char more[64];

	snprintf(more, sizeof(more), "%zu runs ended", count);
	orders_event_put(api, "stop", "everything stopped", by, more);
	return (int)count;
}

int
orders_token(struct api *api, const char *names, int uses, uint64_t span_ns,
    const char *by, char *ret_token, struct err *err)
{
	const struct enroll_order o = { names, uses,
		(int64_t)(span_ns / CLK_NS_PER_S) };
	char text[200];
	int rc = enroll_token_new(api->p.enroll, &o, time(NULL), ret_token,
	    err);

	if (rc < 0)
		return rc;
	snprintf(text, sizeof(text), "for %.100s", names);
	orders_event_put(api, "enroll", "enrolment token created", by, text);
	return 0;
}

int
orders_schedule_enable(struct api *api, const char *campaign, int enabled,
    const char *by, struct err *err)
{
	struct campaign *c = campaigns_find(api->p.campaigns, campaign);

	if (c == NULL)
		return err_set(err, -ENOENT,
		    "campaign %s not found; coalctl campaign list shows the "
		    "campaigns",
		    campaign);
	if (c->conf == NULL || c->path == NULL || !schedule_has(&c->schedule))
		return err_set(err, -EINVAL, "campaign %s has no schedule",
		    campaign);
	scheduler_enable(api->p.scheduler, c, enabled);
	orders_event_put(api, campaign,
	    enabled ? "schedule enabled" : "schedule disabled", by, "");
	return 0;
}

static struct node *
orders_node_find(struct api *api, const char *node, struct err *err)
{
	struct node *n = roster_find(collector_roster(api->p.collector), node);

	if (n == NULL)
		(void)err_set(err, -ENOENT,
		    "no node %.100s; coalctl node list shows the nodes", node);
	return n;
}

int
orders_node_maintain(struct api *api, const char *node, uint64_t span_ns,
    const char *reason, const char *by, struct err *err)
{
	struct node *n = orders_node_find(api, node, err);
	char span[32], more[256] = "";

	if (n == NULL)
		return -ENOENT;
	if (span_ns == 0 && n->state != AGENT_MAINTENANCE)
		return err_set(err, -EINVAL, "%.100s is not in maintenance",
		    node);
	roster_maintain(collector_roster(api->p.collector), n,
	    span_ns != 0 ? clk_unix_ns() + span_ns : 0, by,
	    span_ns != 0 ? reason : "maintenance ended");
	if (span_ns != 0) {
		diagnosis_withdraw(collector_diagnosis(api->p.collector), n,
		    "in maintenance: not judged");
		clk_span_format(span_ns, span, sizeof(span));
		snprintf(more, sizeof(more), "for %s: %.200s", span, reason);
	}
	orders_event_put(api, node,
	    span_ns != 0 ? "maintenance ordered" : "maintenance ended", by,
	    more);
	return 0;
}

int
orders_node_forget(struct api *api, const char *node, const char *by,
    struct err *err)
{
	struct node *n = orders_node_find(api, node, err);
	int rc = n == NULL
	    ? -ENOENT
	    : roster_forget(collector_roster(api->p.collector), n, err);

	if (rc < 0)
		return rc;
	diagnosis_withdraw(collector_diagnosis(api->p.collector), n,
	    "the node was forgotten");
	orders_event_put(api, node, "node forgotten", by, "");
	return 0;
}

int
orders_pin_check(const char *name)
{
	if (campaign_name_check(name) < 0)
		return -EINVAL;
	return strcmp(name, API_RECENT) == 0 ? -EBUSY : 0;
}

void
orders_pin(struct api *api, const char *name, const json_t *body,
    const char *by)
{
	store_put_baseline(api->p.store, name, body);
	orders_event_put(api, name,
	    body != NULL ? "baseline pinned" : "baseline dropped", by, "");
	diagnosis_pin(collector_diagnosis(api->p.collector), name, body);
}
