/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_ask_data.c - runs as they were put, and what they measured.
 *
 * Records are read as text and only parsed for those who want objects: the
 * HTTP interface passes them on as they are, page by page.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/hostlist.h"
#include "common/str.h"
#include "daemon/store/store_db.h"
#include "schema/names.h"

#define RUNS_MAX 1000
#define SCAN_MAX                                                               \
	20000 /* rows looked at for one answer: nodes are in the               \
		 body, where no index helps */
#define RUN_COLUMNS "SELECT body, records FROM run "

struct runs_walk {
	json_t *list;
	const char *node; /* NULL: any */
	int64_t limit;
	int64_t scanned;
};

static json_t *
run_object(sqlite3_stmt *q)
{
	json_t *run = store_read_json(q, 0);

	if (json_is_object(run))
		json_object_set_new(run, "records",
		    json_integer(sqlite3_column_int64(q, 1)));
	return run;
}

/* A run's nodes are an array of names, or a host list. */
static int
has_node(const json_t *run, const char *node)
{
	const json_t *nodes = json_object_get(run, "nodes"), *one;
	const char *text = json_string_value(nodes);
	struct hostlist hl;
	size_t i;
	int has;

	json_array_foreach (nodes, i, one)
		if (json_is_string(one) &&
		    strcmp(json_string_value(one), node) == 0)
			return 1;
	if (text == NULL || hostlist_parse(text, &hl, NULL) < 0)
		return 0;
	has = hostlist_has(&hl, node);
	hostlist_clear(&hl);
	return has;
}

static int
run_row(sqlite3_stmt *q, void *arg)
{
	struct runs_walk *walk = arg;
	json_t *run = run_object(q);

	if (walk->node != NULL && !has_node(run, walk->node))
		json_decref(run);
	else
		json_array_append_new(walk->list, run);
	walk->scanned++;
	return walk->scanned >= SCAN_MAX ||
	    (int64_t)json_array_size(walk->list) >= walk->limit;
}

static int
runs_read(sqlite3_stmt *q, struct runs_walk *walk, json_t **ret)
{
	int rc;

	walk->list = json_array();
	rc = store_read_rows(q, run_row, walk);
	if (rc < 0)
		json_decref(walk->list);
	else
		*ret = walk->list;
	return rc < 0 ? rc : 0;
}

/* Newest first; before is the created_unix_ns of the last one seen. */
int
store_read_runs(struct store_reading *r, const json_t *args, json_t **ret)
{
	const char *campaign = store_read_arg_text(args, "campaign");
	const char *state = store_read_arg_text(args, "state");
	struct runs_walk walk = { .node = store_read_arg_text(args, "node"),
		.limit = store_read_arg(args, "limit", 100, 1, RUNS_MAX) };
	sqlite3_stmt *q = NULL;
	int rc;

	rc = store_db_stmt(r->db,
	    campaign != NULL
		? RUN_COLUMNS "WHERE campaign = ?1 AND created_unix_ns < ?2"
			      " AND (?3 IS NULL OR state = ?3)"
			      " ORDER BY created_unix_ns DESC, id DESC"
		: RUN_COLUMNS "WHERE ?1 IS NULL AND created_unix_ns < ?2"
			      " AND (?3 IS NULL OR state = ?3)"
			      " ORDER BY created_unix_ns DESC, id DESC",
	    &q);
	if (rc < 0)
		return rc;
	sqlite3_bind_text(q, 1, campaign, -1, SQLITE_STATIC);
	sqlite3_bind_int64(q, 2,
	    store_read_arg(args, "before", INT64_MAX, 0, INT64_MAX));
	sqlite3_bind_text(q, 3, state, -1, SQLITE_STATIC);
	return runs_read(q, &walk, ret);
}

int
store_read_live_runs(struct store_reading *r, const json_t *args, json_t **ret)
{
	struct runs_walk walk = { .limit = INT64_MAX };
	sqlite3_stmt *q = NULL;
	int rc;

	(void)args;
	rc = store_db_stmt(r->db, RUN_COLUMNS "WHERE final = 0 ORDER BY id",
	    &q);
	if (rc < 0)
		return rc;
	return runs_read(q, &walk, ret);
}

static int
one_run(sqlite3_stmt *q, void *arg)
{
	json_t **run = arg;

	*run = run_object(q);
	return 1;
}

