/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The court over a made-up roster: 12 nodes on 3 leaves, rounds as records,
 * and a second pass whose run this test plays.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/clk.h"
#include "daemon/court.c"
#include "daemon/court_case.c"
#include "daemon/court_drift.c"
#define conclude mesh_conclude
#include "daemon/court_mesh.c"
#undef conclude
#undef AGAIN_NS
#include "daemon/court_pass.c"
#include "daemon/court_promise.c"
#include "daemon/session.h"

#define NODES 12

/* What the store was told. */
static struct {
	int verdicts, events;
	char last[WORDS_MAX + 64];
	json_t *recent;
} told;

void
store_put_verdict(struct store *st, const json_t *verdict)
{
	(void)st;
	(void)verdict;
	told.verdicts++;
}

void
store_put_baseline(struct store *st, const char *name, const json_t *body)
{
	(void)st;
	assert_string_equal(name, COURT_RECENT);
	json_decref(told.recent);
	told.recent = json_deep_copy(body);
}

void
store_put_event(struct store *st, const char *kind, const char *subject,
    const char *text)
{
	(void)st;
	(void)subject;
	if (strcmp(kind, "verdict") != 0)
		return;
	told.events++;
	snprintf(told.last, sizeof(told.last), "%s", text);
}

void
store_put_node(struct store *st, const json_t *node)
{
	(void)st;
	(void)node;
}

struct fix {
	struct roster *roster;
	struct topo *topo;
	struct court *court;
	char campaign[4000];
	int orders;
	int session; /* its address stands for a session */
};

static int
fix_order(void *ctx, const char *campaign, const char *text, const char *by,
    char ret_run[64], char *why, size_t why_bytes)
{
	struct fix *f = ctx;

	(void)by;
	(void)why;
	(void)why_bytes;
	assert_string_equal(campaign, COURT_PASS_CAMPAIGN);
	snprintf(f->campaign, sizeof(f->campaign), "%s", text);
	f->orders++;
	snprintf(ret_run, 64, "pass-%d", f->orders);
	return 0;
}

static const struct court_ops fix_ops = { fix_order };
static const struct court_options fix_options = { { 0.05, 0.01, 3, 5, 3, 0.075,
						      0.6 },
	3600 * CLK_NS_PER_S, 1, 100, "commissioning" };

static void
no_loss(struct node *n, void *arg)
{
	(void)n;
	(void)arg;
}

static void
fix_hello(struct fix *f, int i, const char *boot)
{
	char name[16], addr[32];
	json_t *hello;
	struct node *n;

	snprintf(name, sizeof(name), "node%d", i + 1);
	snprintf(addr, sizeof(addr), "10.78.%d.%d", i / 4 + 1, i % 4 + 1);
	hello = json_pack("{s:s, s:s, s:s, s:{}}", "node", name, "boot", boot,
	    "software", "0", "inventory");
	n = roster_hello(f->roster, hello, addr,
	    (struct session *)(void *)&f->session, clk_ns());
	n->greeted = 1;
	json_decref(hello);
}

static int
setup(void **state)
{
	struct fix *f = calloc(1, sizeof(*f));
	struct roster_limits limits = { CLK_NS_PER_S, CLK_NS_PER_S, NULL };
	char why[200];

	memset(&told, 0, sizeof(told));
	assert_int_equal(topo_load("", 24, &f->topo, why, sizeof(why)), 0);
	limits.topo = f->topo;
	f->roster = roster_new(&limits, NULL, no_loss, NULL);
	for (int i = 0; i < NODES; i++)
		fix_hello(f, i, "one");
	f->court = court_new(f->roster, NULL, &fix_options, &fix_ops, f);
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fix *f = *state;

	court_free(f->court);
	json_decref(told.recent);
	told.recent = NULL;
	roster_free(f->roster);
	topo_free(f->topo);
	free(f);
	return 0;
}

