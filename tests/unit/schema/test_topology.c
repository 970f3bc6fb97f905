/* SPDX-License-Identifier: Apache-2.0 */
/* test_topology.c - the file of leaves, rails and switches: read, written,
 * refused. */
#include <string.h>

#include "schema/topology.h"
#include "common/str.h"
#include "common/xalloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static struct topology *
read_all(const char *text)
{
	char *copy = xstrdup(text);
	struct topology *t = NULL;
	struct err err = { .text = "" };

	if (topology_read(copy, "f", &t, &err) < 0)
		fail_msg("%s", err.text);
	free(copy);
	return t;
}

static void
same(const char *text, const char *want)
{
	struct topology *t = read_all(text);
	char *got = topology_write(t);

	assert_string_equal(got, want);
	free(got);
	topology_free(t);
}

static void
test_written(void **state)
{
	static const char three[] =
	    "l1 n[1-2] gbps=200 pod=p1 up=s2@400 up=s1*2@400\n"
	    "l2 n3,x pod=p1 up=s1\n"
	    "s1 - pod=p1 up=c[1-2]\n"
	    "s2 -\n"
	    "c1 -\nc2 -\n";

	(void)state;
	same("", "");
	same("# leaves\nl1 n[01-03]\n\n  l2\tn[04-05],x # more\r\n",
	    "l1 n[01-03]\nl2 n[04-05],x\n");
	same(three, three);
	/* in another order, and links one by one */
	same("c2 -\ns1 - pod=p1 up=c2 up=c1\nl2 x,n3 pod=p1 up=s1\n"
	     "l1 n2 gbps=200 pod=p1 up=s1@400 up=s1@400\n"
	     "l1 n1 gbps=200 up=s2@400\ns2 -\n",
	    three);
	/* rails, on leaves of their own and on one */
	same("a1 n[1-2] rail=1\na0 n[1-2]\nb n3 rail=0\nb n3 rail=1\n",
	    "a0 n[1-2]\na1 n[1-2] rail=1\nb n3 rail=0\nb n3 rail=1\n");
}

static void
test_asked(void **state)
{
	struct topology *t = read_all("a1 n[1-2] rail=1\na0 n1 up=s\n"
				      "s - up=c\nc - up=s\nz -\n");
	int *tier = topology_tiers(t);
	static const int want[] = { 1, 1, 2, 3, 1 };

	(void)state;
	assert_int_equal(topology_find_node(t, "n9"), TOPOLOGY_NONE);
	assert_int_equal(topology_first_link(t, topology_find_node(t, "n1"))
			     ->leaf,
	    1);
	assert_int_equal(topology_first_link(t, topology_find_node(t, "n2"))
			     ->rail,
	    1);
	for (size_t i = 0; i < ARRAY_LEN(want); i++)
		assert_int_equal(tier[i], want[i]);
	free(tier);
	topology_free(t);
}

static void
test_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{ "l1\n", "f:1: expected LEAF NODES" },
		{ "l1 n1\nl2 n[1-2]\n", "f:2: n1 is also on leaf l1" },
		{ "l1 n[3-1]\n", "f:1: " },
		{ "l1 n1 n2\n", "f:1: expected LEAF NODES" },
		{ "l/1 n1\n", "f:1: invalid switch name \"l/1\"" },
		{ "l1 n1 rail=64\n", "f:1: rail=64: expected 0 to 63" },
		{ "\nl1 n1 gbps=fast\n", "f:2: gbps=fast: expected 0 to" },
		{ "l1 n1 pod=a/b\n", "f:1: pod=a/b: expected letters" },
		{ "l1 n1 up=s*0\n", "f:1: up: expected SWITCHES" },
		{ "l1 n1 up=s@x\n", "f:1: up: expected SWITCHES" },
		{ "l1 n1 up=\n", "f:1: missing host name" },
		{ "l1 n1 up=l1\n", "f:1: l1 is linked to itself" },
		{ "l1 n1 down=s\n", "not \"down\"" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char *copy = xstrdup(rows[i].text);
		struct topology *t = NULL;
		struct err err = { .text = "" };

		assert_true(topology_read(copy, "f", &t, &err) < 0);
		if (strstr(err.text, rows[i].why) == NULL)
			fail_msg("%s: %s", rows[i].text, err.text);
		assert_null(t);
		free(copy);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_written),
		cmocka_unit_test(test_asked),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
