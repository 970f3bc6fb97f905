/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_put.c - write the kinds of rows: a table of the values that each binds,
 * and records.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/store/store_put.h"
#include "common/hist.h"
#include "common/log.h"
#include "common/member.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "daemon/store/store_db.h"
#include "daemon/store/store_record.h"
#include "schema/names_run.h"
#include "schema/record.h"

/* With 15 digits 0.1 stays 0.1. */
#define TEXT_FLAGS (JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15))

/* The value bound to a parameter of a statement. */
enum value {
	VALUE_END,
	VALUE_TEXT,   /* a member, or NULL */
	VALUE_NAME,   /* a member; without it the row is invalid */
	VALUE_INT,    /* a member, or 0 */
	VALUE_SEEN,   /* a member, or the time of the row's arrival */
	VALUE_UNTIL,  /* a member, or the largest integer: not ended */
	VALUE_AT,     /* the time of the row's arrival */
	VALUE_FINAL,  /* of a member that is a state; else invalid */
	VALUE_RUN_ID, /* the job's; store_put_runs finds it */
	VALUE_BODY,   /* a member, or the object itself, as JSON */
	VALUE_PACKED, /* as VALUE_BODY, compressed if that is shorter */
	VALUE_BRIEF   /* the object as in lists */
};

/* Statements: one for each kind of enum store_put, and additional ones. */
enum {
	DROP_SETTING = PUT_MAX,
	DROP_BASELINE,
	DROP_NODE,
	DROP_INVENTORY,
	FIND_RUN,
	COUNT_RECORDS,
	STATEMENTS
};

