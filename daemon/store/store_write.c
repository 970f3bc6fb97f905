/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_write.c - the only thread that writes.
 *
 * Rows are collected: a batch is committed when it has BATCH_ROWS, or when its
 * first row has waited BATCH_WAIT_NS. Runs and settings are orders and states,
 * so they are committed at once. Rows that the database refuses are kept here
 * and written first when it accepts writes again; except records, which the
 * agents keep. A batch with a row that has a callback is synced before the
 * callback.
 */
#include "daemon/store/store_write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clk.h"
#include "common/log.h"
#include "common/member.h"
#include "common/xalloc.h"
#include "daemon/embed.h"
#include "daemon/store/store_db.h"
#include "daemon/store/store_int.h"
#include "daemon/store/store_keep.h"
#include "daemon/store/store_put.h"

#define BATCH_ROWS     1000
#define BATCH_WAIT_NS  (200 * CLK_NS_PER_MS)
#define QUEUE_ROWS_MAX 20000
#define QUEUE_COST_MAX 1000000 /* values of JSON: about 100 MiB */
#define KEPT_ROWS_MAX  4096
#define TICK_NS        CLK_NS_PER_S /* checks of free space, retries */
#define LONGEST_NS     (60 * CLK_NS_PER_S)
#define KEEP_NS        (60 * CLK_NS_PER_S) /* between searches for old rows */

struct store_writer {
	struct store_options options; /* copies of the texts are owned */
	struct store_done *done;
	pthread_t thread;

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t wake;
	struct store_jobs queue;
	size_t queue_rows, queue_cost;
	int urgent; /* the queue has a row that must be committed at once */
	int stopping;
	struct store_health health;
	double longest_s, longest_before_s; /* of this and the previous
					     * minute */
	uint64_t longest_ns;                /* start of this minute */

	/* from here on used only by the thread */
	struct sql *db;
	struct store_put_db *put;
	struct store_jobs kept;
	size_t kept_rows;
	size_t doubt_rows; /* of the first kept rows, may be committed */
	int low;           /* less than free_min_bytes are free */
	int broken;        /* -errno of the last failed commit, else 0 */
	char broken_why[128];
	struct err notice; /* of start-up: a damaged file was moved */
	uint64_t ticked_ns;
	uint64_t keep_ns; /* time of the next search for old rows */
	struct store_clock clock;
	int keep_worked; /* something was deleted since the last vacuum */
	uint64_t term;   /* valid since the start */
	_Atomic uint64_t leads_until_ns; /* 0: no longer active */
};

/* Properties of a kind of row. */
static const struct put_kind {
	int urgent;  /* commit at once */
	int reserve; /* may use the last free_min bytes */
	int kept;    /* the caller does not retry: the row is kept here */
} put_kinds[PUT_MAX] = {
	[PUT_RECORD] = { 0, 0, 0 },
	[PUT_RUN] = { 1, 1, 1 },
	[PUT_COUNTERS] = { 0, 0, 0 },
	[PUT_NODE] = { 0, 0, 0 },
	[PUT_INVENTORY] = { 0, 0, 0 },
	[PUT_EVENT] = { 0, 1, 1 },
	[PUT_SETTING] = { 1, 1, 1 },
	[PUT_VERDICT] = { 0, 1, 1 },
	[PUT_BASELINE] = { 1, 1, 1 },
	[PUT_TOPOLOGY] = { 1, 1, 1 },
	[PUT_JOB] = { 0, 1, 1 },
	[PUT_OCCASION] = { 0, 1, 1 },
	[PUT_SHARES] = { 0, 1, 1 },
	[PUT_IN_BAND] = { 0, 0, 0 },
};

/* Number of values in v; a text counts by its memory. The depth of parsed JSON
 * is limited. */
static size_t
store_write_cost_of(const json_t *v)
{
	size_t cost = 1, i;
	const char *key;
	json_t *inner;

	if (json_is_array(v))
		json_array_foreach (v, i, inner)
			cost += json_is_integer(inner)
			    ? 1
			    : store_write_cost_of(inner);
	else if (json_is_object(v))
		json_object_foreach ((json_t *)(uintptr_t)v, key, inner)
			cost += 1 + store_write_cost_of(inner);
	else if (json_is_string(v))
		cost += json_string_length(v) / 64;
	return cost;
}

