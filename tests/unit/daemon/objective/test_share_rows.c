/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_share_rows.c - a row is made when it has new information, and once a
 * day; nodes that are not measured are not in it.
 */
#include "daemon/objective/share_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/clk.h"
#include "common/member.h"

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
	json_t *row = share_rows_make(shares, NULL, T0), *next;
	const json_t *slow = json_object_get(row, "slow");

	(void)state;
	assert_string_equal(member_text(row, "known"), "n[1-2]");
	assert_true(member_unsigned(row, "at_unix_ns") == T0);
	assert_int_equal(json_array_size(slow), 2);
	assert_string_equal(member_text(json_array_get(slow, 0), "subject"),
	    "n2");
	assert_string_equal(member_text(json_array_get(slow, 1), "kind"),
	    "leaf");
	assert_null(share_rows_make(shares, row, T0 + 80000 * S));
	next = share_rows_make(shares, row, T0 + 86400 * S);
	assert_non_null(next);
	json_decref(next);
	/* The clock was set back. */
	next = share_rows_make(shares, row, T0 - S);
	assert_non_null(next);
	json_decref(next);
	json_object_set_new(json_array_get(nodes, 2), "rounds",
	    json_integer(1));
	next = share_rows_make(shares, row, T0 + 60 * S);
	assert_string_equal(member_text(next, "known"), "n[1-3]");
	json_decref(next);
	json_object_set_new(json_array_get(nodes, 0), "state",
	    json_string("maintenance"));
	json_object_set_new(json_array_get(nodes, 1), "state",
	    json_string("lost"));
	next = share_rows_make(shares, row, T0 + 60 * S);
	assert_string_equal(member_text(next, "known"), "n3");
	assert_int_equal(json_array_size(json_object_get(next, "slow")), 1);
	json_decref(next);
	json_decref(row);
	json_decref(shares);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
