/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_objective.c - rows of objectives, with errors that name the row; budgets
 * and burn rates of known times; which alerts fire, and when they end; nothing
 * measured is neither good nor bad.
 */
#include "daemon/objective/objective.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/str.h"

#define H_NS  (3600 * UINT64_C(1000000000))
#define D_NS  (24 * H_NS)
#define NOW   (1000 * D_NS)
#define NEAR  1e-9
#define NODES 100

static const struct objective month = { "links", OBJECTIVE_NODE, 0.95, 0.995,
	30 * D_NS, OBJECTIVE_PEERS, 0 };

static void
test_rows(void **state)
{
	struct objective o[OBJECTIVE_MAX];
	struct err err;

	(void)state;
	assert_int_equal(objective_parse("", o, &err), 0);
	assert_int_equal(objective_parse("links node 95% 99.5% 30d, "
					 "up-1 leaf 0.9 0.99 7d",
			     o, &err),
	    2);
	assert_string_equal(o[0].name, "links");
	assert_int_equal(o[0].of, OBJECTIVE_NODE);
	assert_float_equal(o[0].share, 0.95, NEAR);
	assert_float_equal(o[0].target, 0.995, NEAR);
	assert_true(o[0].window_ns == 30 * D_NS);
	assert_string_equal(o[1].name, "up-1");
	assert_int_equal(o[1].of, OBJECTIVE_LEAF);
	assert_true(o[1].window_ns == 7 * D_NS);
	assert_int_equal(o[1].basis, OBJECTIVE_PEERS);
	assert_int_equal(objective_parse("all collective:8 95% 99.5% 30d "
					 "promise",
			     o, &err),
	    1);
	assert_int_equal(o[0].of, OBJECTIVE_COLLECTIVE);
	assert_int_equal(o[0].set_nodes, 8);
	assert_int_equal(o[0].basis, OBJECTIVE_PROMISE);
}

static void
test_rows_invalid(void **state)
{
	static const struct {
		const char *rows, *want;
	} cases[] = {
		{ "links node 95% 99.5%", "expected NAME" },
		{ "links node 95% 99.5% 30d 4", "basis" },
		{ "links node 95% 99.5% 30d promise 4", "expected NAME" },
		{ "a collective 95% 99.5% 30d", "expected NAME" },
		{ "a node:8 95% 99.5% 30d", "expected NAME" },
		{ "a collective:1 95% 99.5% 30d", "nodes" },
		{ "li/nks node 95% 99.5% 30d", "invalid name" },
		{ "links rack 95% 99.5% 30d", "class" },
		{ "links node 120% 99.5% 30d", "share" },
		{ "links node 95% 100% 30d", "target" },
		{ "links node 95% 99% 30", "window" },
		{ "links node 95% 99% 1h", "window" },
		{ "a node 95% 99% 30d,a leaf 95% 99% 30d", "two objectives" },
		{ "a node 1 .9 1d,b node 1 .9 1d,c node 1 .9 1d,d node 1 .9 1d,"
		  "e node 1 .9 1d,f node 1 .9 1d,g node 1 .9 1d,h node 1 .9 1d,"
		  "i node 1 .9 1d,j node 1 .9 1d,k node 1 .9 1d,l node 1 .9 1d,"
		  "m node 1 .9 1d,n node 1 .9 1d,o node 1 .9 1d,p node 1 .9 1d,"
		  "q node 1 .9 1d",
		    "more than 16" },
	};
	struct objective o[OBJECTIVE_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err err = { "" };

		assert_int_equal(objective_parse(cases[i].rows, o, &err),
		    -EINVAL);
		if (strstr(err.text, cases[i].want) == NULL)
			fail_msg("%s: %s", cases[i].rows, err.text);
	}
}

/* Sets of a leaf of 16 nodes that avoid its slow nodes. */
static void
test_sets(void **state)
{
	(void)state;
	assert_float_equal(objective_sets_good(8, 16, 0), 1, NEAR);
	assert_float_equal(objective_sets_good(8, 16, 1), 0.5, NEAR);
	/* 14 over 8, over 16 over 8 */
	assert_float_equal(objective_sets_good(8, 16, 2), 3003 / 12870.0, NEAR);
	assert_float_equal(objective_sets_good(8, 16, 8), 1 / 12870.0, NEAR);
	assert_float_equal(objective_sets_good(8, 16, 9), 0, NEAR);
	assert_float_equal(objective_sets_good(8, 8, 1), 0, NEAR);
	assert_float_equal(objective_sets_good(8, 8, 8), 0, NEAR);
}

