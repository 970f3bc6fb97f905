/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_objectives.c - rows of shares become node-hours by part, live or from
 * the store after a restart; a row ends at the next one, and after a day; an
 * alert starts and ends; malformed rows, a clock that is set back and an outage
 * change nothing else.
 */
#include "daemon/objective/objectives.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/member.h"
#include "common/str.h"

#define H_NS UINT64_C(3600000000000)
#define NOW  (10000 * H_NS)
#define NEAR 1e-6

static const struct objective both[] = {
	{ "n", OBJECTIVE_NODE, 0.95, 0.9, 720 * H_NS, OBJECTIVE_PEERS, 0 },
	{ "l", OBJECTIVE_LEAF, 0.95, 0.9, 720 * H_NS, OBJECTIVE_PEERS, 0 },
};
static const struct objective strict = { "s", OBJECTIVE_NODE, 0.95, 0.99,
	720 * H_NS, OBJECTIVE_PEERS, 0 };

static unsigned changes;
static char last_state[32], last_text[400];

static const char *
leaf_of(void *arg, const char *node)
{
	(void)arg;
	return strcmp(node, "n1") == 0 || strcmp(node, "n2") == 0 ? "a" : "b";
}

static void
changed(void *arg, const char *name, const char *state, const char *text)
{
	(void)arg;
	assert_string_equal(name, "s");
	changes++;
	snprintf(last_state, sizeof(last_state), "%s", state);
	snprintf(last_text, sizeof(last_text), "%s", text);
}

static const struct objectives_ops ops = { leaf_of, changed, NULL };

static json_t *
row_at(uint64_t at_unix_ns, const char *known, json_t *slow)
{
	return json_pack("{s:I, s:s, s:o}", "at_unix_ns",
	    (json_int_t)at_unix_ns, "known", known, "slow", slow);
}

static json_t *
slow(const char *kind, const char *subject, double share)
{
	return json_pack("{s:s, s:s, s:f, s:f}", "kind", kind, "subject",
	    subject, "share", share, "spread", 0.01);
}

/* Newest first: n1 and n2 slow, n2 only a little; a leaf and n3 slow; all good,
 * for a day only. */
static json_t *
rows_make(void)
{
	return json_pack("[o, o, o]",
	    row_at(NOW - 10 * H_NS, "n[1-4]",
		json_pack("[o, o]", slow("node", "n1", 0.5),
		    slow("node", "n2", 0.96))),
	    row_at(NOW - 20 * H_NS, "n[1-4]",
		json_pack("[o, o]", slow("leaf", "a", 0.8),
		    slow("node", "n3", 0.9))),
	    row_at(NOW - 100 * H_NS, "n[1-2]", json_array()));
}

/* Load rows as from a store, in slices. */
static void
load(struct objectives *os, const json_t *rows, uint64_t now_unix_ns)
{
	uint64_t from, to;
	unsigned slices = 0;

	while (objectives_slice(os, 0, now_unix_ns, &from, &to)) {
		json_t *list = json_array(), *row;
		size_t i;

		json_array_foreach (rows, i, row) {
			uint64_t at = member_unsigned(row, "at_unix_ns");

			if (at >= from && at < to)
				json_array_append(list, row);
		}
		objectives_load(os, list, now_unix_ns);
		json_decref(list);
		assert_true(++slices < 1000);
	}
}

static void
row_take(struct objectives *os, json_t *row)
{
	objectives_row(os, row);
	json_decref(row);
}

static void
assert_known(struct objectives *os)
{
	json_t *list = objectives_json(os, NOW);
	const json_t *n = json_array_get(list, 0), *l = json_array_get(list, 1);
	const json_t *parts = json_object_get(n, "parts");

	/* 10 h of n1, 10 h of n3; the oldest row ended after 25 h. */
	assert_float_equal(member_number(n, "measured_hours"), 45, NEAR);
	assert_float_equal(member_number(n, "bad_hours"), 20, NEAR);
	assert_float_equal(member_number(n, "good_hours"), 30 + 30 + 2 * 25,
	    NEAR);
	assert_float_equal(member_number(n, "budget"), 1 - 20 / 130.0 / 0.1,
	    NEAR);
	assert_int_equal(json_array_size(parts), 2);
	assert_float_equal(member_number(json_array_get(parts, 0), "bad_hours"),
	    10, NEAR);
	/* The leaf has two nodes. */
	parts = json_object_get(l, "parts");
	assert_float_equal(member_number(l, "bad_hours"), 20, NEAR);
	assert_int_equal(json_array_size(parts), 1);
	assert_string_equal(member_text(json_array_get(parts, 0), "subject"),
	    "a");
	assert_float_equal(member_number(json_array_get(parts, 0), "bad_hours"),
	    20, NEAR);
	json_decref(list);
}

