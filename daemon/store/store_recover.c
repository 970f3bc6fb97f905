/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_recover.c - find the table of each row in a damaged file, and check the
 * row. A page that the file's trees still reach belongs to their table; the
 * rows of any other page are recognized by their columns.
 */
#include "daemon/store/store_recover.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/str.h"
#include "common/utf8.h"
#include "common/xalloc.h"
#include "daemon/store/store_db.h"
#include "daemon/store/store_pages.h"
#include "daemon/store/store_record.h"
#include "schema/names_verdict.h"

#define BATCH_ROWS 1000
#define ROOT       1 /* root page of the table of tables */

/* A baseline's body is {run, tests}; a node's body has no tests. */
static int
store_recover_is_baseline(const struct store_pages_row *row)
{
	char *text = store_pack_text(&row->columns[2]);
	json_t *body = text != NULL ? json_loads(text, 0, NULL) : NULL;
	int is_one = json_object_get(body, "tests") != NULL;

	json_decref(body);
	free(text);
	return is_one;
}

/* An inventory's body is an object, or packed; a setting's value is a word. */
static int
store_recover_is_inventory(const struct store_pages_row *row)
{
	const struct sql_value *v = &row->columns[1];
	const char *text = v->bytes;

	return v->type == SQL_BLOB ||
	    (v->type == SQL_TEXT && v->len_bytes > 0 && text[0] == '{');
}

/* A verdict has its word in the column where an event has its text. */
static int
store_recover_is_verdict(const struct store_pages_row *row)
{
	const struct sql_value *v = &row->columns[4];
	char *word = xstrndup(v->bytes, v->len_bytes);
	int at = STR_FIND(names_verdicts, word);

	free(word);
	return at >= 0;
}

/* In the order in which rows without a tree are compared with the tables. */
static const struct table {
	const char *name;
	const char *body; /* column with JSON, or NULL */
	/* For tables whose rows look alike: returns 1 if the row belongs to
	 * this table. */
	int (*is_one)(const struct store_pages_row *row);
} tables[] = {
	{ "node_inventory", "body", store_recover_is_inventory },
	{ "setting", NULL, NULL },
	{ "baseline", "body", store_recover_is_baseline },
	{ "node", "body", NULL },
	{ "run", "body", NULL },
	{ "record", "body", NULL },
	{ "counters", "nics", NULL },
	{ "verdict", "body", store_recover_is_verdict },
	{ "event", "body", NULL },
	{ "topology", "body", NULL },
	{ "job", "body", NULL },
	{ "occasion", "body", NULL },
	{ "share", "body", NULL },
	{ "in_band", "body", NULL },
	{ "sqlite_sequence", NULL, NULL },
};

/* OWNER_FREE is 1, as set by store_pages_free_list. */
enum { OWNER_NONE, OWNER_FREE, OWNER_TABLES, OWNER_TABLE };

struct column {
	enum sql_type type;
	int is_body, is_rowid, may_be_null;
};

struct recover_table {
	struct column columns[STORE_PAGES_COLUMNS];
	int count;
	struct sql_stmt *put;
	int64_t saved, lost, pages, pages_lost; /* pages with rows */
};

struct recover {
	struct store_pages pages;
	uint8_t *owner; /* of each page: one of OWNER_*, + index of the table */
	struct sql *to;
	struct recover_table tables[ARRAY_LEN(tables)];
	int64_t rows; /* of the current transaction */
};

/* Read the columns of a table of the newest schema; an older table has the
 * first of these. */
