/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_inventory.c - a node with two sockets, InfiniBand, Ethernet and GPUs, a
 * bare one, and files that lie.
 */
#include "common/err.h"
#include "agents/sensor/inventory.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "common/member.h"
#include "common/str.h"
#include "schema/options.h"
#include "tests/unit/tree.h"

#define NET "sys/class/net/"
#define IB  "sys/class/infiniband/mlx5_0/ports/1/"
#define PCI "sys/bus/pci/devices/"

static json_t *
at(json_t *list, const char *key, const char *value)
{
	json_t *o;
	size_t i;

	json_array_foreach (list, i, o)
		if (strcmp(json_string_value(json_object_get(o, key)), value) ==
		    0)
			return o;
	return NULL;
}

static const char *
text(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

static json_int_t
number(const json_t *o, const char *key)
{
	assert_true(json_is_integer(json_object_get(o, key)));
	return json_integer_value(json_object_get(o, key));
}

static void
make_node(void)
{
	tree_put("proc/meminfo", "MemTotal:       1024 kB\nMemFree: 1 kB\n");
	tree_put("proc/cpuinfo",
	    "processor\t: 0\nmodel name\t: A CPU @ 2 GHz\n"
	    "processor\t: 1\nmodel name\t: A CPU @ 2 GHz\n");
	tree_put(NET "eth0/device/vendor", "0x15b3\n");
	tree_put(NET "eth0/device/device", "0x1021\n");
	tree_put("sys/devices/system/cpu/online", "0-3,8,10-11\n");
	tree_put("sys/devices/system/node/node0/cpulist", "0-3\n");
	tree_put("sys/devices/system/node/node0/meminfo",
	    "Node 0 MemTotal:     512 kB\n");
	tree_put("sys/devices/system/node/node1/cpulist", "8,10-11\n");
	tree_put("sys/devices/system/node/online", "0-1\n");
	tree_put(NET "lo/operstate", "unknown\n");
	tree_put(NET "eth0/operstate", "up\n");
	tree_put(NET "eth0/speed", "25000\n");
	tree_put(NET "eth0/mtu", "9000\n");
	tree_put(NET "eth0/type", "1\n");
	tree_put(NET "eth0/device/numa_node", "1\n");
	tree_put(NET "eth0/device/hwmon/hwmon3/temp1_label", "asic\n");
	tree_put(NET "eth0/device/hwmon/hwmon3/temp1_input", "95000\n");
	tree_put(NET "eth0/device/hwmon/hwmon3/temp1_crit", "90000\n");
	tree_put(NET "eth0/device/hwmon/hwmon3/temp2_label", "Module0\n");
	tree_put(NET "eth0/device/hwmon/hwmon3/temp2_input", "71000\n");
	tree_put(NET "eth0/device/hwmon/hwmon3/temp2_crit", "70000\n");
	tree_link(NET "eth0/device/driver", "../../bus/pci/drivers/mlx5_core");
	tree_put(NET "ib0/operstate", "down\n");
	tree_put(NET "ib0/type", "32\n");
	tree_put(NET "ib0/device/numa_node", "-1\n");
	tree_put(NET "tun9/operstate", "down\n");
	tree_put(NET "br0/operstate", "up\n");
	tree_put(NET "br0/speed", "-1\n");
	tree_put(IB "state", "4: ACTIVE\n");
	tree_put(IB "rate", "200 Gb/sec (4X HDR)\n");
	tree_put(IB "gids/0", "fe80:0000:0000:0000:0002:c903:0012:3457\n");
	tree_put(PCI "0000:17:00.0/class", "0x030200\n");
	tree_put(PCI "0000:17:00.0/vendor", "0x10de\n");
	tree_put(PCI "0000:17:00.0/numa_node", "0\n");
	tree_link(PCI "0000:17:00.0/driver", "../drivers/nvidia");
	tree_put(PCI "0000:18:00.0/class", "0x038000\n");
	tree_put(PCI "0000:18:00.0/vendor", "0x1002\n");
	tree_put(PCI "0000:19:00.0/class", "0x030000\n"); /* a board's own */
	tree_put(PCI "0000:19:00.0/vendor", "0x1a03\n");
	tree_put(PCI "0000:1a:00.0/class", "0x020000\n");
	tree_put(PCI "0000:1a:00.0/vendor", "0x10de\n");
}

static json_t *
read_with(const char *text)
{
	struct conf *c;
	struct err err;
	json_t *o;

	assert_int_equal(conf_parse(options_agent, "test", text, &c, &err), 0);
	o = inventory_read(tree, c, NULL);
	conf_free(c);
	return o;
}

static void
expect_rails(const char *conf, const char *names)
{
	json_t *o = read_with(conf), *rail;
	char all[200] = "";
	size_t i;

	member_foreach (o, "rails", i, rail)
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s/%s ",
		    text(rail, "name"), text(rail, "netdev"));
	assert_string_equal(all, names);
	json_decref(o);
}

