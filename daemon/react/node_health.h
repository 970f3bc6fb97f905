/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_health.h - report each node's verdict to its agent and to the reactions.
 *
 * The agent keeps the verdict in a file, so that a health check on the node
 * needs no request. It is sent when it changes, in each new session, and again
 * every minute; after NODE_HEALTH_FRESH_NS without one the agent reports
 * unknown.
 */
#ifndef DAEMON_REACT_NODE_HEALTH_H
#define DAEMON_REACT_NODE_HEALTH_H

#include <jansson.h>

#include "common/clk.h"
#include "schema/names_verdict.h"
#include "schema/wire.h"

#define NODE_HEALTH_FRESH_NS (300 * CLK_NS_PER_S)

struct node;
struct node_health;
struct react;
struct roster;

typedef int node_health_send_fn(void *ctx, struct node *n, enum wire_type type,
    json_t *msg);

/* Return the reporter of verdicts, which the caller frees. roster and react
 * must outlive it. */
struct node_health *node_health_new(struct roster *roster, struct react *react,
    node_health_send_fn *send, void *ctx);
void node_health_free(struct node_health *h); /* NULL is allowed */
/* Set the verdict on a node after a change; text: its fault, or "". */
void node_health_set(struct node_health *h, const struct node *n,
    enum verdict verdict, const char *text);
/* Note that a node has a new session: its agent gets the verdict at the next
 * tick, after the diagnosis has seen that the node is back. */
void node_health_greeted(struct node_health *h, const struct node *n);
/* Send verdicts that are due; call it about once a second. */
void node_health_tick(struct node_health *h);

#endif
