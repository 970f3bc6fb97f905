/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_rails.c - which rail or plane a report names, from rates worked out by
 * hand: one slow rail, a plane that is slow on all nodes, few nodes, records
 * that list the slowest rails only, or none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/member.h"
#include "ctl/accept/accept_report.h"
#include "ctl/accept/accept_rows.h"
#include "schema/promise.h"

#define RAILS  2
#define NODES  6
#define RATE   12.5e9 /* bytes per second: 100 Gbit/s */
#define START  1e-4
#define SMALL  1000000.0
#define LARGE  4000000.0
#define ROUNDS 8

/* The slow parts, and the rails that records list. */
struct fabric {
	size_t nodes;
	double rail[NODES][RAILS], plane[RAILS];
	double scatter; /* of plane 1 */
	int lists_none, lists_slow;
	size_t bare; /* runs before mpi.nics was set: no rails in records */
	int hiccup;  /* small messages of n2.rail1 stop in the first two runs */
};

static struct fabric
sound(size_t nodes)
{
	struct fabric f = { .nodes = nodes, .plane = { 1, 1 } };

	for (size_t i = 0; i < NODES; i++)
		f.rail[i][0] = f.rail[i][1] = 1;
	return f;
}

static double
share_of(const struct fabric *f, size_t a, size_t b, size_t rail, size_t run)
{
	double ret = f->rail[a][rail] < f->rail[b][rail] ? f->rail[a][rail]
							 : f->rail[b][rail];

	ret = f->plane[rail] < ret ? f->plane[rail] : ret;
	/* Small differences between runs. */
	return ret * (1 + 0.002 * ((double)((run + a + rail) % 3) - 1)) *
	    (rail == 1 && (run / 2) % 2 == 0 ? 1 - f->scatter : 1);
}

static json_t *
record(const struct fabric *f, size_t run, double bytes)
{
	json_t *nodes = json_array(), *rails = json_array(), *lanes[RAILS];

	for (size_t r = 0; r < RAILS; r++) {
		lanes[r] = json_array();
		json_array_append_new(rails,
		    json_pack("{s:i, s:o}", "rail", (int)r, "nodes", lanes[r]));
	}
	for (size_t i = 0; i < f->nodes; i++) {
		size_t shift = run % 2, pair = (i + f->nodes - shift) / 2 * 2;
		size_t a = (pair + shift) % f->nodes;
		size_t b = (pair + shift + 1) % f->nodes;
		double most_s = 0;

		for (size_t r = 0; r < RAILS; r++) {
			double share = share_of(f, a, b, r, run);
			double s = START + bytes / (RATE * 0.96 * share);

			most_s = s > most_s ? s : most_s;
			if (f->hiccup && run < 2 && r == 1 &&
			    (a == 1 || b == 1) && bytes == SMALL)
				s = 1;
			if (f->lists_none || run < f->bare ||
			    (f->lists_slow && share > 0.9))
				continue;
			json_array_append_new(lanes[r],
			    json_pack("{s:o, s:f, s:f}", "node",
				json_sprintf("n%zu", i + 1), "bandwidth",
				bytes / s, "ratio",
				(START + bytes / (RATE * 0.96)) / s));
		}
		json_array_append_new(nodes,
		    json_pack("{s:o, s:o, s:f}", "node",
			json_sprintf("n%zu", i + 1), "partner",
			json_sprintf("n%zu", (i == a ? b : a) + 1), "seconds",
			most_s));
	}
	return json_pack("{s:s, s:s, s:f, s:o, s:o}", "probe", "pairs", "of",
	    "whole", "bytes", bytes, "nodes", nodes, "rails", rails);
}