/* The NICs that carry the bytes of jobs: the site's setting, or the active
 * ports of a fabric; RoCE ports may have other uses. */
/* Of a node with Blackwell GPUs four adapters lead to its NVSwitches. */
static void
test_nvswitch(void **state)
{
	struct conf *c;
	char path[100];
	json_t *o, *nics;

	(void)state;
	for (int i = 0; i < 6; i++) {
#define PUT(file, text)                                                        \
	snprintf(path, sizeof(path), "sys/class/infiniband/mlx5_%d/" file, i); \
	tree_put(path, text)
		PUT("ports/1/state", "4: ACTIVE\n");
		PUT("ports/1/link_layer", "InfiniBand\n");
		PUT("device/vpd",
		    i < 4 ? "PN x V2 SMDL=SW_MNG RV" : "PN y V2 SMDL=MODL RV");
#undef PUT
	}
	expect_rails("", "mlx5_4/ mlx5_5/ ");
	/* The site's setting takes precedence. */
	expect_rails("[mpi]\nnics = mlx5_0\n", "mlx5_0/ ");
	assert_int_equal(conf_parse(options_agent, "test", "", &c, NULL), 0);
	o = inventory_read(tree, c, NULL);
	nics = json_object_get(o, "nvswitch_nics");
	assert_int_equal(json_array_size(nics), 4);
	assert_string_equal(json_string_value(json_array_get(nics, 3)),
	    "mlx5_3");
	json_decref(o);
	conf_free(c);
}

static void
test_rails(void **state)
{
	(void)state;
	make_node();
	expect_rails("", "");
	tree_put(IB "link_layer", "InfiniBand\n");
	tree_put("sys/class/infiniband/mlx5_0/device/net/ib0/dev_port", "0\n");
	tree_put("sys/class/infiniband/mlx5_1/ports/1/state", "4: ACTIVE\n");
	tree_put("sys/class/infiniband/mlx5_1/ports/1/link_layer",
	    "Ethernet\n");
	tree_put("sys/class/infiniband/mlx5_2/ports/1/state", "1: DOWN\n");
	tree_put("sys/class/infiniband/mlx5_2/ports/1/link_layer",
	    "InfiniBand\n");
	expect_rails("", "mlx5_0/ib0 ");
	tree_put(NET "hsn0/operstate", "up\n");
	tree_put(NET "hsn0/device/cxi/cxi0/x", "");
	expect_rails("", "hsn0/hsn0 mlx5_0/ib0 ");
	expect_rails("[mpi]\nnics = eth1,eth1,mlx5_0\n",
	    "eth1/eth1 mlx5_0/ib0 ");
	expect_rails("[mpi]\nenv = UCX_NET_DEVICES=mlx5_0:1\n", "");
}

