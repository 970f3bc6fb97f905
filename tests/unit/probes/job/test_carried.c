/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports of counters and libraries, and the detection of another network than
 * the required one.
 */
#include "common/err.h"
#include "probes/job/carried.h"
#include "common/str.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "tests/unit/tree.h"

static void
counters_write(int eth0, int eth1, int port_words)
{
	tree_putf("proc/self/net/dev",
	    "Inter-|   Receive    |  Transmit\n face |bytes |bytes\n"
	    "    lo: 1 2 3 4 5 6 7 8 9000 10 11\n"
	    "  eth0: 1 2 3 4 5 6 7 8 %d 10 11\n"
	    "  eth1:1 2 3 4 5 6 7 8 %d 10 11\n  odd: 1 2\n",
	    eth0, eth1);
	tree_putf("sys/class/infiniband/mlx5_0/ports/2/counters/"
		  "port_xmit_data",
	    "%d\n", port_words);
	tree_putf("sys/class/infiniband/mlx5_0/ports/1/link_layer", "x\n");
}

static void
test_devices(void **state)
{
	struct carried_device before[CARRIED_DEVICES_MAX];
	struct carried_device now[CARRIED_DEVICES_MAX];
	char text[64];
	size_t n;

	(void)state;
	assert_int_equal(tree_setup(state), 0);
	counters_write(100, 7, 1000);
	n = carried_devices_read(tree, before);
	assert_int_equal(n, 3);
	assert_string_equal(before[0].name, "eth0");
	assert_int_equal(before[0].out_bytes, 100);
	assert_string_equal(before[2].name, "mlx5_0:2");
	assert_int_equal(before[2].out_bytes, 4000);
	assert_true(before[2].rdma && !before[0].rdma);
	counters_write(1100, 1006, 1250);
	assert_int_equal(carried_devices_read(tree, now), 3);
	carried_devices_used(before, n, now, 3, 1000, text, sizeof(text));
	assert_string_equal(text, "eth0,mlx5_0:2");
	carried_devices_used(before, n, now, 3, 1001, text, sizeof(text));
	assert_string_equal(text, "");
	/* a device that does not fit is dropped completely */
	carried_devices_used(before, n, now, 3, 1000, text, 10);
	assert_string_equal(text, "eth0");
	assert_int_equal(tree_teardown(state), 0);
	assert_int_equal(carried_devices_read(tree, now), 0);
}

static void
test_library(void **state)
{
	char name[16];

	(void)state;
	carried_library("MPICH Version:\t4.0.2\nMPICH Device:\tch4:ucx\nMPICH "
			"configure:\t--x",
	    name, sizeof(name));
	assert_string_equal(name, "ucx");
	carried_library("Open MPI v4.1.4, package: Debian", name, sizeof(name));
	assert_string_equal(name, "");
	carried_library("MPICH Device: ch3", name, sizeof(name));
	assert_string_equal(name, "");
}

static void
test_wrong(void **state)
{
	static const struct {
		struct carried seen;
		const char *fabric, *devices, *why; /* NULL: it is right */
	} rows[] = {
		{ { "ob1", NULL, "eth0", 100, 100, 0 }, "auto", "", NULL },
		{ { "nemesis", "tcp", "eth0", 100, 100, 0 }, "tcp", "", NULL },
		{ { "ob1", NULL, "eth0", 100, 100, 0 }, "tcp", "eth0", NULL },
		{ { "ob1", NULL, "eth0", 100, 100, 0 }, "ucx", "",
		    "fabric = ucx was required, but this MPI used ob1" },
		{ { "", NULL, "", 100, 0, 0 }, "ucx", "mlx5_0", NULL },
		{ { "ucx", NULL, "mlx5_0:1", 100, 1, 101 }, "ucx",
		    "mlx5_1,mlx5_0", NULL },
		{ { "ucx", NULL, "mlx5_0:1", 100, 1, 101 }, "ucx", "mlx5_0:1",
		    NULL },
		{ { "ucx", NULL, "mlx5_0:1", 100, 1, 101 }, "ucx", "mlx5_0:2",
		    "devices = mlx5_0:2 were required, but mlx5_0:1 carried "
		    "the bytes" },
		{ { "ucx", NULL, "mlx5_0:1", 100, 1, 101 }, "tcp", "",
		    "fabric = tcp was required, but of 100 bytes between "
		    "nodes TCP carried 1" },
		/* shared memory between apparent nodes */
		{ { "ucx", NULL, "", 100, 0, 0 }, "tcp", "", "TCP carried 0" },
		{ { "ob1", NULL, "", 0, 0, 0 }, "tcp", "", NULL },
		{ { "psm2", NULL, "", 100, 0, 0 }, "psm", "", NULL },
		{ { "ofi", NULL, "", 100, 0, 0 }, "cray", "", NULL },
		{ { "ofi", NULL, "", 100, 0, 0 }, "ucx", "", "used ofi" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct carried seen = rows[i].seen;
		struct err err = { 0 };

		seen.transport = carried_transport(&seen);
		if (carried_wrong(&seen, rows[i].fabric, rows[i].devices,
			&err) != (rows[i].why != NULL) ||
		    (rows[i].why != NULL &&
			strstr(err.text, rows[i].why) == NULL))
			fail_msg("row %zu: %s", i, err.text);
	}
}

/* Unknown values are omitted. */
static void
test_json(void **state)
{
	struct carried seen = { "ucx", "rdma", "mlx5_0:1,mlx5_1:1", 100, 1,
		101 };
	struct carried none = { 0 };
	json_t *o = carried_json(&seen, "auto"), *want;

	(void)state;
	want = json_pack("{s:s, s:s, s:s, s:[ss], s:i, s:i}", "wanted", "auto",
	    "library", "ucx", "transport", "rdma", "devices", "mlx5_0:1",
	    "mlx5_1:1", "wanted_bytes", 100, "seen_bytes", 101);
	assert_true(json_equal(o, want));
	json_decref(o);
	json_decref(want);
	o = carried_json(&none, "tcp");
	assert_int_equal(json_object_size(o), 1);
	json_decref(o);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_devices),
		cmocka_unit_test(test_library),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
