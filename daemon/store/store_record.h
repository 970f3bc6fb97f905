/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_record.h - bodies and records as columns, in both directions.
 */
#ifndef DAEMON_STORE_STORE_RECORD_H
#define DAEMON_STORE_STORE_RECORD_H

#include <jansson.h>

#include "common/hist.h"
#include "common/str.h"
#include "daemon/store/store_sql.h"

struct record_line;

/* Bind a text that malloc gave, which this takes, as it is or compressed where
 * the engine wants that and it is shorter. NULL binds NULL. */
void store_pack_bind(struct sql_stmt *q, int at, char *text);
/* The text of a body, which the caller frees; NULL where there is none or where
 * it cannot be read. */
char *store_pack_text(const struct sql_value *v);
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
/* Append the record object of columns body, hist and crc. -EBADMSG: it is not
 * the record that was put; nothing is appended then. */
int store_record_text(struct strbuf *to, struct sql_stmt *q, int body, int hist,
    int crc);

#endif
