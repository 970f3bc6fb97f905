/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_check.c - find damage that the engine's own check cannot detect: bodies
 * that differ from what was written. The first few are named.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "daemon/store/store_db.h"
#include "daemon/store/store_record.h"

#define NAMED_MAX 10

struct check {
	struct strbuf text;
	const struct store_reading *reading;
	int64_t damaged; /* number of damaged bodies */
};

static int
store_check_line(struct sql_stmt *q, void *arg)
{
	struct check *c = arg;
	const char *line = sql_column_text(q, 0);

	strbuf_addf(&c->text, "%s%s", c->text.len_bytes > 0 ? "; " : "",
	    line != NULL ? line : "?");
	return 0;
}

static void
store_check_damaged(struct check *c, const char *what, const char *name)
{
	const char *comma = c->text.len_bytes > 0 ? "; " : "";

	if (++c->damaged <= NAMED_MAX)
		strbuf_addf(&c->text, "%s%s %s is damaged", comma, what,
		    name != NULL ? name : "?");
}

static int
store_check_record(struct sql_stmt *q, void *arg)
{
	struct check *c = arg;
	struct strbuf text = { 0 };
	struct err name;

	if (*c->reading->stopping)
		return -ECANCELED;
	if (store_record_text(&text, q, 2, 3, 4) < 0) {
		err_say(&name, "%lld of run %s",
		    (long long)sql_column_int(q, 0), sql_column_text(q, 1));
		store_check_damaged(c, "record", name.text);
	}
	strbuf_clear(&text);
	return 0;
}

/* Tables with a body, and the column that identifies their rows. */
static const struct table {
	const char *what, *sql;
} tables[] = {
	{ "run", "SELECT run, body FROM run" },
	{ "node", "SELECT node, body FROM node" },
	{ "inventory of node", "SELECT node, body FROM node_inventory" },
	{ "verdict", "SELECT id, body FROM verdict" },
	{ "topology", "SELECT id, body FROM topology" },
	{ "baseline", "SELECT name, body FROM baseline" },
	{ "job", "SELECT job, body FROM job" },
	{ "traffic change of job", "SELECT job, body FROM occasion" },
	{ "share", "SELECT at_unix_ns, body FROM share" },
	{ "in-band result of job", "SELECT job, body FROM in_band" },
	{ "counters of node", "SELECT node, nics FROM counters" },
};

struct table_check {
	struct check *check;
	const struct table *table;
};

static int
store_check_body(struct sql_stmt *q, void *arg)
{
	struct table_check *t = arg;
	json_t *body;

	if (*t->check->reading->stopping)
		return -ECANCELED;
	body = store_read_json(q, 1);
	if (json_is_null(body))
		store_check_damaged(t->check, t->table->what,
		    sql_column_text(q, 0));
	json_decref(body);
	return 0;
}

static int
store_check_rows(struct store_reading *r, const char *sql,
    int (*one)(struct sql_stmt *, void *), void *arg)
{
	struct sql_stmt *q = NULL;
	int rc = sql_prepare(r->db, sql, &q);

	return rc == 0 ? store_read_rows(q, one, arg) : rc;
}

static int
store_check_bodies(struct store_reading *r, struct check *c)
{
	int rc = store_check_rows(r,
	    "SELECT d.seq, r.run, d.body, d.hist, d.crc FROM record AS d"
	    " JOIN run AS r ON r.id = d.run_id ORDER BY d.id",
	    store_check_record, c);

	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(tables); i++)
		rc = store_check_rows(r, tables[i].sql, store_check_body,
		    &(struct table_check){ c, &tables[i] });
	if (c->damaged > NAMED_MAX)
		strbuf_addf(&c->text, "; and %lld more",
		    (long long)c->damaged - NAMED_MAX);
	return rc;
}

int
store_read_check(struct store_reading *r, const json_t *args, json_t **ret)
{
	struct check c = { .reading = r };
	int rc, sound;

	(void)args;
	rc = store_check_rows(r, r->db->engine->check, store_check_line, &c);
	sound = rc == 0 && c.text.text != NULL &&
	    strcmp(c.text.text, "ok") == 0;
	if (sound)
		strbuf_clear(&c.text);
	if (rc == 0)
		rc = store_check_bodies(r, &c);
	/* A store that is too damaged for the check is a result, not an
	 * error. */
	if (rc == 0 || rc == -EBADMSG) {
		const char *text = c.text.len_bytes > 0 ? c.text.text : "ok";

		*ret = json_pack("{s:b,s:o}", "ok",
		    rc == 0 && sound && c.damaged == 0, "text",
		    text_json(rc == 0 ? text : "the file is damaged"));
		rc = 0;
	}
	strbuf_clear(&c.text);
	return rc;
}
