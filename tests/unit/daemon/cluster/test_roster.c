/* SPDX-License-Identifier: Apache-2.0 */
/* The heartbeat interval of agents, so that the total cost is constant, and the
 * allowed silence. */
#include <errno.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clk.h"
#include "daemon/cluster/roster.h"
#include "daemon/cluster/topo.h"
#include "daemon/store/store.h"
#include "schema/names_agent.h"
#include "schema/wire.h"

#define HEARTBEAT_NS (2 * CLK_NS_PER_S)
#define SILENCE_NS   (10 * CLK_NS_PER_S)

/* Return the heartbeats a second of count agents, which connect twice: by then
 * the roster knows their number, as from the store after a restart. */
static double
beats_per_s(struct roster *r, size_t count)
{
	/* Never looked into: only whether it is there counts. */
	struct session *session = (struct session *)r;
	double sum = 0;
	char name[32];

	for (int turn = 0; turn < 2; turn++) {
		sum = 0;
		for (size_t i = 0; i < count; i++) {
			json_t *hello;

			snprintf(name, sizeof(name), "n%zu", i);
			hello = json_pack("{s:s, s:s, s:{}}", "node", name,
			    "boot", "b", "inventory");
			sum += 1e9 /
			    (double)roster_hello(r, hello, "10.0.0.1", session,
				1)
				->heartbeat_ns;
			json_decref(hello);
		}
	}
	return sum;
}

static void
test_heartbeats(void **state)
{
	struct roster_limits limits = { HEARTBEAT_NS, SILENCE_NS, NULL, 0 };
	struct roster *r = roster_new(&limits, NULL, NULL, NULL);
	const struct node *n;

	(void)state;
	/* As often as was configured, while that is not too much. */
	assert_true(beats_per_s(r, 100) == 50);
	n = roster_find(r, "n0");
	assert_int_equal(n->heartbeat_ns, HEARTBEAT_NS);
	assert_int_equal(roster_silence_ns(r, n), SILENCE_NS);
	assert_int_equal(roster_late_ns(r, n), HEARTBEAT_NS * 5 / 2);
	/* Each the less often the more there are. */
	assert_true(beats_per_s(r, 20000) <= ROSTER_HEARTBEATS_PER_S + 1);
	n = roster_find(r, "n0");
	assert_int_equal(n->heartbeat_ns, 10 * CLK_NS_PER_S);
	/* and may be silent for the time of two missed heartbeats */
	assert_int_equal(roster_silence_ns(r, n), 25 * CLK_NS_PER_S);
	assert_int_equal(roster_late_ns(r, n), 25 * CLK_NS_PER_S);
	roster_free(r);
}

static struct node *
hello(struct roster *r, const char *name)
{
	json_t *msg = json_pack("{s:s, s:s, s:{}}", "node", name, "boot", "b",
	    "inventory");
	struct node *n = roster_hello(r, msg, "10.0.0.1", (struct session *)r,
	    1);

	json_decref(msg);
	return n;
}

/* A node that a scheduler names with another domain is found if it is the only
 * one; an agent is identified by its full name. */
static void
test_domains(void **state)
{
	char path[] = "/tmp/coalmine-roster-XXXXXX";
	struct roster_limits limits = { HEARTBEAT_NS, SILENCE_NS, NULL, 0 };
	struct roster *r;
	struct topo *t;
	struct err err;
	struct node *a, *b;
	FILE *fp;

	(void)state;
	fp = fdopen(mkstemp(path), "w");
	assert_non_null(fp);
	fputs("leaf1 node1\n", fp);
	fclose(fp);
	assert_int_equal(topo_load(path, 24, &t, &err), 0);
	unlink(path);
	limits.topo = t;
	r = roster_new(&limits, NULL, NULL, NULL);
	a = hello(r, "node1.a");
	assert_string_equal(a->leaf, "leaf1");
	assert_ptr_equal(roster_find_host(r, "node1"), a);
	assert_null(roster_find(r, "node1"));
	assert_true(roster_is_alone(r, a));
	b = hello(r, "node1.b");
	assert_ptr_not_equal(a, b);
	assert_false(roster_is_alone(r, a));
	assert_null(roster_find_host(r, "node1"));
	assert_ptr_equal(roster_find_host(r, "node1.b"), b);
	/* Which of them does the file mean? */
	assert_string_equal(a->leaf, "10.0.0.0/24");
	assert_string_equal(b->leaf, "10.0.0.0/24");
	roster_free(r);
	topo_free(t);
}