static void
test_live(void **state)
{
	struct objectives *os = objectives_new(both, 2, &ops);
	json_t *rows = rows_make();
	size_t next = 3;

	(void)state;
	load(os, NULL, NOW - 200 * H_NS);
	for (uint64_t ago = 200; ago-- > 0;) {
		if (next > 0 &&
		    NOW - ago * H_NS >=
			member_unsigned(json_array_get(rows, next - 1),
			    "at_unix_ns"))
			objectives_row(os, json_array_get(rows, --next));
		json_decref(objectives_json(os, NOW - ago * H_NS));
	}
	assert_int_equal(next, 0);
	assert_known(os);
	objectives_free(os);
	json_decref(rows);
}

/* The budget after a restart is the budget before it. A row that arrives during
 * the load is not lost. */
static void
test_restart(void **state)
{
	struct objectives *os = objectives_new(both, 2, &ops);
	json_t *rows = rows_make();
	json_t *live = json_incref(json_array_get(rows, 0));
	uint64_t from, to;

	(void)state;
	json_array_remove(rows, 0);
	row_take(os, live);
	load(os, rows, NOW - 5 * H_NS);
	assert_known(os);
	assert_int_equal(objectives_slice(os, 0, NOW, &from, &to), 0);
	objectives_free(os);
	json_decref(rows);
}

/* A standby reads the rows that the active collector has added. */
static void
test_standby(void **state)
{
	struct objectives *os = objectives_new(both, 2, &ops);
	json_t *rows = rows_make(), *list;
	uint64_t from, to;

	(void)state;
	load(os, rows, NOW - 15 * H_NS);
	assert_int_equal(objectives_slice(os, 1, NOW - 10 * H_NS, &from, &to),
	    1);
	assert_true(from <= NOW - 15 * H_NS);
	list = json_pack("[O]", json_array_get(rows, 0));
	while (objectives_slice(os, 1, NOW - 10 * H_NS, &from, &to) &&
	    to <= NOW - 10 * H_NS)
		objectives_load(os, NULL, NOW - 10 * H_NS);
	objectives_load(os, list, NOW - 10 * H_NS);
	assert_known(os);
	json_decref(list);
	json_decref(rows);
	objectives_free(os);
}

static void
test_alert(void **state)
{
	struct objectives *os = objectives_new(&strict, 1, &ops);
	struct objectives_view v;

	(void)state;
	changes = 0;
	load(os, NULL, NOW);
	row_take(os, row_at(NOW, "n[1-4]", json_array()));
	row_take(os, row_at(NOW + 24 * H_NS, "n[1-4]", json_array()));
	objectives_tick(os, NOW + 23 * H_NS); /* the clock is set back */
	objectives_tick(os, NOW + 26 * H_NS);
	objectives_look(os, 0, NOW + 26 * H_NS, &v);
	assert_string_equal(v.state_name, "ok");
	/* A quarter of the nodes is bad: a rate of 25, for 36 of 60 minutes. */
	row_take(os,
	    row_at(NOW + 26 * H_NS, "n[1-4]",
		json_pack("[o]", slow("node", "n1", 0.5))));
	objectives_tick(os, NOW + 26 * H_NS + H_NS / 2);
	assert_int_equal(changes, 0);
	objectives_tick(os, NOW + 26 * H_NS + H_NS * 6 / 10);
	assert_int_equal(changes, 1);
	assert_string_equal(last_state, "fast");
	assert_non_null(strstr(last_text, "99 % are promised"));
	assert_non_null(strstr(last_text,
	    "now node n1 has 50 % of the bandwidth of its peers"));
	objectives_tick(os, NOW + 26 * H_NS + H_NS * 7 / 10);
	assert_int_equal(changes, 1);
	row_take(os, row_at(NOW + 27 * H_NS, "n[1-4]", json_array()));
	objectives_tick(os, NOW + 27 * H_NS + H_NS / 10);
	assert_int_equal(changes, 2);
	assert_string_equal(last_state, "ok");
	objectives_free(os);
}