int
store_writer_add(struct store_writer *w, struct store_job *job)
{
	int is_row = job->what < PUT_MAX, rc = 0;
	/* Records, which agents send again, leave half of the queue for other
	 * rows. */
	size_t share = is_row && !put_kinds[job->what].kept ? 2 : 1;

	if (job->cost == 0)
		job->cost = store_write_cost_of(job->object) +
		    store_write_cost_of(job->event);
	pthread_mutex_lock(&w->lock);
	if (w->queue_rows >= 2 * QUEUE_ROWS_MAX / share ||
	    w->queue_cost + job->cost > 2 * QUEUE_COST_MAX / share) {
		rc = -EAGAIN;
		w->health.dropped_rows += job->cb == NULL;
	} else {
		TAILQ_INSERT_TAIL(&w->queue, job, link);
		w->queue_rows++;
		w->queue_cost += job->cost;
		w->urgent |= !is_row || put_kinds[job->what].urgent;
		if (w->queue_rows == 1 || w->queue_rows == BATCH_ROWS ||
		    w->urgent)
			pthread_cond_signal(&w->wake);
	}
	pthread_mutex_unlock(&w->lock);
	return rc;
}

int
store_writer_is_behind(struct store_writer *w, int was)
{
	size_t share = was ? 4 : 2;
	int behind;

	pthread_mutex_lock(&w->lock);
	behind = w->queue_cost > QUEUE_COST_MAX / share ||
	    w->queue_rows > QUEUE_ROWS_MAX / share;
	pthread_mutex_unlock(&w->lock);
	return behind;
}

static void
store_write_wait_until(struct store_writer *w, uint64_t until_ns)
{
	struct timespec ts = { .tv_sec = (time_t)(until_ns / CLK_NS_PER_S),
		.tv_nsec = (long)(until_ns % CLK_NS_PER_S) };

	pthread_cond_timedwait(&w->wake, &w->lock, &ts);
}

/* Return 0 if the thread must end. An empty batch leaves time for other
 * work. */
static int
store_write_next_batch(struct store_writer *w, int more_to_do,
    struct store_jobs *batch)
{
	uint64_t now_ns = clk_ns();
	uint64_t idle_until_ns = now_ns + (more_to_do ? 0 : TICK_NS);
	struct store_job *job;
	int going, rows = 0;

	pthread_mutex_lock(&w->lock);
	while (w->queue_rows == 0 && !w->stopping && now_ns < idle_until_ns) {
		store_write_wait_until(w, idle_until_ns);
		now_ns = clk_ns();
	}
	idle_until_ns = now_ns + BATCH_WAIT_NS;
	while (w->queue_rows > 0 && w->queue_rows < BATCH_ROWS && !w->urgent &&
	    !w->stopping && now_ns < idle_until_ns) {
		store_write_wait_until(w, idle_until_ns);
		now_ns = clk_ns();
	}
	while (rows++ < BATCH_ROWS && (job = TAILQ_FIRST(&w->queue)) != NULL) {
		TAILQ_REMOVE(&w->queue, job, link);
		TAILQ_INSERT_TAIL(batch, job, link);
		w->queue_rows--;
		w->queue_cost -= job->cost;
	}
	if (TAILQ_EMPTY(&w->queue))
		w->urgent = 0;
	going = !w->stopping || !TAILQ_EMPTY(batch);
	pthread_mutex_unlock(&w->lock);
	return going;
}

