/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changed verdicts drive the reactions and reach the agent; each session gets
 * the verdict within a second, and again every minute.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "daemon/cluster/roster.h"
#include "daemon/react/node_health.h"
#include "daemon/react/react.h"

#define NODES 2

static struct node nodes[NODES];
static char names[NODES][8];
static uint64_t now_ns;
static char done[200];   /* bad and well of the reactions, in order */
static int sent[NODES];  /* messages */
static char verdict[16]; /* of the last one */
static char text[64];

static uint64_t
clock_now(void)
{
	return now_ns;
}

size_t
roster_ids(const struct roster *r)
{
	(void)r;
	return NODES;
}

struct node *
roster_by_id(const struct roster *r, size_t id)
{
	(void)r;
	return &nodes[id];
}

static void
note(const char *what, const char *node)
{
	size_t used = strlen(done);

	snprintf(done + used, sizeof(done) - used, "%s %s;", what, node);
}

void
react_bad(struct react *r, const char *node, const char *why)
{
	(void)r;
	assert_string_equal(why, "slow");
	note("bad", node);
}

void
react_well(struct react *r, const char *node)
{
	(void)r;
	note("well", node);
}

void
react_tick(struct react *r, size_t count)
{
	(void)r;
	assert_int_equal(count, NODES);
}

static int
send_cb(void *ctx, struct node *n, enum wire_type type, json_t *msg)
{
	(void)ctx;
	assert_int_equal(type, WIRE_STANDING);
	sent[n->id]++;
	snprintf(verdict, sizeof(verdict), "%s",
	    json_string_value(json_object_get(msg, "verdict")));
	snprintf(text, sizeof(text), "%s",
	    json_string_value(json_object_get(msg, "text")));
	json_decref(msg);
	return 0;
}

static struct node_health *
health_new(void)
{
	memset(nodes, 0, sizeof(nodes));
	memset(sent, 0, sizeof(sent));
	done[0] = '\0';
	now_ns = 1000 * CLK_NS_PER_S;
	clk_set_source(clock_now, NULL);
	for (size_t i = 0; i < NODES; i++) {
		snprintf(names[i], sizeof(names[i]), "n%zu", i);
		nodes[i].name = names[i];
		nodes[i].id = i;
	}
	return node_health_new(NULL, NULL, send_cb, NULL);
}

static void
test_changes(void **state)
{
	struct node_health *h = health_new();

	(void)state;
	node_health_set(h, &nodes[1], VERDICT_WARN, "slow");
	assert_string_equal(done, "");
	assert_int_equal(sent[1], 1);
	node_health_set(h, &nodes[1], VERDICT_BAD, "slow");
	node_health_set(h, &nodes[1], VERDICT_UNKNOWN, "slow");
	node_health_set(h, &nodes[1], VERDICT_BAD, "slow");
	node_health_set(h, &nodes[1], VERDICT_OK, "");
	node_health_set(h, &nodes[0], VERDICT_OK, "");
	assert_string_equal(done, "bad n1;well n1;well n0;");
	assert_int_equal(sent[0], 1);
	assert_int_equal(sent[1], 5);
	node_health_free(h);
}

static void
test_sessions(void **state)
{
	struct node_health *h = health_new();

	(void)state;
	node_health_greeted(h, &nodes[0]);
	assert_int_equal(sent[0], 0);
	node_health_tick(h);
	assert_int_equal(sent[0], 1);
	assert_string_equal(verdict, "unknown");
	assert_string_equal(text, "");
	node_health_greeted(h, &nodes[0]);
	node_health_set(h, &nodes[0], VERDICT_BAD, "slow");
	node_health_tick(h);
	assert_int_equal(sent[0], 3);
	assert_string_equal(verdict, "bad");
	assert_string_equal(text, "slow");
	assert_string_equal(done, "bad n0;");
	node_health_free(h);
}

/* Once a minute each, and no burst after a long pause. */
static void
test_refresh(void **state)
{
	struct node_health *h = health_new();

	(void)state;
	for (int s = 0; s < 600; s++) {
		now_ns += CLK_NS_PER_S;
		node_health_tick(h);
	}
	for (size_t i = 0; i < NODES; i++)
		assert_int_equal(sent[i], 10);
	now_ns += 3600 * CLK_NS_PER_S;
	node_health_tick(h);
	node_health_tick(h);
	for (size_t i = 0; i < NODES; i++)
		assert_int_equal(sent[i], 11);
	node_health_free(h);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_sessions),
		cmocka_unit_test(test_refresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
