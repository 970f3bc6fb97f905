/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_sqlite.c - the engine of one file. WAL: readers never wait for the
 * writer. synchronous=NORMAL: a killed process loses nothing, a power failure
 * at most the newest commits; FULL for batches that must be synced.
 */
#include "daemon/store/store_sqlite.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "common/clk.h"
#include "common/log.h"
#include "common/xalloc.h"
#include "daemon/store/store.h"

#define PROGRESS_STEPS 4000 /* about a millisecond of SQLite's VM */
#define WAL_IDLE_BYTES (4 * 1024 * 1024) /* if longer, emptied when idle */

struct sqlite_stmt {
	struct sql_stmt sql;
	sqlite3_stmt *q;
};

int
sqlite_errno(int rc)
{
	switch (rc & 0xff) {
	case SQLITE_OK:
	case SQLITE_ROW:
	case SQLITE_DONE:
		return 0;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_INTERRUPT:
		return -ETIMEDOUT;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return -EBADMSG;
	case SQLITE_READONLY:
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return -EACCES;
	case SQLITE_CANTOPEN:
		return -ENOENT;
	case SQLITE_CONSTRAINT:
		return -EPROTO;
	default:
		return -EIO;
	}
}

int
sqlite_exec(sqlite3 *db, const char *sql)
{
	int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);

	if (rc == SQLITE_OK)
		return 0;
	log_warnx("store: %.60s: %s", sql, sqlite3_errmsg(db));
	return sqlite_errno(rc);
}

int64_t
sqlite_int(sqlite3 *db, const char *sql, int64_t fallback)
{
	sqlite3_stmt *q = NULL;
	int64_t value = fallback;

	if (sqlite3_prepare_v2(db, sql, -1, &q, NULL) == SQLITE_OK &&
	    sqlite3_step(q) == SQLITE_ROW)
		value = sqlite3_column_int64(q, 0);
	sqlite3_finalize(q);
	return value;
}

static int
store_sqlite_progress_cb(void *arg)
{
	const uint64_t *deadline_ns = arg;

	return *deadline_ns != 0 && clk_ns() > *deadline_ns;
}

void
sqlite_set_deadline(sqlite3 *db, const uint64_t *deadline_ns)
{
	sqlite3_progress_handler(db, deadline_ns != NULL ? PROGRESS_STEPS : 0,
	    store_sqlite_progress_cb, (void *)(uintptr_t)deadline_ns);
}

/* secure_delete is on in Debian's build and would rewrite every page that a
 * retention delete empties. */
static const char *const role_pragmas[] = {
	[SQL_WRITER] = "PRAGMA auto_vacuum=INCREMENTAL;"
		       "PRAGMA journal_mode=WAL;"
		       "PRAGMA synchronous=NORMAL;"
		       "PRAGMA foreign_keys=ON;"
		       "PRAGMA secure_delete=OFF;"
		       "PRAGMA trusted_schema=OFF;"
		       "PRAGMA temp_store=MEMORY;"
		       "PRAGMA cache_size=-8000;"
		       "PRAGMA journal_size_limit=16777216;",
	[SQL_READER] = "PRAGMA query_only=ON;"
		       "PRAGMA trusted_schema=OFF;"
		       "PRAGMA temp_store=MEMORY;"
		       "PRAGMA cache_size=-4000;",
};