/* A round of latencies; those of slow (a bit a node) are 40 % worse. */
static void
hear_round_of(struct fix *f, unsigned slow, const struct court_source *from)
{
	json_t *nodes = json_array(), *record;
	char name[16];

	for (int i = 0; i < NODES; i++) {
		double x = 1e-5 * (1 + 0.002 * ((i * 5) % 7));

		snprintf(name, sizeof(name), "node%d", i + 1);
		x *= slow >> i & 1 ? 1.4 : 1;
		json_array_append_new(nodes,
		    json_pack("{s:s, s:f, s:i, s:i}", "node", name, "q25", x,
			"partners", 11, "slow_partners",
			slow >> i & 1 ? 11 : 1));
	}
	record = json_pack("{s:s, s:s, s:s, s:o}", "probe", "canary", "test",
	    "lat", "phase", "wild", "nodes", nodes);
	court_record(f->court, from, record);
	json_decref(record);
}

static void
hear_round(struct fix *f, unsigned slow)
{
	static const struct court_source from = { "run-1", "watch",
		"background", "openmpi", "agents", NULL };

	hear_round_of(f, slow, &from);
}

/* What the pass's run measures: pairs with node `slow` (or over the uplink of
 * 10.78.2.0) are 40 % worse. */
static void
hear_pass(struct fix *f, const char *slow, int uplink)
{
	struct court_pass *p = &f->court->pass;
	struct court_source from = { p->run, COURT_PASS_CAMPAIGN, "background",
		"openmpi", "agents", NULL };
	json_t *pairs = json_array(), *record;

	for (size_t a = 0; a < p->count; a++)
		for (size_t b = a + 1; b < p->count; b++) {
			uint32_t bad = court_leaf(f->court, "10.78.2.0/24");
			int crosses = (p->leaves[a] == bad) !=
			    (p->leaves[b] == bad);
			int is_slow = strcmp(p->names[a], slow) == 0 ||
			    strcmp(p->names[b], slow) == 0 ||
			    (uplink && crosses);

			json_array_append_new(pairs,
			    json_pack("{s:s, s:s, s:f}", "a", p->names[a], "b",
				p->names[b], "p50", is_slow ? 1.4e-5 : 1e-5));
		}
	record = json_pack("{s:s, s:s, s:s, s:o}", "probe", "canary", "test",
	    "lat", "phase", "isolated", "pairs", pairs);
	court_record(f->court, &from, record);
	json_decref(record);
	court_run_over(f->court, f->court->pass.run);
}

static enum verdict
verdict_of(struct fix *f, const char *node)
{
	return court_of_node(f->court, roster_find(f->roster, node));
}

static void
expect_text(struct fix *f, const char *part)
{
	json_t *list = court_json(f->court, 0);
	const char *text = json_string_value(
	    json_object_get(json_array_get(list, 0), "text"));

	if (text == NULL || strstr(text, part) == NULL)
		fail_msg("\"%s\" lacks \"%s\"", text, part);
	json_decref(list);
}

/* A round in which nodes scatter by 1 %, and node5 is slower by factor. */
static json_t *
made_round(double factor)
{
	static uint64_t round;
	json_t *nodes = json_array();
	char name[16];

	round++;
	for (int i = 0; i < NODES; i++) {
		uint64_t mix = rng_mix(round * NODES + (uint64_t)i) % 1000;
		double x = 1e-5 * (1 + 2e-5 * (double)mix);

		snprintf(name, sizeof(name), "node%d", i + 1);
		json_array_append_new(nodes,
		    json_pack("{s:s, s:f}", "node", name, "q25",
			i == 4 ? x * factor : x));
	}
	return json_pack("{s:s, s:s, s:s, s:f, s:o}", "probe", "canary", "test",
	    "lat", "phase", "wild", "p50", 1e-5, "nodes", nodes);
}

static void
hear_made(struct fix *f, double factor, int rounds)
{
	static const struct court_source from = { "run-1", "watch",
		"background", "openmpi", "agents", NULL };

	for (int i = 0; i < rounds; i++) {
		json_t *record = made_round(factor);

		court_record(f->court, &from, record);
		json_decref(record);
	}
}