static struct objective_tally *t;

static int
setup(void **state)
{
	(void)state;
	t = objective_tally_new(&month);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	objective_tally_free(t);
	return 0;
}

/* Add 60 days in which all nodes are good, except that some were bad in a time
 * before now. */
static void
fleet(double bad, uint64_t from_ago_ns, uint64_t to_ago_ns)
{
	objective_tally_add(t, NOW - 60 * D_NS, NOW - from_ago_ns, NODES, 0);
	objective_tally_add(t, NOW - from_ago_ns, NOW - to_ago_ns, NODES - bad,
	    bad);
	objective_tally_add(t, NOW - to_ago_ns, NOW, NODES, 0);
}

static void
test_budget(void **state)
{
	struct objective_state s;

	(void)state;
	fleet(2, 90 * H_NS, 18 * H_NS);
	objective_tally_state(t, 0, NOW, &s);
	/* 72000 node-hours with a budget of 360, of which 144 are spent. */
	assert_float_equal(s.measured_hours, 720, 1e-6);
	assert_float_equal(s.bad_hours, 144, 1e-6);
	assert_float_equal(s.good_hours, 71856, 1e-6);
	assert_float_equal(s.good, 0.998, NEAR);
	assert_float_equal(s.budget, 0.6, 1e-6);
}

/* A fault that began before the window counts only within it. */
static void
test_window(void **state)
{
	struct objective_state s;

	(void)state;
	fleet(1, 40 * D_NS, 15 * D_NS);
	objective_tally_state(t, 0, NOW, &s);
	assert_float_equal(s.bad_hours, 15 * 24, 1e-6);
	assert_float_equal(s.budget, 0, 1e-6);
	/* Half an hour later the window begins half a slot later. */
	objective_tally_state(t, 0, NOW + H_NS / 2, &s);
	assert_float_equal(s.bad_hours, 15 * 24 - 0.5, 1e-6);
}

static void
test_alerts(void **state)
{
	static const struct {
		double bad;
		uint64_t from_ago_ns, to_ago_ns;
		int fires[OBJECTIVE_ALERT_MAX];
	} cases[] = {
		{ 0, 2 * H_NS, 0, { 0, 0, 0 } },
		/* 8 % of the nodes are bad: a rate of 16, now and for long. */
		{ 8, 2 * H_NS, 0, { 1, 0, 0 } },
		/* A rate of 14 is below the limit. */
		{ 7, 2 * H_NS, 0, { 0, 0, 0 } },
		/* It has begun only now. */
		{ 8, H_NS / 10, 0, { 0, 0, 0 } },
		/* It ended more than a short window ago. */
		{ 9, 2 * H_NS, H_NS / 10, { 0, 0, 0 } },
		/* A rate of 8, for seven hours. */
		{ 4, 7 * H_NS, 0, { 0, 1, 0 } },
		{ 4, 4 * H_NS, 0, { 0, 0, 0 } },
		{ 4, 7 * H_NS, H_NS, { 0, 0, 0 } },
		/* One node of 100 is a rate of 2, for three days. */
		{ 1, 3 * D_NS, 0, { 0, 0, 1 } },
		{ 1, 35 * H_NS, 0, { 0, 0, 0 } },
		{ 1, 3 * D_NS, 7 * H_NS, { 0, 0, 0 } },
		{ 20, 3 * D_NS, 0, { 1, 1, 1 } },
	};
	struct objective_state s;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		teardown(NULL);
		setup(NULL);
		fleet(cases[i].bad, cases[i].from_ago_ns, cases[i].to_ago_ns);
		objective_tally_judge(t, 0, NOW, &s);
		for (int a = 0; a < OBJECTIVE_ALERT_MAX; a++)
			if (s.burn[a].fires != cases[i].fires[a])
				fail_msg("case %zu, %s: %g %g", i,
				    objective_alerts[a], s.burn[a].long_rate,
				    s.burn[a].short_rate);
	}
	assert_true(s.burn[OBJECTIVE_FAST].long_ns == H_NS);
	assert_true(s.burn[OBJECTIVE_FAST].short_ns == H_NS / 12);
	assert_true(s.burn[OBJECTIVE_SLOW].long_ns == 6 * H_NS);
	assert_true(s.burn[OBJECTIVE_SLOW].short_ns == H_NS / 2);
	assert_true(s.burn[OBJECTIVE_LASTING].long_ns == 3 * D_NS);
	assert_true(s.burn[OBJECTIVE_LASTING].short_ns == 6 * H_NS);
	assert_float_equal(s.burn[OBJECTIVE_FAST].long_rate, 40, 1e-6);
}

