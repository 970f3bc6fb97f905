/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks started by agents: orders, the exchange between nodes, networks, and
 * the reports of failures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/member.h"
#include "schema/packed.h"
#include "tests/unit/daemon/run/run_fix.h"

static int
gives(const char *node, const char *run, int id, const char *text)
{
	return fix_says(node, WIRE_FENCE,
	    json_pack("{s:s, s:i, s:i, s:i, s:o}", "run", run, "id", id, "part",
		0, "parts", 1, "data", packed_json(text, strlen(text))));
}

/* The data of the last fence. */
static void
check_brought(int id, const char *text)
{
	json_t *msg = fix_last(WIRE_FENCE);
	size_t len;
	char *bytes;

	assert_int_equal(json_integer_value(json_object_get(msg, "id")), id);
	bytes = packed_bytes(json_string_value(json_object_get(msg, "data")),
	    1000, &len);
	assert_non_null(bytes);
	assert_string_equal(bytes, text);
	free(bytes);
}

static void
test_start(void **state)
{
	char run[64];
	json_t *msg;

	(void)state;
	fix_setup(3);
	fix_launched(run, FIX_CAMPAIGN "ranks_per_node = 2\n");
	assert_int_equal(fix_sent(NULL, WIRE_START), 3);
	msg = fix_last(WIRE_START);
	assert_int_equal(json_integer_value(json_object_get(msg, "rank")), 4);
	assert_int_equal(json_integer_value(json_object_get(msg, "ranks")), 2);
	assert_int_equal(json_integer_value(json_object_get(msg, "size")), 6);
	fix_teardown();
}

static void
test_fence(void **state)
{
	char run[64];

	(void)state;
	fix_setup(4);
	fix_running(run, FIX_CAMPAIGN "nodes = n[1-3]\n");
	assert_int_equal(gives("n3", run, 1, "c=3\n"), 0);
	assert_int_equal(gives("n3", run, 1, "c=again\n"), 0);
	assert_int_equal(gives("n4", run, 1, "d=4\n"), 0); /* not of the run */
	assert_int_equal(gives("n1", run, 1, "a=1\n"), 0);
	assert_int_equal(gives("n2", run, 2, "early\n"), 0);
	assert_int_equal(fix_sent(NULL, WIRE_FENCE), 0);
	assert_int_equal(gives("n2", run, 1, "b=2\n"), 0);
	assert_int_equal(fix_sent(NULL, WIRE_FENCE), 3);
	check_brought(1, "a=1\nb=2\nc=3\n");
	/* A session broke: the node gives again, and is brought the result. */
	assert_int_equal(gives("n2", run, 1, "b=2\n"), 0);
	assert_int_equal(fix_sent("n2", WIRE_FENCE), 2);
	for (int i = 1; i <= 3; i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%d", i);
		assert_int_equal(gives(name, run, 2, ""), 0);
	}
	check_brought(2, "");
	assert_int_equal(fix_says("n1", WIRE_FENCE,
			     json_pack("{s:s, s:i, s:i, s:i, s:s}", "run", run,
				 "id", 3, "part", 0, "parts", 1, "data", "x")),
	    -EPROTO);
	fix_teardown();
}

/* Large results are sent to some nodes at a time, and to more when these have
 * them. */
