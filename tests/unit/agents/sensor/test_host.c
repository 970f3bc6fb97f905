/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agents/sensor/host.h"
#include "common/clk.h"
#include "tests/unit/tree.h"

static double
get(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

static void
test_shares(void **state)
{
	struct host_look last = { 0 };
	json_t *o;

	(void)state;
	tree_put("proc/pressure/cpu",
	    "some avg10=42.50 avg60=1.00 avg300=0.00 total=1\n");
	tree_put("proc/stat", "cpu 100 0 100 700 0 0 0 100 0 0\n");
	tree_put("proc/self/schedstat", "1000 2000000 10\n");
	o = host_read(tree, &last);
	assert_float_equal(get(o, "cpu"), 0.425, 1e-9);
	/* Since boot is not lately. */
	assert_true(isnan(get(o, "steal")) && isnan(get(o, "wait_s")));
	json_decref(o);
	tree_put("proc/stat", "cpu 150 0 100 725 0 0 0 125 0 0\n");
	tree_put("proc/self/schedstat", "1000 42000000 14\n");
	o = host_read(tree, &last);
	assert_float_equal(get(o, "steal"), 0.25, 1e-9);
	assert_float_equal(get(o, "wait_s"), 0.010, 1e-9);
	json_decref(o);
}

/* The group above ours has the quota, in version 1 as in 2. */
static void
test_taken(void **state)
{
	struct host_look last = { 0 };
	json_t *o;

	(void)state;
	tree_put("proc/self/cgroup",
	    "9:cpuset:/\n3:cpu,cpuacct:/site/agent\n0::/site.slice/agent\n");
	tree_put("sys/fs/cgroup/cpu/site/cpu.stat",
	    "nr_periods 31\nnr_throttled 31\nthrottled_time 1000000000\n");
	tree_put("sys/fs/cgroup/site.slice/cpu.stat",
	    "usage_usec 1\nthrottled_usec 2000000\n");
	o = host_read(tree, &last);
	assert_true(isnan(get(o, "throttled")) && isnan(get(o, "hot")));
	json_decref(o);
	last.taken_ns = clk_ns() - 1000 * CLK_NS_PER_S;
	tree_put("sys/fs/cgroup/cpu/site/cpu.stat",
	    "nr_periods 31\nnr_throttled 31\nthrottled_time 201000000000\n");
	tree_put("sys/fs/cgroup/site.slice/cpu.stat",
	    "usage_usec 1\nthrottled_usec 302000000\n");
	tree_put("sys/devices/system/cpu/cpu0/thermal_throttle/"
		 "package_throttle_total_time_ms",
	    "100000\n");
	o = host_read(tree, &last);
	assert_true(get(o, "throttled") > 0.49 && get(o, "throttled") <= 0.5);
	assert_true(get(o, "hot") > 0.09 && get(o, "hot") <= 0.1);
	json_decref(o);
	o = host_read(tree, &last); /* no change since then */
	assert_true(isnan(get(o, "throttled")) && isnan(get(o, "hot")));
	json_decref(o);
}

/* A link of 100 Gbit/s that moves 5 GB in a second is 40 % busy; the speed that
 * a software device reports is ignored. */
static void
test_links(void **state)
{
	struct host_look last = { 0 };
	json_t *o;

	(void)state;
	tree_put("sys/class/net/veth0/speed", "10000\n");
	tree_put("sys/class/net/veth0/statistics/rx_bytes", "0\n");
	tree_put("sys/class/net/veth0/statistics/tx_bytes", "0\n");
	json_decref(host_read(tree, &last));
	tree_put("sys/class/net/veth0/statistics/tx_bytes", "1000000000\n");
	last.at_ns = clk_ns() - 1000 * CLK_NS_PER_S;
	o = host_read(tree, &last);
	assert_true(get(o, "net_bps") > 7.9e6 && get(o, "net_bps") < 8.01e6);
	assert_true(isnan(get(o, "net")));
	json_decref(o);

	tree_put("sys/class/net/ib0/device", "\n");
	tree_put("sys/class/net/ib0/speed", "100\n");
	tree_put("sys/class/net/ib0/statistics/rx_bytes", "1000\n");
	tree_put("sys/class/net/ib0/statistics/tx_bytes", "1000\n");
	json_decref(host_read(tree, &last));
	tree_put("sys/class/net/ib0/statistics/rx_bytes", "5000001000\n");
	last.at_ns = clk_ns() - 1000 * CLK_NS_PER_S;
	o = host_read(tree, &last);
	assert_true(get(o, "net") > 0.39 && get(o, "net") < 0.401);
	json_decref(o);
}

/* Byte counters of each kind of device, in trees as their drivers make them: 5
 * GB within a second on 100 Gbit/s. */
static void
test_device_bytes(void **state)
{
#define RDMA "sys/class/infiniband/"
	static const struct {
		const char *counter, *other; /* of bytes in, of bytes out */
		int unit_bytes;
		const char *rate, *rate_text;
	} rows[] = {
		{ RDMA "rdmap0s31/ports/1/hw_counters/rx_bytes",
		    RDMA "rdmap0s31/ports/1/hw_counters/tx_bytes", 1,
		    RDMA "rdmap0s31/ports/1/rate", "100 Gb/sec (4X EDR)" },
		{ RDMA "bnxt_re0/ports/1/hw_counters/tx_bytes",
		    RDMA "bnxt_re0/ports/1/hw_counters/rx_bytes", 1,
		    RDMA "bnxt_re0/ports/1/rate", "100 Gb/sec (2X HDR)" },
		{ RDMA "mlx5_0/ports/2/counters/port_rcv_data",
		    RDMA "mlx5_0/ports/2/counters/port_xmit_data", 4,
		    RDMA "mlx5_0/ports/2/rate", "100 Gb/sec (4X EDR)" },
		{ RDMA "irdma0/hw_counters/ip6InOctets",
		    RDMA "irdma0/hw_counters/ip6OutOctets", 1,
		    RDMA "irdma0/ports/1/rate", "100 Gb/sec (4X EDR)" },
		{ RDMA "erdma_0/ports/1/hw_counters/hw_rx_bytes_cnt",
		    RDMA "erdma_0/ports/1/hw_counters/hw_tx_bytes_cnt", 1,
		    RDMA "erdma_0/ports/1/rate", "100 Gb/sec (4X EDR)" },
		{ "sys/class/cxi/cxi0/device/telemetry/hni_sts_rx_ok_octets",
		    "sys/class/cxi/cxi0/device/telemetry/hni_sts_tx_ok_octets",
		    1, "sys/class/cxi/cxi0/device/net/hsi0/speed", "100000" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct host_look last = { 0 };
		json_t *o;

		tree_teardown(NULL);
		tree_setup(NULL);
		tree_put("sys/class/net/eth0/device", "");
		tree_put("sys/class/net/eth0/statistics/rx_bytes", "500\n");
		tree_put("sys/class/net/eth0/statistics/tx_bytes", "500\n");
		tree_put(RDMA "mlx5_0/ports/1/counters/port_rcv_data", "1\n");
		tree_put(RDMA "mlx5_0/ports/1/counters/port_xmit_data", "1\n");
		tree_put(rows[i].counter, "1000\n");
		tree_put(rows[i].other, "1000\n");
		tree_put(rows[i].rate, rows[i].rate_text);
		json_decref(host_read(tree, &last));
		tree_putf(rows[i].counter, "%lld\n",
		    1000 + 5000000000LL / rows[i].unit_bytes);
		last.at_ns = clk_ns() - CLK_NS_PER_S;
		o = host_read(tree, &last);
		/* Reading takes time, so the rate is slightly lower. */
		assert_true(
		    get(o, "net_bps") > 4e9 && get(o, "net_bps") <= 40e9);
		assert_true(get(o, "net") > 0.04 && get(o, "net") <= 0.4);
		json_decref(o);
	}
#undef RDMA
}

static void
test_nothing_told(void **state)
{
	struct host_look last = { 0 };
	json_t *o;

	(void)state;
	tree_put("proc/stat", "nonsense\n");
	o = host_read(tree, &last);
	assert_int_equal(json_object_size(o), 0);
	json_decref(o);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_shares, tree_setup,
		    tree_teardown),
		cmocka_unit_test_setup_teardown(test_taken, tree_setup,
		    tree_teardown),
		cmocka_unit_test_setup_teardown(test_links, tree_setup,
		    tree_teardown),
		cmocka_unit_test_setup_teardown(test_device_bytes, tree_setup,
		    tree_teardown),
		cmocka_unit_test_setup_teardown(test_nothing_told, tree_setup,
		    tree_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
