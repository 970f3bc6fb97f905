/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_ask.c - the requests. Most are a statement whose rows become objects:
 * these are rows of a table. The others are functions: backup here, integrity
 * in store_check.c, records in store_ask_data.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/member.h"
#include "common/clk.h"
#include "common/hostlist.h"
#include "common/log.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "daemon/store/store_db.h"
#include "daemon/store/store_record.h"
#include "schema/names_run.h"

#define RUNS_MAX 1000
/* Rows read for one answer: nodes are in the body, which has no index. */
#define SCAN_MAX 20000
/* Of names of nodes in a list; a client that wants more requests the next
 * part. */
#define NAMES_MAX_BYTES (1024 * 1024)

static json_t *
store_ask_read_text(struct sql_stmt *q, int column)
{
	const char *text = sql_column_text(q, column);

	return text != NULL ? text_json(text) : json_null();
}

static json_t *
store_ask_read_int(struct sql_stmt *q, int column)
{
	return json_integer(sql_column_int(q, column));
}

json_t *
store_read_json(struct sql_stmt *q, int column)
{
	char *text = store_pack_column(q, column);
	json_t *v = text != NULL ? json_loads(text, JSON_DECODE_ANY, NULL)
				 : NULL;

	free(text);
	return v != NULL ? v : json_null();
}

static json_t *
store_ask_read_real(struct sql_stmt *q, int column)
{
	struct sql_value v = sql_column(q, column);

	return v.type == SQL_NULL ? json_null() : json_real(v.real);
}

/* NULL, so that the member is omitted, if the column is NULL. */
static json_t *
store_ask_read_json_if(struct sql_stmt *q, int column)
{
	return sql_column(q, column).type == SQL_NULL
	    ? NULL
	    : store_read_json(q, column);
}

static json_t *
store_ask_hostlist(const json_t *nodes)
{
	const char **names = xcalloc(json_array_size(nodes) + 1,
	    sizeof(*names));
	json_t *name, *ret;
	size_t count = 0, i;
	char *list;

	json_array_foreach (nodes, i, name)
		if (json_is_string(name))
			names[count++] = json_string_value(name);
	hostlist_sort(names, count);
	list = hostlist_format(names, count);
	ret = json_string(list);
	free(list);
	free(names);
	return ret;
}

/* The nodes of a run's body as a hostlist: for 200 runs of 10,000 nodes the
 * names alone would be 20 MB. */
static json_t *
store_ask_read_nodes(struct sql_stmt *q, int column)
{
	json_t *run = store_read_json(q, column);
	json_t *ret = store_ask_hostlist(json_object_get(run, "nodes"));

	json_decref(run);
	return ret;
}

/* Lower and upper end from two columns. */
static json_t *
store_ask_read_interval(struct sql_stmt *q, int column)
{
	return json_pack("{s:o,s:o}", "lo", store_ask_read_real(q, column),
	    "hi", store_ask_read_real(q, column + 1));
}

int64_t
store_read_arg(const json_t *args, const char *key, int64_t fallback,
    int64_t lo, int64_t hi)
{
	const json_t *v = json_object_get(args, key);
	int64_t value = json_is_integer(v) ? json_integer_value(v) : fallback;

	return value < lo ? lo : value > hi ? hi : value;
}

int
store_read_row(struct sql_stmt *q)
{
	int rc = sql_step(q);

	if (rc < 0)
		log_warnx("store: a read query failed: %s", sql_error(q->db));
	return rc;
}

int
store_read_rows(struct sql_stmt *q, int (*one)(struct sql_stmt *, void *),
    void *arg)
{
	int rc = 0, step = 0;

	while (rc == 0 && (step = store_read_row(q)) > 0)
		rc = one(q, arg);
	if (rc < 0)
		log_warnx("store: a read query failed: %s", strerror(-rc));
	sql_finalize(q);
	if (step < 0)
		rc = step;
	return rc < 0 ? rc : 0;
}

static int
store_ask_read_backup(struct store_reading *r, const json_t *args, json_t **ret)
{
	const char *path = member_text_or(args, "path", NULL);
	uint64_t began_ns = clk_ns();
	int rc;

	if (path == NULL || path[0] != '/')
		return -EINVAL;
	if (r->db->engine->backup == NULL)
		return -ENOTSUP;
	rc = r->db->engine->backup(r->db, path, r->stopping);
	if (rc < 0) {
		log_warnx("store: cannot write the backup %s: %s", path,
		    strerror(-rc));
		return rc;
	}
	*ret = json_pack("{s:b,s:s,s:f}", "ok", 1, "path", path, "seconds",
	    (double)(clk_ns() - began_ns) / 1e9);
	return 0;
}

