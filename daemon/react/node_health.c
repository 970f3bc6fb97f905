/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_health.c - the verdict on each node, and the times at which it is sent.
 */
#include "daemon/react/node_health.h"

#include <stdlib.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "daemon/cluster/roster.h"
#include "daemon/react/react.h"

#define REFRESH_NS (60 * CLK_NS_PER_S)

struct health {
	enum verdict verdict;
	enum verdict reacted; /* the last ok or bad that was passed on */
	char *text;           /* NULL: "" */
};

struct node_health {
	struct roster *roster;
	struct react *react;
	node_health_send_fn *send;
	void *ctx;
	struct health *nodes; /* by node id */
	size_t cap;
	size_t *greeted; /* ids of nodes with a new session */
	size_t greeted_count, greeted_cap;
	size_t next; /* id of the node that is refreshed next */
	uint64_t tick_ns;
	uint64_t due_ns; /* credit; REFRESH_NS of it refreshes one node */
};

struct node_health *
node_health_new(struct roster *roster, struct react *react,
    node_health_send_fn *send, void *ctx)
{
	struct node_health *h = xcalloc(1, sizeof(*h));

	h->roster = roster;
	h->react = react;
	h->send = send;
	h->ctx = ctx;
	h->tick_ns = clk_ns();
	return h;
}

void
node_health_free(struct node_health *h)
{
	if (h == NULL)
		return;
	for (size_t i = 0; i < h->cap; i++)
		free(h->nodes[i].text);
	free(h->nodes);
	free(h->greeted);
	free(h);
}

static struct health *
node_health_of(struct node_health *h, const struct node *n)
{
	size_t cap = n->id + 1 + n->id / 2;

	if (n->id >= h->cap) {
		h->nodes = xreallocarray(h->nodes, cap, sizeof(h->nodes[0]));
		for (size_t i = h->cap; i < cap; i++)
			h->nodes[i] = (struct health){
				.verdict = VERDICT_UNKNOWN,
				.reacted = VERDICT_UNKNOWN
			};
		h->cap = cap;
	}
	return &h->nodes[n->id];
}

static void
node_health_send(struct node_health *h, struct node *n)
{
	const struct health *of = node_health_of(h, n);

	(void)h->send(h->ctx, n, WIRE_STANDING,
	    json_pack("{s:s, s:o, s:I}", "verdict", names_verdicts[of->verdict],
		"text", text_json(of->text != NULL ? of->text : ""), "fresh_ms",
		(json_int_t)(NODE_HEALTH_FRESH_NS / CLK_NS_PER_MS)));
}

void
node_health_greeted(struct node_health *h, const struct node *n)
{
	if (h->greeted_count == h->greeted_cap) {
		h->greeted_cap = h->greeted_cap * 2 + 8;
		h->greeted = xreallocarray(h->greeted, h->greeted_cap,
		    sizeof(h->greeted[0]));
	}
	h->greeted[h->greeted_count++] = n->id;
}

void
node_health_set(struct node_health *h, const struct node *n,
    enum verdict verdict, const char *text)
{
	struct health *of = node_health_of(h, n);

	of->verdict = verdict;
	xstrset(&of->text, text);
	node_health_send(h, roster_by_id(h->roster, n->id));
	/* warn and unknown change nothing: an action and its undo need a
	 * definite verdict. */
	if (verdict == of->reacted ||
	    (verdict != VERDICT_BAD && verdict != VERDICT_OK))
		return;
	of->reacted = verdict;
	if (verdict == VERDICT_BAD)
		react_bad(h->react, n->name, text);
	else
		react_well(h->react, n->name);
}

/* Every node has its turn within REFRESH_NS. */
void
node_health_tick(struct node_health *h)
{
	size_t count = roster_ids(h->roster), sent = 0;
	uint64_t now_ns = clk_ns();

	for (size_t i = 0; i < h->greeted_count; i++)
		node_health_send(h, roster_by_id(h->roster, h->greeted[i]));
	h->greeted_count = 0;
	h->due_ns += (now_ns - h->tick_ns) * count;
	h->tick_ns = now_ns;
	for (; h->due_ns >= REFRESH_NS && sent < count; sent++) {
		h->due_ns -= REFRESH_NS;
		node_health_send(h, roster_by_id(h->roster, h->next++ % count));
	}
	h->due_ns %= REFRESH_NS;
	react_tick(h->react, count);
}
