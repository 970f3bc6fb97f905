/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_ask_verdicts.c - what was said of nodes and leaves, and baselines.
 */
#include <errno.h>

#include "common/str.h"
#include "daemon/store/store_read.h"
#include "schema/names.h"
#include "schema/scores.h"

#define VERDICTS_MAX  10000
#define BASELINES_MAX 1000
/* Of canaries. Light campaigns go round a large cluster in fewer, and their
 * records are short; where records are long, a few tell of all nodes. */
#define HEARD_MAX       1000
#define HEARD_BYTES_MAX (4 * 1024 * 1024) /* as stored */
/* Each is of all nodes. */
#define HEARD_EPOCHS_MAX 4

static int
verdict_row(sqlite3_stmt *q, void *list)
{
	json_t *row = store_read_json(q, 2);

	if (!json_is_object(row)) {
		json_decref(row);
		row = json_object();
	}
	json_object_set_new(row, "id",
	    json_integer(sqlite3_column_int64(q, 0)));
	json_object_set_new(row, "at_unix_ns",
	    json_integer(sqlite3_column_int64(q, 1)));
	return json_array_append_new(list, row) < 0 ? -ENOMEM : 0;
}

static int
rows(sqlite3_stmt *q, int (*one)(sqlite3_stmt *, void *), json_t **ret)
{
	json_t *list = json_array();
	int rc = store_read_rows(q, one, list);

	if (rc < 0)
		json_decref(list);
	else
		*ret = list;
	return rc < 0 ? rc : 0;
}

int
store_read_verdicts(struct store_reading *r, const json_t *args, json_t **ret)
{
	int open = json_is_true(json_object_get(args, "open"));
	sqlite3_stmt *q = NULL;
	int rc;

	rc = store_db_stmt(r->db,
	    open ? "SELECT max(id), at_unix_ns, body FROM verdict"
		   " GROUP BY kind, subject"
		   " HAVING verdict IN ('warn', 'bad') LIMIT ?3"
		 : "SELECT id, at_unix_ns, body FROM verdict"
		   " WHERE (?1 IS NULL OR kind = ?1)"
		   " AND (?2 IS NULL OR subject = ?2)"
		   " ORDER BY id DESC LIMIT ?3",
	    &q);
	if (rc < 0)
		return rc;
	if (!open) {
		sqlite3_bind_text(q, 1, store_read_arg_text(args, "kind"), -1,
		    SQLITE_STATIC);
		sqlite3_bind_text(q, 2, store_read_arg_text(args, "subject"),
		    -1, SQLITE_STATIC);
	}
	sqlite3_bind_int64(q, 3,
	    store_read_arg(args, "limit", open ? VERDICTS_MAX : 100, 1,
		VERDICTS_MAX));
	return rows(q, verdict_row, ret);
}

static int
baseline_row(sqlite3_stmt *q, void *list)
{
	json_t *row = json_object();

	json_object_set_new(row, "name", store_read_text(q, 0));
	json_object_set_new(row, "at_unix_ns",
	    json_integer(sqlite3_column_int64(q, 1)));
	if (sqlite3_column_type(q, 2) != SQLITE_NULL)
		json_object_set_new(row, "body", store_read_json(q, 2));
	return json_array_append_new(list, row) < 0 ? -ENOMEM : 0;
}

int
store_read_baselines(struct store_reading *r, const json_t *args, json_t **ret)
{
	const char *name = store_read_arg_text(args, "name");
	sqlite3_stmt *q = NULL;
	int rc;

	rc = store_db_stmt(r->db,
	    "SELECT name, at_unix_ns, CASE WHEN ?1 IS NULL THEN NULL"
	    " ELSE body END FROM baseline WHERE ?1 IS NULL OR name = ?1"
	    " ORDER BY name LIMIT ?2",
	    &q);
	if (rc < 0)
		return rc;
	sqlite3_bind_text(q, 1, name, -1, SQLITE_STATIC);
	sqlite3_bind_int64(q, 2, BASELINES_MAX);
	return rows(q, baseline_row, ret);
}

static void
put_heard(json_t *heard, const json_t *record, const char *key,
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
	json_t *nodes; /* name: when */
	int64_t bytes; /* of bodies, as stored */
};

/* Seconds and rates tell of a node in different members. */
static int
heard_row(sqlite3_stmt *q, void *arg)
{
	struct heard *heard = arg;
	json_t *record = store_read_json(q, 1);

	put_heard(heard->nodes, record, "q25", sqlite3_column_int64(q, 0));
	put_heard(heard->nodes, record, "q75", sqlite3_column_int64(q, 0));
	json_decref(record);
	heard->bytes += sqlite3_column_bytes(q, 1);
	return heard->bytes >= HEARD_BYTES_MAX;
}

/* Rounds that the diagnosis would judge, newest first; before them the mesh,
 * which tells of all nodes in a row. */
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

static int
read_rounds(sqlite3 *db, const struct heard_rounds *rounds, int64_t since,
    json_t *nodes)
{
	struct heard heard = { nodes, 0 };
	sqlite3_stmt *q = NULL;
	int rc = store_db_stmt(db, rounds->sql, &q);

	if (rc < 0)
		return rc;
	sqlite3_bind_int64(q, 1, since);
	sqlite3_bind_int(q, 2, rounds->rows_max);
	return store_read_rows(q, heard_row, &heard);
}

/* Whoever was found before the time was over is still heard. */
int
store_read_heard(struct store_reading *r, const json_t *args, json_t **ret)
{
	int64_t since = store_read_arg(args, "since_unix_ns", 0, 0, INT64_MAX);
	json_t *nodes = json_object();
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < ARRAY_LEN(heard_rounds); i++)
		rc = read_rounds(r->db, &heard_rounds[i], since, nodes);
	if (rc < 0 && rc != -ETIMEDOUT) {
		json_decref(nodes);
		return rc;
	}
	*ret = nodes;
	return 0;
}
