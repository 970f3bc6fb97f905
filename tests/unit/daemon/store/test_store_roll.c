/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_store_roll.c - the reduction of records after their time in full, and
 * that long bodies are read back unchanged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* Headers that cmocka.h needs first. */
#include <cmocka.h>

#include "tests/unit/daemon/store/store_fix.h"

#include "daemon/store/store_db.h"
#include "daemon/store/store_roll.h"
#include "daemon/store/store_keep.h"

#include "daemon/store/store_roll.c"

static int64_t
number_of(struct sql *db, const char *sql)
{
	int64_t number;

	assert_int_equal(sql_int(db, sql, &number), 0);
	return number;
}

#define NODES 300

static int
setup(void **state)
{
	struct fix *f = xcalloc(1, sizeof(*f));

	fix_folder(f);
	/* Not by the writer: the tests do it. */
	f->options.retention_ns = f->options.raw_retention_ns = 0;
	fix_open(f);
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	fix_close(*state);
	free(*state);
	return 0;
}

static json_t *
lists(json_t *record, double scale)
{
	json_t *nodes = json_array();
	char name[16];

	for (int i = 0; i < NODES; i++) {
		snprintf(name, sizeof(name), "node%d", i);
		json_array_append_new(nodes,
		    json_pack("{s:s,s:i,s:f}", "node", name, "n", 4, "p50",
			scale * (1 + i / 1e3)));
	}
	json_object_set_new(record, "nodes", nodes);
	return fix_written(record);
}

static json_t *
mesh(const char *run, int seq, const char *class, double scale)
{
	json_t *record = lists(fix_canary(run, seq, class, "wild", scale),
	    scale);

	json_object_set_new(record, "probe", json_string("mesh"));
	json_object_set_new(record, "lost", json_integer(seq));
	json_object_set_new(record, "unknown", json_integer(0));
	json_object_set_new(record, "unsent", json_integer(2));
	json_object_set_new(record, "seed", json_integer(seq));
	return record;
}

static void
put_run(struct fix *f, const char *run, const char *class)
{
	json_t *o = fix_run(run, "x", "finished", clk_unix_ns());

	json_object_set_new(o, "class", json_string(class));
	assert_int_equal(fix_put_run(f, o), 0);
}

/* The writer's place, while it is away: a store has one. */
static struct sql *
db_take(struct fix *f)
{
	struct sql *db;

	store_close(f->st);
	f->st = NULL;
	assert_int_equal(sql_open(&f->options, SQL_WRITER, &db), 0);
	return db;
}

static void
db_give(struct fix *f, struct sql *db)
{
	sql_close(db);
	fix_open(f);
}

/* Records have the time of their arrival: change it to the test's. */
static void
came_at(struct fix *f, const char *which, int64_t at_unix_ns)
{
	struct sql *db = db_take(f);
	char sql[256];

	snprintf(sql, sizeof(sql), "UPDATE record SET at_unix_ns = %lld %s",
	    (long long)at_unix_ns, which);
	assert_int_equal(sql_exec(db, sql), 0);
	db_give(f, db);
}

static void
roll_all(struct fix *f, int64_t before_unix_ns, int want)
{
	struct sql *db = db_take(f);
	int rolled = 0, rc;

	do {
		rc = store_roll_one(db, (uint64_t)before_unix_ns);
		rolled += rc > 0;
	} while (rc > 0);
	assert_int_equal(rc, 0);
	assert_int_equal(rolled, want);
	db_give(f, db);
}

static json_t *
records_of(struct fix *f, const char *run)
{
	return fix_ask(f, STORE_RECORDS, json_pack("{s:s}", "run", run), 0);
}

static int64_t
int_at(const json_t *list, size_t i, const char *key)
{
	return json_integer_value(
	    json_object_get(json_array_get(list, i), key));
}