int
sqlite_open(const char *path, enum sql_role role, struct sqlite **ret,
    struct err *err)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
	struct sqlite *s;
	sqlite3 *db = NULL;
	int rc;

	if (role == SQL_WRITER)
		flags |= SQLITE_OPEN_CREATE;
	rc = sqlite3_open_v2(path, &db, flags, NULL);
	/* SQLite does this after any error of open(2). */
	if (rc == SQLITE_OK && role == SQL_WRITER &&
	    sqlite3_db_readonly(db, "main") == 1) {
		sqlite3_close(db);
		return err_set(err, -EACCES,
		    "%.300s: cannot open the file for writing, only for "
		    "reading",
		    path);
	}
	if (rc == SQLITE_OK) {
		sqlite3_extended_result_codes(db, 1);
		sqlite3_busy_timeout(db, SQLITE_BUSY_MS);
		rc = sqlite3_exec(db, role_pragmas[role], NULL, NULL, NULL);
	}
	if (rc != SQLITE_OK) {
		err_say(err, "%.300s: %s", path,
		    db != NULL ? sqlite3_errmsg(db) : "out of memory");
		sqlite3_close(db);
		return sqlite_errno(rc);
	}
	s = xcalloc(1, sizeof(*s));
	s->sql.engine = &sql_sqlite;
	s->db = db;
	s->path = xstrdup(path);
	s->role = role;
	*ret = s;
	return 0;
}

void
sqlite_shut(struct sqlite *s)
{
	sqlite3_stmt *q;

	if (s == NULL)
		return;
	for (q = sqlite3_next_stmt(s->db, NULL); q != NULL;
	     q = sqlite3_next_stmt(s->db, NULL))
		sqlite3_finalize(q);
	sqlite3_close(s->db);
	free(s->path);
	free(s);
}

static sqlite3 *
store_sqlite_db_of(struct sql *db)
{
	return ((struct sqlite *)db)->db;
}

static sqlite3_stmt *
store_sqlite_stmt_of(struct sql_stmt *q)
{
	return ((struct sqlite_stmt *)q)->q;
}

static int
store_sqlite_engine_open(const struct store_options *o, enum sql_role role,
    struct sql **ret, struct err *err)
{
	char *path = xasprintf("%s/coalmine.db", o->dir);
	struct sqlite *s;
	int rc = sqlite_open(path, role, &s, err);

	free(path);
	if (rc == 0)
		*ret = &s->sql;
	return rc;
}

static void
store_sqlite_engine_close(struct sql *db)
{
	sqlite_shut((struct sqlite *)db);
}

/* Empty the log, unless a reader uses it. */
static void
store_sqlite_log_empty(struct sqlite *s)
{
	int rc;

	/* A busy reader is not an error: the next call tries again. */
	sqlite3_busy_timeout(s->db, 50);
	rc = sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_TRUNCATE,
	    NULL, NULL);
	sqlite3_busy_timeout(s->db, SQLITE_BUSY_MS);
	if (rc != SQLITE_OK && rc != SQLITE_BUSY)
		log_debug("store: checkpoint: %s", sqlite3_errmsg(s->db));
}

/* A file is always reachable, but its disk may be full: an empty log frees
 * space. */
static int
store_sqlite_engine_ready(struct sql *db)
{
	struct sqlite *s = (struct sqlite *)db;

	if (s->role == SQL_WRITER)
		store_sqlite_log_empty(s);
	return 0;
}

static const char *
store_sqlite_engine_error(struct sql *db)
{
	return sqlite3_errmsg(store_sqlite_db_of(db));
}

static void
store_sqlite_engine_interrupt(struct sql *db)
{
	sqlite3_interrupt(store_sqlite_db_of(db));
}

static void
store_sqlite_engine_set_deadline(struct sql *db, const uint64_t *deadline_ns)
{
	sqlite_set_deadline(store_sqlite_db_of(db), deadline_ns);
}

/* Does not log errors: the writer does. */
static int
store_sqlite_quietly(sqlite3 *db, const char *sql)
{
	return sqlite_errno(sqlite3_exec(db, sql, NULL, NULL, NULL));
}

static int
store_sqlite_engine_begin(struct sql *db, int synced)
{
	struct sqlite *s = (struct sqlite *)db;
	int rc = 0;

	if (s->synced != synced)
		rc = store_sqlite_quietly(s->db,
		    synced ? "PRAGMA synchronous=FULL"
			   : "PRAGMA synchronous=NORMAL");
	if (rc < 0)
		return rc;
	s->synced = synced;
	return store_sqlite_quietly(s->db, "BEGIN IMMEDIATE");
}