static int
store_recover_table_learn(struct recover *r, size_t which)
{
	struct recover_table *t = &r->tables[which];
	struct strbuf sql = { 0 };
	struct sql_stmt *q = NULL;
	int rc, keys = 0;

	strbuf_addf(&sql,
	    "SELECT name, type, \"notnull\", pk FROM"
	    " pragma_table_info('%s')",
	    tables[which].name);
	rc = sql_prepare(r->to, sql.text, &q);
	strbuf_clear(&sql);
	strbuf_addf(&sql, "INSERT OR IGNORE INTO %s VALUES (",
	    tables[which].name);
	while (rc == 0 && (rc = sql_step(q)) > 0) {
		struct column *c = &t->columns[t->count];
		const char *name = sql_column_text(q, 0);
		const char *type = sql_column_text(q, 1);
		int is_key = sql_column_int(q, 3) > 0;

		if (t->count == STORE_PAGES_COLUMNS)
			rc = -EPROTO;
		else
			t->count++;
		c->type = strcmp(type, "INTEGER") == 0 ? SQL_INT
		    : strcmp(type, "REAL") == 0        ? SQL_REAL
		    : strcmp(type, "BLOB") == 0        ? SQL_BLOB
						       : SQL_TEXT;
		c->is_body = tables[which].body != NULL &&
		    strcmp(name, tables[which].body) == 0;
		c->is_rowid = is_key && c->type == SQL_INT;
		c->may_be_null = !is_key && sql_column_int(q, 2) == 0;
		keys += is_key;
		strbuf_addf(&sql, "%s?%d", t->count > 1 ? ", " : "", t->count);
		rc = rc > 0 ? 0 : rc;
	}
	/* A number is the row id only if it is the complete key. */
	for (int i = 0; keys > 1 && i < t->count; i++)
		t->columns[i].is_rowid = 0;
	strbuf_addf(&sql, ")");
	sql_finalize(q);
	if (strcmp(tables[which].name, "sqlite_sequence") == 0) {
		/* Not in our schema: SQLite adds its rows with the first row of
		 * a table. */
		t->count = 2;
		t->columns[0].type = SQL_TEXT;
		t->columns[1].type = SQL_INT;
		strbuf_clear(&sql);
		strbuf_addf(&sql,
		    "UPDATE sqlite_sequence SET seq = ?2"
		    " WHERE name = ?1 AND seq < ?2");
	}
	if (rc == 0)
		rc = sql_prepare(r->to, sql.text, &t->put);
	strbuf_clear(&sql);
	return rc;
}

static int
store_recover_value_fits(const struct column *c, const struct sql_value *v)
{
	if (v->type == SQL_NULL)
		return c->may_be_null || c->is_rowid;
	if (c->is_rowid)
		return 0;
	if (v->type == SQL_TEXT)
		return c->type == SQL_TEXT &&
		    memchr(v->bytes, '\0', v->len_bytes) == NULL &&
		    utf8_check(v->bytes, v->len_bytes) == v->len_bytes;
	if (v->type == SQL_BLOB)
		return c->type == SQL_BLOB || c->is_body;
	if (v->type == SQL_INT)
		return c->type == SQL_INT || c->type == SQL_REAL;
	return c->type == SQL_REAL;
}

static int
store_recover_row_fits(const struct recover_table *t,
    const struct store_pages_row *row)
{
	if (row->count > t->count)
		return 0;
	for (int i = 0; i < t->count; i++)
		if (i < row->count ? !store_recover_value_fits(&t->columns[i],
					 &row->columns[i])
				   : !t->columns[i].may_be_null)
			return 0;
	return t->count > 0;
}

/* Return the table of a row on a page that no tree reaches; -1: none. */
static int
store_recover_guess(const struct recover *r, const struct store_pages_row *row)
{
	for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
		const struct recover_table *t = &r->tables[i];
		const struct table *is = &tables[i];

		if (store_recover_row_fits(t, row) &&
		    (is->is_one == NULL || is->is_one(row)))
			return (int)i;
	}
	return -1;
}

/* Return 1: the row was written; 0: it existed or is invalid; -errno. */
static int64_t
store_recover_row_put(struct recover *r, struct recover_table *t,
    const struct store_pages_row *row)
{
	int64_t rc;

	if (r->rows == 0 && (rc = r->to->engine->begin(r->to, 0)) < 0)
		return rc;
	for (int i = 0; i < row->count; i++) {
		struct sql_value v = row->columns[i];

		if (t->columns[i].is_rowid)
			v = (struct sql_value){ .type = SQL_INT,
				.integer = row->rowid };
		r->to->engine->bind(t->put, i + 1, &v);
	}
	rc = sql_run_now(t->put);
	if (rc >= 0 && ++r->rows == BATCH_ROWS) {
		int end = r->to->engine->commit(r->to);

		r->rows = 0;
		rc = end < 0 ? end : rc;
	}
	return rc;
}

static int
store_recover_table_find(const struct sql_value *name)
{
	for (size_t i = 0; i < ARRAY_LEN(tables); i++)
		if (name->type == SQL_TEXT &&
		    strlen(tables[i].name) == name->len_bytes &&
		    memcmp(tables[i].name, name->bytes, name->len_bytes) == 0)
			return (int)i;
	return -1;
}

