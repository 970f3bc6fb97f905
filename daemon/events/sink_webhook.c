/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sink_webhook.c - POST over one persistent connection: a CloudEvent in each
 * request, or all alerts in the format of Alertmanager's webhook (version 4).
 * 2xx: accepted; 400, 413 and 422: permanently rejected; others: retry.
 */
#include "daemon/events/sink.h"

#include <curl/curl.h>
#include <errno.h>
#include <jansson.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/member.h"
#include "common/str.h"
#include "common/xalloc.h"

#define TIMEOUT_S 5L

struct webhook {
	CURL *curl;
	struct curl_slist *head;
	const char *page;
};

static size_t
sink_webhook_ignore_cb(char *data, size_t size, size_t count, void *arg)
{
	(void)data;
	(void)arg;
	return size * count;
}

static int
sink_webhook_progress_cb(void *arg, curl_off_t a, curl_off_t b, curl_off_t c,
    curl_off_t d)
{
	const atomic_int *stopping = arg;

	(void)a;
	(void)b;
	(void)c;
	(void)d;
	return *stopping;
}

static void
sink_webhook_curl_begin(void)
{
	curl_global_init(CURL_GLOBAL_DEFAULT);
}

static void
sink_webhook_close(void *sink)
{
	struct webhook *w = sink;

	curl_easy_cleanup(w->curl);
	curl_slist_free_all(w->head);
	free(w);
}

static int
sink_webhook_make(const struct sink_options *o, const char *type, void **ret,
    struct err *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct webhook *w = xcalloc(1, sizeof(*w));
	CURL *c;

	pthread_once(&once, sink_webhook_curl_begin);
	w->page = o->page;
	w->curl = c = curl_easy_init();
	w->head = curl_slist_append(NULL, type);
	if (c == NULL || w->head == NULL ||
	    curl_easy_setopt(c, CURLOPT_URL, o->to) != CURLE_OK) {
		sink_webhook_close(w);
		return err_set(err, -EINVAL, "invalid URL: %.200s", o->to);
	}
	curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(c, CURLOPT_HTTPHEADER, w->head);
	curl_easy_setopt(c, CURLOPT_USERAGENT, "coalmined/" COALMINE_VERSION);
	curl_easy_setopt(c, CURLOPT_TIMEOUT, TIMEOUT_S);
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, sink_webhook_ignore_cb);
	curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, sink_webhook_progress_cb);
	curl_easy_setopt(c, CURLOPT_XFERINFODATA,
	    (void *)(uintptr_t)o->stopping);
	curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
	if (o->ca[0] != '\0')
		curl_easy_setopt(c, CURLOPT_CAINFO, o->ca);
	if (o->cert[0] != '\0') {
		curl_easy_setopt(c, CURLOPT_SSLCERT, o->cert);
		curl_easy_setopt(c, CURLOPT_SSLKEY, o->key);
	}
	*ret = w;
	return 0;
}

static int
sink_webhook_post(struct webhook *w, const char *text, struct err *err)
{
	long status = 0;
	CURLcode rc;

	curl_easy_setopt(w->curl, CURLOPT_POSTFIELDS, text);
	rc = curl_easy_perform(w->curl);
	curl_easy_getinfo(w->curl, CURLINFO_RESPONSE_CODE, &status);
	if (rc != CURLE_OK)
		return err_set(err, -EIO, "%s", curl_easy_strerror(rc));
	if (status / 100 == 2)
		return 0;
	return err_set(err,
	    status == 400 || status == 413 || status == 422 ? -EPROTO : -EIO,
	    "status %ld", status);
}

static int
sink_webhook_open(const struct sink_options *o, void **ret, struct err *err)
{
	return sink_webhook_make(o, "Content-Type: " SINK_CONTENT_TYPE, ret,
	    err);
}

static int
sink_webhook_send(void *sink, const struct sink_event *events, size_t count,
    size_t *ret_taken, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < count; i++) {
		rc = sink_webhook_post(sink, events[i].text, err);
		*ret_taken += rc == 0;
	}
	return rc;
}

const struct sink_ops sink_webhook = { SINK_ABI, sizeof(struct sink_ops),
	"webhook", sink_webhook_open, sink_webhook_send, sink_webhook_close };

static int
sink_webhook_alerts_open(const struct sink_options *o, void **ret,
    struct err *err)
{
	return sink_webhook_make(o, "Content-Type: application/json", ret, err);
}

static int
sink_webhook_alerts_send(void *sink, const struct sink_event *events,
    size_t count, size_t *ret_taken, struct err *err)
{
	struct webhook *w = sink;
	json_t *list = json_array(), *message;
	int any_fires = 0, rc;
	char *text;

	for (size_t i = 0; i < count; i++) {
		json_array_append(list, (json_t *)(uintptr_t)events[i].body);
		any_fires |= strcmp(member_text(events[i].body, "status"),
				 "firing") == 0;
	}
	message = json_pack("{s:s, s:s, s:i, s:s, s:s, s:{}, s:{}, s:{}, s:s, "
			    "s:o}",
	    "version", "4", "groupKey", "{}:{coalmine}", "truncatedAlerts", 0,
	    "status", any_fires ? "firing" : "resolved", "receiver", "coalmine",
	    "groupLabels", "commonLabels", "commonAnnotations", "externalURL",
	    w->page, "alerts", list);
	text = json_dumps(message, JSON_COMPACT);
	rc = sink_webhook_post(w, text, err);
	if (rc == 0)
		*ret_taken = count;
	free(text);
	json_decref(message);
	return rc;
}

const struct sink_ops sink_alerts = { SINK_ABI, sizeof(struct sink_ops),
	"alerts", sink_webhook_alerts_open, sink_webhook_alerts_send,
	sink_webhook_close };