static void
test_long_bodies_come_back(void **state)
{
	struct fix *f = *state;
	json_t *given = mesh("m", 1, "leaf", 1e-5), *list, *run;
	char name[32];
	struct sql *db;

	assert_int_equal(fix_put_record(f, json_incref(given)), 0);
	run = fix_run("long", "x", "finished", 7);
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "node%d", i);
		json_array_append_new(json_object_get(run, "nodes"),
		    json_string(name));
	}
	assert_int_equal(fix_put_run(f, json_incref(run)), 0);
	list = records_of(f, "m");
	assert_true(json_equal(json_array_get(list, 0), given));
	json_decref(list);
	json_decref(given);
	list = fix_ask(f, STORE_RUN, json_pack("{s:s}", "run", "long"), 0);
	assert_true(json_equal(json_object_get(list, "nodes"),
	    json_object_get(run, "nodes")));
	json_decref(list);
	json_decref(run);
	db = db_take(f);
	if (!db->engine->packs) {
		db_give(f, db);
		return;
	}
	/* 300 rows of some 45 bytes */
	assert_in_range(number_of(db, "SELECT length(body) FROM record"), 500,
	    8000);
	/* A foreign BLOB is reported, and is not a record. */
	assert_int_equal(sql_exec(db, "UPDATE record SET body = x'ffffffff00'"),
	    0);
	db_give(f, db);
	list = records_of(f, "m");
	assert_null(json_object_get(json_array_get(list, 0), "seq"));
	json_decref(list);
	/* One that an older build deflated is read. */
	db = db_take(f);
	assert_int_equal(
	    sql_exec(db,
		"UPDATE record SET hist = NULL, crc = NULL, body = x'"
		"45000000780115c83b0e80201005c0ab6c5e4d63cb6d20bc4422f2db"
		"a532de5d2c671ecc55e171c34139e00f873e5be47fd473b7516d2ba8"
		"842aad244e892b972417bb4936bc1fe02715fc"
		"'"),
	    0);
	db_give(f, db);
	list = records_of(f, "m");
	assert_string_equal(member_text(json_array_get(list, 0), "test"),
	    "as an older build kept it");
	json_decref(list);
}

static void
test_an_hour_of_the_mesh_is_one_record(void **state)
{
	const int64_t hour = 1000 * HOUR_NS;
	struct fix *f = *state;
	json_t *list, *a;
	double p50;

	put_run(f, "m", "background");
	for (int seq = 1; seq <= 6; seq++)
		assert_int_equal(fix_put_record(f,
				     mesh("m", seq,
					 seq % 2 != 0 ? "leaf" : "spine",
					 seq < 5 ? 1e-5 : 4e-5)),
		    0);
	came_at(f, "WHERE seq < 5", hour + 1);
	came_at(f, "WHERE seq >= 5", hour + HOUR_NS);
	roll_all(f, hour + 1, 0);
	roll_all(f, hour + HOUR_NS + 1, 6);
	roll_all(f, hour + HOUR_NS + 1, 0);
	list = records_of(f, "m");
	/* Two classes in two hours. */
	assert_int_equal(json_array_size(list), 4);
	assert_int_equal(int_at(list, 0, "n"), 400);
	assert_int_equal(int_at(list, 0, "lost"), 1 + 3);
	assert_int_equal(int_at(list, 1, "lost"), 2 + 4);
	assert_int_equal(int_at(list, 0, "unsent"), 4);
	assert_int_equal(int_at(list, 0, "rolled"), 2);
	assert_int_equal(int_at(list, 2, "n"), 200);
	assert_int_equal(int_at(list, 2, "rolled"), 1);
	a = json_array_get(list, 0);
	assert_null(json_object_get(a, "nodes"));
	p50 = json_number_value(json_object_get(a, "p50"));
	assert_true(p50 > 1.9e-5 && p50 < 2.1e-5);
	assert_true(json_array_size(json_object_get(a, "hist")) > 0);
	json_decref(list);
	list = fix_ask(f, STORE_RUN, json_pack("{s:s}", "run", "m"), 0);
	assert_int_equal(json_integer_value(json_object_get(list, "records")),
	    4);
	json_decref(list);
}

static void
test_cut(void **state)
{
	static const char *const cases[][2] = {
		{ "{}", "{}" },
		{ "{\"a\":1}", "{\"a\":1}" },
		{ "{\"nodes\":[{\"node\":\"x]}\"},[]],\"a\":1}", "{\"a\":1}" },
		{ "{\"a\":\"\\\"nodes\",\"pairs\":[],\"b\":{\"nodes\":[1]}}",
		    "{\"a\":\"\\\"nodes\",\"b\":{\"nodes\":[1]}}" },
		{ "{\"a\":null,\"seed\":7}", "{\"a\":null}" },
		{ "{\"seed\":7}", "{}" },
		{ "{\"nodes\":[1,2", "{" },
		{ "[1]", "[1]" },
		{ "", "" },
	};
	char text[128];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		snprintf(text, sizeof(text), "%s", cases[i][0]);
		store_roll_cut(text);
		assert_string_equal(text, cases[i][1]);
	}
}

