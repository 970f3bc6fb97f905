/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_put.c - the kinds of rows: a table of what each binds, and records.
 */

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/hist.h"
#include "common/log.h"
#include "common/member.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "daemon/store/store_db.h"
#include "schema/names.h"
#include "schema/record.h"

/* What a parameter of a statement is bound to. */
enum value {
	VALUE_END,
	VALUE_TEXT,   /* a member, or NULL */
	VALUE_NAME,   /* a member; the row is not fit without */
	VALUE_INT,    /* a member, or 0 */
	VALUE_SEEN,   /* a member, or when the row came */
	VALUE_UNTIL,  /* a member, or the largest integer: it lasts */
	VALUE_AT,     /* when the row came */
	VALUE_FINAL,  /* of a member that is a state; the row is not fit else */
	VALUE_RUN_ID, /* of a member that is a run; it is made if need be */
	VALUE_BODY,   /* a member, or the object itself, as JSON */
	VALUE_PACKED  /* likewise, deflated where that is shorter */
};

/* Statements: of the kinds of enum store_put, and what else they need. */
enum {
	DROP_SETTING = PUT_MAX,
	DROP_BASELINE,
	FIND_RUN,
	COUNT_RECORD,
	STATEMENTS
};

static const struct statement {
	const char *sql; /* NULL: made of a record's columns */
	struct {
		enum value what;
		const char *key; /* NULL: the object itself */
	} values[7];
	/* Where the object has no such member, another statement is run. */
	const char *needs;
	int otherwise;
} statements[STATEMENTS] = {
	[PUT_RUN] = { "INSERT INTO run (run, campaign, state, final,"
		      " created_unix_ns, body) VALUES (?1, coalesce(?2, ''),"
		      " ?3, ?4, ?5, ?6) ON CONFLICT (run) DO UPDATE SET"
		      " campaign = excluded.campaign, state = excluded.state,"
		      " final = excluded.final, created_unix_ns ="
		      " excluded.created_unix_ns, body = excluded.body",
	    { { VALUE_NAME, "run" }, { VALUE_TEXT, "campaign" },
		{ VALUE_TEXT, "state" }, { VALUE_FINAL, "state" },
		{ VALUE_INT, "created_unix_ns" }, { VALUE_PACKED } } },
	[PUT_COUNTERS] = { "INSERT OR REPLACE INTO counters (run_id, border,"
			   " node, at_unix_ns, nics)"
			   " VALUES (?1, ?2, ?3, ?4, ?5)",
	    { { VALUE_RUN_ID, "run" }, { VALUE_INT, "border" },
		{ VALUE_TEXT, "node" }, { VALUE_INT, "at_unix_ns" },
		{ VALUE_PACKED, "nics" } } },
	[PUT_NODE] = { "INSERT OR REPLACE INTO node (node, last_seen_unix_ns,"
		       " body) VALUES (?1, ?2, ?3)",
	    { { VALUE_NAME, "node" }, { VALUE_SEEN, "last_seen_unix_ns" },
		{ VALUE_BODY } } },
	[PUT_EVENT] = { "INSERT INTO event (at_unix_ns, kind, subject, text)"
			" VALUES (?1, ?2, ?3, ?4)",
	    { { VALUE_AT }, { VALUE_TEXT, "kind" }, { VALUE_TEXT, "subject" },
		{ VALUE_TEXT, "text" } } },
	[PUT_SETTING] = { "INSERT OR REPLACE INTO setting (key, value)"
			  " VALUES (?1, ?2)",
	    { { VALUE_TEXT, "key" }, { VALUE_TEXT, "value" } }, "value",
	    DROP_SETTING },
	[DROP_SETTING] = { "DELETE FROM setting WHERE key = ?1",
	    { { VALUE_TEXT, "key" } } },
	[PUT_VERDICT] = { "INSERT INTO verdict (at_unix_ns, kind, subject,"
			  " verdict, body) VALUES (?1, ?2, ?3, ?4, ?5)",
	    { { VALUE_AT }, { VALUE_TEXT, "kind" }, { VALUE_TEXT, "subject" },
		{ VALUE_TEXT, "verdict" }, { VALUE_BODY } } },
	[PUT_BASELINE] = { "INSERT OR REPLACE INTO baseline (name, at_unix_ns,"
			   " body) VALUES (?1, ?2, ?3)",
	    { { VALUE_TEXT, "name" }, { VALUE_AT }, { VALUE_BODY, "body" } },
	    "body", DROP_BASELINE },
	/* Only what is new. */
	[PUT_TOPOLOGY] = { "INSERT INTO topology (from_unix_ns, body)"
			   " SELECT ?1, ?2 WHERE ?2 IS NOT (SELECT body FROM"
			   " topology ORDER BY id DESC LIMIT 1)",
	    { { VALUE_AT }, { VALUE_PACKED } } },
	[PUT_JOB] = { "INSERT INTO job (job, start_unix_ns, until_unix_ns,"
		      " whole, name, owner, body)"
		      " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"
		      " ON CONFLICT (job, start_unix_ns) DO UPDATE SET"
		      " until_unix_ns = excluded.until_unix_ns,"
		      " name = excluded.name, owner = excluded.owner,"
		      " body = excluded.body",
	    { { VALUE_NAME, "job" }, { VALUE_INT, "start_unix_ns" },
		{ VALUE_UNTIL, "end_unix_ns" }, { VALUE_NAME, "whole" },
		{ VALUE_NAME, "name" }, { VALUE_TEXT, "owner" },
		{ VALUE_PACKED } } },
	[DROP_BASELINE] = { "DELETE FROM baseline WHERE name = ?1",
	    { { VALUE_TEXT, "name" } } },
	[FIND_RUN] = { "SELECT id FROM run WHERE run = ?1" },
	[COUNT_RECORD] = { "UPDATE run SET records = records + 1"
			   " WHERE id = ?1" },
};

