/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.c - the side of the event loop: passes jobs to the threads and gets
 * results back through an eventfd. The only file of the store that uses
 * libevent.
 *
 * Three readers: a backup or an integrity check of a large store takes minutes
 * and must not delay clients, and clients must not delay the collector's own
 * requests.
 */
#include "daemon/store/store.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/log.h"
#include "common/str.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "daemon/store/store_db.h"
#include "daemon/store/store_int.h"
#include "daemon/store/store_read.h"
#include "daemon/store/store_write.h"
#include "schema/names_event.h"

#define QUICK_LIMIT_NS (10 * CLK_NS_PER_S)

struct store_done {
	pthread_mutex_t lock;
	struct store_jobs jobs;
	int fd; /* eventfd: readable while jobs wait */
	struct event *event;
};

enum { READER_OWN, READER_OUTSIDE, READER_LONG, READER_MAX };

struct store {
	struct store_done done;
	struct store_writer *writer;
	struct store_reader *readers[READER_MAX];
	int lock_fd;
	int behind; /* last result of store_is_behind */
	int is_standby;
	char leader[128];
	void (*room)(void *arg);
	void *room_arg;
};

struct store_job *
store_job_new(int what, json_t *object, store_cb *cb, void *arg)
{
	struct store_job *job = xcalloc(1, sizeof(*job));

	job->what = what;
	job->object = object;
	job->at_unix_ns = clk_unix_ns();
	job->cb = cb;
	job->arg = arg;
	return job;
}

void
store_job_free(struct store_job *job)
{
	json_decref(job->object);
	json_decref(job->event);
	json_decref(job->result);
	free(job);
}

static void
store_done_wake(struct store_done *d)
{
	uint64_t one = 1;

	if (write(d->fd, &one, sizeof(one)) < 0 && errno != EAGAIN)
		log_warn("store: cannot write to the eventfd of finished jobs");
}

void
store_done_post(struct store_done *d, struct store_jobs *jobs)
{
	if (TAILQ_EMPTY(jobs))
		return;
	pthread_mutex_lock(&d->lock);
	TAILQ_CONCAT(&d->jobs, jobs, link);
	pthread_mutex_unlock(&d->lock);
	store_done_wake(d);
}

/* Call the callbacks. Jobs that they cause are delivered on the next turn. */
static void
store_deliver(struct store_done *d)
{
	struct store_jobs jobs = TAILQ_HEAD_INITIALIZER(jobs);
	struct store_job *job;

	pthread_mutex_lock(&d->lock);
	TAILQ_CONCAT(&jobs, &d->jobs, link);
	pthread_mutex_unlock(&d->lock);
	while ((job = TAILQ_FIRST(&jobs)) != NULL) {
		json_t *result = job->result;

		TAILQ_REMOVE(&jobs, job, link);
		job->result = NULL;
		if (job->cb != NULL)
			job->cb(job->status, result, job->arg);
		else
			json_decref(result);
		store_job_free(job);
	}
}

