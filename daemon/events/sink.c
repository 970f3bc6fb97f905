/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sink.c - one sink and its thread, so that a slow or unreachable address never
 * blocks the loop. Rows become CloudEvents here. After a failure sending is
 * retried without limit from the first event that was not accepted, with a
 * backoff: only events older than keep_ns, and permanently rejected ones, are
 * dropped.
 */
#include "daemon/events/sink_int.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/log.h"
#include "common/member.h"
#include "common/rng.h"
#include "common/str.h"
#include "common/text.h"
#include "common/xalloc.h"

#define PAUSE_NS     CLK_NS_PER_S /* before the second try; doubles */
#define PAUSE_MAX_NS (60 * CLK_NS_PER_S)
#define UNSTORED_MAX 64

struct sink {
	struct sink_start start;
	void *state; /* of ops */
	uint64_t opened_ns, opened_unix_ns;
	pthread_t thread;
	atomic_int stopping;

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t wake;
	json_t *page;     /* rows that wait for the thread, or NULL */
	int sending;      /* the thread has one */
	json_t *unstored; /* rows, the oldest first */
	int64_t position;
	struct events_sink look;
};

/* An outgoing event, with its references. */
struct outgoing {
	struct sink_event event;
	char id[64];
	char *text;
	int64_t row;
	uint64_t at_unix_ns;
};

static void
sink_outgoing_make(struct sink *s, const json_t *row, struct outgoing *ret)
{
	uint64_t at_unix_ns = (uint64_t)member_int(row, "at_unix_ns");
	const char *kind = member_text(row, "kind");
	const char *subject = member_text(row, "subject");
	json_t *data = json_object_get(row, "body"), *o;
	time_t at_s = (time_t)(at_unix_ns / CLK_NS_PER_S);
	char type[64], at[40];
	struct tm tm;
	size_t len;

	ret->row = member_int(row, "id");
	ret->at_unix_ns = at_unix_ns;
	/* A restored store reuses ids, with another time. */
	str_format(ret->id, sizeof(ret->id), "%lld-%llx", (long long)ret->row,
	    (unsigned long long)at_unix_ns);
	str_format(type, sizeof(type), "coalmine.%s", kind);
	len = strftime(at, sizeof(at), "%Y-%m-%dT%H:%M:%S",
	    gmtime_r(&at_s, &tm));
	str_format(at + len, sizeof(at) - len, ".%06lluZ",
	    (unsigned long long)(at_unix_ns % CLK_NS_PER_S / CLK_NS_PER_US));
	data = data == NULL ? json_object() : json_copy(data);
	json_object_set(data, "message", json_object_get(row, "text"));
	o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:o}", "specversion",
	    "1.0", "id", ret->id, "source", s->start.source, "type", type,
	    "time", at, "datacontenttype", "application/json", "data", data);
	if (subject[0] != '\0') /* otherwise none is expected */
		json_object_set_new(o, "subject", text_json(subject));
	ret->text = json_dumps(o, JSON_COMPACT);
	json_decref(o);
	ret->event = (struct sink_event){ ret->id, kind, subject, ret->text,
		strlen(ret->text), json_object_get(row, "body") };
}

/* Return 1 until the deadline. */
static int
sink_pause_for(struct sink *s, uint64_t ns)
{
	uint64_t until_ns = clk_ns() + ns;
	struct timespec until = { (time_t)(until_ns / CLK_NS_PER_S),
		(long)(until_ns % CLK_NS_PER_S) };
	int rc = 0;

	pthread_mutex_lock(&s->lock);
	while (!s->stopping && rc == 0)
		rc = pthread_cond_timedwait(&s->wake, &s->lock, &until);
	pthread_mutex_unlock(&s->lock);
	return !s->stopping;
}

/* Count the result of events from here on; err NULL: accepted. */
static void
sink_note(struct sink *s, const struct outgoing *next, size_t taken,
    const struct err *err)
{
	int was, is = err != NULL;

	pthread_mutex_lock(&s->lock);
	was = s->look.error[0] != '\0';
	s->look.sent += taken;
	s->look.failures += (uint64_t)is;
	if (taken > 0 && next[-1].row > s->position)
		s->position = next[-1].row;
	if (is)
		str_format(s->look.error, sizeof(s->look.error), "%s",
		    err->text);
	else if (taken > 0)
		s->look.error[0] = '\0';
	pthread_mutex_unlock(&s->lock);
	if (is && !was)
		log_warnx("sink %s: %s; retrying", s->start.name, err->text);
	else if (!is && was && taken > 0)
		log_info("sink %s: accepts events again", s->start.name);
}

/* Drop an event without sending it. */
static void
sink_leave_out(struct sink *s, const struct outgoing *one, uint64_t *counter,
    const char *why)
{
	log_warnx("sink %s: cannot send event %s of %s: %s", s->start.name,
	    one->id, one->event.subject, why);
	pthread_mutex_lock(&s->lock);
	(*counter)++;
	if (one->row > s->position)
		s->position = one->row;
	pthread_mutex_unlock(&s->lock);
}

/* The wall clock, without steps forward since the sink was opened: a step does
 * not age the events that wait. */
static uint64_t
sink_now_unix_ns(const struct sink *s)
{
	uint64_t steady_ns = s->opened_unix_ns + clk_ns() - s->opened_ns;
	uint64_t now_ns = clk_unix_ns();

	return now_ns < steady_ns ? now_ns : steady_ns;
}