static int
store_ask_read_leader(struct store_reading *r, const json_t *args, json_t **ret)
{
	const struct sql_engine *e = r->db->engine;
	const char *mark = member_text_or(args, "depose", NULL);
	struct sql_stmt *q = NULL;
	int rc = e->leader == NULL ? -ENOTSUP : 0;

	if (rc == 0 && mark != NULL) {
		rc = sql_prepare(r->db, e->depose, &q);
		if (rc == 0) {
			sql_bind_text(q, 1, mark);
			rc = store_read_row(q);
		}
		sql_finalize(q);
		q = NULL;
	}
	if (rc >= 0)
		rc = sql_prepare(r->db, e->leader, &q);
	if (rc == 0)
		rc = store_read_row(q);
	if (rc > 0)
		*ret = json_pack("{s:o, s:I, s:I, s:o}", "who",
		    store_ask_read_text(q, 0), "term",
		    (json_int_t)sql_column_int(q, 1), "lease_ns",
		    (json_int_t)sql_column_int(q, 2), "mark",
		    store_ask_read_text(q, 3));
	sql_finalize(q);
	return rc > 0 ? 0 : rc < 0 ? rc : -ENOENT;
}

static int
store_ask_cluster_row(struct sql_stmt *q, void *arg)
{
	return json_array_append_new(arg,
		   json_pack("{s:o, s:I, s:I, s:o}", "cluster",
		       store_ask_read_text(q, 0), "lease_ns",
		       (json_int_t)sql_column_int(q, 1), "silent_ns",
		       (json_int_t)sql_column_int(q, 2), "told",
		       store_ask_read_text(q, 3))) < 0
	    ? -ENOMEM
	    : 0;
}

static int
store_ask_read_clusters(struct store_reading *r, const json_t *args,
    json_t **ret)
{
	const char *statement = r->db->engine->clusters;
	struct sql_stmt *q = NULL, *rows = NULL;
	json_t *list = json_array();
	int rc = 0;

	(void)args;
	if (statement != NULL)
		rc = sql_prepare(r->db, statement, &q);
	if (rc == 0 && q != NULL)
		rc = store_read_row(q);
	if (rc > 0 && sql_column_text(q, 0) != NULL)
		rc = sql_prepare(r->db, sql_column_text(q, 0), &rows);
	sql_finalize(q);
	if (rows != NULL)
		rc = store_read_rows(rows, store_ask_cluster_row, list);
	if (rc < 0)
		json_decref(list);
	else
		*ret = list;
	return rc < 0 ? rc : 0;
}

/* A member of a row's object. "": its members become members of the object. */
struct column {
	const char *name;
	json_t *(*read)(struct sql_stmt *q, int column); /* NULL: omit */
};

#define EVENTS                                                                 \
	"SELECT id, at_unix_ns, kind, subject, text,"                          \
	" CASE WHEN ?6 = 1 THEN body END FROM event"                           \
	" WHERE id > ?1 AND (?2 IS NULL OR kind = ?2)"                         \
	" AND at_unix_ns >= ?4 AND at_unix_ns < ?5 ORDER BY id"
#define RUNS "SELECT body, records FROM run "
#define RUNS_LISTED                                                            \
	"SELECT CASE WHEN ?4 = 1 AND brief IS NOT NULL THEN brief ELSE body"   \
	" END, records FROM run "
/* Read one by one until enough rows have the node. */
#define RUNS_WHERE                                                             \
	" AND created_unix_ns < ?2 AND (?3 IS NULL OR state = ?3)"             \
	" ORDER BY created_unix_ns DESC, id DESC"