static const struct statement {
	const char *sql; /* NULL: made from a record's columns */
	struct {
		enum value what;
		const char *key; /* NULL: the object itself */
	} values[8];             /* the last one is VALUE_END */
	/* If the object does not have this member, another statement is run. */
	const char *needs;
	int otherwise;
} statements[STATEMENTS] = {
	[PUT_RUN] = { "INSERT INTO run (run, campaign, state, final,"
		      " created_unix_ns, body, brief)"
		      " VALUES (?1, coalesce(?2, ''), ?3, ?4, ?5, ?6, ?7)"
		      " ON CONFLICT (run) DO UPDATE SET"
		      " campaign = excluded.campaign, state = excluded.state,"
		      " final = excluded.final, created_unix_ns ="
		      " excluded.created_unix_ns, body = excluded.body,"
		      " brief = excluded.brief",
	    { { VALUE_NAME, "run" }, { VALUE_TEXT, "campaign" },
		{ VALUE_TEXT, "state" }, { VALUE_FINAL, "state" },
		{ VALUE_INT, "created_unix_ns" }, { VALUE_PACKED },
		{ VALUE_BRIEF } } },
	[PUT_COUNTERS] = { "INSERT INTO counters (run_id, border, node,"
			   " at_unix_ns, nics) VALUES (?1, ?2, ?3, ?4, ?5)"
			   " ON CONFLICT (run_id, border, node) DO UPDATE SET"
			   " at_unix_ns = excluded.at_unix_ns,"
			   " nics = excluded.nics",
	    { { VALUE_RUN_ID, "run" }, { VALUE_INT, "border" },
		{ VALUE_TEXT, "node" }, { VALUE_INT, "at_unix_ns" },
		{ VALUE_PACKED, "nics" } } },
	[PUT_NODE] = { "INSERT INTO node (node, last_seen_unix_ns, body)"
		       " VALUES (?1, ?2, ?3) ON CONFLICT (node) DO UPDATE SET"
		       " last_seen_unix_ns = excluded.last_seen_unix_ns,"
		       " body = excluded.body",
	    { { VALUE_NAME, "node" }, { VALUE_SEEN, "last_seen_unix_ns" },
		{ VALUE_BODY } },
	    "state", DROP_NODE },
	[DROP_NODE] = { "DELETE FROM node WHERE node = ?1",
	    { { VALUE_TEXT, "node" } } },
	[PUT_INVENTORY] = { "INSERT INTO node_inventory (node, body)"
			    " VALUES (?1, ?2) ON CONFLICT (node) DO UPDATE SET"
			    " body = excluded.body",
	    { { VALUE_NAME, "node" }, { VALUE_PACKED, "inventory" } },
	    "inventory", DROP_INVENTORY },
	[DROP_INVENTORY] = { "DELETE FROM node_inventory WHERE node = ?1",
	    { { VALUE_TEXT, "node" } } },
	[PUT_EVENT] = { "INSERT INTO event (at_unix_ns, kind, subject, text,"
			" body) VALUES (?1, ?2, ?3, ?4, ?5)",
	    { { VALUE_AT }, { VALUE_TEXT, "kind" }, { VALUE_TEXT, "subject" },
		{ VALUE_TEXT, "text" }, { VALUE_BODY, "body" } } },
	[PUT_SETTING] = { "INSERT INTO setting (key, value) VALUES (?1, ?2)"
			  " ON CONFLICT (key) DO UPDATE SET"
			  " value = excluded.value",
	    { { VALUE_TEXT, "key" }, { VALUE_TEXT, "value" } }, "value",
	    DROP_SETTING },
	[DROP_SETTING] = { "DELETE FROM setting WHERE key = ?1",
	    { { VALUE_TEXT, "key" } } },
	[PUT_VERDICT] = { "INSERT INTO verdict (at_unix_ns, kind, subject,"
			  " verdict, body) VALUES (?1, ?2, ?3, ?4, ?5)",
	    { { VALUE_AT }, { VALUE_TEXT, "kind" }, { VALUE_TEXT, "subject" },
		{ VALUE_TEXT, "verdict" }, { VALUE_BODY } } },
	[PUT_BASELINE] = { "INSERT INTO baseline (name, at_unix_ns, body)"
			   " VALUES (?1, ?2, ?3) ON CONFLICT (name) DO UPDATE"
			   " SET at_unix_ns = excluded.at_unix_ns,"
			   " body = excluded.body",
	    { { VALUE_TEXT, "name" }, { VALUE_AT }, { VALUE_BODY, "body" } },
	    "body", DROP_BASELINE },
	/* Only if it differs from the newest. */
	[PUT_TOPOLOGY] = { "INSERT INTO topology (from_unix_ns, body)"
			   " SELECT ?1, ?2 WHERE NOT EXISTS (SELECT 1 FROM"
			   " topology WHERE body = ?2 AND id ="
			   " (SELECT max(id) FROM topology))",
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
	[PUT_OCCASION] = { "INSERT INTO occasion (job, at_unix_ns, test, name,"
			   " body) VALUES (?1, ?2, ?3, ?4, ?5)"
			   " ON CONFLICT (job, at_unix_ns, test) DO UPDATE SET"
			   " name = excluded.name, body = excluded.body",
	    { { VALUE_NAME, "job" }, { VALUE_INT, "at_unix_ns" },
		{ VALUE_NAME, "test" }, { VALUE_NAME, "name" },
		{ VALUE_PACKED } } },
	[PUT_SHARES] = { "INSERT INTO share (at_unix_ns, body) VALUES (?1, ?2)"
			 " ON CONFLICT (at_unix_ns) DO UPDATE SET"
			 " body = excluded.body",
	    { { VALUE_INT, "at_unix_ns" }, { VALUE_PACKED } } },
	[PUT_IN_BAND] = { "INSERT INTO in_band (whole, job, start_unix_ns,"
			  " node, at_unix_ns, body)"
			  " VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
			  " ON CONFLICT (whole, job, start_unix_ns, node) DO"
			  " UPDATE SET at_unix_ns = excluded.at_unix_ns,"
			  " body = excluded.body",
	    { { VALUE_NAME, "whole" }, { VALUE_NAME, "job" },
		{ VALUE_INT, "start_unix_ns" }, { VALUE_NAME, "node" },
		{ VALUE_AT }, { VALUE_PACKED } } },
	[DROP_BASELINE] = { "DELETE FROM baseline WHERE name = ?1",
	    { { VALUE_TEXT, "name" } } },
	[FIND_RUN] = { "SELECT id FROM run WHERE run = ?1" },
	[COUNT_RECORDS] = { "UPDATE run SET records = records + ?2"
			    " WHERE id = ?1" },
};

struct store_put_db {
	struct sql *db;
	struct sql_stmt *stmts[STATEMENTS];
	json_t *run_ids;  /* name: id, of one transaction */
	struct hist hist; /* 11 KiB: too much for a thread's stack frames */
};

int
store_put_new(struct sql *db, struct store_put_db **ret)
{
	struct store_put_db *p = xcalloc(1, sizeof(*p));
	char *insert = store_record_insert();
	int rc = 0;

	p->db = db;
	p->run_ids = json_object();
	for (int i = 0; rc == 0 && i < STATEMENTS; i++)
		rc = sql_prepare(db,
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
		sql_finalize(p->stmts[i]);
	json_decref(p->run_ids);
	free(p);
}

/* The short form for lists of runs, without names of nodes and the campaign. */
static json_t *
store_put_brief(const json_t *run)
{
	static const char *const gone[] = { "nodes", "campaign_text", "origin",
		"attempt", "overrides" };
	json_t *o = json_copy((json_t *)(uintptr_t)run);

	json_object_set_new(o, "node_count",
	    json_integer(
		(json_int_t)json_array_size(json_object_get(run, "nodes"))));
	for (size_t i = 0; i < ARRAY_LEN(gone); i++)
		json_object_del(o, gone[i]);
	return o;
}

/* Texts are not copied: they stay valid until the statement has run. */
static int
store_put_bind(struct sql_stmt *q, const struct store_job *job,
    const struct statement *s, int at)
{
	const char *key = s->values[at - 1].key;
	const json_t *v = key != NULL ? json_object_get(job->object, key)
				      : job->object;
	const char *text = json_string_value(v);
	int64_t number = json_integer_value(v);
	json_t *brief;
	char *body;
	int state;

	switch (s->values[at - 1].what) {
	case VALUE_NAME:
		if (text == NULL)
			return -EPROTO;
		/* fall through */
	case VALUE_TEXT:
		sql_bind_text(q, at, text);
		break;
	case VALUE_BODY:
		body = json_dumps(v, TEXT_FLAGS);
		sql_bind_given(q, at, SQL_TEXT, body,
		    body != NULL ? strlen(body) : 0);
		break;
	case VALUE_PACKED:
		store_pack_bind(q, at, json_dumps(v, TEXT_FLAGS));
		break;
	case VALUE_BRIEF:
		brief = store_put_brief(v);
		body = json_dumps(brief, TEXT_FLAGS);
		json_decref(brief);
		sql_bind_given(q, at, SQL_TEXT, body,
		    body != NULL ? strlen(body) : 0);
		break;
	case VALUE_RUN_ID:
		sql_bind_int(q, at, job->run_id);
		break;
	case VALUE_FINAL:
		state = STR_FIND(names_run_states, text);
		if (state < 0)
			return -EPROTO;
		sql_bind_int(q, at, names_run_states[state].final);
		break;
	case VALUE_INT:
		sql_bind_int(q, at, number);
		break;
	case VALUE_UNTIL:
		sql_bind_int(q, at, number != 0 ? number : INT64_MAX);
		break;
	default: /* VALUE_AT, VALUE_SEEN */
		sql_bind_int(q, at,
		    number != 0 ? number : (int64_t)job->at_unix_ns);
	}
	return 0;
}

static int
store_put_object(struct store_put_db *p, const struct store_job *job,
    struct sql_outcome *ret)
{
	const struct statement *s = &statements[job->what];
	struct sql_stmt *q;
	int rc = 0;

	if (s->needs != NULL && json_object_get(job->object, s->needs) == NULL)
		s = &statements[s->otherwise];
	q = p->stmts[s - statements];
	for (int at = 1; rc == 0 && s->values[at - 1].what != VALUE_END; at++)
		rc = store_put_bind(q, job, s, at);
	if (rc == 0)
		return p->db->engine->run(q, ret);
	p->db->engine->reset(q);
	return rc;
}

/* Find the id of a run; 0 if it is not stored. */
static int
store_put_find_run(struct store_put_db *p, const char *name, int64_t *ret_id)
{
	struct sql_stmt *q = p->stmts[FIND_RUN];
	int rc;

	sql_bind_text(q, 1, name);
	rc = sql_step(q);
	*ret_id = rc > 0 ? sql_column_int(q, 0) : 0;
	p->db->engine->reset(q);
	return rc < 0 ? rc : 0;
}

/* Records may outlive their run's row if a damaged store was replaced while
 * they were in a spool. They are stored under a run whose text states this. */
static int
store_put_make_run(struct store_put_db *p, const struct store_job *job,
    const char *name)
{
	struct store_job run = { .what = PUT_RUN };
	int rc;

	run.object = json_pack("{s:s,s:s,s:s,s:s,s:s,s:I}", "run", name,
	    "campaign", "", "state", "failed", "cause", "internal", "text",
	    "known only by its records", "created_unix_ns",
	    (json_int_t)job->at_unix_ns);
	rc = store_put_object(p, &run, NULL);
	if (rc == 0)
		rc = p->db->engine->flush(p->db);
	json_decref(run.object);
	return rc;
}

int
store_put_runs(struct store_put_db *p, struct store_jobs *jobs)
{
	struct store_job *job;

	TAILQ_FOREACH (job, jobs, link) {
		const char *name = member_text_or(job->object, "run", NULL);
		int rc = 0;

		if (job->unfit ||
		    (job->what != PUT_RECORD && job->what != PUT_COUNTERS))
			continue;
		if (name == NULL) {
			job->unfit = 1;
			continue;
		}
		job->run_id = member_int(p->run_ids, name);
		if (job->run_id == 0)
			rc = store_put_find_run(p, name, &job->run_id);
		if (rc == 0 && job->run_id == 0) {
			rc = store_put_make_run(p, job, name);
			if (rc == 0)
				rc = store_put_find_run(p, name, &job->run_id);
		}
		if (rc < 0)
			return rc;
		json_object_set_new(p->run_ids, name,
		    json_integer(job->run_id));
	}
	return 0;
}

static int
store_put_record_row(struct store_put_db *p, struct store_job *job)
{
	const json_t *record = job->object;
	const char *probe = member_text(record, "probe");
	struct sql_stmt *q = p->stmts[PUT_RECORD];
	int64_t seq = member_int(record, "seq");
	int raw = 0;

	if (seq < 1 || probe[0] == '\0')
		return -EPROTO;
	/* How the record ages: 1, deleted after raw_retention; 2, rolled up; 0,
	 * unchanged. */
	if (strcmp(probe, "round") == 0)
		raw = 1;
	else if (json_array_size(json_object_get(record, "nodes")) > 0)
		raw = 2;
	sql_bind_int(q, 1, job->run_id);
	sql_bind_int(q, 2, seq);
	sql_bind_int(q, 3, (int64_t)job->at_unix_ns);
	store_record_bind(q, record, &job->line, raw, &p->hist);
	return p->db->engine->run(q, &job->outcome);
}

void
store_put_forget(struct store_put_db *p)
{
	json_object_clear(p->run_ids);
}

int
store_put_job(struct store_put_db *p, struct store_job *job)
{
	struct store_job event = { .what = PUT_EVENT,
		.object = job->event,
		.at_unix_ns = job->at_unix_ns };
	int rc = job->what == PUT_RECORD
	    ? store_put_record_row(p, job)
	    : store_put_object(p, job, &job->outcome);

	return rc == 0 && job->event != NULL
	    ? store_put_object(p, &event, &job->event_outcome)
	    : rc;
}

/* Use one statement for consecutive records of a run: a batch has few runs. */
int
store_put_count(struct store_put_db *p, const struct store_jobs *jobs)
{
	struct sql_stmt *q = p->stmts[COUNT_RECORDS];
	const struct store_job *job, *next;
	int64_t records = 0;
	int rc;

	TAILQ_FOREACH (job, jobs, link) {
		next = TAILQ_NEXT(job, link);
		if (job->what != PUT_RECORD)
			continue;
		records += job->outcome.changes;
		if (records == 0 ||
		    (next != NULL && next->what == PUT_RECORD &&
			next->run_id == job->run_id))
			continue;
		sql_bind_int(q, 1, job->run_id);
		sql_bind_int(q, 2, records);
		rc = p->db->engine->run(q, NULL);
		if (rc < 0)
			return rc;
		records = 0;
	}
	return 0;
}
