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

#define STORE_RECORD_INSERT                                                    \
	"INSERT OR IGNORE INTO record (run_id, seq, at_unix_ns, raw, probe,"   \
	" test, phase, unit, n, mean, min, p50, p90, p99, p999, max, of,"      \
	" value, lo, hi, hist, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8,"  \
	" ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21,"     \
	" ?22)"
/* ?1 is the record's id here. One that loses its lists moves behind all others:
 * where a row shrinks in place SQLite leaves its page as empty as it becomes,
 * and never joins it with the next. Nothing refers to an id. */
#define STORE_RECORD_UPDATE                                                    \
	"UPDATE record SET id = CASE raw WHEN 0 THEN id ELSE"                  \
	" (SELECT max(id) + 1 FROM record) END, raw = ?4, probe = ?5,"         \
	" test = ?6, phase = ?7, unit = ?8, n = ?9, mean = ?10, min = ?11,"    \
	" p50 = ?12, p90 = ?13, p99 = ?14, p999 = ?15, max = ?16, of = ?17,"   \
	" value = ?18, lo = ?19, hi = ?20, hist = ?21, body = ?22"             \
	" WHERE id = ?1"

/* Bind ?4 and what follows of these statements. Scratch is for speed: 11 KiB
 * are too much for a thread's stack frames. */
void store_record_bind(sqlite3_stmt *q, const json_t *record, int raw,
    struct hist *scratch);
/* Append the record object of columns body and hist. */
void store_record_text(struct strbuf *to, sqlite3_stmt *q, int body, int hist);

#endif
