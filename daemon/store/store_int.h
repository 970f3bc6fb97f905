/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_int.h - declarations shared by the store's own files; no other file
 * includes it.
 *
 * The loop creates jobs, one thread (the writer or a reader) processes them,
 * and the loop gets them back and calls their callback. A job has one owner at
 * a time, so only the queues are locked. No SQL here.
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

/* The kinds of writes. */
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
	/* No row: store_when_stored, processed after all earlier writes. */
	ASK_STORED = PUT_MAX
};

#define STORE_VALUE_BYTES 8 /* approximate JSON text for one value */

/* A write or a request on its way through the threads. */
struct store_job {
	TAILQ_ENTRY(store_job) link;
	int what;       /* enum store_put or enum store_question */
	json_t *object; /* the row to write, or the arguments; owned */
	/* The record's text as it arrived; the caller's. */
	struct record_line line;
	json_t *event; /* to write in the same transaction, or NULL */
	uint64_t at_unix_ns;
	store_cb *cb; /* may be NULL */
	void *arg;
	/* Owner of a request that may be abandoned, or NULL. */
	const void *owner;
	size_t cost; /* size of the waiting object in values; 0: not counted */
	int64_t run_id;             /* id of the run to which the row belongs */
	struct sql_outcome outcome; /* result of writing the row */
	struct sql_outcome event_outcome;
	int unfit;      /* the row is invalid and is skipped */
	int status;     /* after processing */
	json_t *result; /* after processing; may be NULL */
};
TAILQ_HEAD(store_jobs, store_job);

/* Lock the folder against other collectors of this machine until *ret_fd is
 * closed. Creates the folder if it is missing. A root process switches to the
 * user who owns the folder, permanently. -EBUSY; errors have been logged. */
int store_lock(const struct store_options *o, int *ret_fd);

/* Switch permanently from root to the user who owns the folder: that user could
 * replace any file in it by a link at any time. */
int store_become_owner(const char *dir);
/* Create an empty file of the newest schema at path, which must not exist, and
 * open it for writing. *ret_is_made is set to 1 once the file has been created,
 * also if a later step fails. */
int store_file_new(const char *path, struct sql **ret, int *ret_is_made,
    struct err *err);

struct store_job *store_job_new(int what, json_t *object, store_cb *cb,
    void *arg); /* takes object */
void store_job_free(struct store_job *job);

/* Finished jobs of the threads, for the loop. Threads: any. */
struct store_done;
/* Pass finished jobs to the loop; takes them. */
void store_done_post(struct store_done *d, struct store_jobs *jobs);

#endif