/* Publish the state, and log a change of the alarm. */
static void
store_write_update_health(struct store_writer *w)
{
	char text[sizeof(w->health.alarm)];
	struct sql_space space = { 0 };
	int news;

	w->db->engine->space(w->db, &space);
	if (w->broken != 0)
		snprintf(text, sizeof(text), "the store cannot be written: %s",
		    w->broken_why);
	else if (w->low)
		snprintf(text, sizeof(text),
		    "less than %llu MiB are free in %s: records stay on the "
		    "agents until space is free",
		    (unsigned long long)(w->options.free_min_bytes >> 20),
		    w->options.dir);
	else if (w->clock.is_ahead)
		snprintf(text, sizeof(text),
		    "the clock is over a day ahead of the newest stored time: "
		    "no old rows are deleted until the clock is corrected or "
		    "has been ahead for a week");
	else
		snprintf(text, sizeof(text), "%.255s", w->notice.text);
	pthread_mutex_lock(&w->lock);
	news = strcmp(text, w->health.alarm) != 0;
	memcpy(w->health.alarm, text, sizeof(text));
	w->health.writable = w->broken == 0 && !w->low;
	w->health.db_bytes = space.db_bytes;
	w->health.wal_bytes = space.log_bytes;
	w->health.free_bytes = space.free_bytes;
	pthread_mutex_unlock(&w->lock);
	if (news && text[0] != '\0')
		log_warnx("store: alarm: %s", text);
	else if (news)
		log_info("store: the alarm has ended");
}

/* Hysteresis of an eighth, so that the alarm does not flap at the limit. */
static void
store_write_look_at_space(struct store_writer *w)
{
	uint64_t min_bytes = w->options.free_min_bytes;
	struct sql_space space;

	w->db->engine->space(w->db, &space);
	if (w->low)
		min_bytes += min_bytes / 8;
	w->low = space.free_bytes < min_bytes;
}

/* Update the lease from the result of a request sent at asked_ns. 0: this
 * collector is active; -EPERM: another collector is; any other error: another
 * collector may be, after the lease. */
static int
store_write_lead_note(struct store_writer *w, uint64_t asked_ns, int rc)
{
	if (rc == -EPERM)
		w->leads_until_ns = 0;
	else if (rc >= 0 && w->options.lease_ns > 0)
		w->leads_until_ns = asked_ns + w->options.lease_ns;
	return rc;
}

/* A database that refuses rows may still answer this request. */
static int
store_write_look_who_leads(struct store_writer *w)
{
	uint64_t asked_ns = clk_ns();

	if (w->db->engine->lead == NULL)
		return 0;
	return store_write_lead_note(w, asked_ns,
	    w->db->engine->lead(w->db, &w->term));
}

uint64_t
store_writer_leads_until(struct store_writer *w, uint64_t *ret_term)
{
	*ret_term = w->term;
	return w->leads_until_ns;
}

/* Sets only rows with an invalid object to unfit. Errors of the database are in
 * the outcomes, after the flush. */
static int
store_write_put_all(struct store_writer *w, struct store_jobs *jobs)
{
	struct store_job *job;
	int rc = store_put_runs(w->put, jobs);

	TAILQ_FOREACH (job, jobs, link) {
		if (rc < 0)
			return rc;
		if (job->unfit)
			continue;
		rc = store_put_job(w->put, job);
		if (rc == -EPROTO) {
			job->unfit = 1;
			rc = 0;
		}
	}
	return rc;
}

/* Mark the row that the database has rejected: 1 if there is one, and the other
 * rows can be sent again. */
static int
store_write_sort_out(struct store_jobs *jobs)
{
	struct store_job *job;
	int found = 0;

	TAILQ_FOREACH (job, jobs, link) {
		if (!job->unfit &&
		    (job->outcome.status == -EPROTO ||
			job->event_outcome.status == -EPROTO))
			found = job->unfit = 1;
		job->outcome = job->event_outcome = (struct sql_outcome){ 0 };
	}
	return found;
}

/* Write the kept rows and the batch in one transaction. */
static int
store_write_commit_once(struct store_writer *w, struct store_jobs *batch,
    int synced)
{
	int rc = w->db->engine->begin(w->db, synced);

	store_put_forget(w->put);
	if (rc == 0)
		rc = store_write_put_all(w, &w->kept);
	if (rc == 0)
		rc = store_write_put_all(w, batch);
	if (rc == 0)
		rc = w->db->engine->flush(w->db);
	if (rc == 0)
		rc = store_put_count(w->put, &w->kept);
	if (rc == 0)
		rc = store_put_count(w->put, batch);
	if (rc == 0)
		rc = w->db->engine->commit(w->db);
	return rc;
}