static const struct question {
	store_read *read; /* NULL: a statement */
	const char *sql;
	/* If args have this member and it is not false, sql_with is run
	 * instead. */
	const char *with, *sql_with;
	int pairs;   /* the result is an object of names and texts */
	int of_node; /* newest first, only rows with the node in args, if any */
	int of_run;  /* ?1 is the run's id; -ENOENT if the run is not stored */
	int one;     /* the result is the only row; -ENOENT for no rows */
	struct {
		const char *arg;
		int64_t fallback, least, most; /* all 0: a text */
	} params[8];
	struct column columns[13];
} questions[STORE_QUESTION_MAX] = {
	/* Newest first; before is the created_unix_ns of the last one seen. */
	[STORE_RUNS] = { .params = { { "campaign" },
			     { "before", INT64_MAX, 0, INT64_MAX }, { "state" },
			     { "brief", 0, 0, 1 } },
	    .of_node = 1,
	    .with = "campaign",
	    .sql_with = RUNS_LISTED "WHERE campaign = ?1" RUNS_WHERE,
	    .sql = RUNS_LISTED "WHERE CAST(?1 AS TEXT) IS NULL" RUNS_WHERE,
	    .columns = { { "", store_read_json },
		{ "records", store_ask_read_int } } },
	[STORE_RUN] = { .one = 1,
	    .params = { { "run" } },
	    .sql = RUNS "WHERE run = ?1",
	    .columns = { { "", store_read_json },
		{ "records", store_ask_read_int } } },
	[STORE_LIVE_RUNS] = { .columns = { { "", store_read_json },
				  { "records", store_ask_read_int } },
	    .sql = RUNS "WHERE final = 0 ORDER BY id LIMIT 20000" },
	[STORE_RECORDS] = { .read = store_read_records },
	[STORE_ACKS] = { .read = store_read_acks },
	[STORE_COUNTERS] = { .of_run = 1,
	    .sql = "SELECT border, node, at_unix_ns, nics FROM counters"
		   " WHERE run_id = ?1 ORDER BY border, node LIMIT 100000",
	    .columns = { { "border", store_ask_read_int },
		{ "node", store_ask_read_text },
		{ "at_unix_ns", store_ask_read_int },
		{ "nics", store_read_json } } },
	/* Ascending. Without after_id the newest ones, so that "events" alone
	 * shows the latest events. */
	[STORE_EVENTS] = { .params = { { "after_id", 0, 0, INT64_MAX },
			       { "kind" }, { "limit", 100, 1, 10000 },
			       { "from_unix_ns", 0, 0, INT64_MAX },
			       { "to_unix_ns", INT64_MAX, 0, INT64_MAX },
			       { "body", 0, 0, 1 } },
	    .with = "after_id",
	    .sql_with = EVENTS " LIMIT ?3",
	    .sql = "SELECT * FROM (" EVENTS
		   " DESC LIMIT ?3) AS newest ORDER BY id",
	    .columns = { { "id", store_ask_read_int },
		{ "at_unix_ns", store_ask_read_int },
		{ "kind", store_ask_read_text },
		{ "subject", store_ask_read_text },
		{ "text", store_ask_read_text },
		{ "body", store_ask_read_json_if } } },
	[STORE_NODES] = { .columns = { { "", store_read_json },
			      { "inventory", store_ask_read_json_if } },
	    .sql = "SELECT n.body, i.body FROM node AS n"
		   " LEFT JOIN node_inventory AS i ON i.node = n.node"
		   " ORDER BY n.node" },
	[STORE_SETTINGS] = { .pairs = 1,
	    .sql = "SELECT key, value FROM setting "
		   "WHERE key NOT LIKE 'store.%' ORDER BY key" },
	/* Newest first. */
	[STORE_IMPACTS] = { .params = { { "from_unix_ns", 0, 0, INT64_MAX },
				{ "campaign" }, { "test" },
				{ "limit", 200, 1, 10000 },
				{ "to_unix_ns", INT64_MAX, 0, INT64_MAX } },
	    .sql = "SELECT d.at_unix_ns, run.run, run.created_unix_ns,"
		   " run.campaign, d.test, d.of, d.value, d.lo, d.hi"
		   " FROM record AS d JOIN run ON run.id = d.run_id"
		   " WHERE d.probe = 'impact' AND d.at_unix_ns >= ?1"
		   " AND (?2 IS NULL OR run.campaign = ?2)"
		   " AND (?3 IS NULL OR d.test = ?3) AND d.at_unix_ns < ?5"
		   " ORDER BY d.at_unix_ns DESC, d.id DESC LIMIT ?4",
	    .columns = { { "at_unix_ns", store_ask_read_int },
		{ "run", store_ask_read_text },
		{ "created_unix_ns", store_ask_read_int },
		{ "campaign", store_ask_read_text },
		{ "test", store_ask_read_text }, { "of", store_ask_read_text },
		{ "value", store_ask_read_real },
		{ "interval", store_ask_read_interval } } },
	/* Newest first. The headline's interval is lo and hi. Confirmation runs
	 * have six nodes, one of them slow: they are returned only if their
	 * campaign is requested by name. */
	[STORE_CANARIES] = { .params = { { "from_unix_ns", 0, 0, INT64_MAX },
				 { "to_unix_ns", INT64_MAX, 0, INT64_MAX },
				 { "campaign" }, { "test" }, { "phase" },
				 { "limit", 1000, 1, 10000 } },
	    .sql = "SELECT d.at_unix_ns, d.n, run.run, run.campaign, d.test,"
		   " d.phase, d.unit, d.mean, d.p50, d.p99, d.lo, d.hi"
		   " FROM record AS d JOIN run ON run.id = d.run_id"
		   " WHERE d.probe = 'canary'"
		   " AND d.at_unix_ns >= ?1 AND d.at_unix_ns < ?2 AND (?3 IS"
		   " NULL AND run.campaign <> '" NAMES_PASS_CAMPAIGN "' OR"
		   " run.campaign = ?3) AND (?4 IS NULL OR d.test = ?4)"
		   " AND (?5 IS NULL OR d.phase = ?5)"
		   " ORDER BY d.at_unix_ns DESC, d.id DESC LIMIT ?6",
	    .columns = { { "at_unix_ns", store_ask_read_int },
		{ "n", store_ask_read_int }, { "run", store_ask_read_text },
		{ "campaign", store_ask_read_text },
		{ "test", store_ask_read_text },
		{ "phase", store_ask_read_text },
		{ "unit", store_ask_read_text },
		{ "mean", store_ask_read_real }, { "p50", store_ask_read_real },
		{ "p99", store_ask_read_real }, { "lo", store_ask_read_real },
		{ "hi", store_ask_read_real } } },
	/* Newest first: plans compared with their baselines, with nodes. */
	[STORE_SPEEDUPS] = { .params = { { "from_unix_ns", 0, 0, INT64_MAX },
				 { "limit", 100, 1, 1000 } },
	    .sql = "SELECT d.body, d.at_unix_ns, run.run, run.body,"
		   " (SELECT body FROM share"
		   " WHERE share.at_unix_ns <= d.at_unix_ns"
		   " ORDER BY share.at_unix_ns DESC LIMIT 1)"
		   " FROM record AS d JOIN run ON run.id = d.run_id"
		   " WHERE d.probe = 'speedup' AND d.at_unix_ns >= ?1"
		   " ORDER BY d.at_unix_ns DESC, d.id DESC LIMIT ?2",
	    .columns = { { "", store_read_json },
		{ "at_unix_ns", store_ask_read_int },
		{ "run", store_ask_read_text },
		{ "nodes", store_ask_read_nodes },
		{ "shares", store_ask_read_json_if } } },
	[STORE_VERDICTS] = { .params = { { "kind" }, { "subject" },
				 { "limit", 100, 1, 10000 },
				 { "from_unix_ns", 0, 0, INT64_MAX },
				 { "to_unix_ns", INT64_MAX, 0, INT64_MAX } },
	    .with = "open",
	    .sql_with = "SELECT body, id, at_unix_ns FROM verdict WHERE id IN"
			" (SELECT max(id) FROM verdict GROUP BY kind, subject)"
			" AND verdict IN ('warn', 'bad') LIMIT 10000",
	    .sql = "SELECT body, id, at_unix_ns FROM verdict"
		   " WHERE (?1 IS NULL OR kind = ?1)"
		   " AND (?2 IS NULL OR subject = ?2)"
		   " AND at_unix_ns >= ?4 AND at_unix_ns < ?5"
		   " ORDER BY id DESC LIMIT ?3",
	    .columns = { { "", store_read_json }, { "id", store_ask_read_int },
		{ "at_unix_ns", store_ask_read_int } } },
	[STORE_BASELINES] = { .params = { { "name" } },
	    .sql = "SELECT name, at_unix_ns, CASE WHEN ?1 IS NULL THEN NULL"
		   " ELSE body END FROM baseline"
		   " WHERE ?1 IS NULL OR name = ?1 ORDER BY name LIMIT 1000",
	    .columns = { { "name", store_ask_read_text },
		{ "at_unix_ns", store_ask_read_int },
		{ "body", store_ask_read_json_if } } },
	[STORE_TOPOLOGY] = { .params = { { "at_unix_ns", INT64_MAX, 0,
					     INT64_MAX },
				 { "limit", 1, 1, 100 } },
	    .sql = "SELECT body, id, from_unix_ns FROM topology"
		   " WHERE from_unix_ns <= ?1 ORDER BY id DESC LIMIT ?2",
	    .columns = { { "", store_read_json }, { "id", store_ask_read_int },
		{ "from_unix_ns", store_ask_read_int } } },
	[STORE_JOBS] = { .params = { { "from_unix_ns", 0, 0, INT64_MAX },
			     { "to_unix_ns", INT64_MAX, 0, INT64_MAX },
			     { "job" }, { "name" }, { "limit", 200, 1, 10000 },
			     { "owner" } },
	    .sql = "SELECT body FROM job"
		   " WHERE until_unix_ns > ?1 AND start_unix_ns < ?2"
		   " AND (?3 IS NULL OR job = ?3 OR whole = ?3)"
		   " AND (?4 IS NULL OR name = ?4)"
		   " AND (?6 IS NULL OR owner = ?6)"
		   " ORDER BY start_unix_ns DESC, job LIMIT ?5",
	    .columns = { { "", store_read_json } } },
	[STORE_IN_BAND] = { .params = { { "whole" },
				{ "limit", 10000, 1, 10000 } },
	    .sql = "SELECT body FROM in_band WHERE whole = ?1 LIMIT ?2",
	    .columns = { { "", store_read_json } } },
	[STORE_OCCASIONS] = { .params = { { "from_unix_ns", 0, 0, INT64_MAX },
				  { "to_unix_ns", INT64_MAX, 0, INT64_MAX },
				  { "job" }, { "name" },
				  { "limit", 10000, 1, 10000 }, { "after_job" },
				  { "after_test" } },
	    .sql = "SELECT body FROM occasion"
		   " WHERE at_unix_ns >= ?1 AND at_unix_ns < ?2"
		   " AND (?3 IS NULL OR job = ?3)"
		   " AND (?4 IS NULL OR name = ?4)"
		   " AND (?6 IS NULL OR at_unix_ns > ?1 OR job > ?6 OR"
		   " (job = ?6 AND test > ?7))"
		   " ORDER BY at_unix_ns, job, test LIMIT ?5",
	    .columns = { { "", store_read_json } } },
	[STORE_SHARES] = { .params = { { "from_unix_ns", 0, 0, INT64_MAX },
			       { "to_unix_ns", INT64_MAX, 0, INT64_MAX },
			       { "limit", 1000, 1, 10000 } },
	    .sql = "SELECT body FROM share"
		   " WHERE at_unix_ns >= ?1 AND at_unix_ns < ?2"
		   " ORDER BY at_unix_ns DESC LIMIT ?3",
	    .columns = { { "", store_read_json } } },
	[STORE_HEARD] = { .read = store_read_heard },
	[STORE_BACKUP] = { .read = store_ask_read_backup },
	[STORE_CHECK] = { .read = store_read_check },
	[STORE_LEADER] = { .read = store_ask_read_leader },
	[STORE_CLUSTERS] = { .read = store_ask_read_clusters },
};