static void
test_node(void **state)
{
	json_t *o, *nics, *nic;

	(void)state;
	make_node();
	o = read_with("");
	assert_int_equal(number(o, "cores"), 7);
	assert_string_equal(text(o, "cpu"), "A CPU @ 2 GHz");
	assert_int_equal(number(o, "memory_bytes"), 1024 * 1024);
	assert_int_equal(json_array_size(json_object_get(o, "numa")), 2);
	nics = json_object_get(o, "nics");
	assert_int_equal(json_array_size(nics), 4);
	nic = at(nics, "name", "eth0");
	assert_int_equal(number(nic, "module_c"), 71);
	assert_int_equal(number(nic, "module_limit_c"), 70);
	assert_null(json_object_get(at(nics, "name", "ib0"), "module_c"));
	assert_string_equal(text(nic, "kind"), "ethernet");
	assert_string_equal(text(nic, "state"), "up");
	assert_string_equal(text(nic, "driver"), "mlx5_core");
	assert_true(number(nic, "speed_bps") == 25000000000LL);
	assert_int_equal(number(nic, "mtu"), 9000);
	assert_int_equal(number(nic, "numa_node"), 1);
	assert_string_equal(text(nic, "model"), "15b3:1021");
	nic = at(nics, "name", "ib0");
	assert_string_equal(text(nic, "kind"), "infiniband");
	assert_null(json_object_get(nic, "numa_node"));
	assert_null(json_object_get(nic, "speed_bps"));
	nic = at(nics, "name", "br0");
	assert_string_equal(text(nic, "kind"), "virtual");
	assert_null(json_object_get(nic, "speed_bps"));
	nic = at(nics, "name", "mlx5_0");
	assert_string_equal(text(nic, "state"), "ACTIVE");
	assert_string_equal(text(nic, "guid"), "0x0002c90300123457");
	assert_true(number(nic, "speed_bps") == 200000000000LL);
	json_decref(o);
}

/* Modules are reported from shortly below their limit on. */
static void
test_module(void **state)
{
	static const char file[] = NET "eth0/device/hwmon/hwmon3/temp2_input";
	json_t *o;

	(void)state;
	make_node();
	tree_put(file, "66000\n");
	o = read_with("");
	assert_int_equal(number(at(json_object_get(o, "nics"), "name", "eth0"),
			     "module_c"),
	    66);
	json_decref(o);
	tree_put(file, "65000\n");
	o = read_with("");
	assert_null(
	    json_object_get(at(json_object_get(o, "nics"), "name", "eth0"),
		"module_c"));
	json_decref(o);
}

static void
test_gpus(void **state)
{
	json_t *o, *gpus;

	(void)state;
	make_node();
	o = read_with("");
	gpus = json_object_get(o, "gpus");
	assert_int_equal(json_array_size(gpus), 2);
	assert_string_equal(text(at(gpus, "pci", "0000:17:00.0"), "vendor"),
	    "nvidia");
	assert_string_equal(text(at(gpus, "pci", "0000:17:00.0"), "driver"),
	    "nvidia");
	assert_string_equal(text(at(gpus, "pci", "0000:18:00.0"), "vendor"),
	    "amd");
	json_decref(o);
}