/* Add a time after now, and judge at its end. Return whether the fast alert
 * fires. */
static int
later(uint64_t *now, uint64_t ns, double bad)
{
	struct objective_state s;

	if (bad >= 0)
		objective_tally_add(t, *now, *now + ns, NODES - bad, bad);
	*now += ns;
	objective_tally_judge(t, 0, *now, &s);
	return s.burn[OBJECTIVE_FAST].fires;
}

/* The limit is a rate of 14.4, or 7.2 nodes; the alert ends below 5.76. */
static void
test_hysteresis(void **state)
{
	uint64_t now = NOW;

	(void)state;
	fleet(0, 0, 0);
	assert_int_equal(later(&now, 2 * H_NS, 7), 0);
	assert_int_equal(later(&now, 2 * H_NS, 8), 1);
	assert_int_equal(later(&now, 2 * H_NS, 6), 1);
	/* Nothing is measured. */
	assert_int_equal(later(&now, 2 * H_NS, -1), 1);
	assert_int_equal(later(&now, 2 * H_NS, 5), 0);
	assert_int_equal(later(&now, 2 * H_NS, 7), 0);
	assert_int_equal(later(&now, 2 * H_NS, 8), 1);
	assert_int_equal(later(&now, 40 * D_NS, -1), 0);
}

/* Rounds are two hours apart: windows of six and two hours. */
static void
test_cadence(void **state)
{
	struct objective_state s;

	(void)state;
	fleet(8, 2 * H_NS, 0);
	objective_tally_judge(t, 2 * H_NS, NOW, &s);
	assert_true(s.burn[OBJECTIVE_FAST].long_ns == 6 * H_NS);
	assert_true(s.burn[OBJECTIVE_FAST].short_ns == 2 * H_NS);
	assert_float_equal(s.burn[OBJECTIVE_FAST].long_rate, 16 / 3.0, 1e-6);
	assert_int_equal(s.burn[OBJECTIVE_FAST].fires, 0);
	assert_true(s.burn[OBJECTIVE_LASTING].long_ns == 3 * D_NS);
}

/* Nothing is known before a thirtieth of the window is measured. */
static void
test_undetermined(void **state)
{
	struct objective_state s;

	(void)state;
	objective_tally_state(t, 0, NOW, &s);
	assert_float_equal(s.measured_hours, 0, NEAR);
	assert_true(isnan(s.good) && isnan(s.budget));
	for (int a = 0; a < OBJECTIVE_ALERT_MAX; a++)
		assert_true(isnan(s.burn[a].long_rate));
	objective_tally_add(t, NOW - 23 * H_NS, NOW, 0, NODES);
	objective_tally_judge(t, 0, NOW, &s);
	assert_float_equal(s.measured_hours, 23, 1e-6);
	assert_float_equal(s.needed_hours, 24, 1e-6);
	assert_true(isnan(s.good) && isnan(s.budget));
	assert_int_equal(s.burn[OBJECTIVE_FAST].fires, 0);
	objective_tally_add(t, NOW, NOW + 2 * H_NS, 0, NODES);
	objective_tally_judge(t, 0, NOW + 2 * H_NS, &s);
	assert_float_equal(s.good, 0, NEAR);
	assert_float_equal(s.budget, -199, 1e-6);
	assert_int_equal(s.burn[OBJECTIVE_FAST].fires, 1);
}

/* Odd times change nothing, and a clock that is set back does not end the
 * measurement. */
static void
test_clock(void **state)
{
	struct objective_state s;

	(void)state;
	objective_tally_add(t, NOW, NOW - H_NS, 1, 1);
	objective_tally_add(t, NOW - H_NS, NOW, 0, 0);
	objective_tally_state(t, 0, 5, &s);
	assert_float_equal(s.measured_hours, 0, NEAR);
	objective_tally_add(t, 0, UINT64_MAX / 2, 0, NODES);
	objective_tally_add(t, NOW - 10 * D_NS, NOW, NODES, 0);
	objective_tally_state(t, 0, NOW, &s);
	assert_float_equal(s.measured_hours, 240, 1e-6);
	assert_float_equal(s.good, 1, NEAR);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_rows_invalid),
		cmocka_unit_test(test_sets),
		cmocka_unit_test_setup_teardown(test_budget, setup, teardown),
		cmocka_unit_test_setup_teardown(test_window, setup, teardown),
		cmocka_unit_test_setup_teardown(test_alerts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hysteresis, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_cadence, setup, teardown),
		cmocka_unit_test_setup_teardown(test_undetermined, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_clock, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
