/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_put.c - one function per kind of row.
 */

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/hist.h"
#include "common/log.h"
#include "common/member.h"
#include "common/xalloc.h"
#include "daemon/store/store_db.h"
#include "schema/names.h"
#include "schema/record.h"

enum stmt {
	STMT_RUN_ID,
	STMT_RUN_STUB,
	STMT_RECORD,
	STMT_RUN_COUNT,
	STMT_RUN,
	STMT_COUNTERS,
	STMT_NODE,
	STMT_EVENT,
	STMT_SETTING,
	STMT_SETTING_DROP,
	STMT_VERDICT,
	STMT_BASELINE,
	STMT_BASELINE_DROP,
	STMT_MAX
};

static const char *const sql[STMT_MAX] = {
	[STMT_RUN_ID] = "SELECT id FROM run WHERE run = ?1",
	[STMT_RUN_STUB] =
	    "INSERT INTO run (run, campaign, state, final, created_unix_ns,"
	    " body) VALUES (?1, '', 'failed', 1, ?2, ?3)",
	[STMT_RUN_COUNT] = "UPDATE run SET records = records + 1 WHERE id = ?1",
	[STMT_RUN] =
	    "INSERT INTO run (run, campaign, state, final, created_unix_ns,"
	    " body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
	    " ON CONFLICT (run) DO UPDATE SET campaign = excluded.campaign,"
	    " state = excluded.state, final = excluded.final,"
	    " created_unix_ns = excluded.created_unix_ns,"
	    " body = excluded.body",
	[STMT_COUNTERS] =
	    "INSERT OR REPLACE INTO counters (run_id, border, node,"
	    " at_unix_ns, nics) VALUES (?1, ?2, ?3, ?4, ?5)",
	[STMT_NODE] =
	    "INSERT OR REPLACE INTO node (node, last_seen_unix_ns, body)"
	    " VALUES (?1, ?2, ?3)",
	[STMT_EVENT] = "INSERT INTO event (at_unix_ns, kind, subject, text)"
		       " VALUES (?1, ?2, ?3, ?4)",
	[STMT_SETTING] =
	    "INSERT OR REPLACE INTO setting (key, value) VALUES (?1, ?2)",
	[STMT_SETTING_DROP] = "DELETE FROM setting WHERE key = ?1",
	[STMT_VERDICT] =
	    "INSERT INTO verdict (at_unix_ns, kind, subject, verdict, body)"
	    " VALUES (?1, ?2, ?3, ?4, ?5)",
	[STMT_BASELINE] = "INSERT OR REPLACE INTO baseline (name, at_unix_ns,"
			  " body) VALUES (?1, ?2, ?3)",
	[STMT_BASELINE_DROP] = "DELETE FROM baseline WHERE name = ?1",
};

struct store_put_db {
	sqlite3 *db;
	sqlite3_stmt *stmts[STMT_MAX];
	struct hist hist; /* 11 KiB: too much for a thread's stack frames */
};

