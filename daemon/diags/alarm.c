/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alarm.c - alerts for outliers, lost agents, error budgets that are spent too
 * fast, and problems that stop the collector from measuring. An alert is sent
 * at once, repeated after REPEAT_NS, and sent as resolved at its end. Alerts
 * are events.
 */
#include "daemon/diags/alarm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

#include "common/clk.h"
#include "common/member.h"
#include "common/queue.h"
#include "common/str.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "daemon/api/api.h"
#include "daemon/diags/diags.h"
#include "daemon/events/events.h"

#define REPEAT_NS  (4 * 3600 * CLK_NS_PER_S) /* as Alertmanager does */
#define LOST_NS    (60 * CLK_NS_PER_S)       /* no alert for a short reboot */
#define FIRING_MAX 1000 /* more alerts than this are one outage */
#define NEVER      "0001-01-01T00:00:00Z"

struct alert {
	TAILQ_ENTRY(alert) link;
	char *key;    /* name, kind, subject, cluster */
	json_t *told; /* as in the message, without its end time */
	uint64_t since_unix_ns;
	uint64_t told_unix_ns; /* 0: never */
	int seen;              /* in this turn */
};

/* A turn is alerts_see for each current problem, then alerts_end. A new alert
 * fires; one that was not seen in this turn is resolved; a continuing one is
 * repeated after repeat_ns. */
struct alerts {
	TAILQ_HEAD(, alert) firing;
	size_t count;
	char *page; /* address of the collector's page for links, or "" */
	uint64_t repeat_ns;
	const char *cluster; /* its name, or ""; a label */
};

struct alert_seen {
	const char *name;     /* CoalmineNodeOutlier */
	const char *severity; /* warning or critical */
	const char *kind;     /* of the subject: node, leaf ...; a label */
	const char *subject;
	const char *summary;
	const char *text;  /* may change while it fires */
	const char *place; /* after the page's #, or "" */
};

struct alarm {
	struct api *api;
	struct events *events;
	struct alerts alerts;
	uint64_t born_ns;
};

static void
alarm_alert_free(struct alerts *a, struct alert *al)
{
	TAILQ_REMOVE(&a->firing, al, link);
	a->count--;
	free(al->key);
	json_decref(al->told);
	free(al);
}

/* Write a time in the format of Alertmanager, RFC 3339. */
static void
alarm_time_text(uint64_t unix_ns, char ret[32])
{
	time_t at = (time_t)(unix_ns / CLK_NS_PER_S);
	struct tm tm;

	strftime(ret, 32, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&at, &tm));
}

static void
alarm_alerts_see(struct alerts *a, const struct alert_seen *s,
    uint64_t now_unix_ns)
{
	char *key = xasprintf("%s\n%s\n%s%s%s", s->name, s->kind, s->subject,
	    a->cluster[0] != '\0' ? "\n" : "", a->cluster);
	char starts[32], print[24], url[600] = "";
	struct alert *al;
	json_t *labels;

	TAILQ_FOREACH (al, &a->firing, link)
		if (strcmp(al->key, key) == 0)
			break;
	if (al == NULL && a->count == FIRING_MAX) {
		free(key);
		return;
	}
	if (al == NULL) {
		al = xcalloc(1, sizeof(*al));
		al->key = xstrdup(key);
		al->since_unix_ns = now_unix_ns;
		TAILQ_INSERT_TAIL(&a->firing, al, link);
		a->count++;
	}
	free(key);
	al->seen = 1;
	labels = json_pack("{s:s, s:s}", "alertname", s->name, "severity",
	    s->severity);
	if (a->cluster[0] != '\0')
		json_object_set_new(labels, "cluster", json_string(a->cluster));
	if (s->kind[0] != '\0')
		json_object_set_new(labels, s->kind, text_json(s->subject));
	alarm_time_text(al->since_unix_ns, starts);
	snprintf(print, sizeof(print), "%016lx",
	    crc32(0, (const Bytef *)al->key, (uInt)strlen(al->key)));
	if (a->page[0] != '\0')
		snprintf(url, sizeof(url), "%s#/%s", a->page, s->place);
	json_decref(al->told);
	al->told = json_pack("{s:o, s:{s:o, s:o}, s:s, s:o, s:s}", "labels",
	    labels, "annotations", "summary", text_json(s->summary),
	    "description", text_json(s->text), "startsAt", starts,
	    "generatorURL", text_json(url), "fingerprint", print);
}