static const struct objective of_promise[] = {
	{ "n", OBJECTIVE_NODE, 0.95, 0.9, 720 * H_NS, OBJECTIVE_PROMISE, 0 },
	{ "l", OBJECTIVE_LEAF, 0.95, 0.9, 720 * H_NS, OBJECTIVE_PROMISE, 0 },
	{ "c", OBJECTIVE_COLLECTIVE, 0.95, 0.9, 720 * H_NS, OBJECTIVE_PROMISE,
	    2 },
	{ "p", OBJECTIVE_COLLECTIVE, 0.95, 0.9, 720 * H_NS, OBJECTIVE_PEERS,
	    2 },
};

static void
assert_hours(struct objectives *os, size_t at, uint64_t now, double good,
    double bad, const char *worst)
{
	json_t *list = objectives_json(os, now);
	const json_t *o = json_array_get(list, at);
	const json_t *part = json_array_get(json_object_get(o, "parts"), 0);

	assert_float_equal(member_number(o, "good_hours"), good, NEAR);
	assert_float_equal(member_number(o, "bad_hours"), bad, NEAR);
	assert_string_equal(member_text(part, "subject"), worst);
	json_decref(list);
}

/* Leaf a has n1 and n2, leaf b the others. n6 is not in the promise. First
 * the typical node has 96 %, n3 98 % of that; then the typical node 90 %. */
static void
test_promise(void **state)
{
	struct objectives *os = objectives_new(of_promise, 4, &ops);
	json_t *row = row_at(NOW, "n[1-6]",
	    json_pack("[o, o, o]", slow("node", "n3", 0.98),
		slow("node", "n6", 0.5), slow("leaf", "a", 0.9)));
	json_t *last = row_at(NOW + 10 * H_NS, "n[1-6]", json_array());

	(void)state;
	json_object_set_new(row, "promise",
	    json_pack("{s:s, s:f}", "known", "n[1-5]", "node", 0.96));
	json_object_set_new(last, "promise",
	    json_pack("{s:s, s:f, s:f}", "known", "n[1-5]", "node", 0.9, "leaf",
		1.0));
	load(os, NULL, NOW);
	row_take(os, row);
	assert_hours(os, 0, NOW + 10 * H_NS, 40, 10, "n3");
	/* No rate of leaves was measured. */
	assert_hours(os, 1, NOW + 10 * H_NS, 0, 0, "");
	/* One of three pairs of n3 to n5 is good: 1 of 3 node-hours. */
	assert_hours(os, 2, NOW + 10 * H_NS, 30, 20, "n3");
	/* Of its peers: n6 is slow in a leaf of four, half of its pairs. */
	assert_hours(os, 3, NOW + 10 * H_NS, 40, 20, "n6");
	row_take(os, last);
	assert_hours(os, 0, NOW + 20 * H_NS, 40, 60, "all");
	assert_hours(os, 1, NOW + 20 * H_NS, 50, 0, "");
	assert_hours(os, 2, NOW + 20 * H_NS, 30, 70, "all");
	assert_hours(os, 3, NOW + 20 * H_NS, 100, 20, "n6");
	/* A row of a time without a report. */
	row_take(os, row_at(NOW + 20 * H_NS, "n[1-6]", json_array()));
	assert_hours(os, 0, NOW + 30 * H_NS, 40, 60, "all");
	assert_hours(os, 3, NOW + 30 * H_NS, 160, 20, "n6");
	objectives_free(os);
}

/* The sentence about all nodes. */
static void
test_promise_text(void **state)
{
	struct objectives *os = objectives_new(of_promise, 1, &ops);
	json_t *row = row_at(NOW, "n[1-4]", json_array());
	struct objectives_view v;

	(void)state;
	json_object_set_new(row, "promise",
	    json_pack("{s:s, s:f}", "known", "n[1-4]", "node", 0.9));
	load(os, NULL, NOW);
	row_take(os, json_incref(row));
	json_object_set_new(row, "at_unix_ns",
	    json_integer((json_int_t)(NOW + 24 * H_NS)));
	row_take(os, row);
	objectives_look(os, 0, NOW + 25 * H_NS, &v);
	if (strstr(v.text,
		"all nodes spent 100 % of it, 100.0 node-hours; now all nodes "
		"have 90 % of the promised bandwidth") == NULL)
		fail_msg("%s", v.text);
	objectives_free(os);
}