/* A run's nodes are an array of names, or a host list. */
static int
store_ask_has_node(const json_t *run, const char *node)
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

struct rows {
	const struct question *question;
	json_t *list;
	const char *node; /* NULL: any */
	int64_t limit, scanned;
	enum store_listed listed;
	int64_t bytes;        /* of names of nodes in the list */
	int64_t next_unix_ns; /* of the last row; 0: no more */
};

/* Reduce a run to its form in lists: names of nodes are the largest part of a
 * run. */
static void
store_ask_run_shorten(json_t *run, enum store_listed listed, int64_t *bytes)
{
	static const char *const gone[] = { "campaign_text", "origin",
		"attempt", "overrides" };
	json_t *nodes = json_object_get(run, "nodes"), *list;

	for (size_t i = 0; i < ARRAY_LEN(gone); i++)
		json_object_del(run, gone[i]);
	if (json_is_array(nodes))
		json_object_set_new(run, "node_count",
		    json_integer((json_int_t)json_array_size(nodes)));
	if (listed == STORE_LISTED_BRIEF) {
		json_object_del(run, "nodes");
	} else if (json_is_array(nodes)) {
		list = store_ask_hostlist(nodes);
		*bytes += (int64_t)json_string_length(list);
		json_object_set_new(run, "nodes", list);
	}
}