static uint64_t now_ns = 1000 * CLK_NS_PER_S;

static uint64_t
clock_ns(void)
{
	return now_ns;
}

static double
jobs_after(struct roster *r, struct node *n, double net)
{
	json_t *beat = json_pack("{s:{s:f}}", "host", "net", net);

	now_ns += 2 * CLK_NS_PER_S;
	roster_heartbeat(r, n, beat);
	json_decref(beat);
	return n->host.jobs;
}

/* Traffic of a run is not a job's, unless runs never end. */
static void
test_own_traffic(void **state)
{
	struct roster_limits limits = { HEARTBEAT_NS, SILENCE_NS, NULL, 0 };
	struct roster *r = roster_new(&limits, NULL, NULL, NULL);
	struct node *n;

	(void)state;
	clk_set_source(clock_ns, clock_ns);
	(void)beats_per_s(r, 1);
	n = roster_find(r, "n0");
	assert_true(jobs_after(r, n, 0.01) == 0.01);
	n->shared = 1;
	assert_true(jobs_after(r, n, 0.9) < 0.02);
	assert_true(n->host.net == 0.9);
	n->shared = 0; /* it ended since */
	assert_true(jobs_after(r, n, 0.9) < 0.02);
	assert_true(jobs_after(r, n, 0.5) == 0.5); /* a job */
	n->shared = 1;
	for (int i = 0; i < 299; i++)
		assert_true(jobs_after(r, n, 0.9) < 0.5);
	assert_true(jobs_after(r, n, 0.9) == 0.9);
	roster_free(r);
	clk_set_source(NULL, NULL);
}

static unsigned rows_count, inventories_count;
static uint64_t busy_ns = 1000 * CLK_NS_PER_S;

void
store_put_node(struct store *st, const json_t *node)
{
	(void)st;
	assert_null(json_object_get(node, "inventory"));
	rows_count++;
}

void
store_drop_node(struct store *st, const char *node)
{
	(void)st;
	(void)node;
}

void
store_put_inventory(struct store *st, const char *node, const json_t *inventory)
{
	(void)st;
	assert_string_equal(node, "n1");
	assert_true(json_is_object(inventory));
	inventories_count++;
}

static void
lost_cb(struct node *n, void *arg)
{
	(void)n;
	(void)arg;
}

static uint64_t
busy_clock(void)
{
	return busy_ns;
}

/* An agent that changes its state, sends heartbeats or large lists as often as
 * it can: rows come once a second, lists are as large as in a hello, and the
 * heartbeats end its session. */
static void
test_a_busy_agent(void **state)
{
	struct roster_limits limits = { HEARTBEAT_NS, SILENCE_NS, NULL, 0 };
	struct roster *r = roster_new(&limits, (struct store *)1, NULL, NULL);
	json_t *busy = json_pack("{s:s}", "busy", "a job");
	json_t *idle = json_pack("{s:[s]}", "nics", "a lot");
	unsigned beats = 0, before;
	struct node *n;

	(void)state;
	clk_set_source(busy_clock, NULL);
	n = hello(r, "n1");
	for (int i = 0; i < 1000; i++)
		roster_heartbeat(r, n, i % 2 ? idle : busy);
	assert_in_range(rows_count, 10, 30);
	before = rows_count;
	busy_ns += 5 * CLK_NS_PER_S;
	n->last_ns = busy_ns;
	roster_tick(r, busy_ns);
	assert_int_equal(rows_count, before + 1); /* its current value */
	roster_tick(r, busy_ns);
	assert_int_equal(rows_count, before + 1);

	/* Unchanged values are not written again; values that change all the
	 * time are written a few times. */
	assert_int_equal(inventories_count, 2);
	for (int i = 0; i < 1000; i++) {
		json_object_set_new(idle, "nics", json_pack("[i]", i));
		roster_heartbeat(r, n, i % 2 ? idle : busy);
		busy_ns += CLK_NS_PER_S / 10;
		n->last_ns = busy_ns;
		roster_tick(r, busy_ns);
	}
	assert_in_range(inventories_count, 10, 30);

	n->message_bytes = WIRE_HELLO_BYTES_MAX + 1;
	json_object_set_new(n->inventory, "nics", json_array());
	roster_heartbeat(r, n, idle);
	assert_int_equal(json_array_size(json_object_get(n->inventory, "nics")),
	    0);

	/* As agreed, and twice as often, for an hour: good. */
	for (int i = 0; i < 3600; i++) {
		busy_ns += HEARTBEAT_NS / 2;
		assert_false(roster_beats_too_often(n, busy_ns));
	}
	while (beats++ < 1000 && !roster_beats_too_often(n, busy_ns))
		busy_ns += HEARTBEAT_NS / 100;
	assert_in_range(beats, 30, 200);
	clk_set_source(NULL, NULL);
	json_decref(busy);
	json_decref(idle);
	roster_free(r);
}