/* Settings that nodes of one kind should share. */
static void
test_settings(void **state)
{
	static const struct {
		const char *name, *value; /* NULL: absent */
	} rows[] = { { "cores", "7" }, { "numa_balancing", "0" },
		{ "thp", "madvise" }, { "governor", "performance" },
		{ "iommu", "identity" }, { "nvidia_peermem", "loaded" },
		{ "gdrdrv", "not loaded" }, { "boot iommu", "pt" },
		{ "boot nosmt", "set" }, { "boot root", NULL },
		{ "nccl", "2.21.5" }, { "rccl", NULL }, { "eth0 mtu", "9000" },
		{ "eth0 driver", "mlx5_core" }, { "eth0 ecn_sender", "3, 5" },
		{ "eth0 ecn_receiver", "none" }, { "br0 mtu", NULL },
		{ "eth9 mtu", NULL }, { "mlx5_0 firmware", "28.39.1002" },
		{ "mlx5_0/1 link_layer", "Ethernet" },
		{ "mlx5_0/1 gids", "0 v1, 1 v2, 3 v2 IPv4" }, { "smt", NULL },
		{ "eth0 firmware", NULL } };
	json_t *o, *settings;
	char path[100];

	(void)state;
	make_node();
	tree_put("proc/sys/kernel/numa_balancing", "0\n");
	tree_put("proc/cmdline", "root=UUID=7 iommu=pt nosmt quiet\n");
	tree_put("sys/kernel/mm/transparent_hugepage/enabled",
	    "always [madvise] never\n");
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path),
		    "sys/devices/system/cpu/cpufreq/policy%d/scaling_governor",
		    i);
		tree_put(path, "performance\n");
	}
	tree_put("sys/kernel/iommu_groups/0/type", "identity\n");
	tree_put("sys/module/nvidia_peermem/refcnt", "0\n");
	tree_put("usr/lib64/x", "");
	tree_link("usr/lib64/libnccl.so.2", "libnccl.so.2.21.5");
	tree_put(NET "br0/mtu", "1500\n");
	for (int i = 0; i < 8; i++) {
		snprintf(path, sizeof(path), NET "eth0/ecn/roce_rp/enable/%d",
		    i);
		tree_put(path, i == 3 || i == 5 ? "1\n" : "0\n");
		snprintf(path, sizeof(path), NET "eth0/ecn/roce_np/enable/%d",
		    i);
		tree_put(path, "0\n");
	}
	/* a virtual function */
	tree_put(NET "eth9/mtu", "1500\n");
	tree_put(NET "eth9/device/physfn/vendor", "0x15b3\n");
	tree_put("sys/class/infiniband/mlx5_0/fw_ver", "28.39.1002\n");
	tree_put(IB "link_layer", "Ethernet\n");
	tree_put(IB "gids/1", "fe80:0000:0000:0000:0002:c903:0012:3457\n");
	tree_put(IB "gids/2", "0000:0000:0000:0000:0000:0000:0000:0000\n");
	tree_put(IB "gids/3", "0000:0000:0000:0000:0000:ffff:0a00:0001\n");
	tree_put(IB "gid_attrs/types/0", "IB/RoCE v1\n");
	tree_put(IB "gid_attrs/types/1", "RoCE v2\n");
	tree_put(IB "gid_attrs/types/3", "RoCE v2\n");
	o = read_with("");
	settings = json_object_get(o, "settings");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *value = text(settings, rows[i].name);

		if ((value == NULL) != (rows[i].value == NULL) ||
		    (value != NULL && strcmp(value, rows[i].value) != 0))
			fail_msg("%s: %s, expected %s", rows[i].name,
			    value != NULL ? value : "absent",
			    rows[i].value != NULL ? rows[i].value : "absent");
	}
	json_decref(o);
}

/* Without devices the lists are empty, and no value is invented. */
static void
test_bare(void **state)
{
	json_t *o = read_with("");

	(void)state;
	assert_null(json_object_get(o, "cores"));
	assert_null(json_object_get(o, "memory_bytes"));
	assert_int_equal(json_array_size(json_object_get(o, "nics")), 0);
	assert_int_equal(json_array_size(json_object_get(o, "gpus")), 0);
	json_decref(o);
}

static void
test_cpus(void **state)
{
	static const struct {
		const char *list;
		int64_t count; /* 0: unknown */
	} rows[] = { { "0", 1 }, { "0-3", 4 }, { "0-1,4,6-7\n", 5 }, { "", 0 },
		{ "x", 0 }, { "3-1", 0 } };
	struct conf *c;

	(void)state;
	assert_int_equal(conf_parse(options_agent, "test", "", &c, NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		json_t *o;

		tree_put("sys/devices/system/cpu/online", rows[i].list);
		o = inventory_read(tree, c, NULL);
		assert_int_equal(member_int(o, "cores"), rows[i].count);
		json_decref(o);
	}
	conf_free(c);
}

/* The machine we run on has a name, cores and memory. */
static void
test_here(void **state)
{
	struct err err;
	struct conf *c;
	json_t *o;

	(void)state;
	assert_int_equal(conf_parse(options_agent, "test",
			     "[children]\n"
			     "openmpi =\nmpich = /nonexistent\n",
			     &c, &err),
	    0);
	o = inventory_read("", c, NULL);
	assert_non_null(text(o, "hostname"));
	assert_non_null(text(o, "kernel"));
	assert_int_equal(number(o, "cores"), sysconf(_SC_NPROCESSORS_ONLN));
	assert_true(number(o, "memory_bytes") > 1024 * 1024);
	assert_int_equal(json_array_size(json_object_get(o, "mpi")), 0);
	json_decref(o);
	conf_free(c);
}

#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, tree_setup, tree_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_node),
		TEST(test_nvswitch),
		TEST(test_rails),
		TEST(test_gpus),
		TEST(test_module),
		TEST(test_settings),
		TEST(test_bare),
		TEST(test_cpus),
		TEST(test_here),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
