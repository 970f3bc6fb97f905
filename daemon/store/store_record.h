/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_record.h - bodies and records as columns, in both directions.
 * Threads: the connection's.
 */
#ifndef DAEMON_STORE_STORE_RECORD_H
#define DAEMON_STORE_STORE_RECORD_H

#include <jansson.h>
#include <sqlite3.h>

#include "common/hist.h"
#include "common/str.h"

/* Bind a text that malloc gave, which this takes, as it is or deflated,
 * whatever is shorter. NULL binds NULL. */
void store_pack_bind(sqlite3_stmt *q, int at, char *text);
/* The text again, which the caller frees; NULL where there is none or where
 * it cannot be read, which is logged. */
char *store_pack_column(sqlite3_stmt *q, int column);

/* The statements that put a record in and that write it anew, which the caller
 * frees. ?1 is the run's id, ?2 seq and ?3 at_unix_ns; ?1 of the update is the
 * record's own id, and it has neither of the others. */
char *store_record_insert(void);
char *store_record_update(void);
/* Bind what follows in both. Scratch is for speed: 11 KiB are too much for a
 * thread's stack frames. */
void store_record_bind(sqlite3_stmt *q, const json_t *record, int raw,
    struct hist *scratch);
/* Append the record object of columns body and hist. */
void store_record_text(struct strbuf *to, sqlite3_stmt *q, int body, int hist);

#endif
