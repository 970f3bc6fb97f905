/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_roll.c - reduce old records. Lists of nodes and pairs are nearly all of
 * a record, and background campaigns produce them every few minutes. Later only
 * the headline and the histogram are needed, so only these are kept. A record
 * of the mesh is merged into the first one of its hour, class and run:
 * histograms are merged, which is exact, and quantiles are computed again.
 * Exclusive runs are few and serve as references: they are kept completely.
 */

#include <stdlib.h>
#include <string.h>

#include "daemon/store/store_roll.h"
#include "common/clk.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "common/log.h"
#include "common/member.h"
#include "daemon/store/store_db.h"
#include "daemon/store/store_record.h"
#include "schema/record.h"

#define BLANKS  " \t\r\n"
#define HOUR_NS (3600 * (int64_t)CLK_NS_PER_S)

struct row {
	int64_t id; /* 0: no row */
	int64_t run_id;
	int64_t at_unix_ns;
	json_t *record; /* without its lists; NULL: the record is not reduced */
};

/* Return the end of a value: of a string, a list, an object, or a plain
 * word. */
static char *
store_roll_value_end(char *p)
{
	int depth = 0, quoted = 0;

	for (; *p != '\0'; p++) {
		if (quoted) {
			if (*p == '\\' && p[1] != '\0')
				p++;
			else if (*p == '"')
				quoted = 0;
		} else if (*p == '"') {
			quoted = 1;
		} else if (*p == '[' || *p == '{') {
			depth++;
		} else if (depth == 0 && (*p == ',' || *p == '}')) {
			break;
		} else if (*p == ']' || *p == '}') {
			depth--;
		}
	}
	return p;
}

/* Cut the removed members out of the text: parsing megabytes of lists only to
 * drop them would block the writer for a tenth of a second. */
static void
store_roll_cut(char *text)
{
	static const char *const gone[] = { "nodes", "pairs", "grid", "reports",
		"seed" };
	char *from = text, *to = text;

	if (*from == '{')
		*to++ = *from++;
	from += strspn(from, BLANKS);
	while (*from == '"') {
		size_t key_len = strcspn(from + 1, "\"");
		char *end = store_roll_value_end(from);
		size_t len = (size_t)(end - from);
		int goes = 0;

		for (size_t i = 0; i < ARRAY_LEN(gone); i++)
			goes |= strlen(gone[i]) == key_len &&
			    memcmp(gone[i], from + 1, key_len) == 0;
		if (!goes) {
			if (to > text + 1)
				*to++ = ',';
			memmove(to, from, len);
			to += len;
		}
		from = *end == ',' ? end + 1 : end;
		from += strspn(from, BLANKS);
	}
	memmove(to, from, strlen(from) + 1);
}

/* Return the record without the removed members. */
static json_t *
store_roll_record_of(struct sql_stmt *q, int body)
{
	struct strbuf text = { 0 };
	json_t *record;

	if (store_record_text(&text, q, body, body + 1, body + 2) < 0) {
		log_warnx("store: a damaged record is skipped in the daily "
			  "summaries: see coalctl db check");
		return json_object();
	}
	store_roll_cut(text.text);
	record = json_loads(text.text, 0, NULL);
	strbuf_clear(&text);
	return record != NULL ? record : json_object();
}

static int
store_roll_oldest_get(struct sql *db, int64_t before_unix_ns, struct row *ret)
{
	struct sql_stmt *q = NULL;
	int rc = sql_prepare(db,
	    "SELECT d.id, d.run_id, d.at_unix_ns, d.body, d.hist, d.crc,"
	    " run.body"
	    " FROM record AS d JOIN run ON run.id = d.run_id"
	    " WHERE d.raw = 2 AND d.at_unix_ns < ?1"
	    " ORDER BY d.at_unix_ns LIMIT 1",
	    &q);

	if (rc < 0)
		return rc;
	sql_bind_int(q, 1, before_unix_ns);
	rc = sql_step(q);
	if (rc > 0) {
		json_t *run = store_read_json(q, 6);

		ret->id = sql_column_int(q, 0);
		ret->run_id = sql_column_int(q, 1);
		ret->at_unix_ns = sql_column_int(q, 2);
		if (strcmp(member_text(run, "class"), "background") == 0)
			ret->record = store_roll_record_of(q, 3);
		json_decref(run);
	}
	sql_finalize(q);
	return rc < 0 ? rc : 0;
}

