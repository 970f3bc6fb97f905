/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_copy.c - copy all rows of a store into another one, of any engine. Runs
 * are identified by name, since each store assigns its own ids. The copy
 * continues after the last row of the destination; at the end both stores are
 * read and compared.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "daemon/embed.h"
#include "daemon/store/store_db.h"
#include "daemon/store/store_record.h"

#define BATCH_ROWS 500

/* Ordered so that referenced rows come first. The first columns are the key. A
 * name with '*' is a body; "run" in another table is copied as the run's name
 * and stored as run_id. */
static const struct table {
	const char *name;
	int keys;
	const char *columns[25];
	int of_run, own_ids;
} tables[] = {
	{ "setting", 1, { "key", "value" }, 0, 0 },
	{ "node", 1, { "node", "last_seen_unix_ns", "*body" }, 0, 0 },
	{ "node_inventory", 1, { "node", "*body" }, 0, 0 },
	{ "run", 1,
	    { "run", "created_unix_ns", "campaign", "state", "final", "records",
		"*body", "brief" },
	    0, 0 },
	{ "record", 2,
	    { "run", "seq", "at_unix_ns", "raw", "probe", "test", "phase",
		"unit", "n", "mean", "min", "p50", "p90", "p99", "p999", "max",
		"of", "value", "lo", "hi", "hist", "*body", "crc" },
	    1, 0 },
	{ "counters", 3, { "run", "border", "node", "at_unix_ns", "*nics" }, 1,
	    0 },
	{ "event", 1, { "id", "at_unix_ns", "kind", "subject", "text", "body" },
	    0, 1 },
	{ "verdict", 1,
	    { "id", "at_unix_ns", "kind", "subject", "verdict", "*body" }, 0,
	    1 },
	{ "topology", 1, { "id", "from_unix_ns", "*body" }, 0, 1 },
	{ "baseline", 1, { "name", "at_unix_ns", "*body" }, 0, 0 },
	{ "job", 2,
	    { "job", "start_unix_ns", "whole", "until_unix_ns", "owner", "name",
		"*body" },
	    0, 0 },
	{ "occasion", 3, { "job", "at_unix_ns", "test", "name", "*body" }, 0,
	    0 },
	{ "share", 1, { "at_unix_ns", "*body" }, 0, 0 },
	{ "in_band", 4,
	    { "whole", "job", "start_unix_ns", "node", "at_unix_ns", "*body" },
	    0, 0 },
};

struct end {
	struct sql *db;
	int lock_fd;
};

/* Add the names of the first columns, separated by commas, as they are read. */
static void
store_copy_names_add(struct strbuf *to, const struct table *t, int count,
    int reading, const char *after)
{
	for (int i = 0; i < count && t->columns[i] != NULL; i++) {
		const char *name = t->columns[i] + (t->columns[i][0] == '*');

		if (i > 0)
			strbuf_addf(to, ", ");
		if (i == 0 && t->of_run)
			strbuf_addf(to, reading ? "r.run" : "run_id");
		else
			strbuf_addf(to, "%s%s", reading ? "d." : "", name);
		strbuf_addf(to, "%s", after);
	}
}

static char *
store_copy_select_make(const struct table *t, int behind, const char *order,
    const char *limit)
{
	struct strbuf sql = { 0 };

	strbuf_addf(&sql, "SELECT ");
	store_copy_names_add(&sql, t, 25, 1, "");
	strbuf_addf(&sql, " FROM %s AS d%s", t->name,
	    t->of_run ? " JOIN run AS r ON r.id = d.run_id" : "");
	if (behind) {
		strbuf_addf(&sql, " WHERE (");
		store_copy_names_add(&sql, t, t->keys, 1, "");
		strbuf_addf(&sql, ") > (");
		for (int i = 1; i <= t->keys; i++)
			strbuf_addf(&sql, "%s?%d", i > 1 ? ", " : "", i);
		strbuf_addf(&sql, ")");
	}
	strbuf_addf(&sql, " ORDER BY ");
	store_copy_names_add(&sql, t, t->keys, 1, order);
	strbuf_addf(&sql, "%s", limit);
	return sql.text;
}