static int
store_sqlite_engine_commit(struct sql *db)
{
	return store_sqlite_quietly(store_sqlite_db_of(db), "COMMIT");
}

static void
store_sqlite_engine_rollback(struct sql *db)
{
	if (!sqlite3_get_autocommit(store_sqlite_db_of(db)))
		(void)store_sqlite_quietly(store_sqlite_db_of(db), "ROLLBACK");
}

static int
store_sqlite_engine_exec(struct sql *db, const char *sql)
{
	return store_sqlite_quietly(store_sqlite_db_of(db), sql);
}

static int
store_sqlite_engine_prepare_stmt(struct sql *db, const char *sql,
    struct sql_stmt **ret)
{
	struct sqlite_stmt *s = xcalloc(1, sizeof(*s));
	int rc = sqlite3_prepare_v3(store_sqlite_db_of(db), sql, -1,
	    SQLITE_PREPARE_PERSISTENT, &s->q, NULL);

	if (rc != SQLITE_OK) {
		free(s);
		return sqlite_errno(rc);
	}
	s->sql.db = db;
	*ret = &s->sql;
	return 0;
}

static void
store_sqlite_engine_finalize(struct sql_stmt *q)
{
	if (q == NULL)
		return;
	sqlite3_finalize(store_sqlite_stmt_of(q));
	free(q);
}

static void
store_sqlite_engine_bind(struct sql_stmt *stmt, int at,
    const struct sql_value *v)
{
	void (*end)(void *) = v->given ? free : SQLITE_STATIC;
	sqlite3_stmt *q = store_sqlite_stmt_of(stmt);
	int rc = SQLITE_OK;

	switch (v->type) {
	case SQL_INT:
		rc = sqlite3_bind_int64(q, at, v->integer);
		break;
	case SQL_REAL:
		rc = sqlite3_bind_double(q, at, v->real);
		break;
	case SQL_TEXT:
		rc = sqlite3_bind_text64(q, at, v->bytes, v->len_bytes, end,
		    SQLITE_UTF8);
		break;
	case SQL_BLOB:
		rc = sqlite3_bind_blob64(q, at, v->bytes, v->len_bytes, end);
		break;
	case SQL_NULL:
		rc = sqlite3_bind_null(q, at);
	}
	/* One of two statements of a request may not use all parameters. */
	assert(rc == SQLITE_OK || rc == SQLITE_RANGE || rc == SQLITE_TOOBIG ||
	    rc == SQLITE_NOMEM);
}

static void
store_sqlite_engine_reset(struct sql_stmt *q)
{
	sqlite3_reset(store_sqlite_stmt_of(q));
	sqlite3_clear_bindings(store_sqlite_stmt_of(q));
}

static int
store_sqlite_engine_run(struct sql_stmt *q, struct sql_outcome *ret)
{
	int rc = sqlite_errno(sqlite3_step(store_sqlite_stmt_of(q)));

	store_sqlite_engine_reset(q);
	if (ret != NULL)
		*ret = (struct sql_outcome){ rc,
			rc == 0 ? sqlite3_changes(store_sqlite_db_of(q->db))
				: 0 };
	return rc;
}

static int
store_sqlite_engine_flush(struct sql *db)
{
	(void)db; /* run has already stored the outcome */
	return 0;
}

static int
store_sqlite_engine_step(struct sql_stmt *q)
{
	int rc = sqlite3_step(store_sqlite_stmt_of(q));

	return rc == SQLITE_ROW ? 1 : sqlite_errno(rc);
}

