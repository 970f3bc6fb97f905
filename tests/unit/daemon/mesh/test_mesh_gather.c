/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_mesh_gather.c - reports become records; losses need a witness; reports
 * that no agent of ours sends are refused.
 */
#include <errno.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/hist.h"
#include "common/member.h"
#include "common/xalloc.h"
#include "daemon/mesh/mesh_gather.h"
#include "schema/mesh.h"
#include "schema/record.h"

static const char *const nodes[] = { "n0", "n1", "n2", "n3" };

static long
find(void *arg, const char *node)
{
	(void)arg;
	for (long i = 0; i < 4; i++)
		if (strcmp(nodes[i], node) == 0)
			return i;
	return -ENOENT;
}

static const char *
name(void *arg, size_t id)
{
	(void)arg;
	return nodes[id];
}

static struct mesh_gather *
gather(void)
{
	struct mesh_names names = { find, name, NULL };

	return mesh_gather_new(5, 77, &names);
}

/* A node that probed one other on its leaf: this many answers of 16 us. */
static json_t *
report(const char *target, int answered, int lost, int drops)
{
	struct hist *h = xcalloc(1, sizeof(*h));
	json_t *class, *row, *msg;

	hist_clear(h);
	if (answered > 0)
		hist_add_many(h, 16e-6, (uint64_t)answered);
	class = json_pack("{s:s, s:i, s:i, s:i, s:i}", "class", "leaf",
	    "answered", answered, "lost", lost, "unknown", 0, "unsent", 0);
	record_put_hist(class, h);
	row = json_pack("{s:s, s:s, s:i, s:i, s:i}", "node", target, "class",
	    "leaf", "answered", answered, "lost", lost, "unknown", 0);
	if (answered > 0)
		json_object_set_new(row, "p50", json_real(16e-6));
	msg = json_pack("{s:i, s:i, s:[o], s:[o], s:{s:{s:f}, s:{}, s:i, s:i, "
			"s:f}}",
	    "epoch", 5, "span_ms", 1000, "classes", class, "targets", row,
	    "host", "turn", "p99", 1e-4, "wait", "limited", 0, "drops", drops,
	    "stretch", 1.0);
	assert_non_null(msg);
	free(h);
	return msg;
}

static void
add(struct mesh_gather *g, size_t node, json_t *msg, int rc)
{
	struct err err = { 0 };

	assert_int_equal(mesh_gather_add(g, node, msg, &err), rc);
	if (rc == -EPROTO)
		assert_true(err.text[0] != '\0');
	json_decref(msg);
}

