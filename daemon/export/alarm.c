/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alarm.c - what is worth an alert: outliers, lost agents, what stops the
 * collector from measuring; when it is told: at once, again after a while, and
 * when it is over; and the thread that posts it, so that an address that is
 * slow or away never holds the loop.
 *
 * A message is tried TRIES times with growing pauses, then dropped: what still
 * fires is told again later, so nothing is lost for good.
 */
#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/log.h"
#include "common/member.h"
#include "common/queue.h"
#include "common/str.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "daemon/export/export.h"
#include "daemon/view/view.h"

#define REPEAT_NS  (4 * 3600 * CLK_NS_PER_S) /* as Alertmanager does */
#define LOST_NS    (60 * CLK_NS_PER_S)       /* a reboot is no alert at once */
#define FIRING_MAX 1000 /* more are an outage, and one of them says so */
#define NEVER      "0001-01-01T00:00:00Z"
#define QUEUE_MAX  64
#define TRIES      3
#define PAUSE_S    2 /* before the second try; doubles */
#define TIMEOUT_S  5L

struct alert {
	TAILQ_ENTRY(alert) link;
	char *key;    /* name, kind, subject */
	json_t *told; /* as in the message, without its end */
	uint64_t since_unix_ns;
	uint64_t told_unix_ns; /* 0: never */
	int seen;              /* in this turn */
};

/* A turn is alerts_see for all that is wrong now, then alerts_end. One that is
 * seen for the first time fires; one that is not seen any more is resolved; one
 * that goes on is told again after repeat_ns. */
struct alerts {
	TAILQ_HEAD(, alert) firing;
	size_t count;
	char *page; /* address of the collector's page for links, or "" */
	uint64_t repeat_ns;
};

struct alert_seen {
	const char *name;     /* CoalmineNodeOutlier */
	const char *severity; /* warning or critical */
	const char *kind;     /* of the subject: node, leaf ...; a label */
	const char *subject;
	const char *summary;
	const char *text;  /* may change while it fires */
	const char *place; /* behind the page's #, or "" */
};

struct post {
	TAILQ_ENTRY(post) link;
	char *text;
};

struct alarm {
	struct view *view;
	struct alerts alerts;
	char **urls; /* ended by NULL */
	pthread_t thread;
	int failing; /* its own: the last message was dropped, said once */

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	TAILQ_HEAD(, post) queue;
	size_t waiting;
	int ending;
};

static void
alert_free(struct alerts *a, struct alert *al)
{
	TAILQ_REMOVE(&a->firing, al, link);
	a->count--;
	free(al->key);
	json_decref(al->told);
	free(al);
}

/* RFC 3339, as Alertmanager writes it. */
static void
time_text(uint64_t unix_ns, char ret[32])
{
	time_t at = (time_t)(unix_ns / CLK_NS_PER_S);
	struct tm tm;

	strftime(ret, 32, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&at, &tm));
}

