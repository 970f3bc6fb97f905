/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_db.h - one SQLite connection: opening, schema, checks. Every error
 * has been logged and mapped to -errno when a call returns.
 */
#ifndef DAEMON_STORE_STORE_DB_H
#define DAEMON_STORE_STORE_DB_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

#define STORE_APPLICATION_ID 0x434d494e /* "CMIN" */

/* 0 where WAL works: a local file system. -EINVAL for a network one. */
int store_db_check_fs(const char *dir);
/* Ends with close(*ret_fd). -EBUSY when another collector holds it. */
int store_db_lock(const char *dir, int *ret_fd);
/* Bring the file at path into shape before any thread opens it: check it,
 * move a broken one aside (then why says so), create or migrate it. */
int store_db_prepare(const char *path, struct err *err);

enum store_db_role { STORE_DB_WRITER, STORE_DB_READER };
int store_db_open(const char *path, enum store_db_role role, sqlite3 **ret);
void store_db_close(sqlite3 *db); /* NULL is allowed */
/* Run statements that yield no rows. */
int store_db_exec(sqlite3 *db, const char *sql);
/* First column of the first row; fallback when there is none. */
int64_t store_db_int(sqlite3 *db, const char *sql, int64_t fallback);
int store_db_stmt(sqlite3 *db, const char *sql, sqlite3_stmt **ret);
/* SQLite's result as -errno. */
int store_db_errno(int rc);
/* Interrupt whatever runs on db at this monotonic time; 0: never. */
void store_db_deadline(sqlite3 *db, const uint64_t *deadline_ns);

#endif