static void
test_window(void **state)
{
	char run[64], *large = xcalloc(1, 900 * 1024);
	uint64_t x = 1;

	(void)state;
	for (size_t i = 0; i < 900 * 1024 - 1; i++) { /* hard to compress */
		x = x * 6364136223846793005u + 1442695040888963407u;
		large[i] = (char)('0' + (x >> 58));
	}
	fix_setup(100);
	fix_launched(run, "[campaign]\nnodes_min = 100\n");
	for (int i = 4; i <= 100; i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%d", i);
		fix_prepared(name, run);
	}
	fix_forget();
	for (int i = 1; i <= 100; i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%d", i);
		assert_int_equal(gives(name, run, 1, i <= 10 ? large : ""), 0);
	}
	/* About 9 MB for each: 7 nodes, in parts of half a MB. */
	assert_true(fix_sent("n1", WIRE_FENCE) > 1);
	assert_int_equal(fix_sent("n20", WIRE_FENCE), 0);
	fix_forget();
	fix_says("n50", WIRE_FENCE, /* it has nothing yet */
	    json_pack("{s:s, s:i, s:i, s:i, s:s}", "run", run, "id", 1, "part",
		0, "parts", 0, "data", ""));
	assert_int_equal(fix_sent(NULL, WIRE_FENCE), 0);
	fix_says("n1", WIRE_FENCE,
	    json_pack("{s:s, s:i, s:i, s:i, s:s}", "run", run, "id", 1, "part",
		0, "parts", 0, "data", ""));
	assert_true(fix_sent(NULL, WIRE_FENCE) > 1);
	free(large);
	fix_teardown();
}

static int
wants(const char *node, const char *run, int rank)
{
	return fix_says(node, WIRE_MODEX,
	    json_pack("{s:s, s:i}", "run", run, "rank", rank));
}

static void
test_modex(void **state)
{
	char run[64];

	(void)state;
	fix_setup(3);
	fix_running(run, FIX_CAMPAIGN "ranks_per_node = 2\n");
	assert_int_equal(wants("n1", run, 5), 0);
	assert_int_equal(wants("n2", run, 5), 0);
	assert_int_equal(wants("n2", run, 5), 0);
	assert_int_equal(fix_sent("n3", WIRE_MODEX), 1);
	/* For itself, or for an unknown rank. */
	assert_int_equal(wants("n3", run, 5), -EPROTO);
	assert_int_equal(wants("n3", run, 6), -EPROTO);
	assert_int_equal(wants("n3", run, -1), -EPROTO);
	/* Only a rank's own node has its data. */
	assert_int_equal(fix_says("n1", WIRE_MODEX,
			     json_pack("{s:s, s:i, s:s}", "run", run, "rank", 5,
				 "data", "x")),
	    -EPROTO);
	fix_says("n3", WIRE_MODEX,
	    json_pack("{s:s, s:i, s:s}", "run", run, "rank", 5, "data", "x"));
	assert_int_equal(fix_sent("n1", WIRE_MODEX), 1);
	assert_int_equal(fix_sent("n2", WIRE_MODEX), 1);
	/* Known now. */
	assert_int_equal(wants("n1", run, 5), 0);
	assert_int_equal(fix_sent("n1", WIRE_MODEX), 2);
	assert_int_equal(fix_sent("n3", WIRE_MODEX), 1);
	fix_teardown();
}

/* The ranks of the first nodes have started, and are in the first fence. */
static void
meet(const char *run, int nodes)
{
	for (int i = 1; i <= nodes; i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%d", i);
		fix_says(name, WIRE_LAUNCHED,
		    json_pack("{s:s, s:b}", "run", run, "ok", 1));
		gives(name, run, 1, "");
	}
}

static void
test_waits(void **state)
{
	char run[64];

	(void)state;
	fix_setup(3);
	fix_launched(run, FIX_CAMPAIGN);
	meet(run, 2);
	fix_pass(13, NULL);
	fix_failed(run, RUN_NONSTART, CAUSE_LAUNCH,
	    "2 of 3 ranks started, 2 of 3 connected; waiting for n3");
	fix_teardown();

	/* All have met once, and not after that: a firewall, or busy cores. */
	fix_setup(3);
	fix_launched(run, FIX_CAMPAIGN);
	fix_node("n2")->host.cpu = 0.9;
	meet(run, 3);
	fix_pass(60, NULL);
	fix_failed(run, RUN_NONSTART, CAUSE_LAUNCH,
	    "MPI_Init did not complete: allow TCP between these nodes, in "
	    "both directions, on the ports of mpi.ports (any port without "
	    "it); or the nodes are overloaded: processes on n2 wait for a core "
	    "for 90 % of the time");
	fix_teardown();

	/* The same, with a node that no run can use. */
	fix_setup(3);
	fix_launched(run, FIX_CAMPAIGN "nodes = n[1-3]\n");
	snprintf(fix.avoid, sizeof(fix.avoid), "n2");
	meet(run, 3);
	fix_pass(60, NULL);
	fix_failed(run, RUN_NONSTART, CAUSE_LAUNCH,
	    "MPI_Init did not complete; the probable cause is known: n2");
	fix_teardown();
}

