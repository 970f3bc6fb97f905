/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recently active nodes, if not all records can be read.
 */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "daemon/store/store.h"
#include "daemon/store/store_db.h"
#include "daemon/store/store_sql.h"
#include "daemon/store/store_sqlite.h"

#include "tests/unit/daemon/store/store_fix.h"

#define HEARD_BYTES_MAX (4 * 1024 * 1024) /* as stored */

#define ROUNDS 40

struct steps {
	int done, max;
};

/* 1: the time is over. */
static int
step_cb(void *arg)
{
	struct steps *s = arg;

	return s->done++ >= s->max;
}

/* A record of a round of one node, with enough other data that its body cannot
 * be small. */
static json_t *
round_of(int node, int bytes)
{
	json_t *record = fix_canary("r-1", node, "lat", "isolated", 1e-5);
	char *text = xcalloc((size_t)bytes + 1, 1), name[16];

	for (int i = 0; i < bytes; i++)
		text[i] = (char)('!' + rand() % 90);
	snprintf(name, sizeof(name), "node%d", node);
	json_object_set_new(record, "nodes",
	    json_pack("[{s:s, s:f}]", "node", name, "q25", 1e-5));
	json_object_set_new(record, "more", json_string(text));
	free(text);
	return record;
}

/* The store keeps the order: with the last one all are there. */
static void
put_rounds(struct fix *f, int count, int bytes)
{
	for (int i = 1; i < count; i++) {
		json_t *record = round_of(i, bytes);

		store_put_record(f->st, record, NULL, NULL, NULL);
		json_decref(record);
	}
	assert_int_equal(fix_put_record(f, round_of(count, bytes)), 0);
}

static int
setup(void **state)
{
	static struct fix f;

	srand(1);
	fix_folder(&f);
	fix_open(&f);
	fix_put_run(&f, fix_run("r-1", "watch", "running", 5));
	*state = &f;
	return 0;
}

static int
teardown(void **state)
{
	fix_close(*state);
	return 0;
}

static json_t *
heard_within(struct fix *f, struct steps *s)
{
	struct store_reading r = { NULL, NULL };
	json_t *got = NULL;

	assert_int_equal(sql_open(&f->options, SQL_READER, &r.db), 0);
	sqlite3_progress_handler(((struct sqlite *)r.db)->db, 1, step_cb, s);
	assert_int_equal(store_read_heard(&r, NULL, &got), 0);
	sql_close(r.db);
	return got;
}

/* The newest are read first, and kept. */
static void
test_cut_short(void **state)
{
	struct fix *f = *state;
	struct steps s = { 0, INT32_MAX };
	json_t *got;

	put_rounds(f, ROUNDS, 1);
	got = heard_within(f, &s);
	assert_int_equal(json_object_size(got), ROUNDS);
	json_decref(got);
	s = (struct steps){ 0, s.done / 2 };
	got = heard_within(f, &s);
	assert_in_range(json_object_size(got), 1, ROUNDS - 1);
	assert_non_null(json_object_get(got, "node40"));
	assert_null(json_object_get(got, "node1"));
	json_decref(got);
}

/* Records of large clusters are not all unpacked. */
static void
test_large(void **state)
{
	struct fix *f = *state;
	struct steps s = { 0, INT32_MAX };
	json_t *got;

	put_rounds(f, 6, HEARD_BYTES_MAX / 4);
	got = heard_within(f, &s);
	assert_in_range(json_object_size(got), 4, 5);
	assert_non_null(json_object_get(got, "node6"));
	json_decref(got);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_cut_short, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_large, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