static uint64_t
store_write_rows_stored(struct store_jobs *jobs)
{
	struct store_job *job;
	uint64_t rows = 0;

	TAILQ_FOREACH (job, jobs, link) {
		rows += !job->unfit;
		if (!job->unfit)
			continue;
		job->status = -EPROTO;
		log_warnx("store: a row of kind %d is dropped: it is "
			  "malformed, or the database rejects it",
		    job->what);
	}
	return rows;
}

static int
store_write_commit(struct store_writer *w, struct store_jobs *batch, int synced,
    uint64_t *ret_rows)
{
	const struct store_job *job;
	int rc;

	/* A callback has consequences: an agent deletes acknowledged records.
	 * One sync covers all rows of a batch. */
	TAILQ_FOREACH (job, batch, link)
		synced |= put_kinds[job->what].urgent || job->cb != NULL;
	while ((rc = store_write_commit_once(w, batch, synced)) < 0) {
		snprintf(w->broken_why, sizeof(w->broken_why), "%s",
		    sql_error(w->db));
		w->db->engine->rollback(w->db);
		if (store_write_sort_out(&w->kept) +
			store_write_sort_out(batch) ==
		    0)
			return rc;
	}
	*ret_rows = store_write_rows_stored(&w->kept) +
	    store_write_rows_stored(batch);
	return 0;
}

static void
store_write_drop_jobs(struct store_jobs *jobs)
{
	struct store_job *job;

	while ((job = TAILQ_FIRST(jobs)) != NULL) {
		TAILQ_REMOVE(jobs, job, link);
		store_job_free(job);
	}
}

/* Keep rows that must survive, as copies without a callback: the caller gets
 * the error. */
static void
store_write_fail_rows(struct store_writer *w, struct store_jobs *jobs)
{
	struct store_job *job, *copy;

	TAILQ_FOREACH (job, jobs, link) {
		const struct put_kind *kind = &put_kinds[job->what];

		job->status = w->broken == -ENOSPC ? -ENOSPC : -EIO;
		/* Half of the space is reserved for orders and states. */
		if (!kind->kept ||
		    w->kept_rows >= KEPT_ROWS_MAX / (kind->urgent ? 1 : 2))
			continue;
		copy = store_job_new(job->what, json_incref(job->object), NULL,
		    NULL);
		copy->event = json_incref(job->event);
		copy->at_unix_ns = job->at_unix_ns;
		TAILQ_INSERT_TAIL(&w->kept, copy, link);
		w->kept_rows++;
	}
}

/* The longest commit is kept for its minute and the next, so that each of
 * several clients sees it. Call with the lock held. */
static void
store_write_longest_turn(struct store_writer *w)
{
	uint64_t now_ns = clk_ns(), age_ns = now_ns - w->longest_ns;

	if (age_ns < LONGEST_NS)
		return;
	w->longest_before_s = age_ns < 2 * LONGEST_NS ? w->longest_s : 0;
	w->longest_s = 0;
	w->longest_ns = now_ns;
}

/* All rows are written. */
static void
store_write_committed(struct store_writer *w, uint64_t rows, double seconds)
{
	store_write_drop_jobs(&w->kept);
	w->kept_rows = 0;
	pthread_mutex_lock(&w->lock);
	w->health.rows_total += rows;
	store_write_longest_turn(w);
	if (seconds > w->longest_s)
		w->longest_s = seconds;
	pthread_mutex_unlock(&w->lock);
}

