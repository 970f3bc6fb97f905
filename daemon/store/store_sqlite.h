/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_sqlite.h - declarations shared by the two files that use SQLite: the
 * engine (store_sqlite.c) and its file (store_file.c).
 */
#ifndef DAEMON_STORE_STORE_SQLITE_H
#define DAEMON_STORE_STORE_SQLITE_H

#include <sqlite3.h>

#include "daemon/store/store_sql.h"

#define STORE_APPLICATION_ID 0x434d494e /* "CMIN" */

#define SQLITE_BUSY_MS 5000

/* A connection. */
struct sqlite {
	struct sql sql;
	sqlite3 *db;
	char *path;
	enum sql_role role;
	int synced; /* value of the pragma synchronous */
};

/* Return SQLite's result as -errno. */
int sqlite_errno(int rc);
/* Open a connection to the file. Return 0, or -errno with the reason in err. */
int sqlite_open(const char *path, enum sql_role role, struct sqlite **ret,
    struct err *err);
void sqlite_shut(struct sqlite *s); /* NULL is allowed */
/* Run statements that yield no rows; errors are logged. */
int sqlite_exec(sqlite3 *db, const char *sql);
/* Return the first column of the first row, or fallback without rows. */
int64_t sqlite_int(sqlite3 *db, const char *sql, int64_t fallback);
/* Implement set_deadline of store_sql.h. */
void sqlite_set_deadline(sqlite3 *db, const uint64_t *deadline_ns);

/* store_file.c: implement prepare and backup of store_sql.h. */
int sqlite_prepare(const struct store_options *o, const struct embed *steps,
    struct err *err);
int sqlite_backup(struct sql *db, const char *path,
    const _Atomic int *stopping);

#endif
