/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_ask_data.c - records: the records of a run, the number up to which all
 * are stored, and the nodes that appear in the newest ones.
 *
 * They are read as text and only parsed for callers that want objects: the HTTP
 * interface passes them on unchanged, page by page.
 */
#include <errno.h>
#include <string.h>

#include "common/log.h"
#include "common/member.h"
#include "common/str.h"
#include "daemon/store/store_db.h"
#include "daemon/store/store_record.h"
#include "schema/names_run.h"
#include "schema/scores.h"

#define RECORDS_MAX  100000
#define PAGE_BYTES   (2 * 1024 * 1024) /* of text; then the page is full */
#define ACK_RUNS_MAX 10000
/* Canary records that are read. Light campaigns cover a large cluster in fewer,
 * and their records are short; if records are long, each covers many nodes. */
#define HEARD_MAX       1000
#define HEARD_BYTES_MAX (4 * 1024 * 1024) /* as stored */
/* Each covers all nodes. */
#define HEARD_EPOCHS_MAX 4

int
store_read_run_id(struct sql *db, const json_t *run, int64_t *ret_id)
{
	struct sql_stmt *q = NULL;
	int rc;

	if (!json_is_string(run))
		return -EINVAL;
	rc = sql_prepare(db, "SELECT id FROM run WHERE run = ?1", &q);
	if (rc < 0)
		return rc;
	sql_bind_text(q, 1, json_string_value(run));
	rc = store_read_row(q);
	if (rc > 0)
		*ret_id = sql_column_int(q, 0);
	sql_finalize(q);
	return rc == 0 ? -ENOENT : rc < 0 ? rc : 0;
}

struct page {
	struct strbuf text; /* "{...},{...}" */
	int64_t count;
	int64_t last_seq;
	const char *run;
	int64_t limit;
	int64_t bytes;
	int more; /* the page is full: there may be more */
};

static int
store_ask_data_record_row(struct sql_stmt *q, void *arg)
{
	struct page *page = arg;

	if (page->count >= page->limit ||
	    (int64_t)page->text.len_bytes >= page->bytes) {
		page->more = 1;
		return 1;
	}
	page->last_seq = sql_column_int(q, 0);
	if (page->count > 0)
		strbuf_add(&page->text, ",", 1);
	if (store_record_text(&page->text, q, 1, 2, 3) == 0) {
		page->count++;
		return 0;
	}
	if (page->count > 0)
		page->text.text[--page->text.len_bytes] = '\0';
	log_warnx("store: record %lld of run %s is damaged and skipped",
	    (long long)page->last_seq, page->run);
	return 0;
}

/* Read {run after_seq? probe? limit? text?}. text true: a page of at most about
 * PAGE_BYTES, {text count last_seq more}; else the array. */
int
store_read_records(struct store_reading *r, const json_t *args, json_t **ret)
{
	int as_text = json_is_true(json_object_get(args, "text"));
	struct page page = {
		.run = member_text(args, "run"),
		.last_seq = store_read_arg(args, "after_seq", 0, 0, INT64_MAX),
		.limit = store_read_arg(args, "limit", RECORDS_MAX, 1,
		    RECORDS_MAX),
		.bytes = as_text ? PAGE_BYTES : INT64_MAX,
	};
	struct sql_stmt *q = NULL;
	json_t *result = NULL;
	int64_t run_id;
	int rc;

	rc = store_read_run_id(r->db, json_object_get(args, "run"), &run_id);
	if (rc == 0)
		rc = sql_prepare(r->db,
		    "SELECT seq, body, hist, crc FROM record WHERE run_id = ?1"
		    " AND seq > ?2 AND (?3 IS NULL OR probe = ?3) ORDER BY seq",
		    &q);
	if (rc < 0)
		return rc;
	sql_bind_int(q, 1, run_id);
	sql_bind_int(q, 2, page.last_seq);
	sql_bind_text(q, 3, member_text_or(args, "probe", NULL));
	strbuf_add(&page.text, "[", as_text ? 0 : 1);
	rc = store_read_rows(q, store_ask_data_record_row, &page);
	strbuf_add(&page.text, "]", as_text ? 0 : 1);
	if (rc >= 0 && !as_text)
		result = json_loads(page.text.text, 0, NULL);
	else if (rc >= 0)
		result = json_pack("{s:o,s:I,s:I,s:b}", "text",
		    json_stringn_nocheck(page.text.text, page.text.len_bytes),
		    "count", (json_int_t)page.count, "last_seq",
		    (json_int_t)page.last_seq, "more", page.more);
	strbuf_clear(&page.text);
	if (result == NULL)
		return rc < 0 ? rc : -EIO;
	*ret = result;
	return 0;
}

