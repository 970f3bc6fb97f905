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
/* store_check.c */
store_read store_read_check;
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
