/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probes/topology/local.h"

#include "tests/unit/tree.h"

/* A device at its place among the bridges, and where else the kernel shows
 * it. */
static void
device(const char *path, const char *class, const char *vendor, int numa)
{
	char at[400], to[400], text[32];
	const char *pci = strrchr(path, '/') + 1;

	snprintf(at, sizeof(at), "sys/devices/%s/class", path);
	tree_put(at, class);
	snprintf(at, sizeof(at), "sys/devices/%s/vendor", path);
	tree_put(at, vendor);
	snprintf(text, sizeof(text), "%d\n", numa);
	snprintf(at, sizeof(at), "sys/devices/%s/numa_node", path);
	tree_put(at, text);
	snprintf(at, sizeof(at), "sys/bus/pci/devices/%s", pci);
	snprintf(to, sizeof(to), "../../../devices/%s", path);
	tree_link(at, to);
}

static void
nic(const char *kind, const char *name, const char *path)
{
	char at[400], to[400];

	snprintf(at, sizeof(at), "sys/class/%s/%s/device", kind, name);
	snprintf(to, sizeof(to), "../../../devices/%s", path);
	tree_link(at, to);
}

#define SW   "pci0000:17/0000:17:01.0/0000:18:00.0/"
#define GPU0 SW "0000:19:00.0/0000:1a:00.0"
#define GPU1 SW "0000:19:01.0/0000:1b:00.0"
#define NIC0 SW "0000:19:02.0/0000:1c:00.0"
#define GPU2 "pci0000:17/0000:17:03.0/0000:25:00.0"
#define GPU3 "pci0000:97/0000:97:01.0/0000:98:00.0"
#define NIC1 "pci0000:97/0000:97:03.0/0000:9a:00.0"
#define ETH  "pci0000:00/0000:00:1c.0/0000:02:00.0"

/* Two sockets; a switch with two GPUs and a NIC, a separate GPU, and on the
 * other side of the machine a GPU and a NIC below one host bridge. */
