/* SPDX-License-Identifier: Apache-2.0 */
/* test_sensor.c - counters from trees as drivers make them, and idle looks. */
#include "common/err.h"
#include "agents/sensor/gpu.h"
#include "agents/sensor/nics.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "agents/run/idle.h"
#include "common/str.h"
#include "tests/unit/tree.h"

#define IB  "sys/class/infiniband/mlx5_0/ports/1/"
#define EFA "sys/class/infiniband/rdmap0s31/ports/1/hw_counters/"
#define CXI "sys/class/cxi/cxi0/device/telemetry/"

static json_t *
counters(json_t *nics, const char *nic)
{
	json_t *row;
	size_t i;

	json_array_foreach (nics, i, row)
		if (strcmp(json_string_value(json_object_get(row, "nic")),
			nic) == 0)
			return json_object_get(row, "counters");
	return NULL;
}

static void
want(json_t *nics, const char *nic, const char *name, json_int_t value)
{
	json_t *got = json_object_get(counters(nics, nic), name);

	if (!json_is_integer(got) || json_integer_value(got) != value)
		fail_msg("%s %s", nic, name);
}

static void
test_devices(void **state)
{
	json_t *nics;

	(void)state;
	tree_put("sys/class/net/eth0/statistics/rx_bytes", "123\n");
	tree_put("sys/class/net/eth0/statistics/tx_dropped", "7\n");
	tree_put("sys/class/net/eth0/statistics/odd", "9\n");
	tree_put("sys/class/net/eth0/carrier_changes", "2\n");
	tree_put("sys/class/net/lo/statistics/rx_bytes", "1\n");
	tree_put("sys/class/net/bonding_masters", "bond0\n"); /* no device */
	tree_put(IB "counters/port_rcv_data", "1000\n");
	tree_put(IB "counters/symbol_error", "0\n");
	tree_put(IB "counters/broken", "N/A (no PMA)\n");
	tree_put(IB "hw_counters/out_of_sequence", "5\n");
	tree_put(EFA "rx_bytes", "6000\n");
	tree_put(EFA "tx_bytes", "8000\n");
	tree_put(CXI "hni_tx_ok_64", "42@1700000000.000000001\n");
	tree_put(CXI "hni_sts_rx_ok_octets", "5000@1700000000.000000001\n");
	tree_put(CXI "hni_sts_tx_ok_octets", "7000@1700000000.000000001\n");
	nics = nics_read(tree);
	assert_int_equal(json_array_size(nics), 4);
	want(nics, "eth0", "rx_bytes", 123);
	want(nics, "eth0", "tx_dropped", 7);
	want(nics, "eth0", "carrier_changes", 2);
	assert_null(json_object_get(counters(nics, "eth0"), "odd"));
	want(nics, "mlx5_0/1", "port_rcv_data", 1000);
	want(nics, "mlx5_0/1", "rx_bytes", 4000);
	want(nics, "mlx5_0/1", "symbol_error", 0);
	want(nics, "mlx5_0/1", "out_of_sequence", 5);
	assert_null(json_object_get(counters(nics, "mlx5_0/1"), "broken"));
	assert_null(json_object_get(counters(nics, "mlx5_0/1"), "tx_bytes"));
	want(nics, "rdmap0s31/1", "rx_bytes", 6000);
	want(nics, "rdmap0s31/1", "tx_bytes", 8000);
	want(nics, "cxi0", "hni_tx_ok_64", 42);
	want(nics, "cxi0", "rx_bytes", 5000);
	want(nics, "cxi0", "tx_bytes", 7000);
	json_decref(nics);
}