static void
court_again(struct fix *f)
{
	court_keep(f->court);
	court_free(f->court);
	f->court = court_new(f->roster, NULL, &fix_options, &fix_ops, f);
}

static size_t
open_cases(const struct fix *f)
{
	struct court_open list[8];

	return court_open_cases(f->court, list, 8);
}

static void
test_node(void **state)
{
	struct fix *f = *state;

	assert_int_equal(verdict_of(f, "node5"), VERDICT_UNKNOWN);
	hear_round(f, 0);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_OK);
	for (int i = 0; i < 3; i++)
		hear_round(f, 1 << 4);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_WARN);
	expect_text(f,
	    "node5: 41 % slower than 11 of 11 partners over 3 "
	    "rounds (lat); its partners are normal elsewhere");
	court_tick(f->court);
	assert_int_equal(f->orders, 1);
	assert_non_null(strstr(f->campaign, "nodes = node5,"));
	assert_non_null(strstr(f->campaign, "class = background"));
	hear_pass(f, "node5", 0);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_BAD);
	expect_text(f, "5 of 5 partners");
	assert_int_equal(open_cases(f), 1);
	for (int i = 0; i < 3; i++)
		hear_round(f, 0);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_OK);
	assert_int_equal(open_cases(f), 0);
	assert_int_equal(told.verdicts, 3); /* warn, bad, ok */
	assert_non_null(strstr(told.last, "normal for 3 rounds"));
	court_tick(f->court);
	assert_int_equal(f->orders, 1);
}

/* The pass finds nothing: no alarm. */
static void
test_cleared_by_pass(void **state)
{
	struct fix *f = *state;

	for (int i = 0; i < 3; i++)
		hear_round(f, 1 << 4);
	court_tick(f->court);
	hear_pass(f, "nobody", 0);
	assert_int_equal(open_cases(f), 0);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_OK);
}

static void
test_uplink(void **state)
{
	struct fix *f = *state;

	for (int i = 0; i < 3; i++)
		hear_round(f, 0xf0); /* node5 to node8, all of a leaf */
	assert_int_equal(open_cases(f), 1);
	expect_text(f,
	    "leaf 10.78.2.0/24: 40 % slower than other leaves, 4 of its 4 "
	    "nodes");
	assert_int_equal(verdict_of(f, "node5"), VERDICT_OK);
	court_tick(f->court);
	hear_pass(f, "nobody", 1);
	expect_text(f, "so its uplink");
	assert_int_equal(verdict_of(f, "node5"), VERDICT_OK);
}

/* A node is accused, and it is its leaf's uplink. */
static void
test_node_is_leaf(void **state)
{
	struct fix *f = *state;
	struct court_open list[4];

	for (int i = 0; i < 3; i++)
		hear_round(f, 1 << 4);
	court_tick(f->court);
	hear_pass(f, "nobody", 1);
	assert_int_equal(court_open_cases(f->court, list, 4), 1);
	assert_string_equal(list[0].kind, "leaf");
	assert_string_equal(list[0].what, "link");
	assert_int_equal(verdict_of(f, "node5"), VERDICT_OK);
}

static void
test_host(void **state)
{
	struct fix *f = *state;

	roster_find(f->roster, "node5")->host.wait_s = 0.080;
	for (int i = 0; i < 3; i++)
		hear_round(f, 1 << 4);
	expect_text(f, "trouble of the host, not of the network: CPU pressure");
	expect_text(f, "own scheduling delay 80 ms");
	court_tick(f->court);
	assert_int_equal(f->orders, 0); /* nothing to ask the network */
}

