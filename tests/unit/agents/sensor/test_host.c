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
	o = host_read(tree, &last); /* nothing more since then */
	assert_true(isnan(get(o, "throttled")) && isnan(get(o, "hot")));
	json_decref(o);
}

/* A link of 100 Gbit/s that moves 5 GB in a second is 40 % busy; what a device
 * of software says of its speed counts for nothing. */
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
		cmocka_unit_test_setup_teardown(test_nothing_told, tree_setup,
		    tree_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
