/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_db.h - what the files that speak SQL share: rows in and out, through
 * the waist of store_sql.h. Threads: the connection's, if nothing else is said.
 *
 * A new table: a step in schema/migrate/; a kind of enum store_put with its row
 * in put_kinds (store_write.c) and its statement in store_put.c; a question
 * with its row in store_ask.c; how it ages in store_keep.c.
 */
#ifndef DAEMON_STORE_STORE_DB_H
#define DAEMON_STORE_STORE_DB_H

#include <jansson.h>
#include <stdatomic.h>
#include <stdint.h>

#include "common/err.h"
#include "common/hist.h"
#include "common/str.h"
#include "daemon/store/store_int.h"
#include "daemon/store/store_sql.h"

/* store_put.c: rows into the tables. */

struct store_put_db; /* the writer's statements */

int store_put_new(struct sql *db, struct store_put_db **ret);
void store_put_free(struct store_put_db *p); /* NULL is allowed */
/* In a transaction, before its jobs are put: the ids of their runs, which are
 * made if need be. */
int store_put_runs(struct store_put_db *p, struct store_jobs *jobs);
/* Its outcome is in the job after a flush. -EPROTO: this job's object is not
 * fit, others may be; anything else ends the transaction. */
int store_put_job(struct store_put_db *p, struct store_job *job);
/* What it knows of runs is good in one transaction. */
void store_put_forget(struct store_put_db *p);
/* Flushed, before the commit: count what is new. */
int store_put_count(struct store_put_db *p, const struct store_jobs *jobs);

/* store_record.c: bodies and records as columns, in both directions. ----
 */

/* Bind a text that malloc gave, which this takes, as it is or compressed where
 * the engine wants that and it is shorter. NULL binds NULL. */
void store_pack_bind(struct sql_stmt *q, int at, char *text);
/* The text again, which the caller frees; NULL where there is none or where
 * it cannot be read, which is logged. */
char *store_pack_column(struct sql_stmt *q, int column);

/* The statements that put a record in and that write it anew, which the caller
 * frees. ?1 is the run's id, ?2 seq and ?3 at_unix_ns; ?1 of the update is the
 * record's own id, and it has neither of the others. */
char *store_record_insert(void);
char *store_record_update(const struct sql *db);
/* Bind what follows in both; the body is line's text, or made of the record
 * where line is NULL or has none. Scratch is for speed: 11 KiB are too much for
 * a thread's stack frames. */
void store_record_bind(struct sql_stmt *q, const json_t *record,
    const struct record_line *line, int raw, struct hist *scratch);
/* Append the record object of columns body and hist. */
void store_record_text(struct strbuf *to, struct sql_stmt *q, int body,
    int hist);

/* store_keep.c: what a store needs to stay small: retention. The writer calls
 * it between batches. */

/* Delete or roll up a slice of what is older than its retention, in one
 * transaction of at most a few hundred rows. 1: there is more; 0: nothing left;
 * -errno. */
int store_keep_slice(struct sql *db, uint64_t now_unix_ns,
    const struct store_options *o);
/* The wall clock as far as it may be believed where rows are deleted by it: a
 * jump forward of over a day is believed once collectors have seen it for a
 * week in all, restarts or not. */
struct store_clock {
	uint64_t unix_ns, at_ns; /* believed, and when by clk_ns */
	int is_ahead;
	uint64_t ahead_ns;      /* for how long it has been ahead so far */
	uint64_t saved_unix_ns; /* in the store */
};
/* What an earlier life believed, or else the newest row. */
void store_clock_read(struct sql *db, struct store_clock *ret);
/* What it is now, at most clk_unix_ns(); kept in the store once an hour. */
uint64_t store_clock_now(struct sql *db, struct store_clock *c);

/* store_roll.c: what is kept of a record when its time in full is over. */

/* Roll up the oldest record that came before this and has not been, in a
 * transaction. 1: done, there may be more; 0: nothing is left; -errno. */
int store_roll_one(struct sql *db, uint64_t before_unix_ns);

/* store_ask.c: the answers to the questions of store.h. */

struct store_reading {
	struct sql *db;
	const atomic_int *stopping; /* a long answer gives up when it is set */
};

/* 0 and a new *ret, or -errno; *ret is then untouched. */
typedef int store_read(struct store_reading *r, const json_t *args,
    json_t **ret);
int store_answer(struct store_reading *r, enum store_question what,
    const json_t *args, json_t **ret);
/* store_ask_data.c */
store_read store_read_records, store_read_acks, store_read_heard;

/* For those files. -EINVAL for a run that is no text, -ENOENT for one that is
 * not here. */
int store_read_run_id(struct sql *db, const json_t *run, int64_t *ret_id);
json_t *store_read_json(struct sql_stmt *q, int column); /* parsed, or null */
/* Integer argument, fallback when it is missing, clamped to lo..hi. */
int64_t store_read_arg(const json_t *args, const char *key, int64_t fallback,
    int64_t lo, int64_t hi);
/* Step q to its end, one() for each row; ends q. 0 or -errno. one: 0 goes on,
 * 1 stops, -errno. */
int store_read_rows(struct sql_stmt *q, int (*one)(struct sql_stmt *, void *),
    void *arg);

#endif