/* Another process has the name: nothing is known, so it is not green. */
static void
test_reboot(void **state)
{
	struct fix *f = *state;

	for (int i = 0; i < 3; i++)
		hear_round(f, 1 << 4);
	court_tick(f->court);
	fix_hello(f, 4, "two");
	fix_hello(f, 7, "two");
	/* at once, and not only from the next tick on */
	assert_int_equal(verdict_of(f, "node8"), VERDICT_UNKNOWN);
	court_tick(f->court);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_UNKNOWN);
	assert_int_equal(verdict_of(f, "node8"), VERDICT_UNKNOWN);
	assert_int_equal(verdict_of(f, "node6"), VERDICT_OK);
	assert_int_equal(open_cases(f), 0);
	hear_round(f, 1 << 4);
	assert_int_equal(verdict_of(f, "node8"), VERDICT_OK);
	roster_find(f->roster, "node8")->session = NULL;
	assert_int_equal(verdict_of(f, "node8"), VERDICT_UNKNOWN);
	roster_find(f->roster, "node8")->session =
	    (struct session *)(void *)&f->session;
}

/* A run that came to nothing is tried again, not at once. */
static void
test_try_again(void **state)
{
	struct fix *f = *state;

	for (int i = 0; i < 3; i++)
		hear_round(f, 1 << 4);
	court_tick(f->court);
	court_run_over(f->court, "pass-1");
	court_tick(f->court);
	assert_int_equal(f->orders, 1);
	TAILQ_FIRST(&f->court->cases)->next_ns = 0;
	court_tick(f->court);
	assert_int_equal(f->orders, 2);
}

/* What one collector said holds for the next. */
static void
test_load(void **state)
{
	struct fix *f = *state;
	json_t *list;

	for (int i = 0; i < 3; i++)
		hear_round(f, 1 << 4);
	list = court_json(f->court, 0);
	court_free(f->court);
	f->court = court_new(f->roster, NULL, &fix_options, &fix_ops, f);
	court_load(f->court, list);
	json_decref(list);
	assert_int_equal(open_cases(f), 1);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_UNKNOWN);
	hear_round(f, 1 << 4);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_WARN);
	for (int i = 0; i < 3; i++)
		hear_round(f, 0);
	assert_int_equal(open_cases(f), 0);
}

/* The second pass goes where the run went that made it necessary, at the same
 * account's cost; so it does after a restart. */
static void
test_slurm(void **state)
{
	struct fix *f = *state;
	json_t *slurm = json_pack("{s:s, s:s}", "partition", "net", "account",
	    "ops");
	struct court_source from = { "run-1", "watch", "background", "openmpi",
		"slurm", slurm };
	json_t *list;

	for (int i = 0; i < 3; i++)
		hear_round_of(f, 1 << 4, &from);
	json_decref(slurm);
	list = court_json(f->court, 0);
	for (int again = 0; again < 2; again++) {
		court_tick(f->court);
		assert_int_equal(f->orders, again + 1);
		assert_non_null(strstr(f->campaign, "launcher = slurm\n"));
		assert_non_null(strstr(f->campaign,
		    "\n[slurm]\npartition = net\naccount = ops\n[canary]\n"));
		court_again(f);
		court_load(f->court, list);
		hear_round(f, 1 << 4); /* another way: no matter */
	}
	json_decref(list);
}

/* Nor is there such a section where a run had none. */
static void
test_no_slurm(void **state)
{
	struct fix *f = *state;

	for (int i = 0; i < 3; i++)
		hear_round(f, 1 << 4);
	court_tick(f->court);
	assert_int_equal(f->orders, 1);
	assert_null(strstr(f->campaign, "slurm"));
}

/* A record of too many nodes for rows: the short form names node5 as well,
 * which the worst rows do not. */
static void
test_scores(void **state)
{
	static const struct court_source from = { "run-1", "watch",
		"background", "openmpi", "agents", NULL };
	struct fix *f = *state;

	for (int k = 0; k < 3; k++) {
		json_t *q = json_array(), *record;

		for (int i = 0; i < NODES; i++)
			json_array_append_new(q,
			    json_real(i == 4 ? 1.4e-5
					     : 1e-5 * (1 + 0.002 * (i % 5))));
		record = json_pack("{s:s, s:s, s:s, s:[{s:s, s:f}], s:{s:s, "
				   "s:o}}",
		    "probe", "canary", "test", "lat", "phase", "wild", "nodes",
		    "node", "node1", "q25", 1e-5, "scores", "hosts",
		    "node[1-12]", "q25", q);
		court_record(f->court, &from, record);
		json_decref(record);
	}
	assert_int_equal(open_cases(f), 1);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_WARN);
	assert_int_equal(verdict_of(f, "node12"), VERDICT_OK);
}