/* Errors of a slot count once, whatever is in it. */
static void
test_slot(void **state)
{
	static const char *const slots[] = { "sys/class/infiniband/mlx5_0/",
		"sys/class/net/ib0/", "sys/class/net/hsi0/",
		"sys/class/cxi/cxi0/", "sys/class/net/eth0/" };
	char path[200];
	json_t *nics;

	(void)state;
	tree_put("sys/class/infiniband/mlx5_0/ports/1/x", "");
	tree_put("sys/class/infiniband/mlx5_0/ports/2/x", "");
	tree_put("sys/class/net/ib0/device/infiniband/mlx5_0/x", "");
	tree_put("sys/class/net/hsi0/device/cxi/cxi0/x", "");
	for (size_t i = 0; i < ARRAY_LEN(slots); i++) {
		snprintf(path, sizeof(path), "%sdevice/aer_dev_fatal",
		    slots[i]);
		tree_put(path, "DLP 0\nTOTAL_ERR_FATAL 3\n");
	}
	nics = nics_read(tree);
	assert_int_equal(json_array_size(nics), 6);
	want(nics, "mlx5_0/1", "aer_fatal", 3);
	want(nics, "cxi0", "aer_fatal", 3);
	want(nics, "eth0", "aer_fatal", 3);
	assert_int_equal(json_object_size(counters(nics, "mlx5_0/2")), 0);
	assert_int_equal(json_object_size(counters(nics, "ib0")), 0);
	assert_int_equal(json_object_size(counters(nics, "hsi0")), 0);
	json_decref(nics);
}

static void
test_bare(void **state)
{
	json_t *nics = nics_read(tree);

	(void)state;
	assert_int_equal(json_array_size(nics), 0);
	json_decref(nics);
}

static void
test_slurm(void **state)
{
	static const char *const busy[] = {
		"sys/fs/cgroup/system.slice/slurmstepd.scope/job_17/x",
		"sys/fs/cgroup/system.slice/n1_slurmstepd.scope/job_17/x",
		"sys/fs/cgroup/freezer/slurm/uid_1000/job_17/x",
	};
	json_t *before;
	struct err err;

	(void)state;
	assert_int_equal(idle_slurm_sees(tree), 0);
	tree_put("sys/fs/cgroup/system.slice/slurmstepd.scope/system/x", "");
	assert_int_equal(idle_slurm_sees(tree), 1);
	assert_int_equal(idle_slurm_look(tree, &err), 0);
	for (size_t i = 0; i < ARRAY_LEN(busy); i++) {
		tree_teardown(NULL);
		tree_setup(NULL);
		tree_put(busy[i], "");
		assert_int_equal(idle_slurm_look(tree, &err), 1);
		assert_string_equal(err.text, "slurm job_17");
		assert_int_equal(idle_slurm_sees(tree), 1);
	}
	before = idle_slurm_jobs(tree);
	assert_int_equal(idle_slurm_began(tree, before, &err), 0);
	tree_put("sys/fs/cgroup/freezer/slurm/uid_1000/job_18/x", "");
	assert_int_equal(idle_slurm_began(tree, before, &err), 1);
	assert_string_equal(err.text, "slurm job_18");
	json_decref(before);
}

/* GPUs of AMD by the kernel, of NVIDIA by the stand-in of NVML. */
static void
test_gpus(void **state)
{
	struct err err;

	(void)state;
	tree_put("sys/class/kfd/kfd/proc/x", "");
	assert_int_equal(gpu_busy(tree, &err), 0);
	setenv("COALMINE_FAKE_NVML", "busy", 1);
	assert_int_equal(gpu_busy(tree, &err), 1);
	assert_string_equal(err.text, "NVIDIA GPU 1 is in use by a process");
	setenv("COALMINE_FAKE_NVML", "fail", 1);
	assert_int_equal(gpu_busy(tree, &err), 0);
	unsetenv("COALMINE_FAKE_NVML");
	tree_put("sys/class/kfd/kfd/proc/4711/x", "");
	assert_int_equal(gpu_busy(tree, &err), 1);
	assert_string_equal(err.text, "AMD GPU is in use by process 4711");
}

#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, tree_setup, tree_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_devices),
		TEST(test_slot),
		TEST(test_bare),
		TEST(test_slurm),
		TEST(test_gpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
