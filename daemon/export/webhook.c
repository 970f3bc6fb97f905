/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook.c - one thread, one queue, libcurl. A message is tried TRIES times
 * with growing pauses, then dropped: what still fires is told again later, so
 * nothing is lost for good.
 */
#include "daemon/export/webhook.h"

#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/err.h"
#include "common/log.h"
#include "common/queue.h"
#include "common/xalloc.h"

#define QUEUE_MAX 64
#define TRIES     3
#define PAUSE_S   2 /* before the second try; doubles */
#define TIMEOUT_S 5L

struct post {
	TAILQ_ENTRY(post) link;
	char *text;
};

struct webhook {
	char **urls; /* ended by NULL */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	TAILQ_HEAD(, post) queue;
	size_t waiting;
	int ending;
	int failing; /* the last message was dropped: said once */
};

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

/* 1 when the webhook ends meanwhile. */
static int
pause_s(struct webhook *w, int seconds)
{
	struct timespec until;
	int ending;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += seconds;
	pthread_mutex_lock(&w->lock);
	while (!w->ending &&
	    pthread_cond_timedwait(&w->changed, &w->lock, &until) == 0)
		;
	ending = w->ending;
	pthread_mutex_unlock(&w->lock);
	return ending;
}

static void
deliver(struct webhook *w, const char *url, const char *text)
{
	struct err err = { 0 };
	int pause = PAUSE_S;

	for (int i = 0; i < TRIES; i++, pause *= 2) {
		if (post_once(url, text, &err)) {
			if (w->failing)
				log_info("webhook %s: takes alerts again", url);
			w->failing = 0;
			return;
		}
		if (i + 1 < TRIES && pause_s(w, pause))
			return;
	}
	if (!w->failing)
		log_warnx("webhook %s: %s; %d tries", url, err.text, TRIES);
	w->failing = 1;
}

static void *
run(void *arg)
{
	struct webhook *w = arg;
	struct post *p;

	for (;;) {
		pthread_mutex_lock(&w->lock);
		while (!w->ending && TAILQ_EMPTY(&w->queue))
			pthread_cond_wait(&w->changed, &w->lock);
		if (w->ending) {
			pthread_mutex_unlock(&w->lock);
			return NULL;
		}
		p = TAILQ_FIRST(&w->queue);
		TAILQ_REMOVE(&w->queue, p, link);
		w->waiting--;
		pthread_mutex_unlock(&w->lock);
		for (char **url = w->urls; *url != NULL; url++)
			deliver(w, *url, p->text);
		free(p->text);
		free(p);
	}
}

static int
urls_copy(char *const *urls, char ***ret, struct err *err)
{
	size_t count = 0;

	for (; urls[count] != NULL; count++) {
		if (strncmp(urls[count], "http://", 7) == 0 ||
		    strncmp(urls[count], "https://", 8) == 0)
			continue;
		return err_set(err, -EINVAL,
		    "%s: allowed is http:// or https://", urls[count]);
	}
	*ret = xcalloc(count + 1, sizeof(**ret));
	for (size_t i = 0; i < count; i++)
		(*ret)[i] = xstrdup(urls[i]);
	return 0;
}

int
webhook_open(char *const *urls, struct webhook **ret, struct err *err)
{
	struct webhook *w;
	char **copy;
	int rc = urls_copy(urls, &copy, err);

	if (rc < 0)
		return rc;
	w = xcalloc(1, sizeof(*w));
	w->urls = copy;
	TAILQ_INIT(&w->queue);
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->changed, NULL);
	curl_global_init(CURL_GLOBAL_DEFAULT);
	rc = pthread_create(&w->thread, NULL, run, w);
	if (rc != 0)
		fatalx("webhook: no thread: %s", strerror(rc));
	*ret = w;
	return 0;
}

void
webhook_post(struct webhook *w, json_t *message)
{
	struct post *p = xcalloc(1, sizeof(*p)), *old = NULL;

	p->text = json_dumps(message, JSON_COMPACT);
	json_decref(message);
	pthread_mutex_lock(&w->lock);
	TAILQ_INSERT_TAIL(&w->queue, p, link);
	if (++w->waiting > QUEUE_MAX) {
		old = TAILQ_FIRST(&w->queue);
		TAILQ_REMOVE(&w->queue, old, link);
		w->waiting--;
	}
	pthread_cond_signal(&w->changed);
	pthread_mutex_unlock(&w->lock);
	if (old != NULL) {
		log_warnx("webhook: a message was dropped: %d wait", QUEUE_MAX);
		free(old->text);
		free(old);
	}
}

void
webhook_close(struct webhook *w)
{
	struct post *p;

	if (w == NULL)
		return;
	pthread_mutex_lock(&w->lock);
	w->ending = 1;
	pthread_cond_signal(&w->changed);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	while ((p = TAILQ_FIRST(&w->queue)) != NULL) {
		TAILQ_REMOVE(&w->queue, p, link);
		free(p->text);
		free(p);
	}
	for (char **url = w->urls; *url != NULL; url++)
		free(*url);
	free(w->urls);
	pthread_mutex_destroy(&w->lock);
	pthread_cond_destroy(&w->changed);
	curl_global_cleanup();
	free(w);
}
