/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_put.c - one function per kind of row.
 *
 * A record's histogram leaves the JSON for a BLOB of a fifth of its size, but
 * only when it comes back as it was: what hist_pack cannot say stays in the
 * body, so a record read is always the record that was put.
 */
#include "daemon/store_put.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/hist.h"
#include "common/log.h"
#include "common/xalloc.h"
#include "daemon/store_db.h"
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
	[STMT_RECORD] =
	    "INSERT OR IGNORE INTO record (run_id, seq, at_unix_ns, raw,"
	    " probe, test, phase, unit, n, mean, min, p50, p90, p99, p999,"
	    " max, of, value, lo, hi, hist, body) VALUES (?1, ?2, ?3, ?4, ?5,"
	    " ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,"
	    " ?19, ?20, ?21, ?22)",
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

/* Columns of a record that are members of the same name. */
static const char *const record_texts[] = { "probe", "test", "phase",
	"unit" }; /* from ?5 */
static const char *const record_reals[] = { "mean", "min", "p50", "p90", "p99",
	"p999", "max" }; /* from ?10 */

int
store_put_new(sqlite3 *db, struct store_put_db **ret)
{
	struct store_put_db *p = xcalloc(1, sizeof(*p));
	int rc = 0;

	p->db = db;
	for (int i = 0; rc == 0 && i < STMT_MAX; i++)
		rc = store_db_stmt(db, sql[i], &p->stmts[i]);
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

/* What is not a number is NULL: unknown is never 0. */
static void
bind_number(sqlite3_stmt *q, int at, const json_t *v)
{
	if (json_is_integer(v))
		sqlite3_bind_int64(q, at, json_integer_value(v));
	else if (json_is_real(v))
		sqlite3_bind_double(q, at, json_real_value(v));
}

static const char *
text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static int64_t
int_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static char *
body_of(const json_t *object)
{
	return json_dumps(object, JSON_COMPACT);
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
	const char *name = text_of(job->object, "run");
	int rc;

	if (name == NULL)
		return -EPROTO;
	rc = find_run(p, name, ret_id);
	return rc != -ENOENT ? rc : make_stub(p, name, job->at_unix_ns, ret_id);
}

/* The BLOB of a record's histogram; NULL when it must stay in the body. The
 * caller frees. */
static uint8_t *
pack_hist(struct hist *h, const json_t *record, long *ret_bytes)
{
	const json_t *given = json_object_get(record, "hist");
	json_t *back;
	uint8_t *blob;
	int same;

	if (!json_is_array(given) || json_array_size(given) == 0)
		return NULL;
	if (record_hist_parse(given,
		json_number_value(json_object_get(record, "mean")),
		json_number_value(json_object_get(record, "min")),
		json_number_value(json_object_get(record, "max")), h) < 0)
		return NULL;
	back = record_hist_json(h);
	same = json_equal(back, given);
	json_decref(back);
	if (!same)
		return NULL;
	blob = malloc(HIST_BLOB_MAX);
	*ret_bytes = blob != NULL ? hist_pack(h, blob, HIST_BLOB_MAX) : -1;
	if (*ret_bytes > 0)
		return blob;
	free(blob);
	return NULL;
}

static char *
body_without_hist(const json_t *record)
{
	json_t *rest = json_copy((json_t *)(uintptr_t)record); /* shallow */
	char *body;

	json_object_del(rest, "hist");
	body = body_of(rest);
	json_decref(rest);
	return body;
}

static void
bind_record(sqlite3_stmt *q, const json_t *record)
{
	const json_t *interval = json_object_get(record, "interval");
	const char *probe = text_of(record, "probe");

	sqlite3_bind_int64(q, 4, probe != NULL && strcmp(probe, "round") == 0);
	for (size_t i = 0; i < ARRAY_LEN(record_texts); i++)
		bind_text(q, 5 + (int)i, text_of(record, record_texts[i]));
	bind_number(q, 9, json_object_get(record, "n"));
	for (size_t i = 0; i < ARRAY_LEN(record_reals); i++)
		bind_number(q, 10 + (int)i,
		    json_object_get(record, record_reals[i]));
	bind_text(q, 17, text_of(record, "of"));
	bind_number(q, 18, json_object_get(record, "value"));
	bind_number(q, 19, json_object_get(interval, "lo"));
	bind_number(q, 20, json_object_get(interval, "hi"));
}

static int
put_record(struct store_put_db *p, const struct store_job *job)
{
	const json_t *record = job->object;
	sqlite3_stmt *q = p->stmts[STMT_RECORD];
	int64_t run_id, seq = int_of(record, "seq");
	uint8_t *blob;
	long blob_bytes = 0;
	char *body;
	int rc;

	if (seq < 1 || text_of(record, "probe") == NULL)
		return -EPROTO;
	rc = need_run(p, job, &run_id);
	if (rc < 0)
		return rc;
	blob = pack_hist(&p->hist, record, &blob_bytes);
	body = blob != NULL ? body_without_hist(record) : body_of(record);
	sqlite3_bind_int64(q, 1, run_id);
	sqlite3_bind_int64(q, 2, seq);
	sqlite3_bind_int64(q, 3, (int64_t)job->at_unix_ns);
	bind_record(q, record);
	if (blob != NULL)
		sqlite3_bind_blob(q, 21, blob, (int)blob_bytes, SQLITE_STATIC);
	bind_text(q, 22, body);
	rc = run(p, STMT_RECORD);
	if (rc == 0 && sqlite3_changes(p->db) > 0) {
		sqlite3_bind_int64(p->stmts[STMT_RUN_COUNT], 1, run_id);
		rc = run(p, STMT_RUN_COUNT);
	}
	free(body);
	free(blob);
	return rc;
}

static int
put_run(struct store_put_db *p, const struct store_job *job)
{
	const char *name = text_of(job->object, "run");
	const char *state = text_of(job->object, "state");
	const char *campaign = text_of(job->object, "campaign");
	sqlite3_stmt *q = p->stmts[STMT_RUN];
	int known = state != NULL ? names_run_state_find(state) : -ENOENT;
	char *body;
	int rc;

	if (name == NULL || known < 0)
		return -EPROTO;
	body = body_of(job->object);
	bind_text(q, 1, name);
	bind_text(q, 2, campaign != NULL ? campaign : "");
	bind_text(q, 3, state);
	sqlite3_bind_int64(q, 4, names_run_states[known].final);
	sqlite3_bind_int64(q, 5, int_of(job->object, "created_unix_ns"));
	bind_text(q, 6, body);
	rc = run(p, STMT_RUN);
	free(body);
	return rc;
}

static int
put_counters(struct store_put_db *p, const struct store_job *job)
{
	sqlite3_stmt *q = p->stmts[STMT_COUNTERS];
	int64_t run_id;
	char *nics;
	int rc;

	rc = need_run(p, job, &run_id);
	if (rc < 0)
		return rc;
	nics = body_of(json_object_get(job->object, "nics"));
	sqlite3_bind_int64(q, 1, run_id);
	sqlite3_bind_int64(q, 2, int_of(job->object, "border"));
	bind_text(q, 3, text_of(job->object, "node"));
	sqlite3_bind_int64(q, 4, int_of(job->object, "at_unix_ns"));
	bind_text(q, 5, nics);
	rc = run(p, STMT_COUNTERS);
	free(nics);
	return rc;
}

static int
put_node(struct store_put_db *p, const struct store_job *job)
{
	const char *name = text_of(job->object, "node");
	int64_t seen = int_of(job->object, "last_seen_unix_ns");
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
	bind_text(q, 2, text_of(job->object, "kind"));
	bind_text(q, 3, text_of(job->object, "subject"));
	bind_text(q, 4, text_of(job->object, "text"));
	return run(p, STMT_EVENT);
}

static int
put_setting(struct store_put_db *p, const struct store_job *job)
{
	const char *value = text_of(job->object, "value");
	enum stmt id = value != NULL ? STMT_SETTING : STMT_SETTING_DROP;

	bind_text(p->stmts[id], 1, text_of(job->object, "key"));
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
	bind_text(q, 2, text_of(job->object, "kind"));
	bind_text(q, 3, text_of(job->object, "subject"));
	bind_text(q, 4, text_of(job->object, "verdict"));
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

	bind_text(p->stmts[id], 1, text_of(job->object, "name"));
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

static void
hist_text(struct strbuf *to, const struct hist *h)
{
	const char *comma = "";

	strbuf_addf(to, ",\"hist\":[");
	for (int i = 0; i < HIST_BUCKETS; i++) {
		if (h->bucket[i] == 0)
			continue;
		strbuf_addf(to, "%s[%d,%llu]", comma, i + HIST_FIRST,
		    (unsigned long long)h->bucket[i]);
		comma = ",";
	}
	strbuf_add(to, "]", 1);
}

void
store_put_record_text(struct strbuf *to, const char *body, const void *hist,
    int hist_bytes)
{
	size_t len = strlen(body);
	struct hist *h;

	if (hist == NULL || len < 2 || body[len - 1] != '}') {
		strbuf_add(to, body, len);
		return;
	}
	h = xcalloc(1, sizeof(*h));
	strbuf_add(to, body, len - 1);
	if (hist_unpack(hist, (size_t)hist_bytes, h) == 0)
		hist_text(to, h);
	else
		log_warnx("store: a histogram cannot be read");
	strbuf_add(to, "}", 1);
	free(h);
}