static char *
store_copy_insert_make(const struct table *t)
{
	struct strbuf sql = { 0 };

	strbuf_addf(&sql, "INSERT INTO %s (", t->name);
	store_copy_names_add(&sql, t, 25, 0, "");
	strbuf_addf(&sql, t->of_run ? ") SELECT id" : ") VALUES (?1");
	for (int i = 1; t->columns[i] != NULL; i++)
		strbuf_addf(&sql, ", ?%d", i + 1);
	strbuf_addf(&sql, t->of_run ? " FROM run WHERE run = ?1" : ")");
	return sql.text;
}

/* Texts are passed without a copy: they are valid until the statement has
 * run. */
static void
store_copy_row_pass(struct sql_stmt *get, struct sql_stmt *put,
    const struct table *t, int count)
{
	for (int i = 0; i < count && t->columns[i] != NULL; i++) {
		struct sql_value v = sql_column(get, i);

		if (t->columns[i][0] == '*')
			store_pack_bind(put, i + 1, store_pack_column(get, i));
		else
			put->db->engine->bind(put, i + 1, &v);
	}
}

/* Select the rows of the source that come after the newest row of the
 * destination. */
static int
store_copy_rows_behind(struct sql *from, struct sql *to, const struct table *t,
    struct sql_stmt **ret)
{
	char *newest = store_copy_select_make(t, 0, " DESC", " LIMIT 1"), *sql;
	struct sql_stmt *last = NULL;
	int rc = sql_prepare(to, newest, &last);

	free(newest);
	if (rc == 0)
		rc = sql_step(last);
	if (rc >= 0) {
		int behind = rc;

		sql = store_copy_select_make(t, behind, "", "");
		rc = sql_prepare(from, sql, ret);
		free(sql);
		for (int i = 0; rc == 0 && behind && i < t->keys; i++) {
			struct sql_value v = sql_column(last, i);

			if (v.bytes != NULL) {
				v.bytes = xstrdup(v.bytes);
				v.given = 1;
			}
			from->engine->bind(*ret, i + 1, &v);
		}
	}
	sql_finalize(last);
	return rc;
}

static int
store_copy_commit(struct sql *to)
{
	int rc = to->engine->flush(to);

	return rc == 0 ? to->engine->commit(to) : rc;
}

static int
store_copy_table_copy(struct sql *from, struct sql *to, const struct table *t)
{
	const struct sql_engine *e = to->engine;
	struct sql_stmt *get = NULL, *put = NULL;
	char *insert = store_copy_insert_make(t);
	int64_t rows = 0;
	int rc = store_copy_rows_behind(from, to, t, &get);

	if (rc == 0)
		rc = sql_prepare(to, insert, &put);
	free(insert);
	while (rc == 0 && (rc = sql_step(get)) > 0) {
		rc = rows % BATCH_ROWS == 0 ? e->begin(to, 0) : 0;
		if (rc == 0 && e->day != NULL && strcmp(t->name, "run") == 0)
			rc = e->day(to, (uint64_t)sql_column_int(get, 1));
		store_copy_row_pass(get, put, t, ARRAY_LEN(t->columns));
		if (rc == 0)
			rc = e->run(put, NULL);
		if (rc == 0 && ++rows % BATCH_ROWS == 0)
			rc = store_copy_commit(to);
	}
	if (rc == 0 && rows % BATCH_ROWS != 0)
		rc = store_copy_commit(to);
	if (rc < 0)
		e->rollback(to);
	sql_finalize(get);
	sql_finalize(put);
	if (rc == 0 && t->own_ids && e->renumber != NULL)
		rc = e->renumber(to, t->name);
	return rc;
}

/* Compute FNV-1a over the values of all rows, independent of how they are
 * stored. */