int
store_read_run(struct store_reading *r, const json_t *args, json_t **ret)
{
	const char *name = store_read_arg_text(args, "run");
	sqlite3_stmt *q = NULL;
	json_t *run = NULL;
	int rc;

	if (name == NULL)
		return -EINVAL;
	rc = store_db_stmt(r->db, RUN_COLUMNS "WHERE run = ?1", &q);
	if (rc < 0)
		return rc;
	sqlite3_bind_text(q, 1, name, -1, SQLITE_STATIC);
	rc = store_read_rows(q, one_run, &run);
	if (rc < 0)
		return rc;
	if (run == NULL)
		return -ENOENT;
	*ret = run;
	return 0;
}

#define RECORDS_MAX  100000
#define PAGE_BYTES   (2 * 1024 * 1024) /* of text; then the page is full */
#define COUNTERS_MAX 100000
#define IMPACTS_MAX  10000
#define CANARIES_MAX 10000
#define ACK_RUNS_MAX 10000

/* -ENOENT for a run that is not here. */
static int
run_id_of(sqlite3 *db, const char *run, int64_t *ret_id)
{
	sqlite3_stmt *q = NULL;
	int rc;

	if (run == NULL)
		return -EINVAL;
	rc = store_db_stmt(db, "SELECT id FROM run WHERE run = ?1", &q);
	if (rc < 0)
		return rc;
	sqlite3_bind_text(q, 1, run, -1, SQLITE_STATIC);
	rc = sqlite3_step(q);
	if (rc == SQLITE_ROW)
		*ret_id = sqlite3_column_int64(q, 0);
	sqlite3_finalize(q);
	return rc == SQLITE_DONE ? -ENOENT : store_db_errno(rc);
}

struct page {
	struct strbuf text; /* "{...},{...}" */
	int64_t count;
	int64_t last_seq;
	int64_t limit;
	int64_t bytes;
	int more; /* the page is full: there may be others */
};

static int
record_row(sqlite3_stmt *q, void *arg)
{
	struct page *page = arg;

	if (page->count >= page->limit ||
	    (int64_t)page->text.len_bytes >= page->bytes) {
		page->more = 1;
		return 1;
	}
	if (page->count > 0)
		strbuf_add(&page->text, ",", 1);
	store_record_text(&page->text, q, 1, 2);
	page->last_seq = sqlite3_column_int64(q, 0);
	page->count++;
	return 0;
}

static int
read_page(sqlite3 *db, const json_t *args, int64_t run_id, struct page *page)
{
	const char *probe = store_read_arg_text(args, "probe");
	sqlite3_stmt *q = NULL;
	int rc;

	page->last_seq = store_read_arg(args, "after_seq", 0, 0, INT64_MAX);
	rc = store_db_stmt(db,
	    "SELECT seq, body, hist FROM record WHERE run_id = ?1"
	    " AND seq > ?2 AND (?3 IS NULL OR probe = ?3) ORDER BY seq",
	    &q);
	if (rc < 0)
		return rc;
	sqlite3_bind_int64(q, 1, run_id);
	sqlite3_bind_int64(q, 2, page->last_seq);
	sqlite3_bind_text(q, 3, probe, -1, SQLITE_STATIC);
	return store_read_rows(q, record_row, page);
}

static json_t *
page_array(const struct page *page)
{
	struct strbuf whole = { 0 };
	json_t *list;

	strbuf_add(&whole, "[", 1);
	if (page->count > 0)
		strbuf_add(&whole, page->text.text, page->text.len_bytes);
	strbuf_add(&whole, "]", 1);
	list = json_loads(whole.text, 0, NULL);
	strbuf_clear(&whole);
	return list;
}

/* {run after_seq? probe? limit? text?}. text true: a page of at most about
 * PAGE_BYTES, {text count last_seq more}; else the array. */
int
store_read_records(struct store_reading *r, const json_t *args, json_t **ret)
{
	int as_text = json_is_true(json_object_get(args, "text"));
	struct page page = {
		.limit = store_read_arg(args, "limit", RECORDS_MAX, 1,
		    RECORDS_MAX),
		.bytes = as_text ? PAGE_BYTES : INT64_MAX,
	};
	int64_t run_id;
	json_t *result;
	int rc;

	rc = run_id_of(r->db, store_read_arg_text(args, "run"), &run_id);
	if (rc == 0)
		rc = read_page(r->db, args, run_id, &page);
	if (rc >= 0) {
		result = !as_text
		    ? page_array(&page)
		    : json_pack("{s:o,s:I,s:I,s:b}", "text",
			  json_stringn_nocheck(page.text.text != NULL
				  ? page.text.text
				  : "",
			      page.text.len_bytes),
			  "count", (json_int_t)page.count, "last_seq",
			  (json_int_t)page.last_seq, "more", page.more);
		rc = result != NULL ? 0 : -EIO;
		if (rc == 0)
			*ret = result;
	}
	strbuf_clear(&page.text);
	return rc;
}

