/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_sql.h - the interface to the kinds of databases: connections,
 * statements, values. An engine is a row of calls; all code above this
 * interface is common, and its SQL is accepted by all engines.
 *
 * Rules for SQL: parameters are ?1, ?2; a row that replaces another is INSERT
 * ... ON CONFLICT (key) DO UPDATE; a subquery has a name; a number is CAST AS
 * BIGINT; a parameter that is only compared with NULL needs a CAST, too. Steps
 * in schema/migrate/ use the types INTEGER (64 bits), REAL, TEXT, BLOB and
 * INTEGER PRIMARY KEY, which the database assigns. A line that ends in "--
 * sqlite" is for that engine only, a line that begins with "-- postgresql:" for
 * the other.
 *
 * Errors: -errno. These have a meaning for callers: -EPROTO, the row is invalid
 * and others may be valid; -ENOSPC; -ETIMEDOUT, interrupted or timeout;
 * -ENOTCONN, the database is unreachable; -EBADMSG, it is damaged; -EIO, any
 * other. sql_error() returns the text. Threads: a connection and its objects
 * belong to one thread, except for interrupt.
 */
#ifndef DAEMON_STORE_STORE_SQL_H
#define DAEMON_STORE_STORE_SQL_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

struct embed;
struct store_options;

enum sql_type { SQL_NULL, SQL_INT, SQL_REAL, SQL_TEXT, SQL_BLOB };

/* A bound value must stay valid until the statement has run, unless it is given
 * away. A column's value is valid until the next step or reset; a NUL follows
 * text. */
struct sql_value {
	enum sql_type type;
	int64_t integer;
	double real;
	const void *bytes;
	size_t len_bytes;
	int given; /* allocated by malloc, the engine frees the bytes */
};

/* Result of one statement that yields no rows. It must stay valid until the
 * next flush. */
struct sql_outcome {
	int status;
	int64_t changes; /* rows */
};

/* Disk space of a database. */
struct sql_space {
	uint64_t db_bytes;
	/* Size of the write-ahead log; UINT64_MAX: unknown. */
	uint64_t log_bytes;
	uint64_t free_bytes; /* UINT64_MAX: unknown */
};

/* The use of a connection. */
enum sql_role { SQL_WRITER, SQL_READER };

/* An engine's own structs start with these. */
struct sql {
	const struct sql_engine *engine;
	struct ZSTD_CCtx_s *packer; /* for bodies; created at first use */
};
struct sql_stmt {
	struct sql *db;
};

#define SQL_ABI   7 /* for plugins; increment it with every change */
#define SQL_ENTRY "coalmine_store_entry"

/* The calls of an engine. Those that can be NULL say so. */
struct sql_engine {
	int abi;
	const char *name; /* also the scheme of the URL: NAME://... */
	/* 1: Coalmine compresses bodies. 0: the database does, and users can
	 * read the bodies there. */
	int packs;
	/* A row that shrinks leaves free space in its page until it is moved to
	 * the end. */
	int moves_shrunk;
	/* SQL of the store query STORE_CHECK: its rows are "ok", or the errors
	 * found. */
	const char *check;
	/* SQL of the store query STORE_LEADER, for a database that several
	 * collectors may share. Its row: the active collector, its term, its
	 * lease, and a mark that changes while this collector is alive, NULL if
	 * no collector is active. depose: disconnect the collector of mark ?1,
	 * unless the mark has changed. NULL: one file, one collector. */
	const char *leader, *depose;
	/* SQL of the store query STORE_CLUSTERS: its row is a statement that
	 * yields the result rows, NULL if the database has no clusters. NULL:
	 * the database has only one cluster. */
	const char *clusters;

	/* Check, before any thread opens the database, that it belongs to
	 * Coalmine, is intact and has this version. Creates or migrates it by
	 * the steps. err: the error, or a notice for the administrator; else
	 * "". */
	int (*prepare)(const struct store_options *o, const struct embed *steps,
	    struct err *err);
	int (*open)(const struct store_options *o, enum sql_role role,
	    struct sql **ret, struct err *err);
	void (*close)(struct sql *db);
	/* Check that the database can be reached, and reconnect if necessary.
	 * Statements stay valid across connections. 1: connected, and the last
	 * commit, which failed with -ENOTCONN, had succeeded. */
	int (*ready)(struct sql *db);
	/* Check that this collector is active, and return its term; only for
	 * the writer thread. -EPERM: another collector is active. NULL: see
	 * member leader. */
	int (*lead)(struct sql *db, uint64_t *ret_term);
	const char *(*error)(struct sql *db);
	/* Interrupt the running or the next statement. Threads: any. */
	void (*interrupt)(struct sql *db);
	/* Interrupt the running statement at this monotonic time; 0: never. */
	void (*set_deadline)(struct sql *db, const uint64_t *deadline_ns);

