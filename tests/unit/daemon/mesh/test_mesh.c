/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_mesh.c - the clock of the collector is set back: agents that then report
 * the epoch that has just ended keep their sessions, and their reports are
 * used. Large datagrams are requested if both ends answer them, with the
 * largest size of both.
 */
#include "daemon/mesh/mesh.c"
#include "daemon/mesh/mesh_gather.h"
#include "daemon/run/run_show.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define NODES      2
#define INTERVAL_S 300
#define YEAR_S     (365 * 86400)

static uint64_t now_s = 1790000000;

static uint64_t
now_ns(void)
{
	return now_s * CLK_NS_PER_S;
}

static struct node *run_nodes[2];

size_t
run_node_count(const struct run *r)
{
	(void)r;
	return 2;
}

struct node *
run_node_at(const struct run *r, size_t i)
{
	(void)r;
	return run_nodes[i];
}

static struct run_facts facts;

struct run_facts
run_facts(const struct run *r)
{
	(void)r;
	return facts;
}

static json_t *target; /* of the newest order that has any */

static int
sent(void *ctx, struct node *n, enum wire_type type, json_t *msg)
{
	(void)ctx;
	(void)n;
	(void)type;
	if (json_array_size(json_object_get(msg, "targets")) > 0) {
		json_decref(target);
		target = json_incref(
		    json_array_get(json_object_get(msg, "targets"), 0));
	}
	json_decref(msg);
	return 0;
}

static void
no_loss(struct node *n, void *arg)
{
	(void)n;
	(void)arg;
}

/* mtu 0: its agent does not report it; large 0: nor whether it answers large
 * echoes. */
static void
ready(struct mesh *m, struct roster *roster, const char *addr, int mtu,
    int large)
{
	static int session;
	json_t *msg = json_pack("{s:s, s:s, s:s, s:{s:[{s:s, s:[s], s:i}, "
				"{s:s, s:[s]}]}}",
	    "node", addr[strlen(addr) - 1] == '1' ? "n0" : "n1", "boot", "one",
	    "software", "0", "inventory", "nics", "name", "eth0", "addrs",
	    "192.168.0.1", "mtu", 9000, "name", "eth1", "addrs", addr);
	json_t *inventory = json_object_get(msg, "inventory");
	struct node *n;
	struct err err;

	if (mtu > 0)
		json_object_set_new(json_array_get(json_object_get(inventory,
						       "nics"),
					1),
		    "mtu", json_integer(mtu));
	if (large > 0)
		json_object_set_new(inventory, "mesh_bytes",
		    json_integer(large));
	n = roster_hello(roster, msg, addr, (struct session *)(void *)&session,
	    clk_ns());
	json_decref(msg);
	n->greeted = 1;
	mesh_greeted(m, n);
	msg = json_pack("{s:b}", "ok", 1);
	assert_int_equal(mesh_message(m, n, WIRE_MESH_READY, msg, &err), 0);
	json_decref(msg);
}

static int
report(struct mesh *m, struct node *n, uint64_t epoch)
{
	json_t *msg = json_pack("{s:I, s:i, s:[], s:[], s:{s:{}, s:{}, s:i, "
				"s:i, s:f}}",
	    "epoch", (json_int_t)epoch, "span_ms", 1000, "classes", "targets",
	    "host", "turn", "wait", "limited", 0, "drops", 0, "stretch", 1.0);
	struct err err = { 0 };
	int rc = mesh_message(m, n, WIRE_MESH_REPORT, msg, &err);

	json_decref(msg);
	return rc;
}

static const struct mesh_options options = { .enabled = 1,
	.interval_ns = INTERVAL_S * CLK_NS_PER_S,
	.round_ns = CLK_NS_PER_S,
	.timeout_ns = CLK_NS_PER_S,
	.port = 17703,
	.burst = 1,
	.leaf_targets = 1,
	.spine_targets = 1,
	.rate = 10,
	.target_rate = 10,
	.net = "" };
static const struct mesh_ops ops = { sent, NULL, NULL };