static void
store_write_batch(struct store_writer *w, struct store_jobs *batch)
{
	struct store_jobs refused = TAILQ_HEAD_INITIALIZER(refused);
	struct store_jobs asked = TAILQ_HEAD_INITIALIZER(asked);
	uint64_t began_ns = clk_ns(), rows = 0;
	struct store_job *job, *next;
	int synced = w->kept_rows > 0;

	/* While space is low, only rows that may use the reserve are
	 * written. */
	TAILQ_FOREACH_SAFE (job, batch, link, next) {
		int is_row = job->what < PUT_MAX;

		if (is_row && (!w->low || put_kinds[job->what].reserve))
			continue;
		synced |= job->what == ASK_STORED;
		TAILQ_REMOVE(batch, job, link);
		job->status = is_row ? -ENOSPC : 0;
		TAILQ_INSERT_TAIL(is_row ? &refused : &asked, job, link);
	}
	store_done_post(w->done, &refused);
	/* A broken disk is retried by the tick, not by every batch. */
	if (TAILQ_EMPTY(batch) && (w->kept_rows == 0 || w->broken != 0)) {
		; /* nothing to write */
	} else if (w->broken != 0) {
		store_write_fail_rows(w, batch);
	} else if ((w->broken = store_write_lead_note(w, began_ns,
			store_write_commit(w, batch, synced, &rows))) == 0) {
		store_write_committed(w, rows,
		    (double)(clk_ns() - began_ns) / 1e9);
	} else {
		store_write_fail_rows(w, batch);
		w->doubt_rows = w->kept_rows;
		pthread_mutex_lock(&w->lock);
		w->health.errors_total++;
		pthread_mutex_unlock(&w->lock);
		store_write_update_health(w);
	}
	store_done_post(w->done, batch);
	if (w->broken != 0)
		TAILQ_FOREACH (job, &asked, link)
			job->status = -EIO;
	store_done_post(w->done, &asked);
}

/* Test whether the database accepts writes again, with the kept rows or with a
 * row of the writer. */
static void
store_write_try_again(struct store_writer *w)
{
	struct store_jobs none = TAILQ_HEAD_INITIALIZER(none);
	uint64_t rows = 0;
	char now[24];

	w->broken = w->db->engine->ready(w->db);
	if (w->broken >= 0)
		(void)store_write_look_who_leads(w);
	if (w->broken < 0) {
		(void)store_write_lead_note(w, 0, w->broken);
		snprintf(w->broken_why, sizeof(w->broken_why), "%s",
		    sql_error(w->db));
		return;
	}
	for (; w->broken > 0 && w->doubt_rows > 0; w->doubt_rows--) {
		struct store_job *done = TAILQ_FIRST(&w->kept);

		TAILQ_REMOVE(&w->kept, done, link);
		store_job_free(done);
		w->kept_rows--;
	}
	w->doubt_rows = 0;
	if (w->kept_rows == 0) {
		struct store_job *row;

		/* A row that does not change would not be written. */
		snprintf(now, sizeof(now), "%llu",
		    (unsigned long long)clk_unix_ns());
		row = store_job_new(PUT_SETTING,
		    json_pack("{s:s,s:s}", "key", "store.retry", "value", now),
		    NULL, NULL);
		/* The macro evaluates its argument more than once. */
		TAILQ_INSERT_TAIL(&w->kept, row, link);
		w->kept_rows++;
	}
	w->broken = store_write_commit(w, &none, 1, &rows);
	if (w->broken == 0)
		store_write_committed(w, rows, 0);
}

/* Do a slice of the deletions or of the vacuum. 1: there is more to do. */
static int
store_write_keep_small(struct store_writer *w, uint64_t now_ns)
{
	uint64_t now_unix_ns;
	int rc = 0;

	if (now_ns >= w->keep_ns) {
		now_unix_ns = store_clock_now(w->db, &w->clock);
		if (!w->clock.is_ahead)
			rc = store_keep_slice(w->db, now_unix_ns, &w->options);
		if (rc > 0) {
			w->keep_worked = 1;
			return 1;
		}
		if (rc < 0)
			log_warnx("store: cannot delete old rows: %s: %s; "
				  "retrying in a minute",
			    sql_error(w->db), strerror(-rc));
		w->keep_ns = now_ns + (w->clock.is_ahead ? TICK_NS : KEEP_NS);
	}
	if (w->db->engine->tidy(w->db, w->keep_worked) > 0)
		return 1;
	w->keep_worked = 0;
	return 0;
}

