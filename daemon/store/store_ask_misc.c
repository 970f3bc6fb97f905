/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_ask_misc.c - events, nodes, settings, verdicts, baselines; backup and
 * integrity; what all answers share.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/log.h"
#include "common/str.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "daemon/store/store_db.h"
#include "schema/names.h"
#include "schema/scores.h"

#define EVENTS_MAX      1000
#define CHECK_ERRORS    10
#define BACKUP_PAGES    200 /* of one step; the writer may go on between */
#define BACKUP_PAUSE_NS (5 * CLK_NS_PER_MS)

json_t *
store_read_text(sqlite3_stmt *q, int column)
{
	const char *value = (const char *)sqlite3_column_text(q, column);

	return value != NULL ? json_string(value) : json_null();
}

json_t *
store_read_json(sqlite3_stmt *q, int column)
{
	char *text = store_pack_column(q, column);
	json_t *v = text != NULL ? json_loads(text, JSON_DECODE_ANY, NULL)
				 : NULL;

	free(text);
	return v != NULL ? v : json_null();
}

json_t *
store_read_real(sqlite3_stmt *q, int column)
{
	return sqlite3_column_type(q, column) == SQLITE_NULL
	    ? json_null()
	    : json_real(sqlite3_column_double(q, column));
}

int64_t
store_read_arg(const json_t *args, const char *key, int64_t fallback,
    int64_t lo, int64_t hi)
{
	const json_t *v = json_object_get(args, key);
	int64_t value = json_is_integer(v) ? json_integer_value(v) : fallback;

	return value < lo ? lo : value > hi ? hi : value;
}

const char *
store_read_arg_text(const json_t *args, const char *key)
{
	return json_string_value(json_object_get(args, key));
}

int
store_read_rows(sqlite3_stmt *q, int (*one)(sqlite3_stmt *, void *), void *arg)
{
	int rc = 0, step;

	for (step = sqlite3_step(q); step == SQLITE_ROW && rc == 0;
	     step = rc == 0 ? sqlite3_step(q) : SQLITE_DONE)
		rc = one(q, arg);
	if (rc >= 0)
		rc = store_db_errno(step);
	if (rc < 0)
		log_warnx("store: read: %s",
		    step == SQLITE_DONE ? strerror(-rc)
					: sqlite3_errmsg(sqlite3_db_handle(q)));
	sqlite3_finalize(q);
	return rc;
}

/* An array that rows append to, handed over when all went well. */
static int
rows_to_array(sqlite3_stmt *q, int (*one)(sqlite3_stmt *, void *), json_t **ret)
{
	json_t *list = json_array();
	int rc = store_read_rows(q, one, list);

	if (rc < 0)
		json_decref(list);
	else
		*ret = list;
	return rc;
}

static int
event_row(sqlite3_stmt *q, void *list)
{
	json_t *event = json_object();

	json_object_set_new(event, "id",
	    json_integer(sqlite3_column_int64(q, 0)));
	json_object_set_new(event, "at_unix_ns",
	    json_integer(sqlite3_column_int64(q, 1)));
	json_object_set_new(event, "kind", store_read_text(q, 2));
	json_object_set_new(event, "subject", store_read_text(q, 3));
	json_object_set_new(event, "text", store_read_text(q, 4));
	return json_array_append_new(list, event) < 0 ? -ENOMEM : 0;
}

/* Ascending. Without after_id the newest ones, so that "events" alone shows
 * what just happened. */
int
store_read_events(struct store_reading *r, const json_t *args, json_t **ret)
{
	const char *kind = store_read_arg_text(args, "kind");
	sqlite3_stmt *q = NULL;
	int rc;

	rc = store_db_stmt(r->db,
	    json_object_get(args, "after_id") != NULL
		? "SELECT id, at_unix_ns, kind, subject, text FROM event"
		  " WHERE id > ?1 AND (?3 IS NULL OR kind = ?3) ORDER BY id "
		  "LIMIT ?2"
		: "SELECT * FROM (SELECT id, at_unix_ns, kind, subject, text"
		  " FROM event WHERE id > ?1 AND (?3 IS NULL OR kind = ?3)"
		  " ORDER BY id DESC LIMIT ?2) ORDER BY id",
	    &q);
	if (rc < 0)
		return rc;
	sqlite3_bind_int64(q, 1,
	    store_read_arg(args, "after_id", 0, 0, INT64_MAX));
	sqlite3_bind_int64(q, 2,
	    store_read_arg(args, "limit", 100, 1, EVENTS_MAX));
	sqlite3_bind_text(q, 3, kind, -1, SQLITE_STATIC);
	return rows_to_array(q, event_row, ret);
}