/* Find the rolled-up record of the same hour, if it exists. */
static int
store_roll_hour_get(struct sql *db, const struct row *of, struct row *ret)
{
	int64_t hour_unix_ns = of->at_unix_ns - of->at_unix_ns % HOUR_NS;
	struct sql_stmt *q = NULL;
	int rc = sql_prepare(db,
	    "SELECT id, body, hist, crc FROM record WHERE run_id = ?1"
	    " AND raw = 0 AND probe = 'mesh' AND test = ?2"
	    " AND at_unix_ns >= ?3 AND at_unix_ns < ?4 LIMIT 1",
	    &q);

	if (rc < 0)
		return rc;
	sql_bind_int(q, 1, of->run_id);
	sql_bind_text(q, 2, member_text(of->record, "test"));
	sql_bind_int(q, 3, hour_unix_ns);
	sql_bind_int(q, 4, hour_unix_ns + HOUR_NS);
	rc = sql_step(q);
	if (rc > 0) {
		ret->id = sql_column_int(q, 0);
		ret->record = store_roll_record_of(q, 1);
	}
	sql_finalize(q);
	return rc < 0 ? rc : 0;
}

static void
store_roll_hist_of(const json_t *record, struct hist *ret)
{
	if (record_hist_read(record, NULL, ret) < 0)
		hist_clear(ret);
}

/* Add the counters and merge the histograms of two records. */
static void
store_roll_mesh_merge(json_t *into, const json_t *from)
{
	static const char *const counts[] = { "lost", "unknown", "unsent",
		"rolled" };
	struct hist *h = xcalloc(2, sizeof(*h));

	for (size_t i = 0; i < ARRAY_LEN(counts); i++)
		json_object_set_new(into, counts[i],
		    json_integer(member_int(into, counts[i]) +
			member_int(from, counts[i])));
	store_roll_hist_of(into, &h[0]);
	store_roll_hist_of(from, &h[1]);
	hist_merge(&h[0], &h[1]);
	record_put_hist(into, &h[0]);
	if (h[0].count > 0)
		json_object_del(into, "cause");
	free(h);
}

static int
store_roll_update(struct sql *db, int64_t id, const json_t *record)
{
	struct hist *scratch = xcalloc(1, sizeof(*scratch));
	struct sql_stmt *q = NULL;
	char *sql = store_record_update(db);
	int64_t rows;
	int rc = sql_prepare(db, sql, &q);

	free(sql);
	if (rc == 0) {
		sql_bind_int(q, 1, id);
		store_record_bind(q, record, NULL, 0, scratch);
		rows = sql_run_now(q);
		rc = rows < 0 ? (int)rows : 0;
		sql_finalize(q);
	}
	free(scratch);
	return rc;
}

/* Merge into the record of its hour, or become the first one. */
static int
store_roll_mesh_roll(struct sql *db, const struct row *row)
{
	struct row hour = { 0 };
	int rc = store_roll_hour_get(db, row, &hour);
	char sql[160];

	if (rc == 0 && hour.id == 0) {
		rc = store_roll_update(db, row->id, row->record);
	} else if (rc == 0) {
		store_roll_mesh_merge(hour.record, row->record);
		rc = store_roll_update(db, hour.id, hour.record);
		snprintf(sql, sizeof(sql),
		    "DELETE FROM record WHERE id = %lld;"
		    "UPDATE run SET records = records - 1 WHERE id = %lld",
		    (long long)row->id, (long long)row->run_id);
		if (rc == 0)
			rc = sql_exec(db, sql);
	}
	json_decref(hour.record);
	return rc;
}

int
store_roll_one(struct sql *db, uint64_t before_unix_ns)
{
	struct row row = { 0 };
	int rc = store_roll_oldest_get(db, (int64_t)before_unix_ns, &row);
	char keep[80];

	if (rc < 0 || row.id == 0)
		return rc;
	snprintf(keep, sizeof(keep),
	    "UPDATE record SET raw = 0 WHERE id = %lld", (long long)row.id);
	if (row.record != NULL)
		json_object_set_new(row.record, "rolled", json_integer(1));
	rc = db->engine->begin(db, 0);
	if (rc == 0) {
		if (row.record == NULL)
			rc = sql_exec(db, keep);
		else if (strcmp(member_text(row.record, "probe"), "mesh") == 0)
			rc = store_roll_mesh_roll(db, &row);
		else
			rc = store_roll_update(db, row.id, row.record);
		if (rc == 0)
			rc = db->engine->commit(db);
		if (rc < 0)
			db->engine->rollback(db);
	}
	json_decref(row.record);
	return rc < 0 ? rc : 1;
}
