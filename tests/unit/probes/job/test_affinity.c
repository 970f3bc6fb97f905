/* SPDX-License-Identifier: Apache-2.0 */
/* Which cores a rank has, and which of them are near a NIC. */
#include "common/err.h"
#include "probes/job/affinity.c"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "tests/unit/tree.h"

static void
test_lists(void **state)
{
	cpu_set_t *set = CPU_ALLOC(CORES_MAX);
	char text[AFFINITY_CORES_BYTES], small[24];

	(void)state;
	affinity_list_read("0-3,8,127-128\n", set);
	assert_int_equal(CPU_COUNT_S(SET_BYTES, set), 7);
	affinity_list_write(set, text, sizeof(text));
	assert_string_equal(text, "0-3,8,127-128");
	affinity_list_write(set, small, sizeof(small));
	assert_string_equal(small, "0-3,8,...");
	affinity_list_read("", set);
	affinity_list_write(set, text, sizeof(text));
	assert_string_equal(text, "");
	CPU_FREE(set);
}

/* Of the cores that there are, the first is near one NIC and the others near
 * another. */
static void
test_near(void **state)
{
	cpu_set_t *all = CPU_ALLOC(CORES_MAX), *rest = CPU_ALLOC(CORES_MAX);
	char first[16], others[AFFINITY_CORES_BYTES];
	struct affinity b;
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
	affinity_list_write(rest, others, sizeof(others));
	tree_put("sys/devices/system/node/node0/cpulist", first);
	tree_put("sys/devices/system/node/node3/cpulist", others);
	tree_put("sys/class/infiniband/mlx5_0/device/numa_node", "0\n");
	tree_put("sys/class/net/eth1/device/numa_node", "3\n");
	tree_put("sys/class/net/eth2/device/numa_node", "-1\n");

	affinity_look(tree, &b);
	assert_string_equal(b.numa, "0,3");
	assert_int_equal(affinity_near(tree, "eth2"), 0);
	assert_int_equal(affinity_near(tree, "../net/eth1"), 0);
	assert_int_equal(affinity_near(tree, "eth9"), 0);
	assert_int_equal(affinity_near(tree, "mlx5_0:1"), 1);
	affinity_look(tree, &b);
	assert_string_equal(b.cores, first);
	assert_string_equal(b.numa, "0");
	/* bound elsewhere, and bound there already */
	assert_int_equal(affinity_near(tree, "eth1"), 0);
	assert_int_equal(affinity_near(tree, "mlx5_0"), 0);
	assert_int_equal(sched_setaffinity(0, SET_BYTES, all), 0);
	assert_int_equal(affinity_near(tree, "eth1"), 1);
	affinity_look(tree, &b);
	assert_string_equal(b.cores, others);
	assert_int_equal(sched_setaffinity(0, SET_BYTES, all), 0);
	CPU_FREE(all);
	CPU_FREE(rest);
}

static void
test_rows(void **state)
{
	static const char *const names[] = { "n1", "n2", "n3" };
	struct affinity rows[] = { { 0, 0, "0-3", "0" }, { 0, 1, "4-7", "1" },
		{ 1, 0, "0-3", "0" }, { 1, 1, "4-7", "1" },
		{ 2, 1, "0-7", "0-1" }, { 2, 0, "0-3", "0" } };
	json_t *list;
	char *text;

	(void)state;
	list = affinity_json(rows, ARRAY_LEN(rows), names);
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

	return cmocka_run_group_tests(tests, tree_setup, tree_teardown);
}
