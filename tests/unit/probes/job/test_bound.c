/* SPDX-License-Identifier: Apache-2.0 */
/* test_bound.c - which cores a rank has, and which of them are near a NIC. */
#include "common/err.h"
#include "probes/job/bound.c"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char root[] = "/tmp/coalmine-XXXXXX";

static void
file_write(const char *path, const char *text)
{
	char full[300];
	FILE *fp;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *at = full + strlen(root) + 1; (at = strchr(at, '/')) != NULL;
	     at++) {
		*at = '\0';
		(void)mkdir(full, 0755);
		*at = '/';
	}
	fp = fopen(full, "we");
	assert_non_null(fp);
	fputs(text, fp);
	fclose(fp);
}

static void
test_lists(void **state)
{
	cpu_set_t *set = CPU_ALLOC(CORES_MAX);
	char text[BOUND_CORES_BYTES], small[24];

	(void)state;
	list_read("0-3,8,127-128\n", set);
	assert_int_equal(CPU_COUNT_S(SET_BYTES, set), 7);
	list_write(set, text, sizeof(text));
	assert_string_equal(text, "0-3,8,127-128");
	list_write(set, small, sizeof(small));
	assert_string_equal(small, "0-3,8,...");
	list_read("", set);
	list_write(set, text, sizeof(text));
	assert_string_equal(text, "");
	CPU_FREE(set);
}

/* Of the cores that there are, the first is near one NIC and the others near
 * another. */
static void
test_near(void **state)
{
	cpu_set_t *all = CPU_ALLOC(CORES_MAX), *rest = CPU_ALLOC(CORES_MAX);
	char first[16], others[BOUND_CORES_BYTES];
	struct bound b;
	size_t at = 0;

	(void)state;
	assert_int_equal(sched_getaffinity(0, SET_BYTES, all), 0);
	if (CPU_COUNT_S(SET_BYTES, all) < 2)
		skip();
	while (!CPU_ISSET_S(at, SET_BYTES, all))
		at++;
	memcpy(rest, all, SET_BYTES);
	CPU_CLR_S(at, SET_BYTES, rest);
	snprintf(first, sizeof(first), "%zu", at);
	list_write(rest, others, sizeof(others));
	file_write("/sys/devices/system/node/node0/cpulist", first);
	file_write("/sys/devices/system/node/node3/cpulist", others);
	file_write("/sys/class/infiniband/mlx5_0/device/numa_node", "0\n");
	file_write("/sys/class/net/eth1/device/numa_node", "3\n");
	file_write("/sys/class/net/eth2/device/numa_node", "-1\n");

	bound_look(root, &b);
	assert_string_equal(b.numa, "0,3");
	assert_int_equal(bound_near(root, "eth2"), 0);
	assert_int_equal(bound_near(root, "../net/eth1"), 0);
	assert_int_equal(bound_near(root, "eth9"), 0);
	assert_int_equal(bound_near(root, "mlx5_0:1"), 1);
	bound_look(root, &b);
	assert_string_equal(b.cores, first);
	assert_string_equal(b.numa, "0");
	/* bound elsewhere, and bound there already */
	assert_int_equal(bound_near(root, "eth1"), 0);
	assert_int_equal(bound_near(root, "mlx5_0"), 0);
	assert_int_equal(sched_setaffinity(0, SET_BYTES, all), 0);
	assert_int_equal(bound_near(root, "eth1"), 1);
	bound_look(root, &b);
	assert_string_equal(b.cores, others);
	assert_int_equal(sched_setaffinity(0, SET_BYTES, all), 0);
	CPU_FREE(all);
	CPU_FREE(rest);
}

static void
test_rows(void **state)
{
	static const char *const names[] = { "n1", "n2", "n3" };
	struct bound rows[] = { { 0, 0, "0-3", "0" }, { 0, 1, "4-7", "1" },
		{ 1, 0, "0-3", "0" }, { 1, 1, "4-7", "1" },
		{ 2, 1, "0-7", "0-1" }, { 2, 0, "0-3", "0" } };
	json_t *list;
	char *text;

	(void)state;
	list = bound_json(rows, ARRAY_LEN(rows), names);
	text = json_dumps(list, JSON_COMPACT);
	assert_string_equal(text,
	    "[{\"nodes\":\"n[1-3]\",\"local\":0,\"cores\":\"0-3\","
	    "\"numa\":\"0\"},"
	    "{\"nodes\":\"n3\",\"local\":1,\"cores\":\"0-7\","
	    "\"numa\":\"0-1\"},"
	    "{\"nodes\":\"n[1-2]\",\"local\":1,\"cores\":\"4-7\","
	    "\"numa\":\"1\"}]");
	free(text);
	json_decref(list);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_near),
		cmocka_unit_test(test_rows),
	};
	char cmd[60];
	int rc;

	if (mkdtemp(root) == NULL)
		return 1;
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	snprintf(cmd, sizeof(cmd), "rm -r '%s'", root);
	return system(cmd) != 0 ? 1 : rc;
}