/* Quantiles are those of all samples, not means of quantiles. */
static void
test_merge_is_exact(void **state)
{
	struct hist both, part;
	json_t *a = mesh("m", 1, "leaf", 1e-5), *b = mesh("m", 2, "leaf", 9e-5);

	(void)state;
	store_roll_hist_of(a, &both);
	store_roll_hist_of(b, &part);
	hist_merge(&both, &part);
	store_roll_mesh_merge(a, b);
	assert_int_equal(json_integer_value(json_object_get(a, "n")), 400);
	assert_true(json_number_value(json_object_get(a, "p99")) ==
	    hist_quantile(&both, 0.99));
	assert_true(json_number_value(json_object_get(a, "max")) == both.max);
	json_decref(a);
	json_decref(b);
}

static void
test_lists_go_with_the_class_of_the_run(void **state)
{
	struct fix *f = *state;
	json_t *list, *a;

	put_run(f, "b", "background");
	put_run(f, "e", "exclusive");
	fix_put_record(f, lists(fix_canary("b", 1, "lat", "wild", 1), 1));
	fix_put_record(f, lists(fix_canary("e", 1, "lat", "isolated", 1), 1));
	fix_put_record(f, fix_canary("b", 2, "lat", "wild", 1));
	came_at(f, "", 5 * HOUR_NS);
	roll_all(f, 6 * HOUR_NS, 2); /* one has no lists */
	list = records_of(f, "b");
	assert_int_equal(json_array_size(list), 2);
	a = json_array_get(list, 0);
	assert_null(json_object_get(a, "nodes"));
	assert_int_equal(int_at(list, 0, "n"), 200);
	assert_true(json_array_size(json_object_get(a, "hist")) > 0);
	json_decref(list);
	list = records_of(f, "e");
	a = json_array_get(list, 0);
	assert_int_equal(json_array_size(json_object_get(a, "nodes")), NODES);
	assert_null(json_object_get(a, "rolled"));
	json_decref(list);
}

static int64_t
count_of(struct sql *db, const char *sql)
{
	struct sql_stmt *q = NULL;
	int64_t count;

	assert_int_equal(sql_prepare(db, sql, &q), 0);
	assert_int_equal(sql_step(q), 1);
	count = sql_column_int(q, 0);
	sql_finalize(q);
	return count;
}

/* Rows that shrink move behind rows that do not, so that they share pages.
 * Their place in their run stays, and they move only once. */
