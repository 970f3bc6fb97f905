/* SPDX-License-Identifier: Apache-2.0 */
/* The cores of a rank, by a copy of sysfs. */
#include <stdio.h>
#include <stdlib.h>

#include "agents/wireup/cpus.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

static void
put(const char *root, const char *dir, const char *file, const char *text)
{
	char path[400], cmd[500];
	FILE *fp;

	snprintf(path, sizeof(path), "%s/sys/devices/system/%s", root, dir);
	snprintf(cmd, sizeof(cmd), "mkdir -p %s", path);
	assert_int_equal(system(cmd), 0);
	snprintf(cmd, sizeof(cmd), "%s/%s", path, file);
	fp = fopen(cmd, "we");
	assert_non_null(fp);
	fputs(text, fp);
	fclose(fp);
}

static void
is(const char *root, const char *bind, int local, const char *want)
{
	char *got = cpus_of(root, bind, local);

	if (want == NULL)
		assert_null(got);
	else
		assert_string_equal(got, want);
	free(got);
}

static void
test_bind(void **state)
{
	char root[] = "/tmp/coalmine-cpus-XXXXXX", cmd[100];

	(void)state;
	assert_non_null(mkdtemp(root));
	is(root, "core", 0, NULL);
	is(root, "numa", 0, NULL);
	put(root, "cpu/cpu0/topology", "thread_siblings_list", "0,2\n");
	put(root, "cpu/cpu1/topology", "thread_siblings_list", "1,3\n");
	put(root, "cpu/cpu2/topology", "thread_siblings_list", "0,2\n");
	put(root, "cpu/cpu3/topology", "thread_siblings_list", "1,3\n");
	put(root, "node/node0", "cpulist", "0,2\n");
	put(root, "node/node1", "cpulist", "1,3\n");
	is(root, NULL, 0, NULL);
	is(root, "core", 0, "0,2");
	is(root, "core", 1, "1,3");
	is(root, "core", 2, NULL); /* there are two */
	is(root, "numa", 1, "1,3");
	is(root, "numa", 2, "0,2");
	snprintf(cmd, sizeof(cmd), "rm -r %s", root);
	assert_int_equal(system(cmd), 0);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(
	    test_bind) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