/* Rings, in which everybody runs at the pace of the slowest, speak neither for
 * nor against what pairs have shown. */
static void
test_rings_apart(void **state)
{
	static const struct court_source from = { "run-2", "canary",
		"background", "openmpi", "agents", NULL };
	struct fix *f = *state;

	for (int i = 0; i < 3; i++) {
		json_t *record = made_round(1);

		hear_round(f, 1 << 4);
		json_object_set_new(record, "partners", json_string("match"));
		court_record(f->court, &from, record);
		court_record(f->court, &from, record);
		json_decref(record);
	}
	assert_int_equal(open_cases(f), 1);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_WARN);
}

static const char *
what_of(struct fix *f)
{
	struct court_open list[8];

	return court_open_cases(f->court, list, 8) == 1 ? list[0].what
							: "not one case";
}

/* node5 always was 6 % faster than its peers, and is as fast as they are: only
 * its own past can tell. The next collector knows what this one has learned. */
static void
test_drift(void **state)
{
	struct fix *f = *state;
	json_t *rows;

	hear_made(f, 0.94, 100);
	assert_int_equal(open_cases(f), 0);
	court_again(f);
	rows = json_pack("[{s:s, s:O}]", "name", COURT_RECENT, "body",
	    told.recent);
	court_load_baselines(f->court, rows);
	json_decref(rows);
	hear_made(f, 1.01, 60);
	assert_string_equal(what_of(f), "drift");
	expect_text(f, "node5: ");
	expect_text(f, "% slower than in its own last weeks");
	assert_int_equal(verdict_of(f, "node5"), VERDICT_WARN);
	court_tick(f->court);
	assert_int_equal(f->orders, 0); /* peers have nothing to say */
	hear_made(f, 0.94, 200);
	assert_int_equal(open_cases(f), 0);
}

static json_t *
made_baseline(double factor, int rounds)
{
	json_t *record = made_round(factor), *o;
	size_t i;

	json_array_foreach (json_object_get(record, "nodes"), i, o)
		json_object_set_new(o, "rounds", json_integer(rounds));
	return json_pack("{s:s, s:[o]}", "run", "", "records", record);
}

static void
test_pinned(void **state)
{
	struct fix *f = *state;
	json_t *body = made_baseline(0.9, 1000);

	court_pin(f->court, "another", body);
	hear_made(f, 1, 100);
	assert_int_equal(open_cases(f), 0);
	court_pin(f->court, "commissioning", body);
	hear_made(f, 1, 60);
	assert_string_equal(what_of(f), "drift");
	expect_text(f, "slower than in baseline commissioning");
	court_pin(f->court, "commissioning", NULL);
	hear_made(f, 1, 1);
	assert_int_equal(open_cases(f), 0);
	json_decref(body);
}

/* An epoch of the mesh in one class: nodes of slow take 40 % longer, those of
 * lossy lose 5 % even with their better partners. */
static void
hear_mesh(struct fix *f, const char *class, unsigned slow, unsigned lossy)
{
	json_t *nodes = json_array(), *record;
	char name[16];

	for (int i = 0; i < NODES; i++) {
		double x = 1e-4 * (1 + 0.002 * ((i * 5) % 7));

		snprintf(name, sizeof(name), "node%d", i + 1);
		x *= slow >> i & 1 ? 1.4 : 1;
		json_array_append_new(nodes,
		    json_pack("{s:s, s:f, s:i, s:i}", "node", name, "q25", x,
			"good_lost", lossy >> i & 1 ? 12 : i % 2, "good_sent",
			240));
	}
	record = json_pack("{s:s, s:s, s:s, s:s, s:o}", "probe", "mesh", "test",
	    class, "run", "mesh-1", "phase", "wild", "nodes", nodes);
	court_mesh(f->court, record);
	json_decref(record);
}