/* The store deletes rows by their age: those of nodes that stay connected are
 * written again in time, those of lost nodes are not. */
static void
test_quiet_nodes_keep_their_row(void **state)
{
	struct roster_limits limits = { HEARTBEAT_NS, SILENCE_NS, NULL,
		3600 * CLK_NS_PER_S };
	struct roster *r = roster_new(&limits, (struct store *)1, lost_cb,
	    NULL);
	unsigned before;
	struct node *n;

	(void)state;
	clk_set_source(busy_clock, NULL);
	n = hello(r, "n1");
	n->last_ns = busy_ns;
	before = rows_count;
	for (int i = 0; i < 2 * 3600; i++) {
		busy_ns += CLK_NS_PER_S;
		n->last_ns = busy_ns;
		roster_tick(r, busy_ns);
	}
	assert_in_range(rows_count - before, 2 * 2, 2 * 8);
	busy_ns += SILENCE_NS;
	roster_tick(r, busy_ns);
	assert_int_equal(n->state, AGENT_LOST);
	before = rows_count;
	for (int i = 0; i < 3600; i++) {
		busy_ns += CLK_NS_PER_S;
		roster_tick(r, busy_ns);
	}
	assert_int_equal(rows_count, before);
	clk_set_source(NULL, NULL);
	roster_free(r);
}

static unsigned lost_calls;

static void
lost_count_cb(struct node *n, void *arg)
{
	(void)n;
	(void)arg;
	lost_calls++;
}

static uint64_t unix_ns = 1000 * CLK_NS_PER_S;

static uint64_t
the_unix_ns(void)
{
	return unix_ns;
}

static uint64_t
the_ns(void)
{
	return unix_ns + 77 * CLK_NS_PER_S;
}

/* Maintenance hides the state of the connection until it ends, also in another
 * collector that reads the stored rows. */
static void
test_maintenance(void **state)
{
	const struct roster_limits limits = { HEARTBEAT_NS, SILENCE_NS, NULL,
		0 };
	struct roster *r, *other;
	struct node *n, *twin;
	json_t *rows;
	struct err err;

	(void)state;
	clk_set_source(the_ns, the_unix_ns);
	r = roster_new(&limits, NULL, lost_count_cb, NULL);
	other = roster_new(&limits, NULL, lost_count_cb, NULL);
	n = hello(r, "node1");
	n->greeted = 1;
	assert_true(roster_is_up(n));
	roster_maintain(r, n, unix_ns + 3600 * CLK_NS_PER_S, "eve", "cable");
	assert_int_equal(n->state, AGENT_MAINTENANCE);
	assert_false(roster_is_up(n));
	assert_false(roster_is_watched(n));
	roster_why(n, &err);
	assert_non_null(strstr(err.text, "maintenance until 1970-01-01T01:16"));
	assert_non_null(strstr(err.text, "cable"));

	rows = json_pack("[o]", roster_json(n));
	roster_mirror(other, rows);
	twin = roster_find(other, "node1");
	assert_int_equal(twin->state, AGENT_MAINTENANCE);
	assert_string_equal(twin->maintenance.by, "eve");

	/* Runs learn once that its agent is lost. */
	roster_gone(r, n, "closed");
	unix_ns += SILENCE_NS + CLK_NS_PER_S;
	lost_calls = 0;
	roster_tick(r, the_ns());
	roster_tick(r, the_ns());
	assert_int_equal(lost_calls, 1);
	assert_int_equal(n->state, AGENT_MAINTENANCE);
	hello(r, "node1");
	assert_int_equal(n->state, AGENT_MAINTENANCE);

	unix_ns += 3600 * CLK_NS_PER_S;
	roster_alive(r, n, the_ns());
	roster_tick(r, the_ns());
	assert_int_equal(n->state, AGENT_OK);
	assert_int_equal(roster_count_state(r, AGENT_MAINTENANCE), 0);
	roster_tick(other, the_ns());
	assert_int_equal(twin->state, AGENT_LOST);

	/* The active collector has ended it. */
	roster_mirror(other, rows);
	assert_int_equal(twin->state, AGENT_MAINTENANCE);
	json_decref(rows);
	rows = json_pack("[o]", roster_json(n));
	roster_mirror(other, rows);
	assert_int_equal(twin->state, AGENT_OK);
	json_decref(rows);
	roster_free(other);
	roster_free(r);
	clk_set_source(NULL, NULL);
}