static void
store_done_cb(evutil_socket_t fd, short what, void *arg)
{
	struct store *st = arg;
	uint64_t count;

	(void)what;
	if (read((int)fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		log_warn("store: cannot read the eventfd of finished jobs");
	store_deliver(&st->done);
	if (st->behind && !store_is_behind(st) && st->room != NULL)
		st->room(st->room_arg);
}

int
store_is_behind(struct store *st)
{
	if (st->writer != NULL)
		st->behind = store_writer_is_behind(st->writer, st->behind);
	return st->behind;
}

void
store_set_room_cb(struct store *st, void (*room)(void *arg), void *arg)
{
	st->room = room;
	st->room_arg = arg;
}

int
store_open(const struct store_options *o, struct event_base *base,
    struct store **ret)
{
	struct store *st = xcalloc(1, sizeof(*st));
	struct store_done *d = &st->done;
	struct err err;
	int rc = 0;

	json_object_seed(0); /* before threads could race to do it */
	st->lock_fd = -1;
	TAILQ_INIT(&d->jobs);
	pthread_mutex_init(&d->lock, NULL);
	d->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (d->fd < 0) {
		rc = -errno;
		log_warn("store: cannot create an eventfd");
	} else {
		d->event = event_new(base, d->fd, EV_READ | EV_PERSIST,
		    store_done_cb, st);
		rc = event_add(d->event, NULL) < 0 ? -EIO : 0;
	}
	if (sql_engine_find(o->url, &err) == NULL) {
		log_warnx("store: %s", err.text);
		rc = -EINVAL;
	}
	if (rc == 0)
		rc = store_lock(o, &st->lock_fd);
	if (rc == 0)
		rc = store_writer_start(o, d, &st->writer);
	st->is_standby = rc == -EBUSY && o->lease_ns > 0;
	if (st->is_standby)
		rc = 0;
	for (int i = 0; rc == 0 && i < READER_MAX; i++)
		rc = store_reader_start(o,
		    i == READER_LONG ? 0 : QUICK_LIMIT_NS, d, &st->readers[i]);
	if (rc < 0) {
		store_close(st);
		return rc;
	}
	*ret = st;
	return 0;
}

void
store_close(struct store *st)
{
	if (st == NULL)
		return;
	for (int i = 0; i < READER_MAX; i++)
		if (st->readers[i] != NULL)
			store_reader_stop(st->readers[i]);
	memset(st->readers, 0, sizeof(st->readers));
	if (st->writer != NULL)
		store_writer_stop(st->writer);
	st->writer = NULL;
	/* A callback may add requests. They are refused, so this loop ends. */
	while (!TAILQ_EMPTY(&st->done.jobs))
		store_deliver(&st->done);
	if (st->done.event != NULL)
		event_free(st->done.event);
	if (st->done.fd >= 0)
		close(st->done.fd);
	pthread_mutex_destroy(&st->done.lock);
	if (st->lock_fd >= 0)
		close(st->lock_fd);
	free(st);
}

void
store_health(struct store *st, struct store_health *ret)
{
	*ret = (struct store_health){ .writable = 1 };
	if (st->writer != NULL)
		store_writer_health(st->writer, ret);
	else
		snprintf(ret->alarm, sizeof(ret->alarm),
		    "this collector is a standby: the active one is %s",
		    store_leader(st));
	ret->leads = store_leads(st);
}

int
store_is_standby(const struct store *st)
{
	return st->is_standby;
}

int
store_leads(const struct store *st)
{
	uint64_t term;

	return st->writer != NULL &&
	    clk_ns() < store_writer_leads_until(st->writer, &term);
}

const char *
store_leader(const struct store *st)
{
	return st->leader[0] != '\0' ? st->leader : "not known yet";
}

void
store_set_leader(struct store *st, const char *who)
{
	snprintf(st->leader, sizeof(st->leader), "%s", who);
}

uint64_t
store_term(const struct store *st)
{
	uint64_t term = 1;

	if (st->writer != NULL)
		(void)store_writer_leads_until(st->writer, &term);
	return term;
}

/* Refusals, too, are delivered on a later turn of the loop. */
static void
store_refuse(struct store *st, struct store_job *job, int status)
{
	job->status = status;
	pthread_mutex_lock(&st->done.lock);
	TAILQ_INSERT_TAIL(&st->done.jobs, job, link);
	pthread_mutex_unlock(&st->done.lock);
	store_done_wake(&st->done);
}

static json_t *
store_event_json(const struct store_event *e)
{
	json_t *o;

	assert(STR_FIND(names_events, e->kind) >= 0);
	o = json_pack("{s:o,s:o,s:o}", "kind", text_json(e->kind), "subject",
	    text_json(e->subject), "text", text_json(e->text));
	if (e->body != NULL)
		json_object_set_new(o, "body", json_deep_copy(e->body));
	return o;
}

static void
store_add(struct store *st, struct store_job *job)
{
	int rc = st->writer != NULL ? store_writer_add(st->writer, job)
				    : -ECANCELED;

	if (rc < 0)
		store_refuse(st, job, rc);
}

static void
store_put_telling(struct store *st, int what, json_t *object,
    const struct store_event *event, store_cb *cb, void *arg)
{
	struct store_job *job = store_job_new(what, object, cb, arg);

	if (event != NULL)
		job->event = store_event_json(event);
	store_add(st, job);
}

static void
store_queue_put(struct store *st, int what, json_t *object, store_cb *cb,
    void *arg)
{
	store_put_telling(st, what, object, NULL, cb, arg);
}

void
store_put_record(struct store *st, const json_t *record,
    const struct record_line *line, store_cb *cb, void *arg)
{
	/* Records do not change, so they are shared with the writer's thread;
	 * without atomic reference counts in jansson that would be a race. */
#if JSON_HAVE_ATOMIC_BUILTINS || JSON_HAVE_SYNC_BUILTINS
	json_t *mine = json_incref((json_t *)(uintptr_t)record);
#else
	json_t *mine = json_deep_copy(record);
#endif
	struct store_job *job = store_job_new(PUT_RECORD, mine, cb, arg);

	if (line != NULL)
		job->line = *line;
	job->cost = job->line.len_bytes / STORE_VALUE_BYTES;
	store_add(st, job);
}

void
store_put_run(struct store *st, const json_t *run,
    const struct store_event *event, store_cb *cb, void *arg)
{
	store_put_telling(st, PUT_RUN, json_deep_copy(run), event, cb, arg);
}

void
store_put_counters(struct store *st, const char *run, const char *node,
    int64_t border, int64_t at_unix_ns, const json_t *nics)
{
	store_queue_put(st, PUT_COUNTERS,
	    json_pack("{s:s,s:s,s:I,s:I,s:o}", "run", run, "node", node,
		"border", (json_int_t)border, "at_unix_ns",
		(json_int_t)at_unix_ns, "nics", json_deep_copy(nics)),
	    NULL, NULL);
}

void
store_put_node(struct store *st, const json_t *node)
{
	store_queue_put(st, PUT_NODE, json_deep_copy(node), NULL, NULL);
}

void
store_put_inventory(struct store *st, const char *node, const json_t *inventory)
{
	store_queue_put(st, PUT_INVENTORY,
	    json_pack("{s:s, s:o}", "node", node, "inventory",
		json_deep_copy(inventory)),
	    NULL, NULL);
}

void
store_drop_node(struct store *st, const char *node)
{
	store_queue_put(st, PUT_NODE, json_pack("{s:s}", "node", node), NULL,
	    NULL);
	store_queue_put(st, PUT_INVENTORY, json_pack("{s:s}", "node", node),
	    NULL, NULL);
}

void
store_put_event(struct store *st, const char *kind, const char *subject,
    const char *text)
{
	store_tell(st, &(struct store_event){ kind, subject, text, NULL }, NULL,
	    NULL);
}

void
store_tell(struct store *st, const struct store_event *event, store_cb *cb,
    void *arg)
{
	store_queue_put(st, PUT_EVENT, store_event_json(event), cb, arg);
}

void
store_put_verdict(struct store *st, const json_t *verdict,
    const struct store_event *event)
{
	store_put_telling(st, PUT_VERDICT, json_deep_copy(verdict), event, NULL,
	    NULL);
}

void
store_put_baseline(struct store *st, const char *name, const json_t *body)
{
	json_t *object = json_pack("{s:s}", "name", name);

	if (body != NULL)
		json_object_set_new(object, "body", json_deep_copy(body));
	store_queue_put(st, PUT_BASELINE, object, NULL, NULL);
}

void
store_put_topology(struct store *st, const char *text)
{
	store_queue_put(st, PUT_TOPOLOGY,
	    json_pack("{s:o}", "text", text_json(text)), NULL, NULL);
}

void
store_put_batch_job(struct store *st, const json_t *job)
{
	store_queue_put(st, PUT_JOB, json_deep_copy(job), NULL, NULL);
}

void
store_put_in_band(struct store *st, const json_t *row)
{
	store_queue_put(st, PUT_IN_BAND, json_deep_copy(row), NULL, NULL);
}

void
store_put_occasion(struct store *st, const json_t *occasion)
{
	store_queue_put(st, PUT_OCCASION, json_deep_copy(occasion), NULL, NULL);
}

void
store_put_shares(struct store *st, const json_t *shares)
{
	store_queue_put(st, PUT_SHARES, json_deep_copy(shares), NULL, NULL);
}

void
store_put_setting(struct store *st, const char *key, const char *value,
    store_cb *cb, void *arg)
{
	json_t *object = json_pack("{s:s}", "key", key);

	if (value != NULL)
		json_object_set_new(object, "value", text_json(value));
	store_queue_put(st, PUT_SETTING, object, cb, arg);
}

void
store_tell_others(struct store *st, const json_t *told)
{
	char *text = json_dumps(told, JSON_COMPACT);

	store_put_setting(st, STORE_TOLD, text, NULL, NULL);
	free(text);
}

void
store_when_stored(struct store *st, store_cb *cb, void *arg)
{
	store_queue_put(st, ASK_STORED, json_null(), cb, arg);
}

void
store_ask_for(struct store *st, enum store_question what, const json_t *args,
    const void *owner, store_cb *cb, void *arg)
{
	struct store_job *job = store_job_new(what,
	    args != NULL ? json_deep_copy(args) : json_object(), cb, arg);
	int reader = what == STORE_BACKUP || what == STORE_CHECK ? READER_LONG
	    : owner != NULL ? READER_OUTSIDE
			    : READER_OWN;
	int rc;

	assert(what < STORE_QUESTION_MAX);
	job->owner = owner;
	rc = st->readers[reader] != NULL
	    ? store_reader_add(st->readers[reader], job)
	    : -ECANCELED;
	if (rc < 0)
		store_refuse(st, job, rc);
}

void
store_ask(struct store *st, enum store_question what, const json_t *args,
    store_cb *cb, void *arg)
{
	store_ask_for(st, what, args, NULL, cb, arg);
}

void
store_abandon(struct store *st, const void *owner)
{
	for (int i = 0; i < READER_MAX; i++)
		if (st->readers[i] != NULL)
			store_reader_abandon(st->readers[i], owner);
}