static int
store_ask_row_append(struct sql_stmt *q, void *arg)
{
	struct rows *rows = arg;
	const struct column *c = rows->question->columns;
	json_t *o;

	if (rows->question->pairs)
		return json_object_set_new(rows->list, sql_column_text(q, 0),
			   store_ask_read_text(q, 1)) < 0
		    ? -ENOMEM
		    : 0;
	o = json_object();
	for (int i = 0; c[i].name != NULL; i++) {
		json_t *v = c[i].read(q, i);

		if (c[i].name[0] != '\0') {
			json_object_set_new(o, c[i].name, v);
			continue;
		}
		if (!json_is_object(v)) {
			log_warnx("store: a damaged row is skipped: coalctl db "
				  "check lists damaged rows");
			json_decref(v);
			json_decref(o);
			return 0;
		}
		json_object_update(o, v);
		json_decref(v);
	}
	rows->next_unix_ns = member_int(o, "created_unix_ns");
	if (rows->node != NULL && !store_ask_has_node(o, rows->node)) {
		json_decref(o);
	} else {
		if (rows->listed != STORE_LISTED_WHOLE)
			store_ask_run_shorten(o, rows->listed, &rows->bytes);
		if (json_array_append_new(rows->list, o) < 0)
			return -ENOMEM;
	}
	if (rows->question->of_node &&
	    (++rows->scanned >= SCAN_MAX || rows->bytes >= NAMES_MAX_BYTES ||
		(int64_t)json_array_size(rows->list) >= rows->limit))
		return 1;
	rows->next_unix_ns = 0;
	return 0;
}

