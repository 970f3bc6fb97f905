/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_read.c - a thread that processes requests one at a time, each with a
 * time limit: a read transaction without end would prevent the write-ahead log
 * from being emptied.
 */
#include "daemon/store/store_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/log.h"
#include "common/xalloc.h"
#include "daemon/store/store_db.h"

/* Limits of waiting requests; more are refused. The limit for clients is lower:
 * each request may take its full time limit. */
#define QUEUE_MAX   1024
#define OUTSIDE_MAX 64

struct store_reader {
	struct store_done *done;
	pthread_t thread;
	uint64_t limit_ns; /* of one request; 0: no limit */

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t wake;
	struct store_jobs queue;
	size_t queue_rows;
	const void *owner;   /* of the request in progress */
	atomic_int stopping; /* also read without the lock */

	struct store_reading reading; /* from here on used only by the thread */
	uint64_t deadline_ns;
};

int
store_reader_add(struct store_reader *r, struct store_job *job)
{
	int rc = 0;

	pthread_mutex_lock(&r->lock);
	if (r->queue_rows >= (job->owner != NULL ? OUTSIDE_MAX : QUEUE_MAX)) {
		rc = -EAGAIN;
	} else {
		TAILQ_INSERT_TAIL(&r->queue, job, link);
		r->queue_rows++;
		pthread_cond_signal(&r->wake);
	}
	pthread_mutex_unlock(&r->lock);
	return rc;
}

void
store_reader_abandon(struct store_reader *r, const void *owner)
{
	struct store_jobs gone = TAILQ_HEAD_INITIALIZER(gone);
	struct store_job *job, *next;

	pthread_mutex_lock(&r->lock);
	for (job = TAILQ_FIRST(&r->queue); job != NULL; job = next) {
		next = TAILQ_NEXT(job, link);
		if (job->owner != owner)
			continue;
		TAILQ_REMOVE(&r->queue, job, link);
		r->queue_rows--;
		job->status = -ECANCELED;
		TAILQ_INSERT_TAIL(&gone, job, link);
	}
	if (r->owner == owner)
		r->reading.db->engine->interrupt(r->reading.db);
	pthread_mutex_unlock(&r->lock);
	store_done_post(r->done, &gone);
}

static struct store_job *
store_read_next_job(struct store_reader *r)
{
	struct store_job *job = NULL;

	pthread_mutex_lock(&r->lock);
	r->owner = NULL;
	while (!r->stopping && TAILQ_EMPTY(&r->queue))
		pthread_cond_wait(&r->wake, &r->lock);
	if (!r->stopping) {
		job = TAILQ_FIRST(&r->queue);
		TAILQ_REMOVE(&r->queue, job, link);
		r->queue_rows--;
		r->owner = job->owner;
	}
	pthread_mutex_unlock(&r->lock);
	return job;
}

static void *
store_read_reader_main(void *arg)
{
	struct store_reader *r = arg;
	struct store_job *job;

	while ((job = store_read_next_job(r)) != NULL) {
		struct store_jobs one = TAILQ_HEAD_INITIALIZER(one);

		r->deadline_ns = r->limit_ns != 0 ? clk_ns() + r->limit_ns : 0;
		job->status = r->reading.db->engine->ready(r->reading.db);
		if (job->status == 0)
			job->status = store_answer(&r->reading,
			    (enum store_question)job->what, job->object,
			    &job->result);
		TAILQ_INSERT_TAIL(&one, job, link);
		store_done_post(r->done, &one);
	}
	return NULL;
}

static void
store_read_reader_free(struct store_reader *r)
{
	sql_close(r->reading.db);
	pthread_cond_destroy(&r->wake);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

int
store_reader_start(const struct store_options *o, uint64_t limit_ns,
    struct store_done *done, struct store_reader **ret)
{
	struct store_reader *r = xcalloc(1, sizeof(*r));
	int rc;

	r->done = done;
	r->limit_ns = limit_ns;
	r->reading.stopping = &r->stopping;
	TAILQ_INIT(&r->queue);
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->wake, NULL);
	rc = sql_open(o, SQL_READER, &r->reading.db);
	if (rc == 0) {
		r->reading.db->engine->set_deadline(r->reading.db,
		    &r->deadline_ns);
		rc = -pthread_create(&r->thread, NULL, store_read_reader_main,
		    r);
		if (rc < 0)
			log_warnx("store: cannot start a reader thread: %s",
			    strerror(-rc));
	}
	if (rc < 0) {
		store_read_reader_free(r);
		return rc;
	}
	*ret = r;
	return 0;
}

void
store_reader_stop(struct store_reader *r)
{
	struct store_job *job;

	pthread_mutex_lock(&r->lock);
	r->stopping = 1;
	pthread_cond_signal(&r->wake);
	pthread_mutex_unlock(&r->lock);
	/* Interrupt a backup, too: it has only written a temporary file. */
	r->reading.db->engine->interrupt(r->reading.db);
	pthread_join(r->thread, NULL);
	TAILQ_FOREACH (job, &r->queue, link)
		job->status = -ECANCELED;
	store_done_post(r->done, &r->queue);
	store_read_reader_free(r);
}