static json_t *
report_of(const struct fabric *f)
{
	static const char text[] =
	    "[nic]\nrate = 100\ncount = 2\n[accept]\nshare = 0.9\n";
	json_t *nodes = json_array(), *none = json_array();
	json_t *records = json_array(), *report;
	struct conf *promise;
	struct evidence *e;
	struct err err;

	assert_int_equal(conf_parse(options_promise, "promise", text, &promise,
			     &err),
	    0);
	for (size_t i = 0; i < f->nodes; i++)
		json_array_append_new(nodes,
		    json_pack("{s:o, s:s}", "node", json_sprintf("n%zu", i + 1),
			"leaf", "leaf1"));
	report = accept_report_new(text, promise, nodes, none, none);
	/* Two nodes have one pair. */
	for (size_t run = 0; run < 2 * ROUNDS; run += f->nodes == 2 ? 2 : 1) {
		json_array_append_new(json_object_get(report, "runs"),
		    json_pack("{s:s, s:[f, f], s:i}", "class", "nodes", "sizes",
			SMALL, LARGE, "each", 1));
		json_array_append_new(records,
		    json_pack("[o, o]", record(f, run, SMALL),
			record(f, run, LARGE)));
	}
	e = accept_report_evidence(report, promise, records);
	accept_report_judge(report, promise, e);
	evidence_free(e);
	conf_free(promise);
	json_decref(nodes);
	json_decref(none);
	json_decref(records);
	return report;
}

/* The row of a part, or NULL. */
static const json_t *
row_of(const json_t *report, const char *kind, const char *part)
{
	const json_t *o;
	size_t i;

	member_foreach (report, "results", i, o)
		if (strcmp(member_text(o, "kind"), kind) == 0 &&
		    strcmp(member_text(o, "part"), part) == 0)
			return o;
	return NULL;
}

static const char *
state_of(const json_t *report, const char *kind, const char *part)
{
	return member_text(row_of(report, kind, part), "state");
}

static size_t
rows_count(const json_t *report, const char *kind, const char *state)
{
	const json_t *o;
	size_t ret = 0, i;

	member_foreach (report, "results", i, o)
		ret += strcmp(member_text(o, "kind"), kind) == 0 &&
		    strcmp(member_text(o, "state"), state) == 0;
	return ret;
}

static void
test_sound(void **state)
{
	struct fabric f = sound(NODES);
	json_t *report = report_of(&f);

	(void)state;
	assert_int_equal(rows_count(report, "rail", "holds"), RAILS * NODES);
	assert_int_equal(rows_count(report, "plane", "holds"), RAILS);
	assert_int_equal(rows_count(report, "link", "holds"), NODES);
	json_decref(report);
}

static void
test_slow_rail(void **state)
{
	struct fabric f = sound(NODES);
	json_t *report;

	(void)state;
	f.rail[1][1] = 0.5;
	report = report_of(&f);
	assert_string_equal(state_of(report, "rail", "n2.rail1"), "fails");
	assert_string_equal(state_of(report, "link", "n2"), "fails");
	assert_int_equal(rows_count(report, "rail", "fails"), 1);
	assert_int_equal(rows_count(report, "rail", "holds"),
	    RAILS * NODES - 1);
	assert_int_equal(rows_count(report, "plane", "holds"), RAILS);
	assert_int_equal(rows_count(report, "path", "fails"), 0);
	json_decref(report);
}

/* Only the plane is named; its rails and the nodes are undetermined. */
static void
test_slow_plane(void **state)
{
	struct fabric f = sound(NODES);
	json_t *report;

	(void)state;
	f.plane[1] = 0.8;
	report = report_of(&f);
	assert_string_equal(state_of(report, "plane", "plane 1"), "fails");
	assert_string_equal(state_of(report, "plane", "plane 0"), "holds");
	assert_float_equal(member_number(row_of(report, "plane", "plane 1"),
			       "share"),
	    0.8, 0.01);
	assert_int_equal(rows_count(report, "rail", "holds"), NODES);
	assert_int_equal(rows_count(report, "rail", "undetermined"), NODES);
	assert_int_equal(rows_count(report, "link", "undetermined"), NODES);
	assert_int_equal(rows_count(report, "path", "fails"), 0);
	assert_string_equal(member_text(row_of(report, "link", "n1"),
				"missing"),
	    "plane 1 is slow on all nodes: repair it first");
	assert_string_equal(state_of(report, "efficiency", "all nodes"),
	    "holds");
	json_decref(report);
}

/* With two nodes a rail and its plane look the same: neither is named, and
 * nothing on the slow path holds. */
static void
test_two_nodes(void **state)
{
	struct fabric f = sound(2);
	json_t *report;

	(void)state;
	f.rail[1][1] = 0.5;
	report = report_of(&f);
	assert_string_equal(state_of(report, "path", "n1.rail1 to n2.rail1"),
	    "fails");
	assert_string_equal(state_of(report, "plane", "plane 1"),
	    "undetermined");
	assert_int_equal(rows_count(report, "rail", "undetermined"), 2);
	assert_int_equal(rows_count(report, "link", "holds"), 0);
	json_decref(report);
}

