/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_postgresql_stmt.c - statements. Those that yield no rows go into the
 * pipeline; the others use a cursor, since a result may be gigabytes of which
 * only the first page is needed.
 */
#include "daemon/store/store_postgresql_stmt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "daemon/store/store_postgresql.h"
#include "daemon/store/store_postgresql_lead.h"

#define FETCH_ROWS 100

/* From pg_type.h, which is a header of the server. */
enum oid {
	OID_BYTEA = 17,
	OID_INT8 = 20,
	OID_INT2 = 21,
	OID_INT4 = 23,
	OID_TEXT = 25,
	OID_OID = 26,
	OID_FLOAT4 = 700,
	OID_FLOAT8 = 701,
	OID_NUMERIC = 1700
};

static struct pg_stmt *
store_postgresql_stmt_of(struct sql_stmt *q)
{
	return (struct pg_stmt *)q;
}

static void
store_postgresql_stmt_param_clear(struct pg_param *p)
{
	free(p->given);
	*p = (struct pg_param){ .type = OID_TEXT };
}

int
pg_stmt_prepare(struct sql *db, const char *sql, struct sql_stmt **ret)
{
	static _Atomic unsigned number;
	struct pg_stmt *st = xcalloc(1, sizeof(*st));

	st->sql.db = db;
	st->text = pg_translate(sql, st->map);
	for (size_t i = 0; i < PG_PARAMS; i++)
		if (st->map[i] > st->params)
			st->params = st->map[i];
	for (int i = 1; i <= st->params; i++)
		store_postgresql_stmt_param_clear(&st->param[i]);
	snprintf(st->name, sizeof(st->name), "q%u", ++number);
	*ret = &st->sql;
	return 0;
}

void
pg_stmt_bind(struct sql_stmt *q, int at, const struct sql_value *v)
{
	static const Oid types[] = { [SQL_NULL] = OID_TEXT,
		[SQL_INT] = OID_INT8,
		[SQL_REAL] = OID_FLOAT8,
		[SQL_TEXT] = OID_TEXT,
		[SQL_BLOB] = OID_BYTEA };
	struct pg_stmt *st = store_postgresql_stmt_of(q);
	struct pg_param *p;

	if (at < 1 || at >= PG_PARAMS || st->map[at] == 0) {
		if (v->given)
			free((void *)(uintptr_t)v->bytes);
		return;
	}
	p = &st->param[st->map[at]];
	store_postgresql_stmt_param_clear(p);
	if (v->type == SQL_INT)
		snprintf(p->number, sizeof(p->number), "%lld",
		    (long long)v->integer);
	else if (v->type == SQL_REAL)
		snprintf(p->number, sizeof(p->number), "%.17g", v->real);
	p->type = types[v->type];
	p->is_binary = v->type == SQL_BLOB;
	p->len_bytes = (int)v->len_bytes;
	if (v->type == SQL_INT || v->type == SQL_REAL)
		p->bytes = p->number;
	else if (v->type != SQL_NULL)
		p->bytes = v->bytes;
	if (v->given)
		p->given = (void *)(uintptr_t)v->bytes;
}

void
pg_stmt_reset(struct sql_stmt *q)
{
	struct pg_stmt *st = store_postgresql_stmt_of(q);
	struct pg *s = (struct pg *)q->db;
	char sql[48];

	for (int i = 1; i <= st->params; i++)
		store_postgresql_stmt_param_clear(&st->param[i]);
	PQclear(st->rows);
	st->rows = NULL;
	if (!st->open)
		return;
	st->open = 0;
	if (s->conn == NULL || s->cursors == 0)
		return; /* the transaction and its cursors have ended */
	snprintf(sql, sizeof(sql), "CLOSE %s", st->name);
	if (s->in_transaction) {
		s->cursors--;
		if (s->failed == 0)
			(void)pg_send_text(s, sql);
	} else if (--s->cursors == 0) {
		int was = s->failed;

		if (pg_send_text(s, "COMMIT") == 0)
			(void)pg_settle(s);
		s->failed = was;
	}
}

void
pg_stmt_finalize(struct sql_stmt *q)
{
	struct pg_stmt *st = store_postgresql_stmt_of(q);
	struct pg *s;
	char sql[48];

	if (q == NULL)
		return;
	s = (struct pg *)q->db;
	pg_stmt_reset(q);
	if (st->prepared != 0) {
		(void)pg_settle(s); /* results in the pipeline refer to it */
		snprintf(sql, sizeof(sql), "DEALLOCATE %s", st->name);
		if (s->conn != NULL && st->prepared == s->life)
			(void)pg_send_text(s, sql);
	}
	free(st->text);
	free(st);
}

/* A statement is sent unprepared the first time, and prepared from the second
 * time. */
