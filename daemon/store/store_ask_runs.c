/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_ask_runs.c - runs, as they were put, with their count of records.
 */
#include <errno.h>
#include <string.h>

#include "common/hostlist.h"
#include "daemon/store/store_read.h"

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