static void
test_what_shrinks_moves_together(void **state)
{
	struct fix *f = *state;
	struct sql *db;
	json_t *list;

	put_run(f, "b", "background");
	put_run(f, "e", "exclusive");
	for (int seq = 1; seq <= 3; seq++) {
		json_t *b = fix_canary("b", seq, "lat", "isolated", 1e-5);
		json_t *e = fix_canary("e", seq, "lat", "isolated", 1e-5);

		assert_int_equal(fix_put_record(f, lists(b, 1e-5)), 0);
		assert_int_equal(fix_put_record(f, lists(e, 1e-5)), 0);
	}
	came_at(f, "", HOUR_NS);
	roll_all(f, HOUR_NS + 1, 6);
	db = db_take(f);
	if (!db->engine->moves_shrunk) {
		db_give(f, db);
		skip();
	}
	assert_int_equal(count_of(db,
			     "SELECT count(*) FROM record JOIN run ON run.id ="
			     " run_id WHERE run = 'e' AND record.id <= 6"),
	    3);
	assert_int_equal(count_of(db,
			     "SELECT count(*) FROM record JOIN run ON run.id ="
			     " run_id WHERE run = 'b' AND record.id BETWEEN 7"
			     " AND 9"),
	    3);
	db_give(f, db);
	roll_all(f, HOUR_NS + 1, 0);
	list = records_of(f, "b");
	assert_int_equal(json_array_size(list), 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(int_at(list, i, "seq"), (int)i + 1);
	json_decref(list);
}

/* By the writer's own calls, at the age of raw_retention. */
static void
test_housekeeping_rolls(void **state)
{
	struct fix *f = *state;
	uint64_t now = clk_unix_ns();
	json_t *list;
	struct sql *db;
	int rc;

	put_run(f, "m", "background");
	for (int seq = 1; seq <= 3; seq++)
		fix_put_record(f, mesh("m", seq, "leaf", 1e-5));
	came_at(f, "", 7 * HOUR_NS);
	db = db_take(f);
	while ((rc = store_keep_slice(db, now,
		    &(struct store_options){
			.raw_retention_ns = 7 * DAY_NS })) > 0)
		;
	assert_int_equal(rc, 0);
	db_give(f, db);
	list = records_of(f, "m");
	assert_int_equal(json_array_size(list), 1);
	assert_int_equal(int_at(list, 0, "rolled"), 3);
	json_decref(list);
}

/* All rows of a day are deleted at once if the engine can do that, and row by
 * row if a run of it has not ended; that run stays. */
static void
test_whole_days_go(void **state)
{
	struct fix *f = *state;
	uint64_t now = clk_unix_ns() + 100 * DAY_NS;
	struct sql *db;

	for (int live = 0; live < 2; live++) {
		int slices = 0, rc;

		put_run(f, "old", "background");
		if (live)
			fix_put_run(f, fix_run("live", "x", "running", 1));
		for (int seq = 1; seq <= 1200; seq++) {
			json_t *record = fix_canary(live && seq == 1 ? "live"
								     : "old",
			    seq, "lat", "isolated", 1);

			store_put_record(f->st, record, NULL, NULL, NULL);
			json_decref(record);
		}
		db = db_take(f);
		assert_int_equal(number_of(db, "SELECT count(*) FROM record"),
		    1200);
		do {
			rc = store_keep_slice(db, now,
			    &(struct store_options){
				.retention_ns = 90 * DAY_NS });
			slices += rc > 0;
		} while (rc > 0);
		assert_int_equal(rc, 0);
		if (db->engine->drop_old != NULL && !live)
			assert_int_equal(slices, 1);
		else
			assert_true(slices >= 4);
		assert_int_equal(number_of(db, "SELECT count(*) FROM record"),
		    live);
		assert_int_equal(number_of(db, "SELECT count(*) FROM run"),
		    live);
		db_give(f, db);
	}
}

/* An old node is deleted with its inventory, and a dropped one; no other node
 * is. */
static void
test_old_nodes_go(void **state)
{
	struct fix *f = *state;
	uint64_t now = clk_unix_ns();
	struct sql *db;
	int rc;

	for (int is_new = 0; is_new < 2; is_new++) {
		const char *name = is_new ? "new" : "old";
		json_t *node = json_pack("{s:s, s:s, s:I}", "node", name,
		    "state", "lost", "last_seen_unix_ns",
		    (json_int_t)(now - (is_new ? 89 : 91) * DAY_NS));

		store_put_node(f->st, node);
		store_put_inventory(f->st, name, node);
		json_object_set_new(node, "node", json_string("gone"));
		store_put_node(f->st, node);
		store_put_inventory(f->st, "gone", node);
		store_drop_node(f->st, "gone");
		json_decref(node);
	}
	db = db_take(f);
	assert_int_equal(number_of(db, "SELECT count(*) FROM node_inventory"),
	    2);
	while (
	    (rc = store_keep_slice(db, now,
		 &(struct store_options){ .retention_ns = 90 * DAY_NS })) > 0)
		;
	assert_int_equal(rc, 0);
	assert_int_equal(number_of(db, "SELECT count(*) FROM node"), 1);
	assert_int_equal(number_of(db,
			     "SELECT count(*) FROM node_inventory AS i"
			     " JOIN node AS n ON n.node = i.node"),
	    1);
	assert_int_equal(number_of(db, "SELECT count(*) FROM node_inventory"),
	    1);
	db_give(f, db);
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_long_bodies_come_back),
		T(test_an_hour_of_the_mesh_is_one_record),
		T(test_cut),
		T(test_merge_is_exact),
		T(test_lists_go_with_the_class_of_the_run),
		T(test_what_shrinks_moves_together),
		T(test_housekeeping_rolls),
		T(test_whole_days_go),
		T(test_old_nodes_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