/* Slow echoes are looked at again as slow canaries are, by campaigns like the
 * last one. */
static void
test_mesh_slow(void **state)
{
	struct fix *f = *state;

	hear_round(f, 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(open_cases(f), 0);
		hear_mesh(f, "spine", 1 << 4, 0);
	}
	expect_text(f,
	    "% slower than its peers over 3 rounds "
	    "(echo-spine)");
	court_tick(f->court);
	assert_int_equal(f->orders, 1);
	assert_non_null(strstr(f->campaign, "class = background\n"));
	assert_non_null(strstr(f->campaign, "mpi = openmpi\n"));
	hear_pass(f, "node5", 0);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_BAD);
	for (int i = 0; i < 3; i++)
		hear_mesh(f, "spine", 0, 0);
	assert_int_equal(open_cases(f), 0);
}

/* What is lost to its own leaf and to others is lost by the node. */
static void
test_mesh_loss(void **state)
{
	struct fix *f = *state;

	for (int i = 0; i < 3; i++)
		hear_mesh(f, "spine", 0, 1 << 4);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_WARN);
	expect_text(f, "of its echoes are lost");
	expect_text(f, "cannot tell yet");
	for (int i = 0; i < 3; i++)
		hear_mesh(f, "leaf", 0, 1 << 4);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_BAD);
	expect_text(f, "within its leaf and to others");
	court_tick(f->court);
	assert_int_equal(f->orders, 0);
	for (int i = 0; i < 3; i++) {
		hear_mesh(f, "spine", 0, 0);
		hear_mesh(f, "leaf", 0, 0);
	}
	assert_int_equal(open_cases(f), 0);
}

/* All of a leaf lose to others, and nothing among each other: its uplink. */
static void
test_mesh_uplink(void **state)
{
	struct fix *f = *state;
	json_t *list;

	for (int i = 0; i < 4; i++) {
		hear_mesh(f, "leaf", 0, 0);
		hear_mesh(f, "spine", 0, 0xf0);
	}
	list = court_json(f->court, 0);
	assert_int_equal(json_array_size(list), 1);
	assert_string_equal(member_text(json_array_get(list, 0), "what"),
	    "link");
	assert_string_equal(member_text(json_array_get(list, 0), "verdict"),
	    "bad");
	expect_text(f, "leaf 10.78.2.0/24: ");
	expect_text(f, "none inside the leaf, so its uplink");
	json_decref(list);
}

static void
test_drops(void **state)
{
	struct fix *f = *state;
	json_t *nics = json_pack("[{s:s, s:{s:i, s:i}}, {s:s, s:{s:i, s:i}}]",
	    "nic", "eth9", "counters", "rx_bytes", 1, "rx_dropped", 9000, "nic",
	    "eth0", "counters", "rx_bytes", 1000, "tx_dropped", 5);

	court_counters(f->court, "run-1", roster_find(f->roster, "node5"),
	    nics);
	json_object_set_new(json_object_get(json_array_get(nics, 1),
				"counters"),
	    "tx_dropped", json_integer(12));
	court_counters(f->court, "run-1", roster_find(f->roster, "node5"),
	    nics);
	json_decref(nics);
	for (int i = 0; i < 3; i++)
		hear_round(f, 1 << 4);
	expect_text(f, "NIC eth0 drops 7");
}

/* Nodes in pairs, in a ring with an offset of shift, at what a machine promises
 * times ratio. slow: by node, or 1 << 30 for what crosses the border of leaf
 * 10.78.2.0. */