/* The bytes of large echoes between two nodes; 0: none. */
static json_int_t
bytes_of(int v6, int mtu, int other_mtu, int other_large)
{
	struct roster_limits limits = { CLK_NS_PER_S, CLK_NS_PER_S, NULL, 0 };
	struct roster *roster = roster_new(&limits, NULL, no_loss, NULL);
	json_int_t bytes;
	struct mesh *m;
	struct err err;

	assert_int_equal(mesh_new(roster, NULL, &options, &ops, NULL, &m, &err),
	    0);
	ready(m, roster, v6 ? "fd00::1" : "10.0.0.1", mtu, 9216);
	ready(m, roster, v6 ? "fd00::2" : "10.0.0.2", other_mtu, other_large);
	now_s += INTERVAL_S;
	mesh_tick(m);
	assert_non_null(target);
	bytes = json_integer_value(json_object_get(target, "bytes"));
	json_decref(target);
	target = NULL;
	mesh_free(m);
	roster_free(roster);
	return bytes;
}

static void
test_large(void **state)
{
	(void)state;
	clk_set_source(NULL, now_ns);
	assert_int_equal(bytes_of(0, 9000, 1500, 9216), 1472);
	assert_int_equal(bytes_of(1, 9000, 1500, 9216), 1452);
	assert_int_equal(bytes_of(0, 65520, 65520, 99999), 9216);
	assert_int_equal(bytes_of(0, 9000, 9000, 4000), 4000);
	assert_int_equal(bytes_of(0, 9000, 1228, 9216), 1200);
	assert_int_equal(bytes_of(0, 9000, 1227, 9216), 0);
	assert_int_equal(bytes_of(0, 9000, 0, 9216), 0);
	assert_int_equal(bytes_of(0, 9000, INT32_MAX, 9216), 0);
	assert_int_equal(bytes_of(0, 9000, 9000, 0), 0);
	clk_set_source(NULL, NULL);
}

/* A node whose session has ended gets echoes for one more epoch. */
static void
test_silent(void **state)
{
	struct roster_limits limits = { CLK_NS_PER_S, CLK_NS_PER_S, NULL, 0 };
	struct roster *roster = roster_new(&limits, NULL, no_loss, NULL);
	struct mesh *m;
	struct err err;

	(void)state;
	clk_set_source(now_ns, now_ns);
	assert_int_equal(mesh_new(roster, NULL, &options, &ops, NULL, &m, &err),
	    0);
	ready(m, roster, "10.0.0.1", 1500, 9216);
	ready(m, roster, "10.0.0.2", 1500, 9216);
	roster_find(roster, "n1")->state = AGENT_LOST;
	for (int i = 0; i < 2; i++) {
		now_s += INTERVAL_S - 1;
		mesh_tick(m);
		assert_int_equal(target != NULL, i == 0);
		json_decref(target);
		target = NULL;
	}
	mesh_free(m);
	roster_free(roster);
	clk_set_source(NULL, NULL);
}

static void
test_clock_set_back(void **state)
{
	struct roster_limits limits = { CLK_NS_PER_S, CLK_NS_PER_S, NULL, 0 };
	struct roster *roster;
	const struct gathering *ga;
	uint64_t before;
	struct mesh *m;
	struct err err;

	(void)state;
	clk_set_source(NULL, now_ns);
	roster = roster_new(&limits, NULL, no_loss, NULL);
	assert_int_equal(mesh_new(roster, NULL, &options, &ops, NULL, &m, &err),
	    0);
	ready(m, roster, "10.0.0.1", 1500, 9216);
	ready(m, roster, "10.0.0.2", 1500, 9216);
	now_s += INTERVAL_S;
	mesh_tick(m);
	before = m->epoch;
	now_s -= YEAR_S;
	mesh_tick(m);
	assert_true(m->epoch < before - 1);
	ga = mesh_gathering_find(m, before);
	assert_non_null(ga);
	assert_int_equal(ga->expected, NODES);
	for (size_t i = 0; i < NODES; i++)
		assert_int_equal(report(m, roster_by_id(roster, i), before), 0);
	assert_int_equal(mesh_gather_reports(ga->g), NODES);
	/* This node is not awaited any more: its report is ignored. */
	assert_int_equal(report(m, roster_by_id(roster, 0), before + 9), 0);
	assert_null(mesh_gathering_find(m, before + 9));
	assert_int_equal(report(m, roster_by_id(roster, 0), 0), -EPROTO);
	mesh_free(m);
	roster_free(roster);
	json_decref(target);
	target = NULL;
	clk_set_source(NULL, NULL);
}