	/* synced: the commit returns only when the data would survive a power
	 * failure. */
	int (*begin)(struct sql *db, int synced);
	int (*commit)(struct sql *db);
	void (*rollback)(struct sql *db); /* valid without begin, too */

	/* Run statements that yield no rows, without parameters. */
	int (*exec)(struct sql *db, const char *sql);
	int (*prepare_stmt)(struct sql *db, const char *sql,
	    struct sql_stmt **ret);
	void (*finalize)(struct sql_stmt *q); /* NULL is allowed */
	/* A parameter that the statement does not have is ignored. */
	void (*bind)(struct sql_stmt *q, int at, const struct sql_value *v);
	/* Run a statement that yields no rows; its parameters are NULL again
	 * afterwards. It may not be complete when this returns 0: the outcome,
	 * which may be NULL, is set by flush, which returns the first error
	 * since the last flush. */
	int (*run)(struct sql_stmt *q, struct sql_outcome *ret);
	int (*flush)(struct sql *db);
	int (*step)(struct sql_stmt *q); /* 1: a row, 0: no more rows, -errno */
	void (*column)(struct sql_stmt *q, int at, struct sql_value *ret);
	void (*reset)(struct sql_stmt *q); /* sets the parameters to NULL */

	void (*space)(struct sql *db, struct sql_space *ret);
	/* Clean up while the writer is idle. deleted: 1: rows were deleted
	 * since the call last returned 0. Return 1 if there is more to do. */
	int (*tidy)(struct sql *db, int deleted);
	/* Set the time of the runs that are written from now on; in a
	 * transaction. NULL: not needed. */
	int (*day)(struct sql *db, uint64_t unix_ns);
	/* Call after rows were inserted with explicit ids. NULL: not needed. */
	int (*renumber)(struct sql *db, const char *table);
	/* Delete runs created before this time with all their rows, if many can
	 * be deleted at once. 1: some were deleted. NULL: only row by row. */
	int (*drop_old)(struct sql *db, uint64_t before_unix_ns);
	/* Make a complete copy at path while others write; stopping: stop
	 * early. NULL: use the tools of the database. */
	int (*backup)(struct sql *db, const char *path,
	    const _Atomic int *stopping);
};

extern const struct sql_engine sql_sqlite;

/* Return the engine of a URL; NULL or "": sqlite. */
const struct sql_engine *sql_engine_find(const char *url, struct err *err);

/* store_sql.c: the same calls, with errors logged, and short forms. */
int sql_open(const struct store_options *o, enum sql_role role,
    struct sql **ret);
void sql_close(struct sql *db); /* NULL is allowed */
int sql_exec(struct sql *db, const char *sql);
int sql_prepare(struct sql *db, const char *sql, struct sql_stmt **ret);
/* Get the first column of the first row, 0 without rows. Return 0 or -errno. */
int sql_int(struct sql *db, const char *sql, int64_t *ret);
void sql_finalize(struct sql_stmt *q);
void sql_bind_int(struct sql_stmt *q, int at, int64_t v);
void sql_bind_text(struct sql_stmt *q, int at, const char *text); /* or NULL */
void sql_bind_given(struct sql_stmt *q, int at, enum sql_type type, void *bytes,
    size_t len_bytes);
int64_t sql_column_int(struct sql_stmt *q, int at);      /* 0 for NULL */
const char *sql_column_text(struct sql_stmt *q, int at); /* or NULL */
struct sql_value sql_column(struct sql_stmt *q, int at);
int sql_step(struct sql_stmt *q);
/* Run the statement now. -errno, or the number of rows it changed. */
int64_t sql_run_now(struct sql_stmt *q);
const char *sql_error(struct sql *db);

#endif
