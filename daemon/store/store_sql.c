/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_sql.c - find the engine of a URL, and the calls of the interface with
 * errors logged. The engine postgresql is a plugin, so that a collector without
 * it does not link libpq.
 */
#include "daemon/store/store_sql.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "common/log.h"
#include "common/plugin.h"
#include "daemon/store/store.h"

const struct sql_engine *
sql_engine_find(const char *url, struct err *err)
{
	const struct sql_engine *e = NULL;
	struct err reason = { 0 };

	if (url == NULL || url[0] == '\0')
		return &sql_sqlite;
	/* libpq accepts both schemes. */
	if (strncmp(url, "postgresql://", 13) != 0 &&
	    strncmp(url, "postgres://", 11) != 0)
		err_say(&reason, "is not of the form postgresql://...");
	else
		e = plugin_find("store-postgresql", SQL_ENTRY, SQL_ABI,
		    &reason);
	if (e == NULL)
		err_say(err, "store.url %s", reason.text);
	return e;
}

static int
store_sql_failed(struct sql *db, const char *what, int rc)
{
	if (rc < 0)
		log_warnx("store: statement %.60s failed: %s", what,
		    sql_error(db));
	return rc;
}

int
sql_open(const struct store_options *o, enum sql_role role, struct sql **ret)
{
	struct err err = { 0 };
	const struct sql_engine *e = sql_engine_find(o->url, &err);
	int rc = e != NULL ? e->open(o, role, ret, &err) : -EINVAL;

	if (rc < 0)
		log_warnx("store: %s", err.text);
	return rc;
}

void
sql_close(struct sql *db)
{
	if (db == NULL)
		return;
	ZSTD_freeCCtx(db->packer);
	db->engine->close(db);
}

int
sql_exec(struct sql *db, const char *sql)
{
	return store_sql_failed(db, sql, db->engine->exec(db, sql));
}

int
sql_prepare(struct sql *db, const char *sql, struct sql_stmt **ret)
{
	return store_sql_failed(db, sql,
	    db->engine->prepare_stmt(db, sql, ret));
}

int
sql_int(struct sql *db, const char *sql, int64_t *ret)
{
	struct sql_stmt *q = NULL;
	int rc = sql_prepare(db, sql, &q);

	if (rc == 0)
		rc = sql_step(q);
	if (rc >= 0)
		*ret = rc > 0 ? sql_column_int(q, 0) : 0;
	sql_finalize(q);
	return rc < 0 ? rc : 0;
}

void
sql_finalize(struct sql_stmt *q)
{
	if (q != NULL)
		q->db->engine->finalize(q);
}

void
sql_bind_int(struct sql_stmt *q, int at, int64_t v)
{
	q->db->engine->bind(q, at,
	    &(struct sql_value){ .type = SQL_INT, .integer = v });
}

void
sql_bind_text(struct sql_stmt *q, int at, const char *text)
{
	struct sql_value v = { .type = SQL_NULL };

	if (text != NULL)
		v = (struct sql_value){ .type = SQL_TEXT,
			.bytes = text,
			.len_bytes = strlen(text) };
	q->db->engine->bind(q, at, &v);
}

void
sql_bind_given(struct sql_stmt *q, int at, enum sql_type type, void *bytes,
    size_t len_bytes)
{
	q->db->engine->bind(q, at,
	    &(struct sql_value){ .type = bytes != NULL ? type : SQL_NULL,
		.bytes = bytes,
		.len_bytes = len_bytes,
		.given = 1 });
}

struct sql_value
sql_column(struct sql_stmt *q, int at)
{
	struct sql_value v;

	q->db->engine->column(q, at, &v);
	return v;
}

int64_t
sql_column_int(struct sql_stmt *q, int at)
{
	return sql_column(q, at).integer;
}

const char *
sql_column_text(struct sql_stmt *q, int at)
{
	return sql_column(q, at).bytes;
}

int
sql_step(struct sql_stmt *q)
{
	return q->db->engine->step(q);
}

int64_t
sql_run_now(struct sql_stmt *q)
{
	const struct sql_engine *e = q->db->engine;
	struct sql_outcome out = { 0 };
	int rc = e->run(q, &out);

	if (rc == 0)
		rc = e->flush(q->db);
	return rc < 0 ? rc : out.changes;
}

const char *
sql_error(struct sql *db)
{
	return db->engine->error(db);
}