static void
unanswered(const char *node, const char *run, const char *addr, int port)
{
	fix_says(node, WIRE_COUNTERS,
	    json_pack("{s:s, s:i, s:i, s:[], s:[{s:s, s:i}]}", "run", run,
		"border", -1, "at_unix_ns", 1, "nics", "unanswered", "addr",
		addr, "port", port));
}

/* A firewall: the nodes report the connections of their ranks without an
 * answer. Addresses of no node or of several ones are not named. */
static void
test_unanswered(void **state)
{
	char run[64];

	(void)state;
	fix_setup(4);
	for (int i = 1; i <= 3; i++) {
		char name[16], addr[16];

		snprintf(name, sizeof(name), "n%d", i);
		snprintf(addr, sizeof(addr), "10.1.0.%d", i);
		json_object_set_new(fix_node(name)->inventory, "nics",
		    json_pack("[{s:s, s:[s, s]}]", "name", "eth0", "addrs",
			addr, "172.17.0.1"));
	}
	fix_launched(run, FIX_CAMPAIGN "nodes = n[1-3]\n");
	meet(run, 3);
	while (fix_sent(NULL, WIRE_SAMPLE) == 0)
		fix_pass(0.25, NULL);
	assert_int_equal(fix_sent(NULL, WIRE_SAMPLE), 3);
	assert_true(
	    json_is_true(json_object_get(fix_last(WIRE_SAMPLE), "connects")));
	unanswered("n2", run, "10.9.9.9", 20001);
	unanswered("n2", run, "172.17.0.1", 20001);
	unanswered("n2", run, "10.1.0.2", 20001);
	unanswered("n2", run, "10.1.0.3", 0);
	unanswered("n2", run, "10.1.0.3", 20011);
	unanswered("n1", run, "10.1.0.3", 20012);
	unanswered("n1", run, "10.1.0.2", 20013);
	unanswered("n4", run, "10.1.0.2", 20014); /* not of the run */
	fix_pass(3, NULL);
	assert_int_equal(fix_sent(NULL, WIRE_SAMPLE), 3);
	fix_failed(run, RUN_NONSTART, CAUSE_LAUNCH,
	    "no record within 10s; n2 cannot connect to n3 (10.1.0.3), TCP "
	    "port 20011: no answer; n1 cannot connect to n3 (10.1.0.3), TCP "
	    "port 20012: no answer; 1 more. Allow");
	fix_teardown();
}

static void
refused(const char *node, const char *run, const char *addr, int port)
{
	fix_says(node, WIRE_COUNTERS,
	    json_pack("{s:s, s:i, s:i, s:[], s:[{s:s, s:i}]}", "run", run,
		"border", -1, "at_unix_ns", 1, "nics", "refused", "addr", addr,
		"port", port));
}