/* Assign pages to the table whose tree starts at root, as far as the tree is
 * readable. */
static void
store_recover_walk(struct recover *r, uint32_t root, uint8_t owner)
{
	uint32_t *todo = xmore(NULL, 0, sizeof(*todo));
	size_t n = 1;
	int cells;

	todo[0] = root;
	while (n > 0) {
		uint32_t page = todo[--n];
		enum store_pages_kind kind;

		if (page == 0 || page > r->pages.count ||
		    r->owner[page] != OWNER_NONE) {
			kind = PAGE_DAMAGED; /* or reached a second time */
		} else {
			r->owner[page] = owner;
			kind = store_pages_load(&r->pages, page, &cells);
		}
		if (kind != PAGE_LEAF && kind != PAGE_INTERIOR &&
		    owner >= OWNER_TABLE)
			r->tables[owner - OWNER_TABLE].pages_lost++;
		/* Each page has one parent, so it is processed only once: the
		 * loop ends even if the tree is damaged. */
		for (int i = 0; kind == PAGE_INTERIOR && i <= cells; i++) {
			todo = xmore(todo, n, sizeof(*todo));
			todo[n++] = store_pages_child(&r->pages, cells, i);
		}
	}
	free(todo);
}

/* Find the trees of our tables, from the undamaged rows of the table of
 * tables. */
static void
store_recover_trees_find(struct recover *r)
{
	struct store_pages_row row;
	uint32_t roots[ARRAY_LEN(tables)] = { 0 };
	int cells;

	if (r->pages.count == 0)
		return;
	store_recover_walk(r, ROOT, OWNER_TABLES);
	for (uint32_t n = ROOT; n <= r->pages.count; n++) {
		if (r->owner[n] != OWNER_TABLES ||
		    store_pages_load(&r->pages, n, &cells) != PAGE_LEAF)
			continue;
		for (int i = 0; i < cells; i++) {
			int which;

			if (store_pages_row(&r->pages, i, &row) < 0 ||
			    row.count < 4 || row.columns[3].type != SQL_INT ||
			    row.columns[0].type != SQL_TEXT ||
			    row.columns[0].len_bytes != 5 ||
			    memcmp(row.columns[0].bytes, "table", 5) != 0)
				continue;
			which = store_recover_table_find(&row.columns[1]);
			if (which >= 0)
				roots[which] = (uint32_t)row.columns[3].integer;
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(tables); i++)
		if (roots[i] > ROOT)
			store_recover_walk(r, roots[i],
			    (uint8_t)(OWNER_TABLE + i));
}

/* Save all rows of a leaf. */
static int
store_recover_leaf(struct recover *r, uint32_t number)
{
	int cells, is_owned = r->owner[number] >= OWNER_TABLE;
	struct store_pages_row row;

	if (store_pages_load(&r->pages, number, &cells) != PAGE_LEAF)
		return 0;
	if (is_owned)
		r->tables[r->owner[number] - OWNER_TABLE].pages++;
	for (int i = 0; i < cells; i++) {
		int rc = store_pages_row(&r->pages, i, &row);
		int which = is_owned ? r->owner[number] - OWNER_TABLE : -1;
		struct recover_table *t;
		int64_t put = 0;

		if (rc == 0 && !is_owned)
			which = store_recover_guess(r, &row);
		if (which < 0)
			continue;
		t = &r->tables[which];
		if (rc == 0 && store_recover_row_fits(t, &row))
			put = store_recover_row_put(r, t, &row);
		if (put < 0)
			return (int)put;
		t->saved += put;
		/* A page without a tree may be old: its rows are stored
		 * elsewhere or were deleted. */
		if (is_owned)
			t->lost += !put;
	}
	return 0;
}

/* Rows from trees come first: an existing key is not replaced. Last, the last
 * assigned ids are raised to their final values. */
enum { PASS_TREES, PASS_GUESSED, PASS_IDS, PASS_MAX };

static int
store_recover_pass_of(uint8_t owner)
{
	if (owner == OWNER_TABLE + ARRAY_LEN(tables) - 1)
		return PASS_IDS;
	return owner >= OWNER_TABLE ? PASS_TREES
	    : owner == OWNER_NONE   ? PASS_GUESSED
				    : PASS_MAX;
}

static int
store_recover_rows(struct recover *r)
{
	int rc = 0;

	for (int pass = 0; rc == 0 && pass < PASS_MAX; pass++)
		for (uint32_t n = 1; rc == 0 && n <= r->pages.count; n++)
			if (store_recover_pass_of(r->owner[n]) == pass)
				rc = store_recover_leaf(r, n);
	if (rc == 0 && r->rows > 0)
		rc = r->to->engine->commit(r->to);
	r->rows = 0;
	return rc;
}

/* Return 1 if the row is undamaged. Columns: its rowid, body, hist, crc. */
static int
store_recover_is_whole(struct sql_stmt *q, int is_record)
{
	struct strbuf text = { 0 };
	json_t *body;
	int whole;

	if (is_record) {
		whole = store_record_text(&text, q, 1, 2, 3) == 0;
		strbuf_clear(&text);
	} else {
		body = store_read_json(q, 1);
		whole = !json_is_null(body);
		json_decref(body);
	}
	return whole;
}

/* Remove the rows whose body is damaged. */
static int
store_recover_table_purge(struct recover *r, size_t which)
{
	const char *name = tables[which].name;
	int is_record = strcmp(name, "record") == 0, rc;
	struct recover_table *t = &r->tables[which];
	char *get = xasprintf("SELECT rowid, %s%s FROM %s WHERE %s IS NOT NULL",
	    tables[which].body, is_record ? ", hist, crc" : "", name,
	    tables[which].body);
	char *drop = xasprintf("DELETE FROM %s WHERE rowid = ?1", name);
	struct sql_stmt *q = NULL, *delete = NULL;
	int64_t *ids = NULL;
	size_t n = 0;

	rc = sql_prepare(r->to, get, &q);
	while (rc == 0 && (rc = sql_step(q)) > 0) {
		if (!store_recover_is_whole(q, is_record)) {
			ids = xmore(ids, n, sizeof(*ids));
			ids[n++] = sql_column_int(q, 0);
		}
		rc = 0;
	}
	sql_finalize(q);
	if (rc == 0)
		rc = sql_prepare(r->to, drop, &delete);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		sql_bind_int(delete, 1, ids[i]);
		rc = sql_run_now(delete) < 0 ? -EIO : 0;
	}
	sql_finalize(delete);
	t->saved -= (int64_t)n;
	t->lost += (int64_t)n;
	free(ids);
	free(drop);
	free(get);
	return rc;
}