static void
make_machine(void)
{
	tree_put("sys/devices/system/node/node0/x", "");
	tree_put("sys/devices/system/node/node1/x", "");
	tree_put("sys/devices/system/node/possible", "0-1\n");
	device(GPU0, "0x030200\n", "0x10de\n", 0);
	device(GPU1, "0x030200\n", "0x10de\n", 0);
	device(GPU2, "0x030000\n", "0x10de\n", 0);
	device(GPU3, "0x038000\n", "0x1002\n", 1);
	device(NIC0, "0x020700\n", "0x15b3\n", 0);
	device(NIC1, "0x020700\n", "0x15b3\n", 1);
	device(ETH, "0x020000\n", "0x8086\n", 0);
	/* Of the processor, and sound: no GPUs. */
	device("pci0000:00/0000:00:02.0", "0x030000\n", "0x8086\n", 0);
	device("pci0000:00/0000:00:1f.3", "0x040300\n", "0x10de\n", 0);
	tree_put("sys/devices/" GPU0 "/max_link_speed", "32.0 GT/s PCIe\n");
	tree_put("sys/devices/" GPU0 "/max_link_width", "16\n");
	tree_put("sys/devices/" GPU1 "/max_link_speed", "Unknown\n");
	tree_put("sys/devices/" GPU2 "/max_link_speed", "5.0 GT/s\n");
	tree_put("sys/devices/" GPU2 "/max_link_width", "4\n");
	tree_put("sys/devices/" GPU3 "/product_name", "Instinct MI210\n");
	nic("infiniband", "mlx5_0", NIC0);
	nic("infiniband", "mlx5_1", NIC1);
	tree_put("sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
	tree_put("sys/class/infiniband/mlx5_0/ports/1/rate",
	    "200 Gb/sec (4X HDR)\n");
	tree_put("sys/class/infiniband/mlx5_1/ports/1/state", "1: DOWN\n");
	tree_put("sys/class/infiniband/mlx5_1/ports/1/rate",
	    "10 Gb/sec (4X SDR)\n");
	nic("net", "ib0", NIC0); /* the same NIC once more */
	tree_put("sys/devices/" ETH "/virtio0/x", "");
	nic("net", "eth0", ETH "/virtio0");
	tree_put("sys/class/net/eth0/speed", "25000\n");
	tree_put("sys/class/net/lo/speed", "-1\n");
	tree_put("sys/class/kfd/kfd/topology/nodes/0/properties",
	    "cpu_cores_count 64\nsimd_count 0\n");
	tree_put("sys/class/kfd/kfd/topology/nodes/1/properties",
	    "simd_count 440\nlocation_id 38912\ndomain 0\n"); /* 98:00.0 */
}

static void
test_devices(void **state)
{
	struct local l;

	(void)state;
	make_machine();
	local_read(tree, &l);
	assert_int_equal(l.numa_nodes, 2);
	assert_int_equal(l.gpus_count, 4);
	assert_string_equal(l.gpus[0].at.pci, "0000:1a:00.0");
	assert_string_equal(l.gpus[0].at.path, GPU0);
	assert_string_equal(l.gpus[0].vendor, "nvidia");
	assert_string_equal(l.gpus[3].vendor, "amd");
	assert_string_equal(l.gpus[3].name, "Instinct MI210");
	assert_string_equal(l.gpus[0].name, "");
	assert_int_equal(l.gpus[3].at.numa, 1);
	assert_int_equal(l.gpus[3].kfd, 0);
	assert_int_equal(l.gpus[0].kfd, -1);
	/* 16 lanes of 32 GT/s, 4 of 5 GT/s */
	assert_true(l.gpus[0].at.link_bytes_per_s > 63.0e9);
	assert_true(l.gpus[0].at.link_bytes_per_s < 63.1e9);
	assert_true(l.gpus[1].at.link_bytes_per_s == 0);
	assert_true(l.gpus[2].at.link_bytes_per_s == 2e9);
	assert_int_equal(l.nics_count, 3);
	assert_string_equal(l.nics[0].name, "mlx5_0");
	assert_true(l.nics[0].bytes_per_s == 25e9);
	assert_true(l.nics[1].bytes_per_s == 0); /* down */
	assert_string_equal(l.nics[2].name, "eth0");
	assert_string_equal(l.nics[2].kind, "net");
	assert_true(l.nics[2].bytes_per_s == 3.125e9);
}

static void
test_near(void **state)
{
	static const enum local_near want[5][5] = {
		{ LOCAL_SAME, LOCAL_SWITCH, LOCAL_HOST_BRIDGE, LOCAL_SYSTEM,
		    LOCAL_NUMA },
		{ LOCAL_SWITCH, LOCAL_SAME, LOCAL_HOST_BRIDGE, LOCAL_SYSTEM,
		    LOCAL_NUMA },
		{ LOCAL_HOST_BRIDGE, LOCAL_HOST_BRIDGE, LOCAL_SAME,
		    LOCAL_SYSTEM, LOCAL_NUMA },
		{ LOCAL_SYSTEM, LOCAL_SYSTEM, LOCAL_SYSTEM, LOCAL_SAME,
		    LOCAL_SYSTEM },
		{ LOCAL_NUMA, LOCAL_NUMA, LOCAL_NUMA, LOCAL_SYSTEM,
		    LOCAL_SAME },
	};
	struct local_place at[5], deep, none = { .numa = 0 };
	struct local l;

	(void)state;
	make_machine();
	local_read(tree, &l);
	for (int i = 0; i < 4; i++)
		at[i] = l.gpus[i].at;
	at[4] = l.nics[2].at;
	for (int i = 0; i < 5; i++)
		for (int k = 0; k < 5; k++)
			assert_int_equal(local_near(&at[i], &at[k]),
			    want[i][k]);
	deep = at[0];
	strcpy(deep.path,
	    SW "0000:19:05.0/0000:20:00.0/0000:21:00.0/"
	       "0000:22:00.0");
	assert_int_equal(local_near(&at[0], &deep), LOCAL_SWITCHES);
	assert_int_equal(local_near(&at[0], &none), LOCAL_SYSTEM);
}

/* GPU 2 shares only the host bridge with a NIC, which has two GPUs already; the
 * other NIC, nearer to GPU 3, is down. Ethernet is not for GPUs here. */
static void
test_binding(void **state)
{
	struct local l;

	(void)state;
	make_machine();
	local_read(tree, &l);
	assert_int_equal(l.gpus[0].nic, 0);
	assert_int_equal(l.gpus[1].nic, 0);
	assert_int_equal(l.gpus[2].nic, 0);
	assert_int_equal(l.gpus[3].nic, 0);
}

/* Equally near NICs are dealt out. */
static void
test_binding_deals(void **state)
{
	struct local l;

	(void)state;
	for (int i = 0; i < 4; i++) {
		char path[64];

		snprintf(path, sizeof(path),
		    "pci0000:40/0000:40:0%d.0/0000:4%d:00.0", i + 1, i + 1);
		device(path, "0x030200\n", "0x10de\n", 0);
	}
	for (int i = 0; i < 2; i++) {
		char path[64], name[16];

		snprintf(path, sizeof(path),
		    "pci0000:40/0000:40:1%d.0/0000:5%d:00.0", i, i);
		snprintf(name, sizeof(name), "cxi%d", i);
		device(path, "0x020000\n", "0x17db\n", 0);
		nic("cxi", name, path);
	}
	local_read(tree, &l);
	assert_int_equal(l.gpus_count, 4);
	for (int i = 0; i < 4; i++)
		assert_int_equal(l.gpus[i].nic, i % 2);
}

/* A bus of a hypervisor, and a domain of five digits. */
static void
test_hypervisor(void **state)
{
	struct local l;

	(void)state;
	device("LNXSYSTM:00/VMBUS:00/0009-1/pci47c5:00/47c5:00:00.0",
	    "0x030200\n", "0x10de\n", 0);
	device("pci10000:00/10000:00:01.0/10000:01:00.0", "0x030200\n",
	    "0x10de\n", 0);
	local_read(tree, &l);
	assert_int_equal(l.gpus_count, 2);
	assert_string_equal(l.gpus[0].at.path, "pci47c5:00/47c5:00:00.0");
	assert_string_equal(l.gpus[0].at.pci, "47c5:00:00.0");
	assert_int_equal(l.gpus[0].at.numa, 0);
	assert_string_equal(l.gpus[1].at.pci, "10000:01:00.0");
}

static void
test_nothing(void **state)
{
	struct local l;

	(void)state;
	local_read("/nonexistent", &l);
	assert_int_equal(l.gpus_count + l.nics_count + l.numa_nodes, 0);
	local_read("", &l); /* this machine, whatever it is */
	for (int i = 0; i < l.gpus_count; i++)
		assert_true(l.gpus[i].nic < l.nics_count);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_devices, tree_setup,
		    tree_teardown),
		cmocka_unit_test_setup_teardown(test_near, tree_setup,
		    tree_teardown),
		cmocka_unit_test_setup_teardown(test_binding, tree_setup,
		    tree_teardown),
		cmocka_unit_test_setup_teardown(test_binding_deals, tree_setup,
		    tree_teardown),
		cmocka_unit_test_setup_teardown(test_hypervisor, tree_setup,
		    tree_teardown),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