static void
alerts_see(struct alerts *a, const struct alert_seen *s, uint64_t now_unix_ns)
{
	char *key = xasprintf("%s\n%s\n%s", s->name, s->kind, s->subject);
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
	if (s->kind[0] != '\0')
		json_object_set_new(labels, s->kind, text_json(s->subject));
	time_text(al->since_unix_ns, starts);
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

/* What is new, what is over, and what was told long ago, in the words of
 * Alertmanager's webhook (version 4); NULL when there is nothing to tell. The
 * caller decrefs. */
static json_t *
alerts_end(struct alerts *a, uint64_t now_unix_ns)
{
	json_t *list = json_array(), *one;
	struct alert *al, *next;
	int any_fires = 0;
	char now[32];

	time_text(now_unix_ns, now);
	TAILQ_FOREACH_SAFE (al, &a->firing, link, next) {
		int fires = al->seen;

		al->seen = 0;
		/* Told in the future: the clock was set back. */
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
		any_fires |= fires;
		if (!fires)
			alert_free(a, al);
	}
	if (json_array_size(list) == 0) {
		json_decref(list);
		return NULL;
	}
	return json_pack("{s:s, s:s, s:i, s:s, s:s, s:{}, s:{}, s:{}, s:s, "
			 "s:o}",
	    "version", "4", "groupKey", "{}:{coalmine}", "truncatedAlerts", 0,
	    "status", any_fires ? "firing" : "resolved", "receiver", "coalmine",
	    "groupLabels", "commonLabels", "commonAnnotations", "externalURL",
	    a->page, "alerts", list);
}

static size_t
ignore_cb(char *data, size_t size, size_t count, void *arg)
{
	(void)data;
	(void)arg;
	return size * count;
}

/* 1 when the service took it. */
static int
post_once(const char *url, const char *text, struct err *err)
{
	struct curl_slist *head = curl_slist_append(NULL,
	    "Content-Type: application/json");
	CURL *curl = curl_easy_init();
	long status = 0;
	CURLcode rc;

	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_POSTFIELDS, text);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, head);
	curl_easy_setopt(curl, CURLOPT_USERAGENT,
	    "coalmined/" COALMINE_VERSION);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT, TIMEOUT_S);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, ignore_cb);
	rc = curl_easy_perform(curl);
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	if (rc != CURLE_OK)
		err_say(err, "%s", curl_easy_strerror(rc));
	else
		err_say(err, "status %ld", status);
	curl_easy_cleanup(curl);
	curl_slist_free_all(head);
	return rc == CURLE_OK && status / 100 == 2;
}

static void
deliver(struct alarm *a, const char *url, const char *text)
{
	struct err err = { 0 };
	struct timespec until;
	int ending;

	for (int i = 0; i < TRIES; i++) {
		if (post_once(url, text, &err)) {
			if (a->failing)
				log_info("webhook %s: takes alerts again", url);
			a->failing = 0;
			return;
		}
		if (i + 1 == TRIES)
			break;
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_sec += PAUSE_S << i;
		pthread_mutex_lock(&a->lock);
		while (!a->ending &&
		    pthread_cond_timedwait(&a->changed, &a->lock, &until) == 0)
			;
		ending = a->ending;
		pthread_mutex_unlock(&a->lock);
		if (ending)
			return;
	}
	if (!a->failing)
		log_warnx("webhook %s: %s; %d tries", url, err.text, TRIES);
	a->failing = 1;
}

/* The lock is held. */
static char *
queue_take(struct alarm *a)
{
	struct post *p = TAILQ_FIRST(&a->queue);
	char *text = p->text;

	TAILQ_REMOVE(&a->queue, p, link);
	a->waiting--;
	free(p);
	return text;
}

static void *
post_main(void *arg)
{
	struct alarm *a = arg;
	char *text = NULL;
	int ending;

	for (;;) {
		pthread_mutex_lock(&a->lock);
		while (!a->ending && a->waiting == 0)
			pthread_cond_wait(&a->changed, &a->lock);
		ending = a->ending;
		if (!ending)
			text = queue_take(a);
		pthread_mutex_unlock(&a->lock);
		if (ending)
			return NULL;
		for (char **url = a->urls; *url != NULL; url++)
			deliver(a, *url, text);
		free(text);
	}
}

struct alarm *
alarm_open(const char *urls, const char *page, struct view *view)
{
	size_t count = 0;
	char **list = str_list_parse(urls, &count);
	pthread_condattr_t attr;
	struct alarm *a;
	int rc;

	if (count == 0) {
		str_list_free(list);
		return NULL;
	}
	a = xcalloc(1, sizeof(*a));
	a->view = view;
	TAILQ_INIT(&a->alerts.firing);
	a->alerts.page = xstrdup(page);
	a->alerts.repeat_ns = REPEAT_NS;
	a->urls = list;
	TAILQ_INIT(&a->queue);
	pthread_mutex_init(&a->lock, NULL);
	/* A wall clock that is set back would stretch its pauses. */
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&a->changed, &attr);
	pthread_condattr_destroy(&attr);
	curl_global_init(CURL_GLOBAL_DEFAULT);
	rc = pthread_create(&a->thread, NULL, post_main, a);
	if (rc != 0)
		fatalx("webhook: no thread: %s", strerror(rc));
	return a;
}

