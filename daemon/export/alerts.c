/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alerts.c - when an alert is told: at once, again after a while, and when it
 * is over.
 */
#include "daemon/export/alerts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

#include "common/clk.h"
#include "common/queue.h"
#include "common/text.h"
#include "common/xalloc.h"

#define FIRING_MAX 1000 /* more are an outage, and one of them says so */
#define NEVER      "0001-01-01T00:00:00Z"

struct alert {
	TAILQ_ENTRY(alert) link;
	char *key;    /* name, kind, subject */
	json_t *told; /* as in the message, without its end */
	uint64_t since_unix_ns;
	uint64_t told_unix_ns; /* 0: never */
	int seen;              /* in this turn */
};

struct alerts {
	TAILQ_HEAD(, alert) firing;
	size_t count;
	char *page;
	uint64_t repeat_ns;
};

struct alerts *
alerts_new(const char *page, uint64_t repeat_ns)
{
	struct alerts *a = xcalloc(1, sizeof(*a));

	TAILQ_INIT(&a->firing);
	a->page = xstrdup(page);
	a->repeat_ns = repeat_ns;
	return a;
}

static void
alert_free(struct alerts *a, struct alert *al)
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
		alert_free(a, TAILQ_FIRST(&a->firing));
	free(a->page);
	free(a);
}

/* RFC 3339, as Alertmanager writes it. */
static void
time_text(uint64_t unix_ns, char ret[32])
{
	time_t at = (time_t)(unix_ns / CLK_NS_PER_S);
	struct tm tm;

	strftime(ret, 32, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&at, &tm));
}

void
alerts_begin(struct alerts *a)
{
	struct alert *al;

	TAILQ_FOREACH (al, &a->firing, link)
		al->seen = 0;
}

static struct alert *
alert_of(struct alerts *a, const char *key, uint64_t now_unix_ns)
{
	struct alert *al;

	TAILQ_FOREACH (al, &a->firing, link)
		if (strcmp(al->key, key) == 0)
			return al;
	if (a->count == FIRING_MAX)
		return NULL;
	al = xcalloc(1, sizeof(*al));
	al->key = xstrdup(key);
	al->since_unix_ns = now_unix_ns;
	TAILQ_INSERT_TAIL(&a->firing, al, link);
	a->count++;
	return al;
}

static json_t *
told_json(const struct alerts *a, const struct alert_seen *s,
    const struct alert *al)
{
	char starts[32], print[24], url[600] = "";
	json_t *labels = json_pack("{s:s, s:s}", "alertname", s->name,
	    "severity", s->severity);

	if (s->kind[0] != '\0')
		json_object_set_new(labels, s->kind, text_json(s->subject));
	time_text(al->since_unix_ns, starts);
	snprintf(print, sizeof(print), "%016lx",
	    crc32(0, (const Bytef *)al->key, (uInt)strlen(al->key)));
	if (a->page[0] != '\0')
		snprintf(url, sizeof(url), "%s#/%s", a->page, s->place);
	return json_pack("{s:o, s:{s:o, s:o}, s:s, s:o, s:s}", "labels", labels,
	    "annotations", "summary", text_json(s->summary), "description",
	    text_json(s->text), "startsAt", starts, "generatorURL",
	    text_json(url), "fingerprint", print);
}

void
alerts_see(struct alerts *a, const struct alert_seen *s, uint64_t now_unix_ns)
{
	char *key = xasprintf("%s\n%s\n%s", s->name, s->kind, s->subject);
	struct alert *al = alert_of(a, key, now_unix_ns);

	free(key);
	if (al == NULL)
		return;
	al->seen = 1;
	json_decref(al->told);
	al->told = told_json(a, s, al);
}

static void
tell(json_t *list, const struct alert *al, const char *status, const char *ends)
{
	json_t *one = json_deep_copy(al->told);

	json_object_set_new(one, "status", json_string(status));
	json_object_set_new(one, "endsAt", json_string(ends));
	json_array_append_new(list, one);
}

/* What is new, what is over, and what was told long ago. */
static json_t *
changes(struct alerts *a, uint64_t now_unix_ns)
{
	json_t *list = json_array();
	struct alert *al, *next;
	char ends[32];

	time_text(now_unix_ns, ends);
	for (al = TAILQ_FIRST(&a->firing); al != NULL; al = next) {
		next = TAILQ_NEXT(al, link);
		if (!al->seen) {
			tell(list, al, "resolved", ends);
			alert_free(a, al);
		} else if (al->told_unix_ns == 0 ||
		    now_unix_ns - al->told_unix_ns >= a->repeat_ns) {
			tell(list, al, "firing", NEVER);
			al->told_unix_ns = now_unix_ns;
		}
	}
	return list;
}

static int
any_fires(const json_t *list)
{
	const json_t *one;
	size_t i;

	json_array_foreach (list, i, one)
		if (strcmp(json_string_value(json_object_get(one, "status")),
			"firing") == 0)
			return 1;
	return 0;
}

json_t *
alerts_end(struct alerts *a, uint64_t now_unix_ns)
{
	json_t *list = changes(a, now_unix_ns);

	if (json_array_size(list) == 0) {
		json_decref(list);
		return NULL;
	}
	return json_pack("{s:s, s:s, s:i, s:s, s:s, s:{}, s:{}, s:{}, s:s, "
			 "s:o}",
	    "version", "4", "groupKey", "{}:{coalmine}", "truncatedAlerts", 0,
	    "status", any_fires(list) ? "firing" : "resolved", "receiver",
	    "coalmine", "groupLabels", "commonLabels", "commonAnnotations",
	    "externalURL", a->page, "alerts", list);
}