static int
store_copy_table_digest(struct sql *db, const struct table *t,
    int64_t *ret_rows, uint64_t *ret_digest)
{
	char *sql = store_copy_select_make(t, 0, "", ""), number[32];
	struct sql_stmt *q = NULL;
	int rc = sql_prepare(db, sql, &q);

	free(sql);
	*ret_rows = 0;
	*ret_digest = 0xcbf29ce484222325;
	while (rc == 0 && (rc = sql_step(q)) > 0) {
		++*ret_rows;
		for (int i = 0; t->columns[i] != NULL; i++) {
			struct sql_value v = sql_column(q, i);
			char *body = NULL;
			const char *p = v.bytes;
			size_t len = v.len_bytes;

			if (t->columns[i][0] == '*') {
				p = body = store_pack_column(q, i);
				len = body != NULL ? strlen(body) : 0;
			} else if (v.type == SQL_INT || v.type == SQL_REAL) {
				p = number;
				len = (size_t)(v.type == SQL_INT
					? snprintf(number, sizeof(number),
					      "%lld", (long long)v.integer)
					: snprintf(number, sizeof(number),
					      "%.17g", v.real));
			}
			for (size_t k = 0; k < len; k++)
				*ret_digest = (*ret_digest ^ (uint8_t)p[k]) *
				    0x100000001b3;
			/* marks the end of a value, and NULL differs from "" */
			*ret_digest = (*ret_digest ^
					  (v.type == SQL_NULL ? 0x1ff
							      : 0x100)) *
			    0x100000001b3;
			free(body);
		}
		rc = 0;
	}
	sql_finalize(q);
	return rc;
}

/* name: the URL of a server's database, or a folder. */
static int
store_copy_end_open(const char *name, const char *schema, struct end *ret,
    struct err *err)
{
	struct store_options o = { .schema = schema, .dir = name };
	const struct sql_engine *e;
	int rc = 0;

	if (strstr(name, "://") != NULL)
		o.url = name;
	e = sql_engine_find(o.url, err);
	if (e == NULL)
		return -EINVAL;
	if (o.url == NULL && store_lock(&o, &ret->lock_fd) < 0)
		rc = err_set(err, -EBUSY,
		    "cannot lock the store in %.300s: if a collector uses it, "
		    "stop that collector first",
		    name);
	if (rc == 0)
		rc = e->prepare(&o, embed_steps, err);
	return rc == 0 ? e->open(&o, SQL_WRITER, &ret->db, err) : rc;
}

int
store_copy(const char *from, const char *to, const char *schema,
    struct err *err)
{
	char *file = xasprintf("%s/coalmine.db", from);
	struct end a = { .lock_fd = -1 }, b = { .lock_fd = -1 };
	int rc;

	/* Opening a missing source would create it. */
	if (strstr(from, "://") == NULL && access(file, R_OK) < 0)
		rc = err_set(err, -errno, "%.300s: %s", file, strerror(errno));
	else
		rc = store_copy_end_open(from, schema, &a, err);
	free(file);
	if (rc == 0)
		rc = store_copy_end_open(to, schema, &b, err);
	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(tables); i++) {
		const struct table *t = &tables[i];
		int64_t rows_a = 0, rows_b = 0;
		uint64_t digest_a = 0, digest_b = 0;

		rc = store_copy_table_copy(a.db, b.db, t);
		if (rc == 0)
			rc = store_copy_table_digest(a.db, t, &rows_a,
			    &digest_a);
		if (rc == 0)
			rc = store_copy_table_digest(b.db, t, &rows_b,
			    &digest_b);
		if (rc < 0)
			err_say(err, "table %s: %.200s %.200s", t->name,
			    sql_error(a.db), sql_error(b.db));
		else if (rows_a != rows_b || digest_a != digest_b)
			rc = err_set(err, -EEXIST,
			    "table %s: %lld rows in the source and %lld in the "
			    "target, with different contents: copy into an "
			    "empty store",
			    t->name, (long long)rows_a, (long long)rows_b);
		else
			log_info("table %s: %lld rows, equal in source and "
				 "target",
			    t->name, (long long)rows_a);
	}
	sql_close(a.db);
	sql_close(b.db);
	if (a.lock_fd >= 0)
		close(a.lock_fd);
	if (b.lock_fd >= 0)
		close(b.lock_fd);
	return rc;
}
