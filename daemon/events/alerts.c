/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alerts.c - the list of alerts that fire, and each as an event in the format
 * of Alertmanager's webhook (version 4).
 */
#include "daemon/events/alerts.h"

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
#include "daemon/events/events.h"

#define REPEAT_NS (4 * 3600 * CLK_NS_PER_S) /* as Alertmanager does */
#define NEVER     "0001-01-01T00:00:00Z"

struct alert {
	TAILQ_ENTRY(alert) link;
	char *key;    /* name, kind, subject, cluster */
	json_t *told; /* as in the message, without its end time */
	uint64_t since_unix_ns;
	uint64_t told_unix_ns; /* 0: never */
	int seen;              /* in this turn */
};

struct alerts {
	struct events *events;
	TAILQ_HEAD(, alert) firing;
	size_t count;
	char *page;
	const char *cluster; /* a label */
};

struct alerts *
alerts_new(struct events *events, const char *page, const char *cluster)
{
	struct alerts *a = xcalloc(1, sizeof(*a));

	a->events = events;
	TAILQ_INIT(&a->firing);
	a->page = xstrdup(page);
	a->cluster = cluster;
	return a;
}

static void
alerts_alert_free(struct alerts *a, struct alert *al)
{
	TAILQ_REMOVE(&a->firing, al, link);
	a->count--;
	free(al->key);
	json_decref(al->told);
	free(al);
}

void
alerts_free(struct alerts *a)
{
	if (a == NULL)
		return;
	while (!TAILQ_EMPTY(&a->firing))
		alerts_alert_free(a, TAILQ_FIRST(&a->firing));
	free(a->page);
	free(a);
}

/* Write a time in the format of Alertmanager, RFC 3339. */
static void
alerts_time_text(uint64_t unix_ns, char ret[32])
{
	time_t at = (time_t)(unix_ns / CLK_NS_PER_S);
	struct tm tm;

	strftime(ret, 32, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&at, &tm));
}

void
alerts_see(struct alerts *a, const struct alert_seen *s, uint64_t now_unix_ns)
{
	char *key = xasprintf("%s\n%s\n%s%s%s", s->name, s->kind, s->subject,
	    a->cluster[0] != '\0' ? "\n" : "", a->cluster);
	char starts[32], print[24], url[600] = "";
	struct alert *al;
	json_t *labels;

	TAILQ_FOREACH (al, &a->firing, link)
		if (strcmp(al->key, key) == 0)
			break;
	if (al == NULL && a->count == ALERTS_MAX) {
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
	alerts_time_text(al->since_unix_ns, starts);
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

static void
alerts_tell(const struct alerts *a, const json_t *o)
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
alerts_end(struct alerts *a, uint64_t now_unix_ns)
{
	struct alert *al, *next;
	char now[32];
	json_t *one;

	alerts_time_text(now_unix_ns, now);
	TAILQ_FOREACH_SAFE (al, &a->firing, link, next) {
		int fires = al->seen;

		al->seen = 0;
		/* The last alert is in the future: the clock was set back. */
		if (fires && al->told_unix_ns != 0 &&
		    now_unix_ns >= al->told_unix_ns &&
		    now_unix_ns < al->told_unix_ns + REPEAT_NS)
			continue;
		al->told_unix_ns = now_unix_ns;
		one = json_deep_copy(al->told);
		json_object_set_new(one, "status",
		    json_string(fires ? "firing" : "resolved"));
		json_object_set_new(one, "endsAt",
		    json_string(fires ? NEVER : now));
		alerts_tell(a, one);
		json_decref(one);
		if (!fires)
			alerts_alert_free(a, al);
	}
}
