/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_read.h - the answers to the questions of store.h, one function each.
 * 0 and a new *ret, or -errno; *ret is then untouched.
 */
#ifndef DAEMON_STORE_STORE_READ_H
#define DAEMON_STORE_STORE_READ_H

#include <jansson.h>
#include <stdatomic.h>

#include "daemon/store/store_db.h"

struct store_reading {
	sqlite3 *db;
	const atomic_int *stopping; /* a long answer gives up when it is set */
};

typedef int store_read(struct store_reading *r, const json_t *args,
    json_t **ret);

/* store_ask_runs.c */
store_read store_read_runs, store_read_run, store_read_live_runs;
/* store_ask_data.c */
store_read store_read_records, store_read_counters, store_read_acks,
    store_read_impacts, store_read_canaries;
/* store_ask_verdicts.c */
store_read store_read_verdicts, store_read_baselines, store_read_heard;
/* store_ask_misc.c */
store_read store_read_events, store_read_nodes, store_read_settings,
    store_read_backup, store_read_check;

/* For those files: a row's value as JSON. */
json_t *store_read_text(sqlite3_stmt *q, int column); /* NULL: json null */
json_t *store_read_json(sqlite3_stmt *q, int column); /* parsed */
json_t *store_read_real(sqlite3_stmt *q, int column);
/* Integer argument, fallback when it is missing, clamped to lo..hi. */
int64_t store_read_arg(const json_t *args, const char *key, int64_t fallback,
    int64_t lo, int64_t hi);
const char *store_read_arg_text(const json_t *args, const char *key);
/* Step q to its end, one() for each row; ends q. 0 or -errno. one: 0 goes on,
 * 1 stops, -errno. */
int store_read_rows(sqlite3_stmt *q, int (*one)(sqlite3_stmt *, void *),
    void *arg);

#endif