int
store_put_new(sqlite3 *db, struct store_put_db **ret)
{
	struct store_put_db *p = xcalloc(1, sizeof(*p));
	char *insert = store_record_insert();
	int rc = 0;

	p->db = db;
	for (int i = 0; rc == 0 && i < STMT_MAX; i++)
		rc = store_db_stmt(db, i == STMT_RECORD ? insert : sql[i],
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
	for (int i = 0; i < STMT_MAX; i++)
		sqlite3_finalize(p->stmts[i]);
	free(p);
}

/* Step a bound statement that yields no rows, and leave it fit for its next
 * use whatever came of it. The writer logs: it knows whether it is news. */
static int
run(struct store_put_db *p, enum stmt id)
{
	sqlite3_stmt *q = p->stmts[id];
	int rc = sqlite3_step(q);

	sqlite3_reset(q);
	sqlite3_clear_bindings(q);
	return rc == SQLITE_DONE ? 0 : store_db_errno(rc);
}

/* A static text: it lives until the statement has run. NULL binds NULL. */
static void
bind_text(sqlite3_stmt *q, int at, const char *text)
{
	int rc = sqlite3_bind_text(q, at, text, -1, SQLITE_STATIC);

	assert(rc == SQLITE_OK || rc == SQLITE_TOOBIG || rc == SQLITE_NOMEM);
}

static char *
body_of(const json_t *object)
{
	return store_text(object, NULL);
}

static int
find_run(struct store_put_db *p, const char *name, int64_t *ret_id)
{
	sqlite3_stmt *q = p->stmts[STMT_RUN_ID];
	int rc;

	bind_text(q, 1, name);
	rc = sqlite3_step(q);
	if (rc == SQLITE_ROW)
		*ret_id = sqlite3_column_int64(q, 0);
	sqlite3_reset(q);
	sqlite3_clear_bindings(q);
	if (rc == SQLITE_DONE)
		return -ENOENT;
	return store_db_errno(rc);
}

/* Records may outlive their run's row: a damaged store was replaced while
 * they lay in a spool. They are kept, under a run that says so. */
static int
make_stub(struct store_put_db *p, const char *name, uint64_t at_unix_ns,
    int64_t *ret_id)
{
	sqlite3_stmt *q = p->stmts[STMT_RUN_STUB];
	json_t *stub = json_pack("{s:s,s:s,s:s,s:s,s:s,s:I}", "run", name,
	    "campaign", "", "state", "failed", "cause", "internal", "text",
	    "known only by its records", "created_unix_ns",
	    (json_int_t)at_unix_ns);
	char *body = body_of(stub);
	int rc;

	bind_text(q, 1, name);
	sqlite3_bind_int64(q, 2, (int64_t)at_unix_ns);
	bind_text(q, 3, body);
	rc = run(p, STMT_RUN_STUB);
	if (rc == 0)
		*ret_id = sqlite3_last_insert_rowid(p->db);
	free(body);
	json_decref(stub);
	return rc;
}

static int
need_run(struct store_put_db *p, const struct store_job *job, int64_t *ret_id)
{
	const char *name = member_text_or(job->object, "run", NULL);
	int rc;

	if (name == NULL)
		return -EPROTO;
	rc = find_run(p, name, ret_id);
	return rc != -ENOENT ? rc : make_stub(p, name, job->at_unix_ns, ret_id);
}

/* How a record ages: 1, it goes after raw_retention; 2, it is rolled up; 0,
 * it stays as it is. */
static int
raw_of(const json_t *record)
{
	if (strcmp(member_text(record, "probe"), "round") == 0)
		return 1;
	return json_array_size(json_object_get(record, "nodes")) > 0 ? 2 : 0;
}

static int
put_record(struct store_put_db *p, const struct store_job *job)
{
	const json_t *record = job->object;
	sqlite3_stmt *q = p->stmts[STMT_RECORD];
	int64_t run_id, seq = member_int(record, "seq");
	int rc;

	if (seq < 1 || member_text(record, "probe")[0] == '\0')
		return -EPROTO;
	rc = need_run(p, job, &run_id);
	if (rc < 0)
		return rc;
	sqlite3_bind_int64(q, 1, run_id);
	sqlite3_bind_int64(q, 2, seq);
	sqlite3_bind_int64(q, 3, (int64_t)job->at_unix_ns);
	store_record_bind(q, record, raw_of(record), &p->hist);
	rc = run(p, STMT_RECORD);
	if (rc == 0 && sqlite3_changes(p->db) > 0) {
		sqlite3_bind_int64(p->stmts[STMT_RUN_COUNT], 1, run_id);
		rc = run(p, STMT_RUN_COUNT);
	}
	return rc;
}

static int
put_run(struct store_put_db *p, const struct store_job *job)
{
	const char *name = member_text_or(job->object, "run", NULL);
	const char *state = member_text_or(job->object, "state", NULL);
	const char *campaign = member_text_or(job->object, "campaign", NULL);
	sqlite3_stmt *q = p->stmts[STMT_RUN];
	int known = state != NULL ? names_run_state_find(state) : -ENOENT;

	if (name == NULL || known < 0)
		return -EPROTO;
	bind_text(q, 1, name);
	bind_text(q, 2, campaign != NULL ? campaign : "");
	bind_text(q, 3, state);
	sqlite3_bind_int64(q, 4, names_run_states[known].final);
	sqlite3_bind_int64(q, 5, member_int(job->object, "created_unix_ns"));
	store_pack_bind(q, 6, body_of(job->object));
	return run(p, STMT_RUN);
}

static int
put_counters(struct store_put_db *p, const struct store_job *job)
{
	sqlite3_stmt *q = p->stmts[STMT_COUNTERS];
	int64_t run_id;
	int rc;

	rc = need_run(p, job, &run_id);
	if (rc < 0)
		return rc;
	sqlite3_bind_int64(q, 1, run_id);
	sqlite3_bind_int64(q, 2, member_int(job->object, "border"));
	bind_text(q, 3, member_text_or(job->object, "node", NULL));
	sqlite3_bind_int64(q, 4, member_int(job->object, "at_unix_ns"));
	store_pack_bind(q, 5, body_of(json_object_get(job->object, "nics")));
	return run(p, STMT_COUNTERS);
}

static int
put_node(struct store_put_db *p, const struct store_job *job)
{
	const char *name = member_text_or(job->object, "node", NULL);
	int64_t seen = member_int(job->object, "last_seen_unix_ns");
	sqlite3_stmt *q = p->stmts[STMT_NODE];
	char *body;
	int rc;

	if (name == NULL)
		return -EPROTO;
	body = body_of(job->object);
	bind_text(q, 1, name);
	sqlite3_bind_int64(q, 2, seen != 0 ? seen : (int64_t)job->at_unix_ns);
	bind_text(q, 3, body);
	rc = run(p, STMT_NODE);
	free(body);
	return rc;
}

static int
put_event(struct store_put_db *p, const struct store_job *job)
{
	sqlite3_stmt *q = p->stmts[STMT_EVENT];

	sqlite3_bind_int64(q, 1, (int64_t)job->at_unix_ns);
	bind_text(q, 2, member_text_or(job->object, "kind", NULL));
	bind_text(q, 3, member_text_or(job->object, "subject", NULL));
	bind_text(q, 4, member_text_or(job->object, "text", NULL));
	return run(p, STMT_EVENT);
}

static int
put_setting(struct store_put_db *p, const struct store_job *job)
{
	const char *value = member_text_or(job->object, "value", NULL);
	enum stmt id = value != NULL ? STMT_SETTING : STMT_SETTING_DROP;

	bind_text(p->stmts[id], 1, member_text_or(job->object, "key", NULL));
	if (value != NULL)
		bind_text(p->stmts[id], 2, value);
	return run(p, id);
}

static int
put_verdict(struct store_put_db *p, const struct store_job *job)
{
	sqlite3_stmt *q = p->stmts[STMT_VERDICT];
	char *body = body_of(job->object);
	int rc;

	sqlite3_bind_int64(q, 1, (int64_t)job->at_unix_ns);
	bind_text(q, 2, member_text_or(job->object, "kind", NULL));
	bind_text(q, 3, member_text_or(job->object, "subject", NULL));
	bind_text(q, 4, member_text_or(job->object, "verdict", NULL));
	bind_text(q, 5, body);
	rc = run(p, STMT_VERDICT);
	free(body);
	return rc;
}

static int
put_baseline(struct store_put_db *p, const struct store_job *job)
{
	const json_t *value = json_object_get(job->object, "body");
	enum stmt id = value != NULL ? STMT_BASELINE : STMT_BASELINE_DROP;
	char *body = value != NULL ? body_of(value) : NULL;
	int rc;

	bind_text(p->stmts[id], 1, member_text_or(job->object, "name", NULL));
	if (value != NULL) {
		sqlite3_bind_int64(p->stmts[id], 2, (int64_t)job->at_unix_ns);
		bind_text(p->stmts[id], 3, body);
	}
	rc = run(p, id);
	free(body);
	return rc;
}

static int (*const puts_by_kind[PUT_MAX])(struct store_put_db *,
    const struct store_job *) = {
	[PUT_RECORD] = put_record,
	[PUT_RUN] = put_run,
	[PUT_COUNTERS] = put_counters,
	[PUT_NODE] = put_node,
	[PUT_EVENT] = put_event,
	[PUT_SETTING] = put_setting,
	[PUT_VERDICT] = put_verdict,
	[PUT_BASELINE] = put_baseline,
};

int
store_put_job(struct store_put_db *p, const struct store_job *job)
{
	return puts_by_kind[job->what](p, job);
}
