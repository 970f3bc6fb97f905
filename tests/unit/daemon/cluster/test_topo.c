/* SPDX-License-Identifier: Apache-2.0 */
/* test_topo.c - leaves from a file, from addresses, and files that are
 * wrong. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/err.h"
#include "daemon/cluster/topo.h"

static void
file_make(char path[64], const char *text)
{
	int fd;

	snprintf(path, 64, "/tmp/coalmine-topo-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void
want(const struct topo *t, const char *node, const char *addr, const char *leaf)
{
	char got[TOPO_LEAF_MAX];

	topo_leaf(t, node, 1, addr, got);
	assert_string_equal(got, leaf);
}

static void
test_addresses(void **state)
{
	struct topo *t;
	struct err err;

	(void)state;
	assert_int_equal(topo_load("", 24, &t, &err), 0);
	want(t, "a", "10.78.1.7", "10.78.1.0/24");
	want(t, "b", "10.78.2.7", "10.78.2.0/24");
	want(t, "c", NULL, "");
	want(t, "d", "nonsense", "");
	want(t, "e", "fd00:1:2:3:4::5", "fd00:1:2:3::/64");
	topo_free(t);
	assert_int_equal(topo_load("", 20, &t, &err), 0);
	want(t, "a", "10.78.31.7", "10.78.16.0/20");
	topo_free(t);
	assert_int_equal(topo_load("", 0, &t, &err), 0);
	want(t, "a", "10.78.1.7", "0.0.0.0/0");
	want(t, "b", "192.0.2.1", "0.0.0.0/0");
	topo_free(t);
}

static void
test_file(void **state)
{
	struct topo *t;
	char path[64];
	struct err err;

	(void)state;
	file_make(path, "# leaves\nl1 n[01-03]\n\n  l2\tn[04-05],x # more\n");
	assert_int_equal(topo_load(path, 24, &t, &err), 0);
	unlink(path);
	want(t, "n02", "10.0.0.2", "l1");
	want(t, "x", NULL, "l2");
	want(t, "n06", "10.0.0.6", "10.0.0.0/24");
	topo_free(t);
}

static void
test_bad_files(void **state)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{ "l1\n", ":1: expected LEAF NODES" },
		{ "l1 n1\nl2 n[1-2]\n", ":2: n1 is also on leaf l1" },
		{ "l1 n[3-1]\n", ":1: " },
		{ "l1 n1 n2\n", ":1: expected LEAF NODES" },
		{ "l/1 n1\n", ":1: invalid switch name \"l/1\"" },
	};
	struct topo *t = NULL;
	char path[64];
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		file_make(path, rows[i].text);
		assert_true(topo_load(path, 24, &t, &err) < 0);
		unlink(path);
		assert_non_null(strstr(err.text, path));
		assert_non_null(strstr(err.text, rows[i].why));
		assert_null(t);
	}
	assert_int_equal(topo_load("/nonexistent/x", 24, &t, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nonexistent/x: "));
}

/* The file has short names, the agents full ones. */
static void
test_domains(void **state)
{
	char path[64], got[TOPO_LEAF_MAX];
	struct topo *t;
	struct err err;

	(void)state;
	file_make(path, "leaf1 node[1-2]\nleaf2 node3.lab,node4.a,node4.b\n");
	assert_int_equal(topo_load(path, 24, &t, &err), 0);
	unlink(path);
	want(t, "node1.example.com", NULL, "leaf1");
	want(t, "node3", NULL, "leaf2");
	want(t, "node4", NULL, ""); /* ambiguous */
	want(t, "node4.a", NULL, "leaf2");
	topo_leaf(t, "node1.example.com", 0, NULL, got);
	assert_string_equal(got, "");
	topo_leaf(t, "node1", 0, NULL, got);
	assert_string_equal(got, "leaf1");
	topo_free(t);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_domains),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_bad_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