static void *
store_write_writer_main(void *arg)
{
	struct store_writer *w = arg;
	struct store_jobs batch = TAILQ_HEAD_INITIALIZER(batch);
	int more = 0, behind;

	while (store_write_next_batch(w, more, &batch)) {
		uint64_t now_ns;

		store_write_batch(w, &batch);
		now_ns = clk_ns();
		if (now_ns - w->ticked_ns >= TICK_NS) {
			w->ticked_ns = now_ns;
			store_write_look_at_space(w);
			if (w->broken == 0)
				(void)store_write_look_who_leads(w);
			else
				store_write_try_again(w);
			store_write_update_health(w);
		}
		/* Housekeeping waits while the queue has a full batch. */
		pthread_mutex_lock(&w->lock);
		behind = w->queue_rows >= BATCH_ROWS;
		pthread_mutex_unlock(&w->lock);
		more = !behind && w->broken == 0 &&
		    store_write_keep_small(w, now_ns);
	}
	if (w->kept_rows > 0)
		store_write_try_again(w);
	return NULL;
}

static void
store_write_writer_free(struct store_writer *w)
{
	store_put_free(w->put);
	sql_close(w->db);
	store_write_drop_jobs(&w->kept);
	pthread_cond_destroy(&w->wake);
	pthread_mutex_destroy(&w->lock);
	free((char *)(uintptr_t)w->options.dir);
	free((char *)(uintptr_t)w->options.url);
	free((char *)(uintptr_t)w->options.schema);
	free((char *)(uintptr_t)w->options.who);
	free((char *)(uintptr_t)w->options.authorities);
	free(w);
}

int
store_writer_start(const struct store_options *o, struct store_done *done,
    struct store_writer **ret)
{
	const struct sql_engine *engine = sql_engine_find(o->url, NULL);
	struct store_writer *w = xcalloc(1, sizeof(*w));
	pthread_condattr_t attr;
	int rc;

	w->options = *o;
	w->options.dir = xstrdup(o->dir);
	w->options.url = o->url != NULL ? xstrdup(o->url) : NULL;
	w->options.schema = o->schema != NULL ? xstrdup(o->schema) : NULL;
	w->options.who = o->who != NULL ? xstrdup(o->who) : NULL;
	w->options.authorities = o->authorities != NULL
	    ? xstrdup(o->authorities)
	    : NULL;
	w->term = 1;
	w->leads_until_ns = UINT64_MAX;
	w->done = done;
	TAILQ_INIT(&w->queue);
	TAILQ_INIT(&w->kept);
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&w->wake, &attr);
	pthread_condattr_destroy(&attr);
	rc = engine->prepare(o, embed_steps, &w->notice);
	if (rc == -EBUSY && o->lease_ns > 0)
		log_info("store: %s; this collector is a standby",
		    w->notice.text);
	else if (rc < 0 && w->notice.text[0] != '\0')
		log_warnx("store: %s", w->notice.text);
	if (rc == 0)
		rc = sql_open(o, SQL_WRITER, &w->db);
	if (rc == 0)
		rc = store_write_look_who_leads(w);
	if (rc == 0)
		rc = store_put_new(w->db, &w->put);
	if (rc == 0) /* before this process writes a row */
		rc = store_clock_read(w->db, &w->clock);
	if (rc == 0) {
		(void)store_clock_now(w->db, &w->clock);
		w->ticked_ns = clk_ns();
		w->keep_ns = w->ticked_ns + TICK_NS;
		store_write_look_at_space(w);
		store_write_update_health(w);
		rc = -pthread_create(&w->thread, NULL, store_write_writer_main,
		    w);
		if (rc < 0)
			log_warnx("store: cannot start the writer thread: %s",
			    strerror(-rc));
	}
	if (rc < 0) {
		store_write_writer_free(w);
		return rc;
	}
	*ret = w;
	return 0;
}

void
store_writer_stop(struct store_writer *w)
{
	pthread_mutex_lock(&w->lock);
	w->stopping = 1;
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	store_write_writer_free(w);
}

void
store_writer_health(struct store_writer *w, struct store_health *ret)
{
	pthread_mutex_lock(&w->lock);
	*ret = w->health;
	ret->queue_rows = w->queue_rows;
	store_write_longest_turn(w);
	ret->write_s_max = w->longest_s > w->longest_before_s
	    ? w->longest_s
	    : w->longest_before_s;
	pthread_mutex_unlock(&w->lock);
}