static json_int_t
int_of(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

static const json_t *
row_of(const json_t *record, const char *node)
{
	json_t *row;
	size_t i;

	member_foreach (record, "nodes", i, row)
		if (strcmp(json_string_value(json_object_get(row, "node")),
			node) == 0)
			return row;
	return NULL;
}

static void
test_record(void **state)
{
	struct mesh_gather *g = gather();
	struct record_head head;
	json_t *r, *parsed;
	char *line;
	struct err err;

	(void)state;
	add(g, 0, report("n1", 8, 0, 0), 0);
	add(g, 1, report("n2", 8, 2, 0), 0);
	add(g, 2, report("n0", 4, 0, 0), 0);
	add(g, 2, report("n0", 4, 0, 0), -EALREADY);
	mesh_gather_close(g);
	assert_null(mesh_gather_record(g, MESH_SPINE));
	r = mesh_gather_record(g, MESH_LEAF);
	assert_int_equal(int_of(r, "n"), 20);
	assert_int_equal(int_of(r, "lost"), 2);
	assert_int_equal(int_of(r, "unknown"), 0);
	assert_int_equal(int_of(r, "reports"), 3);
	assert_int_equal(int_of(row_of(r, "n1"), "n"), 16);
	assert_int_equal(int_of(row_of(r, "n1"), "lost"), 2);
	assert_int_equal(int_of(row_of(r, "n0"), "lost"), 0);
	/* n1 and n2 have met only each other with a loss */
	assert_int_equal(int_of(row_of(r, "n1"), "good_lost"), 0);
	assert_true(int_of(row_of(r, "n1"), "good_sent") > 0);
	assert_null(row_of(r, "n3"));
	/* the pair that loses is the worst */
	assert_string_equal(json_string_value(json_object_get(
				json_array_get(json_object_get(r, "pairs"), 0),
				"a")),
	    "n1");
	/* it is an ordinary record */
	json_object_set_new(r, "run", json_string("mesh-1"));
	json_object_set_new(r, "seq", json_integer(1));
	line = json_dumps(r, JSON_COMPACT);
	assert_int_equal(record_parse(line, strlen(line), &parsed, &head, &err),
	    0);
	json_decref(parsed);
	free(line);
	json_decref(r);
	mesh_gather_free(g);
}

/* n1 has not reported, and n2's host has dropped requests: losses to them are
 * not evidence. n0 has confirmed that it was alive. */
static void
test_witnesses(void **state)
{
	struct mesh_gather *g = gather();
	json_t *r;

	(void)state;
	add(g, 0, report("n1", 3, 5, 0), 0);
	add(g, 2, report("n0", 0, 4, 1), 0);
	add(g, 3, report("n2", 0, 7, 0), 0);
	mesh_gather_close(g);
	r = mesh_gather_record(g, MESH_LEAF);
	assert_int_equal(int_of(r, "n"), 3);
	assert_int_equal(int_of(r, "lost"), 4);
	assert_int_equal(int_of(r, "unknown"), 12);
	assert_null(json_object_get(r, "cause"));
	json_decref(r);
	mesh_gather_free(g);
}

/* No answer at all: a cause, and numbers that are null. */
static void
test_no_number(void **state)
{
	struct mesh_gather *g = gather();
	json_t *r;

	(void)state;
	add(g, 0, report("n1", 0, 5, 0), 0);
	add(g, 1, report("n0", 0, 5, 0), 0);
	mesh_gather_close(g);
	r = mesh_gather_record(g, MESH_LEAF);
	assert_int_equal(int_of(r, "n"), 0);
	assert_true(json_is_null(json_object_get(r, "mean")));
	assert_string_equal(json_string_value(json_object_get(r, "cause")),
	    "timeout");
	assert_true(json_is_null(json_object_get(row_of(r, "n0"), "q25")));
	json_decref(r);
	mesh_gather_free(g);
}

static void
member_set(json_t *msg, const char *list, const char *key, json_t *value)
{
	json_object_set_new(json_array_get(json_object_get(msg, list), 0), key,
	    value);
}

static void
large_set(json_t *msg, json_t *large)
{
	json_object_set_new(json_array_get(json_object_get(msg, "targets"), 0),
	    "large", large);
}

static json_t *
large(int answered, int lost)
{
	return json_pack("{s:i, s:i, s:i, s:i}", "bytes", 8972, "answered",
	    answered, "lost", lost, "unsent", 1);
}

/* Large datagrams are separate. n3 has not reported: it may have died, or never
 * received a large one. */
static void
test_large(void **state)
{
	struct mesh_gather *g = gather();
	json_t *msg = report("n1", 8, 0, 0), *r, *row;
	const struct mesh_pair *p;

	(void)state;
	large_set(msg, large(0, 3));
	add(g, 0, msg, 0);
	msg = report("n3", 8, 0, 0); /* which does not report */
	large_set(msg, large(2, 1));
	add(g, 1, msg, 0);
	msg = report("n3", 8, 0, 0);
	large_set(msg, large(0, 1));
	add(g, 2, msg, 0);
	mesh_gather_close(g);
	assert_int_equal(mesh_gather_pairs(g, &p), 3);
	assert_int_equal(p[0].large_bytes, 8972);
	assert_int_equal(p[0].large_lost, 3);
	assert_int_equal(p[0].large_unsent, 1);
	assert_int_equal(p[1].large_answered, 2);
	assert_int_equal(p[1].large_lost, 0);
	assert_int_equal(p[2].large_lost, 1);
	r = mesh_gather_record(g, MESH_LEAF);
	assert_int_equal(int_of(r, "lost"), 0);
	assert_int_equal(int_of(r, "n"), 24);
	assert_int_equal(int_of(row_of(r, "n0"), "n"), 8);
	assert_int_equal(int_of(row_of(r, "n0"), "lost"), 0);
	assert_int_equal(int_of(row_of(r, "n1"), "n"), 18);
	/* the one that loses large ones comes first */
	row = json_array_get(json_object_get(r, "pairs"), 0);
	assert_string_equal(json_string_value(json_object_get(row, "a")), "n0");
	row = json_object_get(row, "large");
	assert_int_equal(int_of(row, "lost"), 3);
	assert_int_equal(int_of(row, "n"), 0);
	assert_int_equal(int_of(row, "bytes"), 8972);
	json_decref(r);
	mesh_gather_free(g);

	/* where large ones pass, their losses are losses */
	g = gather();
	msg = report("n1", 8, 1, 0);
	large_set(msg, large(5, 2));
	add(g, 0, msg, 0);
	add(g, 1, report("n0", 8, 0, 0), 0);
	mesh_gather_close(g);
	r = mesh_gather_record(g, MESH_LEAF);
	assert_int_equal(int_of(r, "lost"), 1);
	assert_int_equal(int_of(row_of(r, "n0"), "n"), 21);
	assert_int_equal(int_of(row_of(r, "n0"), "lost"), 3);
	json_decref(r);
	mesh_gather_free(g);
}

static void
test_refused(void **state)
{
	static const struct {
		const char *list, *key, *value;
	} rows[] = {
		{ "targets", "node", "\"n9\"" },
		{ "targets", "node", "\"n0\"" }, /* itself */
		{ "targets", "node", "7" },
		{ "targets", "class", "\"rack\"" },
		{ "targets", "answered", "-1" },
		{ "targets", "answered", "0" }, /* and yet a median */
		{ "targets", "lost", "1e3" },
		{ "targets", "p50", "-2" },
		{ "targets", "large", "[]" },
		{ "targets", "large",
		    "{\"bytes\":64,\"answered\":1,\"lost\":0,\"unsent\":0}" },
		{ "targets", "large",
		    "{\"bytes\":1472,\"answered\":1,\"lost\":-1,"
		    "\"unsent\":0}" },
		{ "classes", "class", "\"\"" },
		{ "classes", "answered", "9" }, /* the histogram has 8 */
		{ "classes", "hist", "[[1]]" },
		{ "classes", "min", "null" },
		{ "classes", "max", "null" },
		{ "classes", "max", "1e-6" }, /* below the smallest */
		{ "classes", "max", "1e300" },
		{ "classes", "mean", "-1.6e-5" },
		{ "classes", "mean", "1.6e-4" }, /* above the largest */
		{ "classes", "lost", "99999999999" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct mesh_gather *g = gather();
		json_t *msg = report("n1", 8, 0, 0);

		member_set(msg, rows[i].list, rows[i].key,
		    json_loads(rows[i].value, JSON_DECODE_ANY, NULL));
		add(g, 0, msg, -EPROTO);
		mesh_gather_free(g);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_record),
		cmocka_unit_test(test_witnesses),
		cmocka_unit_test(test_no_number),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