static int
store_ask_data_ack_row(struct sql_stmt *q, void *arg)
{
	int64_t *seq = arg;

	if (sql_column_int(q, 0) != *seq + 1)
		return 1;
	(*seq)++;
	return 0;
}

/* Highest n such that records 1..n are all stored; 0 for an unknown run. */
int
store_read_acks(struct store_reading *r, const json_t *args, json_t **ret)
{
	json_t *runs = json_object_get(args, "runs"), *list, *run;
	size_t i;

	if (!json_is_array(runs) || json_array_size(runs) > ACK_RUNS_MAX)
		return -EINVAL;
	list = json_array();
	json_array_foreach (runs, i, run) {
		int64_t run_id, seq = 0;
		struct sql_stmt *q = NULL;
		int rc = store_read_run_id(r->db, run, &run_id);

		if (rc == 0)
			rc = sql_prepare(r->db,
			    "SELECT seq FROM record WHERE run_id = ?1"
			    " ORDER BY seq",
			    &q);
		if (rc == 0) {
			sql_bind_int(q, 1, run_id);
			rc = store_read_rows(q, store_ask_data_ack_row, &seq);
		}
		if (rc < 0 && rc != -ENOENT) {
			json_decref(list);
			return rc;
		}
		json_array_append_new(list,
		    json_pack("{s:O,s:I}", "run", run, "seq", (json_int_t)seq));
	}
	*ret = list;
	return 0;
}

static void
store_ask_data_put_heard(json_t *heard, const json_t *record, const char *key,
    int64_t at_unix_ns)
{
	struct record_scores all;

	record_scores_read(record, key, &all);
	for (size_t i = 0; i < all.count; i++)
		if (json_integer_value(
			json_object_get(heard, all.list[i].node)) < at_unix_ns)
			json_object_set_new(heard, all.list[i].node,
			    json_integer(at_unix_ns));
	record_scores_clear(&all);
}

struct heard {
	json_t *nodes; /* name: time */
	int64_t bytes; /* of bodies, as stored */
};

/* Tests in seconds and tests in rates have a node's values in different
 * members. */
static int
store_ask_data_heard_row(struct sql_stmt *q, void *arg)
{
	struct heard *heard = arg;
	json_t *record = store_read_json(q, 1);

	store_ask_data_put_heard(heard->nodes, record, "q25",
	    sql_column_int(q, 0));
	store_ask_data_put_heard(heard->nodes, record, "q75",
	    sql_column_int(q, 0));
	json_decref(record);
	heard->bytes += (int64_t)sql_column(q, 1).len_bytes;
	return heard->bytes >= HEARD_BYTES_MAX;
}

/* Rounds that the diagnosis would judge, newest first; before them the mesh,
 * whose records cover all nodes. */
static const struct heard_rounds {
	const char *sql; /* ?1 since, ?2 rows */
	int rows_max;
} heard_rounds[] = {
	{ "SELECT at_unix_ns, body FROM record WHERE raw = 2 AND probe = 'mesh'"
	  " AND at_unix_ns >= ?1 ORDER BY at_unix_ns DESC LIMIT ?2",
	    HEARD_EPOCHS_MAX },
	{ "SELECT at_unix_ns, body FROM record WHERE probe = 'canary'"
	  " AND at_unix_ns >= ?1 AND (phase IS NULL OR phase <> 'congested')"
	  " AND run_id NOT IN (SELECT id FROM run"
	  " WHERE campaign = '" NAMES_PASS_CAMPAIGN "')"
	  " ORDER BY at_unix_ns DESC LIMIT ?2",
	    HEARD_MAX },
};

/* After a timeout, the nodes that were found so far are returned. */
int
store_read_heard(struct store_reading *r, const json_t *args, json_t **ret)
{
	int64_t since = store_read_arg(args, "since_unix_ns", 0, 0, INT64_MAX);
	json_t *nodes = json_object();
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < ARRAY_LEN(heard_rounds); i++) {
		struct heard heard = { nodes, 0 };
		struct sql_stmt *q = NULL;

		rc = sql_prepare(r->db, heard_rounds[i].sql, &q);
		if (rc < 0)
			break;
		sql_bind_int(q, 1, since);
		sql_bind_int(q, 2, heard_rounds[i].rows_max);
		rc = store_read_rows(q, store_ask_data_heard_row, &heard);
	}
	if (rc < 0 && rc != -ETIMEDOUT) {
		json_decref(nodes);
		return rc;
	}
	*ret = nodes;
	return 0;
}