static int
counters_row(sqlite3_stmt *q, void *list)
{
	json_t *row = json_object();

	json_object_set_new(row, "border",
	    json_integer(sqlite3_column_int64(q, 0)));
	json_object_set_new(row, "node", store_read_text(q, 1));
	json_object_set_new(row, "at_unix_ns",
	    json_integer(sqlite3_column_int64(q, 2)));
	json_object_set_new(row, "nics", store_read_json(q, 3));
	json_array_append_new(list, row);
	return json_array_size(list) >= COUNTERS_MAX;
}

int
store_read_counters(struct store_reading *r, const json_t *args, json_t **ret)
{
	sqlite3_stmt *q = NULL;
	int64_t run_id;
	json_t *list;
	int rc;

	rc = run_id_of(r->db, store_read_arg_text(args, "run"), &run_id);
	if (rc == 0)
		rc = store_db_stmt(r->db,
		    "SELECT border, node, at_unix_ns, nics FROM counters"
		    " WHERE run_id = ?1 ORDER BY border, node",
		    &q);
	if (rc < 0)
		return rc;
	sqlite3_bind_int64(q, 1, run_id);
	list = json_array();
	rc = store_read_rows(q, counters_row, list);
	if (rc < 0)
		json_decref(list);
	else
		*ret = list;
	return rc < 0 ? rc : 0;
}

static int
ack_row(sqlite3_stmt *q, void *arg)
{
	int64_t *seq = arg;

	if (sqlite3_column_int64(q, 0) != *seq + 1)
		return 1;
	(*seq)++;
	return 0;
}

/* Highest n such that 1..n are all here; 0 for an unknown run. */
static int
ack_of(sqlite3 *db, const char *run, int64_t *ret_seq)
{
	sqlite3_stmt *q = NULL;
	int64_t run_id, seq = 0;
	int rc;

	rc = run_id_of(db, run, &run_id);
	if (rc == 0)
		rc = store_db_stmt(db,
		    "SELECT seq FROM record WHERE run_id = ?1 ORDER BY seq",
		    &q);
	if (rc == 0) {
		sqlite3_bind_int64(q, 1, run_id);
		rc = store_read_rows(q, ack_row, &seq);
	}
	if (rc < 0 && rc != -ENOENT)
		return rc;
	*ret_seq = seq;
	return 0;
}

int
store_read_acks(struct store_reading *r, const json_t *args, json_t **ret)
{
	const json_t *runs = json_object_get(args, "runs"), *run;
	json_t *list;
	size_t i;

	if (!json_is_array(runs) || json_array_size(runs) > ACK_RUNS_MAX)
		return -EINVAL;
	list = json_array();
	json_array_foreach (runs, i, run) {
		int64_t seq = 0;
		int rc = ack_of(r->db, json_string_value(run), &seq);

		if (rc < 0) {
			json_decref(list);
			return rc;
		}
		json_array_append_new(list,
		    json_pack("{s:O,s:I}", "run", run, "seq", (json_int_t)seq));
	}
	*ret = list;
	return 0;
}

static int
impact_row(sqlite3_stmt *q, void *list)
{
	json_t *row = json_object();

	json_object_set_new(row, "at_unix_ns",
	    json_integer(sqlite3_column_int64(q, 0)));
	json_object_set_new(row, "run", store_read_text(q, 1));
	json_object_set_new(row, "created_unix_ns",
	    json_integer(sqlite3_column_int64(q, 8)));
	json_object_set_new(row, "campaign", store_read_text(q, 2));
	json_object_set_new(row, "test", store_read_text(q, 3));
	json_object_set_new(row, "of", store_read_text(q, 4));
	json_object_set_new(row, "value", store_read_real(q, 5));
	json_object_set_new(row, "interval",
	    json_pack("{s:o,s:o}", "lo", store_read_real(q, 6), "hi",
		store_read_real(q, 7)));
	return json_array_append_new(list, row) < 0 ? -ENOMEM : 0;
}