/* Return new, resolved and repeated alerts in the format of Alertmanager's
 * webhook (version 4). The caller decrefs. */
static json_t *
alarm_alerts_end(struct alerts *a, uint64_t now_unix_ns)
{
	json_t *list = json_array(), *one;
	struct alert *al, *next;
	char now[32];

	alarm_time_text(now_unix_ns, now);
	TAILQ_FOREACH_SAFE (al, &a->firing, link, next) {
		int fires = al->seen;

		al->seen = 0;
		/* The last alert is in the future: the clock was set back. */
		if (fires && al->told_unix_ns != 0 &&
		    now_unix_ns >= al->told_unix_ns &&
		    now_unix_ns < al->told_unix_ns + a->repeat_ns)
			continue;
		al->told_unix_ns = now_unix_ns;
		one = json_deep_copy(al->told);
		json_object_set_new(one, "status",
		    json_string(fires ? "firing" : "resolved"));
		json_object_set_new(one, "endsAt",
		    json_string(fires ? NEVER : now));
		json_array_append_new(list, one);
		if (!fires)
			alarm_alert_free(a, al);
	}
	return list;
}

struct alarm *
alarm_open(struct events *events, const char *page, struct api *api)
{
	struct alarm *a;

	if (events == NULL)
		return NULL;
	a = xcalloc(1, sizeof(*a));
	a->api = api;
	a->events = events;
	TAILQ_INIT(&a->alerts.firing);
	a->alerts.page = xstrdup(page);
	a->alerts.cluster = api_cluster_name(api);
	a->alerts.repeat_ns = REPEAT_NS;
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
	alarm_alerts_see(&a->alerts, &seen, now_unix_ns);
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
	alarm_alerts_see(&a->alerts,
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
		alarm_alerts_see(&a->alerts,
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

static void
alarm_alert_tell(struct alarm *a, const json_t *o)
{
	static const char *const labels[] = { "node", "leaf", "spine",
		"objective", "alertname" };
	const json_t *has = json_object_get(o, "labels");
	const json_t *says = json_object_get(o, "annotations");
	struct store_event e = { .kind = "alert", .subject = "", .body = o };
	char *text = xasprintf("%s (%s): %s", member_text(o, "status"),
	    member_text(has, "alertname"), member_text(says, "summary"));

	for (size_t i = 0; e.subject[0] == '\0'; i++)
		e.subject = member_text(has, labels[i]);
	e.text = text;
	events_tell(a->events, &e);
	free(text);
}

void
alarm_tick(struct alarm *a)
{
	static struct api_incident cases[FIRING_MAX];
	uint64_t now_unix_ns = clk_unix_ns();
	json_t *list, *o;
	size_t i, count;

	if (a == NULL)
		return;
	count = api_incidents(a->api, cases, FIRING_MAX);
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
			alarm_alerts_see(&a->alerts,
			    &(struct alert_seen){ .name = "CoalmineDiagnosis",
				.severity = "critical",
				.kind = "diagnosis",
				.subject = member_text(o, "text"),
				.summary = member_text(o, "text"),
				.text = member_text(o, "remedy"),
				.place = "" },
			    now_unix_ns);
	json_decref(list);
	list = alarm_alerts_end(&a->alerts, now_unix_ns);
	json_array_foreach (list, i, o)
		alarm_alert_tell(a, o);
	json_decref(list);
}

void
alarm_close(struct alarm *a)
{
	if (a == NULL)
		return;
	while (!TAILQ_EMPTY(&a->alerts.firing))
		alarm_alert_free(&a->alerts, TAILQ_FIRST(&a->alerts.firing));
	free(a->alerts.page);
	free(a);
}
