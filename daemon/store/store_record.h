/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_record.h - convert bodies and records to columns and back.
 */
#ifndef DAEMON_STORE_STORE_RECORD_H
#define DAEMON_STORE_STORE_RECORD_H

#include <jansson.h>

#include "common/hist.h"
#include "common/str.h"
#include "daemon/store/store_sql.h"

struct record_line;

/* Bind a text, compressed if the engine wants that and it is then shorter.
 * Takes the text, which malloc allocated. NULL binds NULL. */
void store_pack_bind(struct sql_stmt *q, int at, char *text);
/* Return the text of a body, which the caller frees; NULL for an SQL NULL or a
 * damaged body. */
char *store_pack_text(const struct sql_value *v);
/* Return the text of a body in a column, which the caller frees; NULL for an
 * SQL NULL or a damaged body, which is logged. */
char *store_pack_column(struct sql_stmt *q, int column);

/* Return the statement that inserts a record, and the one that updates it,
 * which the caller frees. ?1 is the run's id, ?2 seq and ?3 at_unix_ns. In the
 * update ?1 is the record's id, and ?2 and ?3 do not exist. */
char *store_record_insert(void);
char *store_record_update(const struct sql *db);
/* Bind the other columns of either statement. The body is line's text, or made
 * from the record if line is NULL or has none. scratch avoids an allocation for
 * each record: 11 KiB are too much for a thread's stack. */
void store_record_bind(struct sql_stmt *q, const json_t *record,
    const struct record_line *line, int raw, struct hist *scratch);
/* Append the record object of the columns body, hist and crc. Return 0, or
 * -EBADMSG if the stored record is damaged; nothing is appended then. */
int store_record_text(struct strbuf *to, struct sql_stmt *q, int body, int hist,
    int crc);

#endif