/* Newest first. */
int
store_read_impacts(struct store_reading *r, const json_t *args, json_t **ret)
{
	sqlite3_stmt *q = NULL;
	json_t *list;
	int rc;

	rc = store_db_stmt(r->db,
	    "SELECT d.at_unix_ns, run.run, run.campaign, d.test, d.of,"
	    " d.value, d.lo, d.hi, run.created_unix_ns"
	    " FROM record AS d"
	    " JOIN run ON run.id = d.run_id"
	    " WHERE d.probe = 'impact' AND d.at_unix_ns >= ?1"
	    " AND (?2 IS NULL OR run.campaign = ?2)"
	    " AND (?3 IS NULL OR d.test = ?3)"
	    " ORDER BY d.at_unix_ns DESC, d.id DESC LIMIT ?4",
	    &q);
	if (rc < 0)
		return rc;
	sqlite3_bind_int64(q, 1,
	    store_read_arg(args, "from_unix_ns", 0, 0, INT64_MAX));
	sqlite3_bind_text(q, 2, store_read_arg_text(args, "campaign"), -1,
	    SQLITE_STATIC);
	sqlite3_bind_text(q, 3, store_read_arg_text(args, "test"), -1,
	    SQLITE_STATIC);
	sqlite3_bind_int64(q, 4,
	    store_read_arg(args, "limit", 200, 1, IMPACTS_MAX));
	list = json_array();
	rc = store_read_rows(q, impact_row, list);
	if (rc < 0)
		json_decref(list);
	else
		*ret = list;
	return rc < 0 ? rc : 0;
}

static int
canary_row(sqlite3_stmt *q, void *list)
{
	static const char *const texts[] = { "run", "campaign", "test", "phase",
		"unit" };
	static const char *const reals[] = { "mean", "p50", "p99", "lo", "hi" };
	json_t *row = json_object();

	json_object_set_new(row, "at_unix_ns",
	    json_integer(sqlite3_column_int64(q, 0)));
	json_object_set_new(row, "n", json_integer(sqlite3_column_int64(q, 1)));
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		json_object_set_new(row, texts[i],
		    store_read_text(q, 2 + (int)i));
	for (size_t i = 0; i < ARRAY_LEN(reals); i++)
		json_object_set_new(row, reals[i],
		    store_read_real(q, 7 + (int)i));
	return json_array_append_new(list, row) < 0 ? -ENOMEM : 0;
}

static void
bind_canaries(sqlite3_stmt *q, const json_t *args)
{
	static const char *const texts[] = { "campaign", "test", "phase" };

	sqlite3_bind_int64(q, 1,
	    store_read_arg(args, "from_unix_ns", 0, 0, INT64_MAX));
	sqlite3_bind_int64(q, 2,
	    store_read_arg(args, "to_unix_ns", INT64_MAX, 0, INT64_MAX));
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		sqlite3_bind_text(q, 3 + (int)i,
		    store_read_arg_text(args, texts[i]), -1, SQLITE_STATIC);
	sqlite3_bind_int64(q, 6,
	    store_read_arg(args, "limit", 1000, 1, CANARIES_MAX));
}

/* Newest first. The headline's interval is lo and hi. Second passes are of
 * six nodes, one of them slow: they are asked for by name only. */
int
store_read_canaries(struct store_reading *r, const json_t *args, json_t **ret)
{
	sqlite3_stmt *q = NULL;
	json_t *list;
	int rc;

	rc = store_db_stmt(r->db,
	    "SELECT d.at_unix_ns, d.n, run.run, run.campaign, d.test, d.phase,"
	    " d.unit, d.mean, d.p50, d.p99, d.lo, d.hi FROM record AS d"
	    " JOIN run ON run.id = d.run_id WHERE d.probe = 'canary'"
	    " AND d.at_unix_ns >= ?1 AND d.at_unix_ns < ?2"
	    " AND (?3 IS NULL AND run.campaign <> '" NAMES_PASS_CAMPAIGN "'"
	    " OR run.campaign = ?3) AND (?4 IS NULL OR d.test = ?4)"
	    " AND (?5 IS NULL OR d.phase = ?5)"
	    " ORDER BY d.at_unix_ns DESC, d.id DESC LIMIT ?6",
	    &q);
	if (rc < 0)
		return rc;
	bind_canaries(q, args);
	list = json_array();
	rc = store_read_rows(q, canary_row, list);
	if (rc < 0)
		json_decref(list);
	else
		*ret = list;
	return rc < 0 ? rc : 0;
}
