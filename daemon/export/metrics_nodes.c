/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics_nodes.c - a line for every node in every family: most of the page.
 *
 * A node's labels are written once and used in every family. 10,000 nodes
 * must not hold the loop, and every scraper asks for all of them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/xalloc.h"
#include "daemon/export/metrics_int.h"

#define NODE_EXPIRY_S 86400 /* a node silent for longer is not shown */

static int
is_fresh(const struct view_node *n, double now_s)
{
	return n->state != AGENT_LOST ||
	    now_s - (double)n->last_seen_unix_ns / 1e9 < NODE_EXPIRY_S;
}

static void
render_states(const struct view_node *nodes, size_t count, double now_s,
    struct strbuf *to)
{
	uint64_t by_state[AGENT_STATE_MAX] = { 0 };

	for (size_t i = 0; i < count; i++)
		by_state[nodes[i].state] += is_fresh(&nodes[i], now_s) != 0;
	exposition_family(to, "coalmine_agents", "gauge", "Agents by state.");
	for (int s = 0; s < AGENT_STATE_MAX; s++)
		exposition_sample(to, "coalmine_agents",
		    EXPOSITION_LABELS({ "state", names_agent_states[s] }),
		    (double)by_state[s]);
}

static double
value_up(const struct view_node *n)
{
	return n->state != AGENT_LOST;
}

static double
value_last_seen(const struct view_node *n)
{
	return n->last_seen_unix_ns > 0 ? (double)n->last_seen_unix_ns / 1e9
					: NAN;
}

/* A lost node has no score: it is not measured. */
static double
value_score(const struct view_node *n)
{
	return n->state != AGENT_LOST ? n->score : NAN;
}

static double
value_spool(const struct view_node *n)
{
	return n->state != AGENT_LOST ? (double)n->spool_bytes : NAN;
}

/* NAN leaves a sample out. */
static const struct node_family {
	const char *name;
	const char *help;
	double (*value)(const struct view_node *);
} families[] = {
	{ "coalmine_agent_up",
	    "1 while the node's agent is heard of, 0 when it is lost.",
	    value_up },
	{ "coalmine_agent_last_seen_timestamp_seconds",
	    "When the node's agent was last heard of.", value_last_seen },
	{ "coalmine_agent_spool_bytes",
	    "Records that wait on the node for the collector.", value_spool },
	{ "coalmine_node_score",
	    "Robust z of the node against its peers, worst test; positive "
	    "is worse.",
	    value_score },
};

/* One text of all labels; node i's runs from ends[i] to ends[i + 1]. */
struct node_labels {
	struct strbuf text;
	size_t *ends;
};

static struct node_labels
labels_new(const struct view_node *nodes, size_t count, double now_s)
{
	struct node_labels l = { .ends = xcalloc(count + 1, sizeof(*l.ends)) };

	for (size_t i = 0; i < count; i++) {
		if (is_fresh(&nodes[i], now_s)) {
			strbuf_add(&l.text, "{node=\"", 7);
			exposition_escape(&l.text, nodes[i].name);
			strbuf_add(&l.text, "\"} ", 3);
		}
		l.ends[i + 1] = l.text.len_bytes;
	}
	return l;
}

static void
render_family(const struct node_family *f, const struct view_node *nodes,
    size_t count, const struct node_labels *l, struct strbuf *to)
{
	size_t name_bytes = strlen(f->name);

	exposition_family(to, f->name, "gauge", f->help);
	for (size_t i = 0; i < count; i++) {
		size_t from = l->ends[i], len = l->ends[i + 1] - from;
		double value = len > 0 ? f->value(&nodes[i]) : NAN;

		if (isnan(value))
			continue;
		strbuf_add(to, f->name, name_bytes);
		strbuf_add(to, l->text.text + from, len);
		exposition_value(to, value);
		strbuf_add(to, "\n", 1);
	}
}

void
metrics_nodes(const struct metrics_in *in, struct strbuf *to)
{
	const struct view_node *nodes;
	size_t count = view_node_list(in->view, &nodes);
	double now_s = (double)clk_unix_ns() / 1e9;
	struct node_labels l = labels_new(nodes, count, now_s);

	render_states(nodes, count, now_s, to);
	for (size_t i = 0; i < ARRAY_LEN(families); i++)
		render_family(&families[i], nodes, count, &l, to);
	strbuf_clear(&l.text);
	free(l.ends);
}