struct store_put_db {
	sqlite3 *db;
	sqlite3_stmt *stmts[STATEMENTS];
	struct hist hist; /* 11 KiB: too much for a thread's stack frames */
};

int
store_put_new(sqlite3 *db, struct store_put_db **ret)
{
	struct store_put_db *p = xcalloc(1, sizeof(*p));
	char *insert = store_record_insert();
	int rc = 0;

	p->db = db;
	for (int i = 0; rc == 0 && i < STATEMENTS; i++)
		rc = store_db_stmt(db,
		    statements[i].sql != NULL ? statements[i].sql : insert,
		    &p->stmts[i]);
	free(insert);
	if (rc < 0) {
		store_put_free(p);
		return rc;
	}
	*ret = p;
	return 0;
}

void
store_put_free(struct store_put_db *p)
{
	if (p == NULL)
		return;
	for (int i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(p->stmts[i]);
	free(p);
}

/* Step a bound statement that yields no rows, and leave it fit for its next
 * use whatever came of it. The writer logs: it knows whether it is news. */
static int
run(sqlite3_stmt *q)
{
	int rc = sqlite3_step(q);

	sqlite3_reset(q);
	sqlite3_clear_bindings(q);
	if ((rc & 0xff) == SQLITE_CONSTRAINT)
		return -EPROTO; /* it is this row that is not fit */
	return rc == SQLITE_DONE ? 0 : store_db_errno(rc);
}

static int put_object(struct store_put_db *p, const struct store_job *job);

/* Records may outlive their run's row: a damaged store was replaced while
 * they lay in a spool. They are kept, under a run that says so. */
static int
need_run(struct store_put_db *p, const struct store_job *job, const char *name,
    int64_t *ret_id)
{
	struct store_job run = { .what = PUT_RUN };
	sqlite3_stmt *q = p->stmts[FIND_RUN];
	int rc;

	if (name == NULL)
		return -EPROTO;
	sqlite3_bind_text(q, 1, name, -1, SQLITE_STATIC);
	rc = sqlite3_step(q);
	if (rc == SQLITE_ROW)
		*ret_id = sqlite3_column_int64(q, 0);
	sqlite3_reset(q);
	sqlite3_clear_bindings(q);
	if (rc != SQLITE_DONE)
		return store_db_errno(rc);
	run.object = json_pack("{s:s,s:s,s:s,s:s,s:s,s:I}", "run", name,
	    "campaign", "", "state", "failed", "cause", "internal", "text",
	    "known only by its records", "created_unix_ns",
	    (json_int_t)job->at_unix_ns);
	rc = put_object(p, &run);
	if (rc == 0)
		*ret_id = sqlite3_last_insert_rowid(p->db);
	json_decref(run.object);
	return rc;
}

/* Texts are static: they live until the statement has run. */
static int
bind(struct store_put_db *p, const struct store_job *job,
    const struct statement *s, int at)
{
	const char *key = s->values[at - 1].key;
	const json_t *v = key != NULL ? json_object_get(job->object, key)
				      : job->object;
	const char *text = json_string_value(v);
	sqlite3_stmt *q = p->stmts[s - statements];
	int64_t number = json_integer_value(v);
	int rc = SQLITE_OK, state;

	switch (s->values[at - 1].what) {
	case VALUE_NAME:
		if (text == NULL)
			return -EPROTO;
		/* fall through */
	case VALUE_TEXT:
		rc = sqlite3_bind_text(q, at, text, -1, SQLITE_STATIC);
		break;
	case VALUE_BODY:
		rc = sqlite3_bind_text(q, at, store_text(v, NULL), -1, free);
		break;
	case VALUE_PACKED:
		store_pack_bind(q, at, store_text(v, NULL));
		break;
	case VALUE_RUN_ID:
		rc = need_run(p, job, text, &number);
		if (rc < 0)
			return rc;
		sqlite3_bind_int64(q, at, number);
		break;
	case VALUE_FINAL:
		state = STR_FIND(names_run_states, text);
		if (state < 0)
			return -EPROTO;
		sqlite3_bind_int64(q, at, names_run_states[state].final);
		break;
	case VALUE_INT:
		sqlite3_bind_int64(q, at, number);
		break;
	case VALUE_UNTIL:
		sqlite3_bind_int64(q, at, number != 0 ? number : INT64_MAX);
		break;
	default: /* VALUE_AT, VALUE_SEEN */
		sqlite3_bind_int64(q, at,
		    number != 0 ? number : (int64_t)job->at_unix_ns);
	}
	assert(rc == SQLITE_OK || rc == SQLITE_TOOBIG || rc == SQLITE_NOMEM);
	return 0;
}

static int
put_object(struct store_put_db *p, const struct store_job *job)
{
	const struct statement *s = &statements[job->what];
	sqlite3_stmt *q;
	int rc = 0;

	if (s->needs != NULL && json_object_get(job->object, s->needs) == NULL)
		s = &statements[s->otherwise];
	q = p->stmts[s - statements];
	for (int at = 1; rc == 0 && s->values[at - 1].what != VALUE_END; at++)
		rc = bind(p, job, s, at);
	if (rc == 0)
		return run(q);
	sqlite3_clear_bindings(q);
	return rc;
}

static int
put_record(struct store_put_db *p, const struct store_job *job)
{
	const json_t *record = job->object;
	const char *probe = member_text(record, "probe");
	sqlite3_stmt *q = p->stmts[PUT_RECORD];
	int64_t run_id, seq = member_int(record, "seq");
	int rc, raw = 0;

	if (seq < 1 || probe[0] == '\0')
		return -EPROTO;
	rc = need_run(p, job, member_text_or(record, "run", NULL), &run_id);
	if (rc < 0)
		return rc;
	/* How it ages: 1, it goes after raw_retention; 2, it is rolled up; 0,
	 * it stays as it is. */
	if (strcmp(probe, "round") == 0)
		raw = 1;
	else if (json_array_size(json_object_get(record, "nodes")) > 0)
		raw = 2;
	sqlite3_bind_int64(q, 1, run_id);
	sqlite3_bind_int64(q, 2, seq);
	sqlite3_bind_int64(q, 3, (int64_t)job->at_unix_ns);
	store_record_bind(q, record, raw, &p->hist);
	rc = run(q);
	if (rc == 0 && sqlite3_changes(p->db) > 0) {
		sqlite3_bind_int64(p->stmts[COUNT_RECORD], 1, run_id);
		rc = run(p->stmts[COUNT_RECORD]);
	}
	return rc;
}

int
store_put_job(struct store_put_db *p, const struct store_job *job)
{
	return job->what == PUT_RECORD ? put_record(p, job)
				       : put_object(p, job);
}