static void
test_forget(void **state)
{
	const struct roster_limits limits = { HEARTBEAT_NS, SILENCE_NS, NULL,
		0 };
	struct roster *r = roster_new(&limits, NULL, lost_count_cb, NULL);
	struct roster *other = roster_new(&limits, NULL, lost_count_cb, NULL);
	struct node *a = hello(r, "node1.a"), *b = hello(r, "node1.b");
	json_t *rows = json_pack("[o, o]", roster_json(a), roster_json(b));
	struct err err;

	(void)state;
	roster_mirror(other, rows);
	assert_int_equal(roster_count(other), 2);
	json_array_remove(rows, 0);
	roster_mirror(other, rows);
	assert_int_equal(roster_count(other), 1);
	json_decref(rows);

	assert_int_equal(roster_forget(r, a, &err), -EBUSY);
	assert_non_null(strstr(err.text, "node1.a is connected"));
	roster_gone(r, a, "closed");
	a->shared = 1;
	assert_int_equal(roster_forget(r, a, &err), -EBUSY);
	a->shared = 0;
	assert_int_equal(roster_forget(r, a, &err), 0);
	assert_null(roster_find(r, "node1.a"));
	assert_int_equal(roster_count(r), 1);
	assert_int_equal(roster_ids(r), 2);
	assert_ptr_equal(roster_at(r, 0), b);
	assert_ptr_equal(roster_by_id(r, 0), a);
	assert_ptr_equal(roster_find(r, "node1.b"), b);
	/* The short name is unambiguous again. */
	assert_true(roster_is_alone(r, b));
	assert_ptr_equal(roster_find_host(r, "node1"), b);
	assert_int_equal(roster_count_state(r, AGENT_LOST), 0);

	/* It comes back with its id. */
	assert_ptr_equal(hello(r, "node1.a"), a);
	assert_int_equal(a->state, AGENT_OK);
	assert_int_equal(a->id, 0);
	assert_int_equal(roster_count(r), 2);
	assert_int_equal(roster_ids(r), 2);
	assert_int_equal(hello(r, "node2")->id, 2);
	roster_free(other);
	roster_free(r);
}

/* After a restart of the collector, a node that was connected is lost since the
 * restart. A node that was lost keeps its time. */
static void
test_restart(void **state)
{
	const struct roster_limits limits = { HEARTBEAT_NS, SILENCE_NS, NULL,
		0 };
	struct roster *r = roster_new(&limits, NULL, NULL, NULL);
	uint64_t start_unix_ns = clk_unix_ns();
	json_t *rows = json_pack("[{s:s, s:s, s:I}, {s:s, s:s, s:I}]", "node",
	    "node1", "state", "ok", "last_seen_unix_ns", (json_int_t)1000,
	    "node", "node2", "state", "lost", "last_seen_unix_ns",
	    (json_int_t)1000);

	(void)state;
	roster_load(r, rows);
	json_decref(rows);
	assert_int_equal(roster_find(r, "node1")->state, AGENT_LOST);
	assert_true(roster_find(r, "node1")->since_unix_ns >= start_unix_ns);
	assert_int_equal(roster_find(r, "node2")->state, AGENT_LOST);
	assert_int_equal(roster_find(r, "node2")->since_unix_ns, 1000);
	roster_free(r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_busy_agent),
		cmocka_unit_test(test_quiet_nodes_keep_their_row),
		cmocka_unit_test(test_domains),
		cmocka_unit_test(test_maintenance),
		cmocka_unit_test(test_forget),
		cmocka_unit_test(test_restart),
		cmocka_unit_test(test_own_traffic),
		cmocka_unit_test(test_heartbeats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