int
pg_stmt_run(struct sql_stmt *q, struct sql_outcome *ret)
{
	struct pg_stmt *st = store_postgresql_stmt_of(q);
	struct pg *s = (struct pg *)q->db;
	int rc = 0, by_name = st->runs++ > 0;
	char fence[128];

	if (ret != NULL)
		*ret = (struct sql_outcome){ 0 };
	if (s->conn != NULL && !s->in_transaction && s->role == SQL_WRITER) {
		pg_fence(s, fence);
		rc = pg_send_text(s, fence);
	}
	if (rc == 0 && by_name && st->prepared != s->life) {
		rc = pg_send(s, st->text, NULL, SEND_ONCE,
		    &(struct pg_wait){ .prepares = st });
		st->prepared = s->life;
	}
	if (rc == 0)
		rc = pg_send(s, st->text, st, by_name ? SEND_NAMED : SEND_ONCE,
		    &(struct pg_wait){ .outcome = ret });
	if (ret != NULL)
		ret->status = rc;
	pg_stmt_reset(q);
	return rc;
}

int
pg_stmt_step(struct sql_stmt *q)
{
	struct pg_stmt *st = store_postgresql_stmt_of(q);
	struct pg *s = (struct pg *)q->db;
	struct sql_outcome out = { 0 };
	char sql[48], *declare;
	int rc = 0;

	st->decoded = 0;
	if (st->rows != NULL && ++st->row < PQntuples(st->rows))
		return 1;
	if (st->rows != NULL && PQntuples(st->rows) < FETCH_ROWS)
		return 0;
	if (!st->open) {
		declare = xasprintf("DECLARE %s NO SCROLL CURSOR FOR %s",
		    st->name, st->text);
		if (!s->in_transaction && s->cursors == 0)
			rc = pg_send_text(s, "BEGIN");
		if (rc == 0)
			rc = pg_send(s, declare, st, SEND_CURSOR,
			    &(struct pg_wait){ 0 });
		free(declare);
		if (rc < 0)
			return rc;
		st->open = 1;
		s->cursors++;
	}
	PQclear(st->rows);
	st->rows = NULL;
	st->row = 0;
	snprintf(sql, sizeof(sql), "FETCH %d FROM %s", FETCH_ROWS, st->name);
	rc = pg_send(s, sql, NULL, SEND_ONCE,
	    &(struct pg_wait){ .outcome = &out, .rows = &st->rows });
	if (rc == 0)
		rc = pg_settle(s);
	if (rc == 0)
		rc = out.status < 0 ? s->failed : 0;
	if (rc < 0 && !s->in_transaction)
		s->failed = 0; /* this call has returned the error */
	return rc < 0 ? rc : PQntuples(st->rows) > 0;
}

static enum sql_type
store_postgresql_stmt_type_of(Oid type)
{
	switch (type) {
	case OID_INT8:
	case OID_INT4:
	case OID_INT2:
	case OID_OID:
		return SQL_INT;
	case OID_FLOAT4:
	case OID_FLOAT8:
	case OID_NUMERIC:
		return SQL_REAL;
	case OID_BYTEA:
		return SQL_BLOB;
	default:
		return SQL_TEXT;
	}
}

/* Decode "\x0aff", in place, once: a column may be read again. Anything else
 * from a server is an invalid value. */
static void
store_postgresql_stmt_blob(struct pg_stmt *st, int at, char *text,
    struct sql_value *ret)
{
	static const char prefix[] = "\\x";

	if ((st->decoded >> at & 1) == 0 &&
	    (ret->len_bytes < 2 || memcmp(text, prefix, 2) != 0 ||
		str_unhex(text + 2, ret->len_bytes - 2, text) < 0)) {
		log_warnx("store: the server sent an invalid bytea");
		*ret = (struct sql_value){ .type = SQL_NULL };
		return;
	}
	st->decoded |= 1UL << at;
	ret->len_bytes = ret->len_bytes / 2 - 1;
}

void
pg_stmt_column(struct sql_stmt *q, int at, struct sql_value *ret)
{
	struct pg_stmt *st = store_postgresql_stmt_of(q);
	char *text;

	*ret = (struct sql_value){ .type = SQL_NULL };
	if (st->rows == NULL || at >= PQnfields(st->rows) ||
	    PQgetisnull(st->rows, st->row, at))
		return;
	ret->type = store_postgresql_stmt_type_of(PQftype(st->rows, at));
	text = PQgetvalue(st->rows, st->row, at);
	if (ret->type == SQL_INT) {
		ret->integer = strtoll(text, NULL, 10);
		ret->real = (double)ret->integer;
	} else if (ret->type == SQL_REAL) {
		ret->real = strtod(text, NULL);
		ret->integer = (int64_t)ret->real;
	} else {
		ret->bytes = text;
		ret->len_bytes = (size_t)PQgetlength(st->rows, st->row, at);
	}
	if (ret->type == SQL_BLOB)
		store_postgresql_stmt_blob(st, at, text, ret);
}