/* A link is a NIC: runs exercise the links that they used, and echoes the links
 * that carried them. Echoes on a network that carries no jobs exercise none. */
static void
test_rails(void **state)
{
	struct roster_limits limits = { CLK_NS_PER_S, CLK_NS_PER_S, NULL, 0 };
	struct roster *roster = roster_new(&limits, NULL, no_loss, NULL);
	uint64_t hour = clk_unix_ns() / (3600 * CLK_NS_PER_S);
	struct mesh_options elsewhere = options;
	const struct coverage *c;
	json_t *seen;
	struct mesh *m;
	struct err err;

	(void)state;
	assert_int_equal(mesh_new(roster, NULL, &options, &ops, NULL, &m, &err),
	    0);
	ready(m, roster, "10.0.0.1", 9000, 0); /* of its eth1 */
	ready(m, roster, "10.0.0.2", 9000, 0);
	c = mesh_coverage(m);
	elsewhere.net = "192.168.0.0/16";
	for (int i = 0; i < 2; i++) {
		run_nodes[i] = roster_by_id(roster, (size_t)i);
		json_object_set_new(run_nodes[i]->inventory, "rails",
		    json_pack("[{s:s, s:s}, {s:s, s:s}]", "name", "eth0",
			"netdev", "eth0", "name", "mlx5_1", "netdev",
			i == 0 ? "eth1" : "eth7"));
	}
	facts.devices = "";
	mesh_cover_run(m, NULL); /* unknown path */
	for (size_t k = 0; k < 4; k++)
		assert_false(coverage_has_link(c, hour,
		    mesh_link_id(run_nodes[k / 2], k % 2)));
	facts.devices = "mlx5_1:1";
	mesh_cover_run(m, NULL);
	assert_true(coverage_has_link(c, hour, mesh_link_id(run_nodes[0], 1)));
	assert_true(coverage_has_link(c, hour, mesh_link_id(run_nodes[1], 1)));
	assert_false(coverage_has_link(c, hour, mesh_link_id(run_nodes[0], 0)));
	facts.devices = "";
	facts.carried = seen = json_pack("[s]", "eth0");
	mesh_cover_run(m, NULL);
	assert_true(coverage_has_link(c, hour, mesh_link_id(run_nodes[0], 0)));
	json_decref(seen);
	facts.carried = NULL;
	/* The echoes' eth1 is a rail of the first node only. */
	assert_int_equal(mesh_echo_link(m, run_nodes[0]),
	    (long)mesh_link_id(run_nodes[0], 1));
	assert_int_equal(mesh_echo_link(m, run_nodes[1]), -ENOENT);
	mesh_pair_cover(m, hour, run_nodes[0], run_nodes[1]);
	assert_false(coverage_has_pair(c, hour, 0, 1));
	json_object_del(run_nodes[1]->inventory, "rails");
	mesh_pair_cover(m, hour, run_nodes[0], run_nodes[1]);
	assert_true(coverage_has_pair(c, hour, 0, 1));
	assert_true(coverage_has_link(c, hour, mesh_link_id(run_nodes[1], 0)));
	mesh_free(m);
	/* mesh.net moves the echoes to the network of eth0. */
	assert_int_equal(mesh_new(roster, NULL, &elsewhere, &ops, NULL, &m,
			     &err),
	    0);
	mesh_greeted(m, run_nodes[0]);
	assert_int_equal(mesh_echo_link(m, run_nodes[0]),
	    (long)mesh_link_id(run_nodes[0], 0));
	mesh_free(m);
	roster_free(roster);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clock_set_back),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_silent),
		cmocka_unit_test(test_rails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