/* A firewall that rejects: other nodes try the ports on which ranks listen. */
static void
test_refused(void **state)
{
	const json_t *row;
	char run[64];
	json_t *msg;

	(void)state;
	fix_setup(3);
	for (int i = 1; i <= 3; i++) {
		char name[16], addr[16], net[24];

		snprintf(name, sizeof(name), "n%d", i);
		snprintf(addr, sizeof(addr), "10.1.0.%d", i);
		snprintf(net, sizeof(net), "10.1.0.%d/24", i);
		json_object_set_new(fix_node(name)->inventory, "nics",
		    json_pack("[{s:s, s:[s, s], s:[s, s]}]", "name", "eth0",
			"addrs", "172.17.0.1", addr, "nets", "172.17.0.1/16",
			net));
	}
	fix_launched(run, FIX_CAMPAIGN);
	meet(run, 3);
	while (fix_sent(NULL, WIRE_SAMPLE) == 0)
		fix_pass(0.25, NULL);
	fix_forget();
	fix_says("n3", WIRE_COUNTERS,
	    json_pack("{s:s, s:i, s:i, s:[], s:[], s:[{s:s, s:i}]}", "run", run,
		"border", -1, "at_unix_ns", 1, "nics", "unanswered",
		"listening", "addr", "0.0.0.0", "port", 20011));
	assert_int_equal(fix_sent("n1", WIRE_SAMPLE), 1);
	assert_int_equal(fix_sent("n2", WIRE_SAMPLE), 1);
	assert_int_equal(fix_sent("n3", WIRE_SAMPLE), 0);
	msg = fix_last(WIRE_SAMPLE);
	row = json_array_get(json_object_get(msg, "try"), 0);
	assert_string_equal(member_text(row, "addr"), "10.1.0.3");
	assert_int_equal(member_int(row, "port"), 20011);
	refused("n1", run, "10.1.0.3", 20011);
	refused("n3", run, "10.1.0.3", 20011);
	fix_pass(3, NULL);
	fix_failed(run, RUN_NONSTART, CAUSE_LAUNCH,
	    "no record within 10s; n1 cannot connect to n3 (10.1.0.3), TCP "
	    "port 20011: refused by a firewall. Allow");
	fix_teardown();
}

/* The first that died is named with its last words; others follow it. */
static void
test_first_failure(void **state)
{
	char run[64];

	(void)state;
	fix_setup(3);
	fix_running(run, FIX_CAMPAIGN);
	fix_says("n3", WIRE_RANK_LOST,
	    json_pack("{s:s, s:i, s:i, s:b, s:i, s:s}", "run", run, "rank", 2,
		"pid", 9, "exited", 0, "status", 1, "stderr",
		"coalmine-probe: no such device\n"));
	fix_pass(0.25, NULL);
	fix_says("n1", WIRE_RANK_LOST,
	    json_pack("{s:s, s:i, s:i, s:b, s:i, s:s, s:s}", "run", run, "rank",
		0, "pid", 9, "exited", 1, "status", 1, "stderr", "", "abort",
		"MPI_Abort, code 5"));
	fix_over(run, 1);
	fix_pass(3, NULL);
	fix_failed(run, RUN_FAILED, CAUSE_RANK_LOST,
	    "rank 2 on n3 ended with status 1: coalmine-probe: no such device");
	fix_teardown();

	fix_setup(3);
	fix_running(run, FIX_CAMPAIGN);
	fix_says("n2", WIRE_RANK_LOST,
	    json_pack("{s:s, s:i, s:i, s:b, s:i, s:s}", "run", run, "rank", 1,
		"pid", 9, "exited", 0, "status", 139, "stderr", ""));
	fix_pass(3, NULL);
	fix_failed(run, RUN_FAILED, CAUSE_RANK_LOST,
	    "rank 1 on n2 was killed by signal 11 (Segmentation fault)");
	fix_teardown();

	fix_setup(3); /* no signal has this number */
	fix_running(run, FIX_CAMPAIGN);
	fix_says("n2", WIRE_RANK_LOST,
	    json_pack("{s:s, s:i, s:i, s:b, s:i, s:s}", "run", run, "rank", 1,
		"pid", 9, "exited", 0, "status", 195, "stderr", ""));
	fix_pass(3, NULL);
	fix_failed(run, RUN_FAILED, CAUSE_RANK_LOST,
	    "rank 1 on n2 ended with status 195");
	fix_teardown();

	fix_setup(3); /* a GPU at fault */
	fix_running(run, FIX_CAMPAIGN);
	fix_says("n2", WIRE_RANK_LOST,
	    json_pack("{s:s, s:i, s:i, s:b, s:i, s:s}", "run", run, "rank", 1,
		"pid", 9, "exited", 1, "status", 1, "stderr",
		"coalmine-probe: cuda: start: uncorrectable ECC error "
		"encountered\n"));
	fix_pass(3, NULL);
	fix_failed(run, RUN_FAILED, CAUSE_DEVICE_FAULT, "uncorrectable ECC");
	fix_teardown();
}

