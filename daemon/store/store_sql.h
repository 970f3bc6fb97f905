/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_sql.h - the waist below which the kinds of databases differ:
 * connections, statements, values. An engine is a row of calls; above it the
 * store is one code, and its SQL is what all engines take.
 *
 * How SQL is written here: parameters are ?1, ?2; a row that replaces another
 * is INSERT ... ON CONFLICT (key) DO UPDATE; a subquery has a name; a number
 * is CAST AS BIGINT; a parameter that is only asked for NULL is CAST, too.
 * Steps in schema/migrate/ name the types INTEGER (64 bits), REAL, TEXT, BLOB
 * and INTEGER PRIMARY KEY, a number that the database gives. A line that ends
 * in "-- sqlite" is that engine's alone, one that begins with "-- postgresql:"
 * the other's.
 *
 * Errors: -errno, of which these mean something to callers: -EPROTO, the row
 * is not fit and others may be; -ENOSPC; -ETIMEDOUT, interrupted or too long;
 * -ENOTCONN, the database is away; -EBADMSG, it is damaged; -EIO, the rest.
 * sql_error() has the words. Threads: a connection and what belongs to it is
 * one thread's, but for interrupt.
 */
#ifndef DAEMON_STORE_STORE_SQL_H
#define DAEMON_STORE_STORE_SQL_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

struct embed;
struct store_options;

enum sql_type { SQL_NULL, SQL_INT, SQL_REAL, SQL_TEXT, SQL_BLOB };

/* What is bound lives until the statement has run, or is given away. What a
 * column yields lives until the next step or reset; a NUL follows text. */
struct sql_value {
	enum sql_type type;
	int64_t integer;
	double real;
	const void *bytes;
	size_t len_bytes;
	int given; /* malloc made the bytes, the engine frees them */
};

/* Of one statement that yields no rows. It must live until the next flush. */
struct sql_outcome {
	int status;
	int64_t changes; /* rows */
};

struct sql_space {
	uint64_t db_bytes;
	uint64_t
	    log_bytes; /* of the write-ahead log; UINT64_MAX of these two: */
	uint64_t free_bytes; /* not ours to know */
};

enum sql_role { SQL_WRITER, SQL_READER };

/* An engine's own structs begin with these. */
struct sql {
	const struct sql_engine *engine;
	struct ZSTD_CCtx_s *packer; /* of bodies; made when one is packed */
};
struct sql_stmt {
	struct sql *db;
};

#define SQL_ABI   7 /* of what plugins see; a change of it is a new number */
#define SQL_ENTRY "coalmine_store_entry"

struct sql_engine {
	int abi;
	const char *name; /* also of the URL: NAME://... */
	/* A body is compressed by us. 0: the database does so, and people may
	 * read it there. */
	int packs;
	/* A row that shrinks leaves its page as empty as it becomes, until it
	 * is moved to the end. */
	int moves_shrunk;
	/* STORE_CHECK: its rows are "ok", or what is wrong. */
	const char *check;
	/* STORE_LEADER, of a database that several collectors may want: its row
	 * is who writes, since which term, and what changes as long as he
	 * lives, NULL where nobody does. depose: ?1, of this, goes, unless it
	 * has changed. NULL: one file, one collector. */
	const char *leader, *depose;
	/* STORE_CLUSTERS: its row is a statement with the answer's rows, NULL
	 * where there is no cluster. NULL: a database is one cluster's. */
	const char *clusters;

	/* Before any thread opens it: is it ours, sound, and of our version?
	 * Makes or migrates it by the steps. err: why not, or what was done
	 * that somebody should know; else "". */
	int (*prepare)(const struct store_options *o, const struct embed *steps,
	    struct err *err);
	int (*open)(const struct store_options *o, enum sql_role role,
	    struct sql **ret, struct err *err);
	void (*close)(struct sql *db);
	/* Is the database there, again? Statements outlive a connection. 1: and
	 * the last commit, which failed with -ENOTCONN, had been done. */
	int (*ready)(struct sql *db);
	/* Of the writer: does it lead, and in which term? -EPERM: another
	 * collector does. NULL: as leader. */
	int (*lead)(struct sql *db, uint64_t *ret_term);
	const char *(*error)(struct sql *db);
	/* Make what runs, or will run next, end. Threads: any. */
	void (*interrupt)(struct sql *db);
	/* Interrupt whatever runs at this monotonic time; 0: never. */
	void (*set_deadline)(struct sql *db, const uint64_t *deadline_ns);

