/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_int.h - what the store's own files share; nobody else includes it.
 *
 * Jobs travel: the loop makes them, one thread (the writer or a reader) does
 * them, the loop gets them back and calls their callback. A job has one owner
 * at a time, so only the queues are locked. No SQL here.
 */
#ifndef DAEMON_STORE_STORE_INT_H
#define DAEMON_STORE_STORE_INT_H

#include <jansson.h>
#include <pthread.h>
#include <stdint.h>

#include "common/queue.h"
#include "daemon/store/store.h"
#include "daemon/store/store_sql.h"
#include "schema/record.h"

enum store_put {
	PUT_RECORD,
	PUT_RUN,
	PUT_COUNTERS,
	PUT_NODE,
	PUT_INVENTORY,
	PUT_EVENT,
	PUT_SETTING,
	PUT_VERDICT,
	PUT_BASELINE,
	PUT_TOPOLOGY,
	PUT_JOB,
	PUT_OCCASION,
	PUT_SHARES,
	PUT_IN_BAND,
	PUT_MAX,
	/* No row: store_when_stored, in its turn behind all that was put. */
	ASK_STORED = PUT_MAX
};

#define STORE_VALUE_BYTES 8 /* of JSON text for a value, about */

struct store_job {
	TAILQ_ENTRY(store_job) link;
	int what;                /* enum store_put or enum store_question */
	json_t *object;          /* what to put, or the arguments; ours */
	struct record_line line; /* of a record, as it arrived; the caller's */
	json_t *event;           /* to put in the same transaction, or NULL */
	uint64_t at_unix_ns;
	store_cb *cb; /* may be NULL */
	void *arg;
	const void *owner; /* of a question that may be abandoned, or NULL */
	size_t
	    cost; /* of the object while it waits, in values; 0: count them */
	int64_t run_id;             /* of what is put and belongs to a run */
	struct sql_outcome outcome; /* of what is put */
	struct sql_outcome event_outcome;
	int unfit;      /* it is left out */
	int status;     /* of the done job */
	json_t *result; /* likewise; may be NULL */
};
TAILQ_HEAD(store_jobs, store_job);

/* Lock the folder, which is made if it is missing, against other collectors of
 * this machine until *ret_fd is closed; root becomes its owner, for good.
 * -EBUSY; failures have been logged. */
int store_lock(const struct store_options *o, int *ret_fd);

/* Root gives its rights up, for good, in a folder of another user: that user
 * may put a link in place of any file in it, at any time. */
int store_become_owner(const char *dir);
/* Make an empty file of the newest schema at path, where nothing may be, and
 * open it for writing. *ret_is_made is set to 1 once a file of ours is there,
 * also where this fails. */
int store_file_new(const char *path, struct sql **ret, int *ret_is_made,
    struct err *err);

struct store_job *store_job_new(int what, json_t *object, store_cb *cb,
    void *arg); /* takes object */
void store_job_free(struct store_job *job);

/* Where threads leave what they have done, for the loop. Threads: any. */
struct store_done;
void store_done_post(struct store_done *d, struct store_jobs *jobs);

/* The writer thread. */
struct store_writer;
int store_writer_start(const struct store_options *o, struct store_done *done,
    struct store_writer **ret);
/* Takes job. -EAGAIN when the queue is full; the job is then still the
 * caller's. */
int store_writer_add(struct store_writer *w, struct store_job *job);
/* 1 when half of the queue is taken; was: it was 1, which holds until no more
 * than a quarter is. */
int store_writer_is_behind(struct store_writer *w, int was);
/* Commits what is queued, hands it to done and ends the thread. */
void store_writer_stop(struct store_writer *w);
void store_writer_health(struct store_writer *w, struct store_health *ret);
/* Until when by clk_ns nobody else can lead, and in which term. */
uint64_t store_writer_leads_until(struct store_writer *w, uint64_t *ret_term);

/* A reader thread with a connection of its own. */
struct store_reader;
int store_reader_start(const struct store_options *o, uint64_t limit_ns,
    struct store_done *done, struct store_reader **ret);
int store_reader_add(struct store_reader *r, struct store_job *job);
/* The owner's questions that wait are done with -ECANCELED; the one that is
 * being answered is cut short. */
void store_reader_abandon(struct store_reader *r, const void *owner);
/* What is still queued is handed to done with -ECANCELED. */
void store_reader_stop(struct store_reader *r);

#endif