static void
store_sqlite_engine_column(struct sql_stmt *stmt, int at, struct sql_value *ret)
{
	static const enum sql_type types[] = { [SQLITE_INTEGER] = SQL_INT,
		[SQLITE_FLOAT] = SQL_REAL,
		[SQLITE_TEXT] = SQL_TEXT,
		[SQLITE_BLOB] = SQL_BLOB,
		[SQLITE_NULL] = SQL_NULL };
	sqlite3_stmt *q = store_sqlite_stmt_of(stmt);

	*ret = (struct sql_value){ .type = types[sqlite3_column_type(q, at)] };
	if (ret->type == SQL_INT || ret->type == SQL_REAL) {
		ret->integer = sqlite3_column_int64(q, at);
		ret->real = sqlite3_column_double(q, at);
	} else if (ret->type != SQL_NULL) {
		/* text or blob before bytes, as SQLite's manual requires */
		ret->bytes = ret->type == SQL_TEXT
		    ? (const void *)sqlite3_column_text(q, at)
		    : sqlite3_column_blob(q, at);
		ret->len_bytes = (size_t)sqlite3_column_bytes(q, at);
	}
}

static uint64_t
store_sqlite_file_bytes(const char *path, const char *end)
{
	char *name = xasprintf("%s%s", path, end);
	struct stat st;
	uint64_t bytes = stat(name, &st) == 0 ? (uint64_t)st.st_size : 0;

	free(name);
	return bytes;
}

static void
store_sqlite_engine_space(struct sql *db, struct sql_space *ret)
{
	const struct sqlite *s = (struct sqlite *)db;
	struct statvfs fs;

	*ret = (struct sql_space){ store_sqlite_file_bytes(s->path, ""),
		store_sqlite_file_bytes(s->path, "-wal"), UINT64_MAX };
	if (statvfs(s->path, &fs) == 0)
		ret->free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
}

/* Return free pages to the file system. A store created before auto_vacuum
 * keeps its free pages; the check for progress avoids endless attempts. */
static int
store_sqlite_engine_tidy(struct sql *db, int deleted)
{
	struct sqlite *s = (struct sqlite *)db;
	int64_t had, left;

	if (deleted) {
		had = sqlite_int(s->db, "PRAGMA freelist_count", 0);
		if (had > 0 &&
		    sqlite_exec(s->db, "PRAGMA incremental_vacuum(200)") == 0) {
			left = sqlite_int(s->db, "PRAGMA freelist_count", 0);
			if (left > 0 && left < had)
				return 1;
		}
		store_sqlite_log_empty(s); /* only now does the file shrink */
	}
	if (store_sqlite_file_bytes(s->path, "-wal") > WAL_IDLE_BYTES)
		store_sqlite_log_empty(s);
	return 0;
}

const struct sql_engine sql_sqlite = {
	.abi = SQL_ABI,
	.name = "sqlite",
	.packs = 1,
	.moves_shrunk = 1,
	.check = "PRAGMA integrity_check(10)",
	.prepare = sqlite_prepare,
	.open = store_sqlite_engine_open,
	.close = store_sqlite_engine_close,
	.ready = store_sqlite_engine_ready,
	.error = store_sqlite_engine_error,
	.interrupt = store_sqlite_engine_interrupt,
	.set_deadline = store_sqlite_engine_set_deadline,
	.begin = store_sqlite_engine_begin,
	.commit = store_sqlite_engine_commit,
	.rollback = store_sqlite_engine_rollback,
	.exec = store_sqlite_engine_exec,
	.prepare_stmt = store_sqlite_engine_prepare_stmt,
	.finalize = store_sqlite_engine_finalize,
	.bind = store_sqlite_engine_bind,
	.run = store_sqlite_engine_run,
	.flush = store_sqlite_engine_flush,
	.step = store_sqlite_engine_step,
	.column = store_sqlite_engine_column,
	.reset = store_sqlite_engine_reset,
	.space = store_sqlite_engine_space,
	.tidy = store_sqlite_engine_tidy,
	.backup = sqlite_backup,
};