/* One slow rail is half of the paths of four nodes; the others scatter too much
 * to be determined. */
static void
test_slow_rail_of_few(void **state)
{
	struct fabric f = sound(4);
	json_t *report;

	(void)state;
	f.rail[1][1] = 0.2;
	f.scatter = 0.3;
	report = report_of(&f);
	assert_int_equal(rows_count(report, "plane", "fails"), 0);
	json_decref(report);
}

/* A node whose link holds has no slow rail, listed or not. */
static void
test_listed(void **state)
{
	struct fabric f = sound(NODES);
	json_t *report;

	(void)state;
	f.rail[1][1] = 0.5;
	f.lists_slow = 1;
	report = report_of(&f);
	assert_string_equal(state_of(report, "rail", "n1.rail0"), "holds");
	assert_string_equal(state_of(report, "rail", "n2.rail0"),
	    "undetermined");
	assert_string_equal(state_of(report, "rail", "n1.rail1"), "holds");
	assert_string_equal(state_of(report, "rail", "n2.rail1"), "fails");
	assert_int_equal(rows_count(report, "plane", "holds"), RAILS);
	json_decref(report);
	f.lists_none = 1;
	report = report_of(&f);
	assert_string_equal(state_of(report, "rail", "all rails"),
	    "undetermined");
	assert_string_equal(state_of(report, "plane", "all planes"),
	    "undetermined");
	assert_string_equal(member_text(row_of(report, "rail", "all rails"),
				"missing"),
	    "the records have no rates of rails: list 2 NICs in mpi.nics of "
	    "every agent, one for each rank of a node, and measure again");
	assert_string_equal(state_of(report, "link", "n2"), "fails");
	json_decref(report);
}

/* A run without rails, or with a small message that took longer than the large
 * one, is not a record that lists the slowest rails only. */
static void
test_gaps(void **state)
{
	struct fabric f = sound(NODES);
	json_t *report;

	(void)state;
	f.bare = 4;
	report = report_of(&f);
	assert_int_equal(rows_count(report, "rail", "holds"), RAILS * NODES);
	assert_int_equal(rows_count(report, "plane", "holds"), RAILS);
	json_decref(report);
	f.bare = 0;
	f.hiccup = 1;
	f.rail[1][1] = 0.5;
	report = report_of(&f);
	assert_string_equal(state_of(report, "rail", "n2.rail1"), "fails");
	assert_string_equal(state_of(report, "rail", "n2.rail0"), "holds");
	assert_int_equal(rows_count(report, "rail", "holds"),
	    RAILS * NODES - 1);
	json_decref(report);
}

/* The number of rows of a kind, and the part of the first one. */
static size_t
folded(const json_t *rows, const char *kind, const char **ret_part)
{
	const json_t *o;
	size_t ret = 0, i;

	json_array_foreach ((json_t *)(uintptr_t)rows, i, o)
		if (strcmp(member_text(o, "kind"), kind) == 0 && ret++ == 0)
			*ret_part = member_text(o, "part");
	return ret;
}

/* Twelve rows of one kind, result and reason are one; a row that fails stays
 * separate, and so do few rows. */
static void
test_folded(void **state)
{
	json_t *rows = json_array(), *ret;
	const char *part = "";

	(void)state;
	for (int i = 1; i <= 12; i++) {
		json_array_append_new(rows,
		    json_pack("{s:s, s:s, s:o, s:f, s:s}", "state",
			"undetermined", "kind", "rail", "part",
			json_sprintf("n%d.rail1", i), "share", 0.5 + i,
			"missing", i == 12 ? "other" : "slow"));
		json_array_append_new(rows,
		    json_pack("{s:s, s:s, s:o}", "state", "fails", "kind",
			"memory", "part", json_sprintf("n%d", i)));
		if (i <= ACCEPT_ROWS_EACH)
			json_array_append_new(rows,
			    json_pack("{s:s, s:s, s:o}", "state", "holds",
				"kind", "link", "part",
				json_sprintf("n%d", i)));
	}
	ret = accept_rows_fold(rows);
	assert_int_equal(folded(ret, "rail", &part), 2);
	assert_string_equal(part, "11 parts: n[1-11].rail1");
	assert_float_equal(member_number(json_array_get(ret, 0), "share"), 1.5,
	    1e-9);
	assert_int_equal(folded(ret, "memory", &part), 12);
	assert_int_equal(folded(ret, "link", &part), ACCEPT_ROWS_EACH);
	assert_int_equal(json_array_size(rows), 24 + ACCEPT_ROWS_EACH);
	json_decref(ret);
	json_decref(rows);
}