static void
hear_pairs(struct fix *f, const char *run, int shift, unsigned slow,
    double ratio)
{
	struct court_source from = { run, "collectives", "exclusive", "openmpi",
		"agents", NULL };
	json_t *nodes = json_array(), *record;

	for (int i = 0; i < NODES; i++) {
		int with = (i + ((i + shift) % 2 == 0 ? 1 : NODES - 1)) % NODES;
		int crosses = (i / 4 == 1) != (with / 4 == 1);
		int is_slow = (slow >> i & 1) || (slow >> with & 1) ||
		    (slow >> 30 && crosses);
		char a[16], b[16];

		snprintf(a, sizeof(a), "node%d", i + 1);
		snprintf(b, sizeof(b), "node%d", with + 1);
		json_array_append_new(nodes,
		    json_pack("{s:s, s:s, s:f, s:f}", "node", a, "partner", b,
			"seconds", 1.0, "ratio", is_slow ? ratio : 0.9));
	}
	record = json_pack("{s:s, s:s, s:s, s:o}", "probe", "pairs", "of",
	    "whole", "machine", "lab", "nodes", nodes);
	court_record(f->court, &from, record);
	json_decref(record);
}

static void
hear_promise(struct fix *f, const char *run, unsigned slow, double ratio)
{
	hear_pairs(f, run, 0, slow, ratio);
	hear_pairs(f, run, 1, slow, ratio);
	court_run_over(f->court, run);
}

/* Who is below with both partners is named, not they; and is so no longer once
 * it does better. */
static void
test_promise(void **state)
{
	struct fix *f = *state;
	json_t *list;

	hear_promise(f, "run-1", 1 << 4, 0.6);
	assert_int_equal(open_cases(f), 0);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_OK);
	hear_promise(f, "run-2", 1 << 4, 0.1);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_WARN);
	assert_int_equal(verdict_of(f, "node4"), VERDICT_OK);
	assert_int_equal(verdict_of(f, "node6"), VERDICT_OK);
	assert_int_equal(open_cases(f), 1);
	expect_text(f,
	    "node5: 10 % of what machine lab promises, with the best of 2 "
	    "partners");
	court_tick(f->court);
	assert_int_equal(f->orders, 0); /* no second pass */
	/* over a restart too */
	list = court_json(f->court, 0);
	court_again(f);
	court_load(f->court, list);
	json_decref(list);
	expect_text(f, "10 % of what machine lab promises");
	hear_promise(f, "run-3", 0, 1);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_OK);
	assert_int_equal(open_cases(f), 0);
	assert_non_null(strstr(told.last, "as promised"));
}

static void
test_promise_of_links(void **state)
{
	struct fix *f = *state;

	hear_promise(f, "run-1", 1u << 30, 0.2);
	assert_int_equal(open_cases(f), 1);
	expect_text(f,
	    "link of leaf 10.78.2.0/24: 20 % of what machine lab promises");
	assert_int_equal(verdict_of(f, "node5"), VERDICT_OK);
	/* a pair alone does not tell which of the two */
	hear_pairs(f, "run-2", 0, 1 << 8, 0.2);
	court_run_over(f->court, "run-2");
	assert_int_equal(verdict_of(f, "node9"), VERDICT_WARN);
	assert_int_equal(verdict_of(f, "node10"), VERDICT_WARN);
	assert_non_null(strstr(told.last, "may be the slow one"));
}

/* Most of them: the description is wrong, or it is not their fault. */
static void
test_promise_of_all(void **state)
{
	struct fix *f = *state;

	hear_promise(f, "run-1", 0xfff, 0.2);
	assert_int_equal(open_cases(f), 0);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_OK);
	assert_int_equal(told.events, 0);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
		TEST(test_node),
		TEST(test_cleared_by_pass),
		TEST(test_uplink),
		TEST(test_node_is_leaf),
		TEST(test_host),
		TEST(test_reboot),
		TEST(test_try_again),
		TEST(test_load),
		TEST(test_slurm),
		TEST(test_no_slurm),
		TEST(test_scores),
		TEST(test_rings_apart),
		TEST(test_drift),
		TEST(test_mesh_slow),
		TEST(test_mesh_loss),
		TEST(test_mesh_uplink),
		TEST(test_pinned),
		TEST(test_drops),
		TEST(test_promise),
		TEST(test_promise_of_links),
		TEST(test_promise_of_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