/* Rounds that are hours apart make the windows longer. */
static void
test_cadence(void **state)
{
	struct objectives *os = objectives_new(&strict, 1, &ops);
	struct objectives_view v;

	(void)state;
	load(os, NULL, NOW);
	objectives_round(os, H_NS);
	objectives_look(os, 0, NOW, &v);
	assert_true(v.state.burn[OBJECTIVE_FAST].long_ns == H_NS);
	for (uint64_t i = 1; i < 30; i++)
		objectives_round(os, H_NS + i * 2 * H_NS);
	objectives_look(os, 0, NOW, &v);
	assert_true(v.state.burn[OBJECTIVE_FAST].long_ns == 6 * H_NS);
	objectives_free(os);
}

static void
test_undetermined(void **state)
{
	struct objectives *os = objectives_new(both, 2, &ops);
	json_t *list;

	(void)state;
	row_take(os, row_at(NOW - 3 * H_NS, "n[1-4]", json_array()));
	list = objectives_json(os, NOW);
	assert_string_equal(member_text(json_array_get(list, 0), "text"),
	    "undetermined: 0.0 of 24.0 hours measured");
	json_decref(list);
	load(os, NULL, NOW);
	list = objectives_json(os, NOW);
	assert_string_equal(member_text(json_array_get(list, 0), "text"),
	    "undetermined: 3.0 of 24.0 hours measured");
	assert_string_equal(member_text(json_array_get(list, 0), "state"),
	    "undetermined");
	assert_true(
	    json_is_null(json_object_get(json_array_get(list, 0), "budget")));
	json_decref(list);
	objectives_free(os);
}

static void
test_malformed(void **state)
{
	struct objectives *os = objectives_new(both, 2, &ops);
	json_t *rows = json_pack("[i, {}, {s:s}, {s:I, s:s, s:[i, {}, {s:s}]}, "
				 "{s:I, s:s}, {s:I, s:s}]",
	    7, "at_unix_ns", "x", "at_unix_ns", (json_int_t)(NOW - H_NS),
	    "known", "n1", "slow", 5, "kind", "node", "at_unix_ns",
	    (json_int_t)(NOW - 2 * H_NS), "known", "n[", "at_unix_ns",
	    (json_int_t)-5, "known", "n1");
	json_t *list;

	(void)state;
	assert_non_null(rows);
	load(os, NULL, NOW - 4 * H_NS);
	for (size_t i = json_array_size(rows); i-- > 0;)
		objectives_row(os, json_array_get(rows, i));
	list = objectives_json(os, NOW);
	assert_float_equal(member_number(json_array_get(list, 0), "good_hours"),
	    1, NEAR);
	assert_float_equal(member_number(json_array_get(list, 0), "bad_hours"),
	    0, NEAR);
	json_decref(list);
	json_decref(rows);
	objectives_free(os);
}

/* More bad nodes than have a name still count; their memory is limited, and is
 * reused when they have left the window. */
static void
test_outage(void **state)
{
	struct objectives *os = objectives_new(both, 1, &ops);
	json_t *list, *many = json_array();
	char name[16];

	(void)state;
	for (int i = 1; i <= 3000; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		json_array_append_new(many, slow("node", name, 0.1));
	}
	load(os, NULL, NOW - 30 * H_NS);
	row_take(os, row_at(NOW - 25 * H_NS, "n[1-4000]", many));
	row_take(os, row_at(NOW, "n[1-4000]", json_array()));
	list = objectives_json(os, NOW);
	assert_float_equal(member_number(json_array_get(list, 0), "bad_hours"),
	    3000 * 25, 1e-3);
	assert_int_equal(json_array_size(
			     json_object_get(json_array_get(list, 0), "parts")),
	    100);
	json_decref(list);
	row_take(os,
	    row_at(NOW + 800 * H_NS, "n[1-4000]",
		json_pack("[o]", slow("node", "n4000", 0.1))));
	list = objectives_json(os, NOW + 801 * H_NS);
	assert_string_equal(
	    member_text(json_array_get(json_object_get(json_array_get(list, 0),
					   "parts"),
			    0),
		"subject"),
	    "n4000");
	json_decref(list);
	objectives_free(os);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_live),
		cmocka_unit_test(test_restart),
		cmocka_unit_test(test_standby),
		cmocka_unit_test(test_alert),
		cmocka_unit_test(test_promise),
		cmocka_unit_test(test_promise_text),
		cmocka_unit_test(test_cadence),
		cmocka_unit_test(test_undetermined),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_outage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
