/* SPDX-License-Identifier: Apache-2.0 */
/* test_hostname.c - a full name and a short one are one host, and never two. */
#include "common/hostname.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/str.h"

static void
test_same(void **state)
{
	static const struct {
		const char *a, *b;
		int same;
	} rows[] = {
		{ "node1", "node1", 1 },
		{ "node1", "node1.example.com", 1 },
		{ "node1.a", "node1.b", 1 },
		{ "Node1", "node1.example.com", 1 },
		{ "node1", "node10.example.com", 0 },
		{ "node1", "node2", 0 },
		{ "10.1.2.3", "10.1.2.4", 0 },
		{ "10.1.2.3", "10", 0 },
		{ "10.1.2.3", "10.1.2.3", 1 },
		{ "", ".x", 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(hostname_is_same(rows[i].a, rows[i].b),
		    rows[i].same);
		assert_int_equal(hostname_is_same(rows[i].b, rows[i].a),
		    rows[i].same);
	}
}

static void
test_set(void **state)
{
	static const char *const names[] = { "node1.example.com",
		"node2.example.com", "node2.other.org", "login", "10.1.2.3" };
	static const struct {
		const char *name;
		size_t value;
		int alone;
	} rows[] = {
		{ "node1", 0, 0 },
		{ "node1.example.com", 0, 1 },
		{ "node1.elsewhere", 0, 0 },
		{ "node2", HOSTNAME_NONE, 0 }, /* which one? */
		{ "node2.other.org", 2, 0 },
		{ "login.example.com", 3, 0 },
		{ "login", 3, 1 },
		{ "10.1.2.3", 4, 1 },
		{ "10.1.2.4", HOSTNAME_NONE, 1 },
		{ "node3", HOSTNAME_NONE, 1 },
		{ "", HOSTNAME_NONE, 1 },
	};
	struct hostname_set *s = hostname_set_new();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		hostname_set_add(s, names[i], i);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(hostname_set_find(s, rows[i].name),
		    rows[i].value);
		assert_int_equal(hostname_set_is_alone(s, rows[i].name),
		    rows[i].alone);
	}
	hostname_set_free(s);
	hostname_set_free(NULL);
}

/* It grows. */
static void
test_many(void **state)
{
	static char names[20000][24];
	struct hostname_set *s = hostname_set_new();
	char full[40];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		snprintf(names[i], sizeof(names[i]), "n%zu", i);
		hostname_set_add(s, names[i], i);
	}
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		snprintf(full, sizeof(full), "n%zu.example.com", i);
		assert_int_equal(hostname_set_find(s, full), i);
		assert_int_equal(hostname_set_find(s, names[i]), i);
	}
	hostname_set_free(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