static int
node_row(sqlite3_stmt *q, void *list)
{
	return json_array_append_new(list, store_read_json(q, 0)) < 0 ? -ENOMEM
								      : 0;
}

int
store_read_nodes(struct store_reading *r, const json_t *args, json_t **ret)
{
	sqlite3_stmt *q = NULL;
	int rc;

	(void)args;
	rc = store_db_stmt(r->db, "SELECT body FROM node ORDER BY node", &q);
	return rc < 0 ? rc : rows_to_array(q, node_row, ret);
}

static int
setting_row(sqlite3_stmt *q, void *object)
{
	const char *key = (const char *)sqlite3_column_text(q, 0);

	return json_object_set_new(object, key != NULL ? key : "",
		   store_read_text(q, 1)) < 0
	    ? -ENOMEM
	    : 0;
}

int
store_read_settings(struct store_reading *r, const json_t *args, json_t **ret)
{
	json_t *object = json_object();
	sqlite3_stmt *q = NULL;
	int rc;

	(void)args;
	rc = store_db_stmt(r->db, "SELECT key, value FROM setting ORDER BY key",
	    &q);
	if (rc == 0)
		rc = store_read_rows(q, setting_row, object);
	if (rc < 0)
		json_decref(object);
	else
		*ret = object;
	return rc;
}

static int
copy_pages(struct store_reading *r, sqlite3 *to)
{
	sqlite3_backup *b = sqlite3_backup_init(to, "main", r->db, "main");
	int rc;

	if (b == NULL)
		return store_db_errno(sqlite3_errcode(to));
	do {
		rc = sqlite3_backup_step(b, BACKUP_PAGES);
		if (atomic_load(r->stopping))
			rc = SQLITE_INTERRUPT;
		else if (rc == SQLITE_BUSY || rc == SQLITE_LOCKED)
			clk_sleep_ns(BACKUP_PAUSE_NS);
	} while (rc == SQLITE_OK || rc == SQLITE_BUSY || rc == SQLITE_LOCKED);
	sqlite3_backup_finish(b);
	return store_db_errno(rc);
}

/* Not over what is there, and never half of it: a temporary gets its name
 * when it is whole. */
static int
backup_to(struct store_reading *r, const char *path, const char *temporary)
{
	sqlite3 *to = NULL;
	int rc, fd;

	fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	close(fd);
	rc = store_db_errno(sqlite3_open_v2(temporary, &to,
	    SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL));
	if (rc == 0)
		rc = copy_pages(r, to);
	/* A copy that needs no -wal and -shm beside it. */
	if (rc == 0)
		rc = store_db_exec(to, "PRAGMA journal_mode=DELETE");
	sqlite3_close(to);
	if (rc == 0 && link(temporary, path) < 0)
		rc = -errno;
	unlink(temporary);
	return rc;
}

int
store_read_backup(struct store_reading *r, const json_t *args, json_t **ret)
{
	const char *path = store_read_arg_text(args, "path");
	uint64_t began_ns = clk_ns();
	char *temporary;
	int rc;

	if (path == NULL || path[0] != '/')
		return -EINVAL;
	temporary = xasprintf("%s.part-%d", path, (int)getpid());
	rc = backup_to(r, path, temporary);
	free(temporary);
	if (rc < 0) {
		log_warnx("store: backup to %s: %s", path, strerror(-rc));
		return rc;
	}
	*ret = json_pack("{s:b,s:s,s:f}", "ok", 1, "path", path, "seconds",
	    (double)(clk_ns() - began_ns) / 1e9);
	return 0;
}

static int
check_row(sqlite3_stmt *q, void *arg)
{
	char **text = arg, *more;
	const char *line = (const char *)sqlite3_column_text(q, 0);

	more = xasprintf("%s%s%s", *text, **text != '\0' ? "; " : "",
	    line != NULL ? line : "?");
	free(*text);
	*text = more;
	return 0;
}

int
store_read_check(struct store_reading *r, const json_t *args, json_t **ret)
{
	char *text = xstrdup("");
	sqlite3_stmt *q = NULL;
	int rc;

	(void)args;
	rc = store_db_stmt(r->db, "PRAGMA integrity_check(10)", &q);
	if (rc == 0)
		rc = store_read_rows(q, check_row, &text);
	/* A store too broken to be checked has been checked. */
	if (rc == 0 || rc == -EBADMSG) {
		*ret = json_pack("{s:b,s:o}", "ok",
		    rc == 0 && strcmp(text, "ok") == 0, "text",
		    text_json(rc == 0 ? text : "the file is damaged"));
		rc = 0;
	}
	free(text);
	return rc;
}

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