/* Remove the rows of lost runs: nothing else identifies their run. */
static int
store_recover_of_run(struct recover *r, const char *table)
{
	struct sql_value name = { .type = SQL_TEXT,
		.bytes = table,
		.len_bytes = strlen(table) };
	struct recover_table *t = &r->tables[store_recover_table_find(&name)];
	char *drop = xasprintf("DELETE FROM %s WHERE run_id NOT IN"
			       " (SELECT id FROM run)",
	    table);
	struct sql_stmt *q = NULL;
	int64_t n = sql_prepare(r->to, drop, &q);

	if (n == 0)
		n = sql_run_now(q);
	sql_finalize(q);
	free(drop);
	if (n < 0)
		return (int)n;
	t->saved -= n;
	t->lost += n;
	return 0;
}

static int
store_recover_fill(struct recover *r)
{
	int rc = sql_exec(r->to, "PRAGMA foreign_keys = OFF");

	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(tables); i++)
		rc = store_recover_table_learn(r, i);
	if (rc < 0)
		return rc;
	store_recover_trees_find(r);
	store_pages_free_list(&r->pages, r->owner);
	rc = store_recover_rows(r);
	for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
		sql_finalize(r->tables[i].put);
		r->tables[i].put = NULL;
	}
	if (rc == 0)
		rc = r->to->engine->begin(r->to, 1);
	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(tables); i++)
		if (tables[i].body != NULL)
			rc = store_recover_table_purge(r, i);
	if (rc == 0)
		rc = store_recover_of_run(r, "record");
	if (rc == 0)
		rc = store_recover_of_run(r, "counters");
	if (rc == 0)
		rc = r->to->engine->commit(r->to);
	/* A single file, which can be restored without its log. */
	return rc == 0 ? sql_exec(r->to, "PRAGMA journal_mode = DELETE") : rc;
}