int
store_answer(struct store_reading *r, enum store_question what,
    const json_t *args, json_t **ret)
{
	const struct question *qn = &questions[what];
	const json_t *with = qn->with != NULL ? json_object_get(args, qn->with)
					      : NULL;
	struct rows rows = { .question = qn, .limit = INT64_MAX };
	struct sql_stmt *q = NULL;
	int64_t run_id;
	int rc = 0, at = 1;

	if (qn->read != NULL)
		return qn->read(r, args, ret);
	if (qn->one && member_text_or(args, qn->params[0].arg, NULL) == NULL)
		return -EINVAL;
	if (qn->of_run)
		rc = store_read_run_id(r->db, json_object_get(args, "run"),
		    &run_id);
	if (rc == 0)
		rc = sql_prepare(r->db,
		    with != NULL && !json_is_false(with) ? qn->sql_with
							 : qn->sql,
		    &q);
	if (rc < 0)
		return rc;
	if (qn->of_run)
		sql_bind_int(q, at++, run_id);
	for (size_t i = 0; qn->params[i].arg != NULL; i++, at++)
		if (qn->params[i].most == 0)
			sql_bind_text(q, at,
			    member_text_or(args, qn->params[i].arg, NULL));
		else
			sql_bind_int(q, at,
			    store_read_arg(args, qn->params[i].arg,
				qn->params[i].fallback, qn->params[i].least,
				qn->params[i].most));
	if (qn->of_node) {
		rows.node = member_text_or(args, "node", NULL);
		rows.limit = store_read_arg(args, "limit", 100, 1, RUNS_MAX);
		rows.listed = (enum store_listed)store_read_arg(args, "listed",
		    STORE_LISTED_WHOLE, 0, STORE_LISTED_BRIEF);
	}
	rows.list = qn->pairs ? json_object() : json_array();
	rc = store_read_rows(q, store_ask_row_append, &rows);
	if (rc >= 0 && qn->one && json_array_size(rows.list) == 0)
		rc = -ENOENT;
	if (rc >= 0 && rows.listed != STORE_LISTED_WHOLE)
		*ret = json_pack("{s:O, s:I}", "runs", rows.list, "next",
		    (json_int_t)rows.next_unix_ns);
	else if (rc >= 0)
		*ret = json_incref(
		    qn->one ? json_array_get(rows.list, 0) : rows.list);
	json_decref(rows.list);
	return rc < 0 ? rc : 0;
}