/* Interfaces as {name, state, address with length}. */
static void
has(const char *node, const char *name, const char *state, const char *net)
{
	json_t *inventory = fix_node(node)->inventory;
	json_t *nics = json_object_get(inventory, "nics");

	if (nics == NULL) {
		json_object_set_new(inventory, "nics", json_array());
		nics = json_object_get(inventory, "nics");
	}
	json_array_append_new(nics,
	    json_pack("{s:s, s:s, s:[], s:[s]}", "name", name, "state", state,
		"addrs", "nets", net));
}

static const char *
start_net(const char *node)
{
	for (size_t i = 0; i < fix.sent_count; i++)
		if (fix.sent[i].type == WIRE_START &&
		    strcmp(fix.sent[i].node, node) == 0)
			return json_string_value(
			    json_object_get(fix.sent[i].msg, "net"));
	return NULL;
}

static void
test_networks(void **state)
{
	char run[64], text[16];

	(void)state;
	fix_setup(3);
	for (int i = 1; i <= 3; i++) {
		char name[16], net[32];

		snprintf(name, sizeof(name), "n%d", i);
		snprintf(text, sizeof(text), "eth%d", i);
		has(name, "docker0", "up", "172.17.0.1/16");
		snprintf(net, sizeof(net), "10.1.0.%d/24", i);
		has(name, text, "up", net);
		snprintf(net, sizeof(net), "10.9.%d.1/24", i);
		has(name, "cni0", "up", net); /* a network of each node */
		snprintf(net, sizeof(net), "10.8.0.%d/24", i);
		has(name, "br0", "down", net);
		if (i < 3) { /* not of all */
			snprintf(net, sizeof(net), "10.7.0.%d/24", i);
			has(name, "ib0", "up", net);
		}
	}
	fix_launched(run, FIX_CAMPAIGN);
	assert_string_equal(start_net("n1"), "eth1");
	assert_string_equal(start_net("n3"), "eth3");
	assert_string_equal(json_string_value(
				json_array_get(json_object_get(fix_last(
								   WIRE_START),
						   "networks"),
				    0)),
	    "10.1.0.0/24");
	assert_string_equal(run_find(fix.runs, run)->text, "launching");
	fix_teardown();

	fix_setup(3); /* two networks: an ambiguous choice */
	for (int i = 1; i <= 3; i++) {
		char name[16], net[32];

		snprintf(name, sizeof(name), "n%d", i);
		snprintf(net, sizeof(net), "10.1.0.%d/24", i);
		has(name, "eth0", "up", net);
		snprintf(net, sizeof(net), "fd00::%d/64", i);
		has(name, "eth1", "up", net);
	}
	fix_launched(run, FIX_CAMPAIGN);
	assert_string_equal(start_net("n2"), "eth0,eth1");
	assert_non_null(strstr(run_find(fix.runs, run)->text,
	    "10.1.0.0/24, fd00::/64; mpi.net"));
	fix_teardown();

	/* One interface with two networks is no choice, nor is the port to a
	 * management controller. */
	fix_setup(3);
	for (int i = 1; i <= 3; i++) {
		char name[16], net[32];

		snprintf(name, sizeof(name), "n%d", i);
		snprintf(net, sizeof(net), "10.1.0.%d/24", i);
		has(name, "eth0", "up", net);
		snprintf(net, sizeof(net), "10.1.0.%d/24", i + 100);
		has(name, "eth0", "up", net);
		snprintf(net, sizeof(net), "fd00::%d/64", i);
		has(name, "eth0", "up", net);
		snprintf(net, sizeof(net), "169.254.1.%d/16", i);
		has(name, "usb0", "up", net);
	}
	fix_launched(run, FIX_CAMPAIGN);
	assert_string_equal(start_net("n2"), "eth0");
	assert_string_equal(run_find(fix.runs, run)->text, "launching");
	fix_teardown();
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_start),
		cmocka_unit_test(test_fence),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_modex),
		cmocka_unit_test(test_waits),
		cmocka_unit_test(test_unanswered),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_first_failure),
		cmocka_unit_test(test_networks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