/* Return 1 if rows were lost. */
static int
store_recover_report(const struct recover *r, struct err *err)
{
	int64_t saved = 0, lost = 0, pages = 0;

	for (size_t i = 0; i < ARRAY_LEN(tables) - 1; i++) {
		const struct recover_table *t = &r->tables[i];
		char unread[64] = "";

		saved += t->saved;
		lost += t->lost;
		pages += t->pages_lost;
		if (t->pages_lost > 0)
			snprintf(unread, sizeof(unread),
			    ", %lld pages unreadable (about %lld rows)",
			    (long long)t->pages_lost,
			    (long long)(t->pages_lost * t->saved /
				(t->pages > 0 ? t->pages : 1)));
		log_info("%s: %lld rows saved, %lld lost%s", tables[i].name,
		    (long long)t->saved, (long long)t->lost, unread);
	}
	if (saved == 0)
		return err_set(err, -EBADMSG,
		    "found no rows of a collector's store in the file");
	err_say(err, "%lld rows saved, %lld lost, %lld pages unreadable%s",
	    (long long)saved, (long long)lost, (long long)pages,
	    r->pages.log_lost != 0 ? ", write-ahead log damaged" : "");
	return lost > 0 || pages > 0 || r->pages.log_lost != 0;
}

/* Without its log the file lacks the newest transactions, so a log that exists
 * must be readable. */
static int
store_recover_files_open(struct recover *r, const char *from, const char *log,
    struct err *err)
{
	int fd = open(from, O_RDONLY | O_CLOEXEC), rc;
	int log_fd = fd < 0 ? -1 : open(log, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (log_fd < 0 && errno != ENOENT) {
		rc = err_set(err, -errno, "%.300s: %s", log, strerror(errno));
		close(fd);
		return rc;
	}
	rc = store_pages_open(&r->pages, fd, log_fd);
	if (r->pages.log_lost < 0)
		log_warnx("%s: damaged: the transactions in it are lost", log);
	else if (r->pages.log_lost > 0)
		log_warnx("%s: damaged: its last %lld transactions are lost",
		    log, (long long)r->pages.log_lost);
	return rc;
}

/* A collector whose store is coalmine.db locks its folder. No collector uses a
 * damaged file under another name. */
static int
store_recover_open(struct recover *r, const char *from, int *ret_lock_fd,
    struct err *err)
{
	const char *slash = strrchr(from, '/');
	char *dir = slash == NULL ? xstrdup(".")
	    : slash == from       ? xstrdup("/")
				  : xstrndup(from, (size_t)(slash - from));
	char *log = xasprintf("%s-wal", from);
	const char *name = slash == NULL ? from : slash + 1;
	struct store_options o = { .dir = dir };
	int rc = access(from, F_OK) < 0 ? -errno : 0;

	if (rc == 0 && strcmp(name, "coalmine.db") == 0)
		rc = store_lock(&o, ret_lock_fd);
	else if (rc == 0)
		rc = store_become_owner(dir);
	if (rc == -EBUSY) {
		err_say(err, "a collector uses %.300s: stop it first", from);
	} else if (rc == 0) {
		rc = store_recover_files_open(r, from, log, err);
	}
	if (rc < 0 && err->text[0] == '\0')
		err_say(err, "%.300s: %s", from, strerror(-rc));
	free(log);
	free(dir);
	return rc;
}

int
store_recover(const char *from, const char *to, struct err *err)
{
	struct recover r = { .pages = { .db_fd = -1, .log_fd = -1 } };
	int lock_fd = -1, is_ours = 0, rc;

	err->text[0] = '\0';
	rc = store_recover_open(&r, from, &lock_fd, err);
	if (rc == 0) {
		r.owner = xcalloc((size_t)r.pages.count + 1, 1);
		rc = store_file_new(to, &r.to, &is_ours, err);
	}
	if (rc == 0)
		rc = store_recover_fill(&r);
	if (rc < 0 && err->text[0] == '\0')
		err_say(err, "%.200s: %.200s", to,
		    r.to != NULL ? sql_error(r.to) : strerror(-rc));
	if (rc == 0)
		rc = store_recover_report(&r, err);
	sql_close(r.to);
	if (rc < 0 && is_ours)
		unlink(to);
	store_pages_close(&r.pages);
	if (lock_fd >= 0)
		close(lock_fd);
	free(r.owner);
	return rc;
}
