/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_share_rows.c - a row is made when it has new information, and once a
 * day; nodes that are not measured are not in it. With the report of an
 * acceptance it has the typical rate over the promised one.
 */
#include "daemon/objective/share_rows.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/clk.h"
#include "common/member.h"
#include "common/str.h"

#define T0 (1790000000 * CLK_NS_PER_S)
#define S  CLK_NS_PER_S

static json_t *
read_json(const char *text)
{
	json_t *o = json_loads(text, 0, NULL);

	assert_non_null(o);
	return o;
}

static void
test_rows(void **state)
{
	json_t *shares = read_json(
	    "{\"nodes\": [{\"node\": \"n1\", \"share\": 1, \"spread\": 0.02,"
	    " \"rounds\": 3, \"state\": \"ok\"}, {\"node\": \"n2\","
	    " \"share\": 0.5, \"spread\": 0.03, \"rounds\": 2}, {\"node\":"
	    " \"n3\", \"share\": 1, \"spread\": 0.02, \"rounds\": 0}],"
	    " \"leaves\": [{\"leaf\": \"l1\", \"share\": 0.4,"
	    " \"spread\": 0.02, \"rounds\": 1}]}");
	json_t *nodes = json_object_get(shares, "nodes");
	json_t *row = share_rows_make(shares, NULL, NULL, T0), *next;
	const json_t *slow = json_object_get(row, "slow");

	(void)state;
	assert_string_equal(member_text(row, "known"), "n[1-2]");
	assert_true(member_unsigned(row, "at_unix_ns") == T0);
	assert_int_equal(json_array_size(slow), 2);
	assert_string_equal(member_text(json_array_get(slow, 0), "subject"),
	    "n2");
	assert_string_equal(member_text(json_array_get(slow, 1), "kind"),
	    "leaf");
	assert_null(share_rows_make(shares, NULL, row, T0 + 80000 * S));
	next = share_rows_make(shares, NULL, row, T0 + 86400 * S);
	assert_non_null(next);
	json_decref(next);
	/* The clock was set back. */
	next = share_rows_make(shares, NULL, row, T0 - S);
	assert_non_null(next);
	json_decref(next);
	json_object_set_new(json_array_get(nodes, 2), "rounds",
	    json_integer(1));
	next = share_rows_make(shares, NULL, row, T0 + 60 * S);
	assert_string_equal(member_text(next, "known"), "n[1-3]");
	json_decref(next);
	json_object_set_new(json_array_get(nodes, 0), "state",
	    json_string("maintenance"));
	json_object_set_new(json_array_get(nodes, 1), "state",
	    json_string("lost"));
	next = share_rows_make(shares, NULL, row, T0 + 60 * S);
	assert_string_equal(member_text(next, "known"), "n3");
	assert_int_equal(json_array_size(json_object_get(next, "slow")), 1);
	json_decref(next);
	json_decref(row);
	json_decref(shares);
}

/* The typical rate over the promised one; small changes make no row. */
static void
test_promise(void **state)
{
	json_t *nodes = json_pack("{s:b, s:b}", "n1", 1, "n3", 1);
	struct promised p = { nodes, 100, 50 };
	json_t *shares = read_json(
	    "{\"nodes\": [{\"node\": \"n1\", \"share\": 1, \"rounds\": 3,"
	    " \"rate\": 90}, {\"node\": \"n2\", \"share\": 1,"
	    " \"rounds\": 3, \"rate\": 10}], \"leaves\": [{\"leaf\":"
	    " \"l1\", \"share\": 1, \"rounds\": 3, \"rate\": 40}]}");
	json_t *n1 = json_array_get(json_object_get(shares, "nodes"), 0);
	json_t *row = share_rows_make(shares, &p, NULL, T0), *next;
	const json_t *promise = json_object_get(row, "promise");

	(void)state;
	assert_string_equal(member_text(promise, "known"), "n1");
	assert_float_equal(member_number(promise, "node"), 0.9, 1e-9);
	assert_float_equal(member_number(promise, "leaf"), 0.8, 1e-9);
	json_object_set_new(n1, "rate", json_real(90.5));
	assert_null(share_rows_make(shares, &p, row, T0 + 60 * S));
	json_object_set_new(n1, "rate", json_real(92));
	next = share_rows_make(shares, &p, row, T0 + 60 * S);
	assert_float_equal(member_number(json_object_get(next, "promise"),
			       "node"),
	    0.92, 1e-9);
	json_decref(next);
	json_object_del(n1, "rate");
	next = share_rows_make(shares, &p, NULL, T0);
	assert_null(json_object_get(next, "promise"));
	json_decref(next);
	json_decref(row);
	json_decref(shares);
	json_decref(nodes);
}

static void
test_report(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "{", "not valid JSON" },
		{ "{\"kind\": \"x\"}", "expected a report" },
		{ "{\"kind\": \"coalmine-acceptance\", \"version\": 4}",
		    "run, version 5" },
		{ "{\"kind\": \"coalmine-acceptance\", \"version\": 5}",
		    "has not ended" },
		{ "{\"kind\": \"coalmine-acceptance\", \"version\": 5,"
		  " \"summary\": {}, \"nodes\": [{\"node\": \"n1\"}, 4]}",
		    "no node has a rate" },
	};
	struct promised *p;
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_int_equal(promised_parse("r", cases[i].text, &p, &err),
		    -EINVAL);
		if (strstr(err.text, cases[i].want) == NULL)
			fail_msg("%s: %s", cases[i].text, err.text);
	}
	assert_int_equal(
	    promised_parse("r",
		"{\"kind\": \"coalmine-acceptance\", \"version\": 5,"
		" \"summary\": {}, \"nodes\": [{\"node\": \"n1\", \"rate\":"
		" 8}, {\"node\": \"n2\", \"rate\": 10}, {\"node\": \"n3\","
		" \"rate\": 12}, {\"node\": \"n4\", \"rate\": 12}, {\"node\":"
		" \"n5\", \"rate\": 12}]}",
		&p, &err),
	    0);
	assert_float_equal(p->node_rate, 12, 1e-9);
	assert_true(isnan(p->leaf_rate));
	assert_int_equal(json_object_size(p->nodes), 5);
	promised_free(p);
	promised_free(NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_promise),
		cmocka_unit_test(test_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