	/* synced: the commit returns when a power cut loses nothing of it. */
	int (*begin)(struct sql *db, int synced);
	int (*commit)(struct sql *db);
	void (*rollback)(struct sql *db); /* allowed where none has begun */

	/* Statements that yield no rows, without parameters. */
	int (*exec)(struct sql *db, const char *sql);
	int (*prepare_stmt)(struct sql *db, const char *sql,
	    struct sql_stmt **ret);
	void (*finalize)(struct sql_stmt *q); /* NULL is allowed */
	/* A parameter that the statement has not is ignored. */
	void (*bind)(struct sql_stmt *q, int at, const struct sql_value *v);
	/* One that yields no rows; its parameters are NULL again afterwards.
	 * It may still be on its way when this returns 0: the outcome, which
	 * may be NULL, is there after flush, which returns the first failure
	 * since the last one. */
	int (*run)(struct sql_stmt *q, struct sql_outcome *ret);
	int (*flush)(struct sql *db);
	int (*step)(struct sql_stmt *q); /* 1: a row, 0: no more, -errno */
	void (*column)(struct sql_stmt *q, int at, struct sql_value *ret);
	void (*reset)(struct sql_stmt *q); /* and parameters are NULL */

	void (*space)(struct sql *db, struct sql_space *ret);
	/* What the writer does when nothing else is to do. deleted: rows went
	 * since it last returned 0. 1: there is more to do. */
	int (*tidy)(struct sql *db, int deleted);
	/* Runs that are put from now on came then; in a transaction. NULL: it
	 * makes no difference. */
	int (*day)(struct sql *db, uint64_t unix_ns);
	/* Rows were put with ids of their own; NULL: it makes no difference. */
	int (*renumber)(struct sql *db, const char *table);
	/* Runs that came before this go with all that is of them, where many
	 * can go at once. 1: some did. NULL: only row by row. */
	int (*drop_old)(struct sql *db, uint64_t before_unix_ns);
	/* A whole copy at path, made while others write; stopping: give up.
	 * NULL: the database has tools of its own. */
	int (*backup)(struct sql *db, const char *path,
	    const _Atomic int *stopping);
};

extern const struct sql_engine sql_sqlite;

/* The engine of a URL; NULL or "": sqlite. */
const struct sql_engine *sql_engine_find(const char *url, struct err *err);

/* store_sql.c: the same calls, with failures logged, and short ones. */
int sql_open(const struct store_options *o, enum sql_role role,
    struct sql **ret);
void sql_close(struct sql *db); /* NULL is allowed */
int sql_exec(struct sql *db, const char *sql);
int sql_prepare(struct sql *db, const char *sql, struct sql_stmt **ret);
/* First column of the first row; fallback when there is none. */
int64_t sql_int(struct sql *db, const char *sql, int64_t fallback);
void sql_finalize(struct sql_stmt *q);
void sql_bind_int(struct sql_stmt *q, int at, int64_t v);
void sql_bind_text(struct sql_stmt *q, int at, const char *text); /* or NULL */
void sql_bind_given(struct sql_stmt *q, int at, enum sql_type type, void *bytes,
    size_t len_bytes);
int64_t sql_column_int(struct sql_stmt *q, int at);      /* 0 of NULL */
const char *sql_column_text(struct sql_stmt *q, int at); /* or NULL */
struct sql_value sql_column(struct sql_stmt *q, int at);
int sql_step(struct sql_stmt *q);
/* Run it now. -errno, or how many rows it changed. */
int64_t sql_run_now(struct sql_stmt *q);
const char *sql_error(struct sql *db);

#endif