/* A case that is unknown for a while goes on: no data is no all-clear. */
static void
see_case(struct alarm *a, const json_t *v, uint64_t now_unix_ns)
{
	static const struct {
		const char *kind, *name, *severity;
	} rows[] = { { "leaf", "CoalmineLeafOutlier", "critical" },
		{ "spine", "CoalmineSpineOutlier", "critical" },
		{ "node", "CoalmineNodeOutlier", "warning" } };
	size_t k = 0;
	char summary[200], place[300] = "";
	struct alert_seen seen = { .subject = member_text(v, "subject"),
		.summary = summary,
		.text = member_text(v, "text"),
		.place = place };

	while (k < ARRAY_LEN(rows) - 1 &&
	    strcmp(member_text(v, "kind"), rows[k].kind) != 0)
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
	alerts_see(&a->alerts, &seen, now_unix_ns);
}

static void
see_lost(struct alarm *a, uint64_t now_unix_ns)
{
	const struct view_node *nodes;
	size_t count = view_node_list(a->view, &nodes), lost = 0;
	char text[200];

	/* What lies far ahead was noted before the clock was set back. */
	for (size_t i = 0; i < count; i++)
		lost += nodes[i].state == AGENT_LOST &&
		    (now_unix_ns > nodes[i].since_unix_ns + LOST_NS ||
			nodes[i].since_unix_ns > now_unix_ns + LOST_NS);
	if (lost == 0)
		return;
	snprintf(text, sizeof(text),
	    "%zu of %zu agents are lost: their nodes are not measured", lost,
	    count);
	alerts_see(&a->alerts,
	    &(struct alert_seen){ .name = "CoalmineAgentsMissing",
		.severity = "warning",
		.kind = "",
		.subject = "",
		.summary = "Agents are lost",
		.text = text,
		.place = "" },
	    now_unix_ns);
}

void
alarm_tick(struct alarm *a)
{
	uint64_t now_unix_ns = clk_unix_ns();
	json_t *list, *o, *message;
	struct post *p;
	size_t i;

	if (a == NULL)
		return;
	list = view_verdicts(a->view, 0);
	json_array_foreach (list, i, o)
		if (strcmp(member_text(o, "verdict"), "ok") != 0)
			see_case(a, o, now_unix_ns);
	json_decref(list);
	see_lost(a, now_unix_ns);
	/* What stops the collector from measuring; the words are the subject.
	 */
	list = view_diags(a->view);
	json_array_foreach (list, i, o)
		if (strcmp(member_text(o, "severity"), "bad") == 0)
			alerts_see(&a->alerts,
			    &(struct alert_seen){ .name = "CoalmineDiagnosis",
				.severity = "critical",
				.kind = "diagnosis",
				.subject = member_text(o, "text"),
				.summary = member_text(o, "text"),
				.text = member_text(o, "remedy"),
				.place = "" },
			    now_unix_ns);
	json_decref(list);
	message = alerts_end(&a->alerts, now_unix_ns);
	if (message == NULL)
		return;
	p = xcalloc(1, sizeof(*p));
	p->text = json_dumps(message, JSON_COMPACT);
	json_decref(message);
	pthread_mutex_lock(&a->lock);
	TAILQ_INSERT_TAIL(&a->queue, p, link);
	if (++a->waiting > QUEUE_MAX) {
		free(queue_take(a));
		log_warnx("webhook: a message was dropped: %d wait", QUEUE_MAX);
	}
	pthread_cond_signal(&a->changed);
	pthread_mutex_unlock(&a->lock);
}

void
alarm_close(struct alarm *a)
{
	if (a == NULL)
		return;
	pthread_mutex_lock(&a->lock);
	a->ending = 1;
	pthread_cond_signal(&a->changed);
	pthread_mutex_unlock(&a->lock);
	pthread_join(a->thread, NULL);
	while (a->waiting > 0)
		free(queue_take(a));
	str_list_free(a->urls);
	pthread_mutex_destroy(&a->lock);
	pthread_cond_destroy(&a->changed);
	curl_global_cleanup();
	while (!TAILQ_EMPTY(&a->alerts.firing))
		alert_free(&a->alerts, TAILQ_FIRST(&a->alerts.firing));
	free(a->alerts.page);
	free(a);
}