/* The sentence of the counts names the nodes that were not measured. */
static void
test_counts(void **state)
{
	json_t *report = json_pack("{s:{s:i, s:i, s:i}, s:[s, s]}", "summary",
	    "holds", 7, "fails", 1, "undetermined", 1, "away", "n8", "n9");
	char *text = accept_rows_counts(report);

	(void)state;
	assert_string_equal(text,
	    "7 promises hold, 1 fails, 1 is undetermined; 2 nodes are not "
	    "measured: n[8-9]");
	free(text);
	json_decref(report);
}

/* The reason of an MTU that fails; without runs no advice about NICs. */
static void
test_reasons(void **state)
{
	static const char text[] = "[nic]\nrate = 100\ncount = 2\nmtu = 9000\n";
	json_t *nodes = json_pack("[{s:s, s:s, s:i}, {s:s, s:s, s:i}]", "node",
	    "n1", "leaf", "a", "mtu", 1500, "node", "n2", "leaf", "a", "mtu",
	    9000);
	json_t *none = json_array(), *report;
	json_t *excluded = json_pack("[{s:s, s:s, s:s, s:s}, {s:s, s:s, s:s, "
				     "s:s}]",
	    "subject", "n3", "kind", "node", "what", "mtu", "text",
	    "large packets are lost", "subject", "b", "kind", "leaf", "what",
	    "mtu", "text", "large packets are lost");
	struct conf *promise;
	struct evidence *e;
	struct err err;

	(void)state;
	assert_int_equal(conf_parse(options_promise, "promise", text, &promise,
			     &err),
	    0);
	report = accept_report_new(text, promise, nodes, none, excluded);
	json_array_append_new(json_object_get(report, "runs"),
	    json_pack("{s:s, s:s, s:s, s:s}", "run", "r1", "class", "nodes",
		"state", "finished", "text", ""));
	e = accept_report_evidence(report, promise, none);
	accept_report_judge(report, promise, e);
	assert_string_equal(member_text(row_of(report, "mtu", "n1"), "missing"),
	    "the NIC has MTU 1500, the promise is 9000");
	assert_string_equal(member_text(row_of(report, "mtu", "n2"), "missing"),
	    "the link of the node does not hold its promise, or is "
	    "undetermined");
	assert_string_equal(state_of(report, "mtu", "n2"), "undetermined");
	assert_string_equal(state_of(report, "link", "n3"), "fails");
	assert_string_equal(state_of(report, "mtu", "n3"), "fails");
	assert_string_equal(state_of(report, "uplinks", "b"), "fails");
	assert_null(row_of(report, "mtu", "b"));
	assert_string_equal(member_text(row_of(report, "rail", "all rails"),
				"missing"),
	    "no run has measured the rails: see the runs that are not "
	    "covered");
	assert_string_equal(json_string_value(
				json_array_get(json_object_get(report,
						   "not_covered"),
				    0)),
	    "uplinks of leaves: the promise has no oversubscription");
	assert_string_equal(json_string_value(
				json_array_get(json_object_get(report,
						   "not_covered"),
				    1)),
	    "n3: excluded from all runs because of its verdict: large packets "
	    "are lost");
	assert_string_equal(json_string_value(
				json_array_get(json_object_get(report,
						   "not_covered"),
				    3)),
	    "run r1 of nodes: finished, but its records have no usable times: "
	    "end other load, or increase accept.time");
	evidence_free(e);
	conf_free(promise);
	json_decref(report);
	json_decref(nodes);
	json_decref(none);
	json_decref(excluded);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sound),
		cmocka_unit_test(test_slow_rail),
		cmocka_unit_test(test_slow_plane),
		cmocka_unit_test(test_two_nodes),
		cmocka_unit_test(test_slow_rail_of_few),
		cmocka_unit_test(test_listed),
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_folded),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_reasons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
