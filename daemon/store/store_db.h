/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_db.h - declarations shared by the files that use SQL: read and write
 * rows through the interface of store_sql.h. Threads: the connection's thread,
 * unless stated otherwise.
 *
 * A new table: a step in schema/migrate/; a kind of enum store_put with its row
 * in put_kinds (store_write.c) and its statement in store_put.c; a request with
 * its row in store_ask.c; its retention in store_keep.c.
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

/* store_ask.c: the results of the requests of store.h. */

struct store_reading {
	struct sql *db;
	const atomic_int *stopping; /* if set, a long read stops early */
};

/* Return 0 and a new *ret, or -errno; *ret is then unchanged. */
typedef int store_read(struct store_reading *r, const json_t *args,
    json_t **ret);
/* Answer a request with the function of its row. */
int store_answer(struct store_reading *r, enum store_question what,
    const json_t *args, json_t **ret);
/* store_check.c */
store_read store_read_check;
/* store_ask_data.c */
store_read store_read_records, store_read_acks, store_read_heard;

/* Return in *ret_id the id of a run, for the files above. Return 0; -EINVAL if
 * run is not a string; -ENOENT if it is not stored. */
int store_read_run_id(struct sql *db, const json_t *run, int64_t *ret_id);
json_t *store_read_json(struct sql_stmt *q, int column); /* parsed, or null */
/* Return an integer argument, or fallback if it is missing, limited to lo..hi.
 */
int64_t store_read_arg(const json_t *args, const char *key, int64_t fallback,
    int64_t lo, int64_t hi);
/* As sql_step; an error is logged. */
int store_read_row(struct sql_stmt *q);
/* Step q to its end, call one() for each row, and finalize q. 0 or -errno. one:
 * 0 continues, 1 stops, -errno fails. */
int store_read_rows(struct sql_stmt *q, int (*one)(struct sql_stmt *, void *),
    void *arg);

#endif