static void
sink_send_all(struct sink *s, const struct outgoing *list, size_t count)
{
	struct sink_event *events = xcalloc(count, sizeof(*events));
	uint64_t pause_ns = PAUSE_NS;
	size_t i = 0;

	for (size_t k = 0; k < count; k++)
		events[k] = list[k].event;
	while (!s->stopping) {
		struct err err = { 0 };
		size_t taken = 0;
		int rc;

		while (i < count &&
		    list[i].at_unix_ns + s->start.keep_ns < sink_now_unix_ns(s))
			sink_leave_out(s, &list[i++], &s->look.expired,
			    "expired after events.keep");
		if (i == count)
			break;
		pthread_mutex_lock(&s->lock);
		s->look.oldest_unix_ns = list[i].at_unix_ns;
		pthread_mutex_unlock(&s->lock);
		rc = s->start.ops->send(s->state, events + i, count - i, &taken,
		    &err);
		i += taken;
		sink_note(s, list + i, taken,
		    rc == 0 || rc == -EPROTO ? NULL : &err);
		if (rc == -EPROTO && i < count)
			sink_leave_out(s, &list[i++], &s->look.refused,
			    err.text);
		if (taken > 0 || rc == -EPROTO)
			pause_ns = PAUSE_NS;
		if (rc == 0 || rc == -EPROTO)
			continue;
		/* Jitter, so that many collectors do not reconnect to a bus at
		 * the same time. */
		if (!sink_pause_for(s,
			pause_ns / 2 + rng_entropy() % pause_ns / 2))
			break;
		pause_ns = pause_ns * 2 > PAUSE_MAX_NS ? PAUSE_MAX_NS
						       : pause_ns * 2;
	}
	free(events);
}

/* Remove rows that were sent. */
static void
sink_send_rows(struct sink *s, json_t *rows)
{
	size_t count = json_array_size(rows), used = 0, i;
	struct outgoing *list = xcalloc(count + 1, sizeof(*list));
	int64_t last = member_int(json_array_get(rows, count - 1), "id");
	json_t *row;

	json_array_foreach (rows, i, row)
		if (s->start.only == NULL ||
		    strcmp(s->start.only, member_text(row, "kind")) == 0)
			sink_outgoing_make(s, row, &list[used++]);
	sink_send_all(s, list, used);
	for (i = 0; i < used; i++)
		free(list[i].text);
	free(list);
	json_decref(rows);
	pthread_mutex_lock(&s->lock);
	if (!s->stopping && last > s->position)
		s->position = last;
	pthread_mutex_unlock(&s->lock);
}

static void *
sink_main(void *arg)
{
	struct sink *s = arg;
	json_t *rows;

	pthread_mutex_lock(&s->lock);
	while (!s->stopping) {
		if (json_array_size(s->unstored) > 0) {
			rows = s->unstored;
			s->unstored = json_array();
		} else if (s->page != NULL) {
			rows = s->page;
			s->page = NULL;
		} else {
			s->look.oldest_unix_ns = 0;
			s->sending = 0;
			pthread_cond_wait(&s->wake, &s->lock);
			continue;
		}
		s->sending = 1;
		pthread_mutex_unlock(&s->lock);
		sink_send_rows(s, rows);
		pthread_mutex_lock(&s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

int
sink_open(const struct sink_start *start, struct sink **ret, struct err *err)
{
	struct sink *s = xcalloc(1, sizeof(*s));
	pthread_condattr_t attr;
	int rc;

	s->start = *start;
	s->opened_ns = clk_ns();
	s->opened_unix_ns = clk_unix_ns();
	s->start.options.stopping = &s->stopping;
	rc = start->ops->open(&s->start.options, &s->state, err);
	if (rc < 0) {
		free(s);
		return rc;
	}
	str_format(s->look.name, sizeof(s->look.name), "%s", start->name);
	s->unstored = json_array();
	pthread_mutex_init(&s->lock, NULL);
	/* If the wall clock were set back, its waits would become longer. */
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->wake, &attr);
	pthread_condattr_destroy(&attr);
	rc = pthread_create(&s->thread, NULL, sink_main, s);
	if (rc != 0)
		fatalx("sink %s: cannot create a thread: %s", start->name,
		    strerror(rc));
	*ret = s;
	return 0;
}

int
sink_has_room(struct sink *s)
{
	int room;

	pthread_mutex_lock(&s->lock);
	room = s->page == NULL && !s->sending && !s->stopping;
	pthread_mutex_unlock(&s->lock);
	return room;
}

void
sink_give(struct sink *s, json_t *rows)
{
	pthread_mutex_lock(&s->lock);
	json_decref(s->page);
	s->page = rows;
	s->sending = 1;
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
}

void
sink_give_unstored(struct sink *s, json_t *row)
{
	json_object_set_new(row, "id", json_integer(0));
	pthread_mutex_lock(&s->lock);
	if (json_array_size(s->unstored) == UNSTORED_MAX) {
		json_array_remove(s->unstored, 0);
		s->look.expired++;
	}
	json_array_append_new(s->unstored, row);
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
}

int64_t
sink_position(struct sink *s)
{
	int64_t position;

	pthread_mutex_lock(&s->lock);
	position = s->position;
	pthread_mutex_unlock(&s->lock);
	return position;
}

void
sink_position_set(struct sink *s, int64_t id)
{
	pthread_mutex_lock(&s->lock);
	s->position = id;
	pthread_mutex_unlock(&s->lock);
}

void
sink_look(struct sink *s, struct events_sink *ret)
{
	pthread_mutex_lock(&s->lock);
	*ret = s->look;
	pthread_mutex_unlock(&s->lock);
}

int64_t
sink_close(struct sink *s)
{
	int64_t position;

	pthread_mutex_lock(&s->lock);
	s->stopping = 1;
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
	s->start.ops->close(s->state);
	json_decref(s->page);
	json_decref(s->unstored);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->wake);
	position = s->position;
	free(s);
	return position;
}
