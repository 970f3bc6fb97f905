/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_postgresql_stmt.h - statements of PostgreSQL, calls of the interface in
 * store_sql.h.
 */
#ifndef DAEMON_STORE_STORE_POSTGRESQL_STMT_H
#define DAEMON_STORE_STORE_POSTGRESQL_STMT_H

#include "daemon/store/store_postgresql.h"

int pg_stmt_prepare(struct sql *db, const char *sql, struct sql_stmt **ret);
void pg_stmt_finalize(struct sql_stmt *q);
void pg_stmt_bind(struct sql_stmt *q, int at, const struct sql_value *v);
int pg_stmt_run(struct sql_stmt *q, struct sql_outcome *ret);
int pg_stmt_step(struct sql_stmt *q);
void pg_stmt_column(struct sql_stmt *q, int at, struct sql_value *ret);
void pg_stmt_reset(struct sql_stmt *q);

#endif
