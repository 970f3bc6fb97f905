/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_health.h - how each node stands, told to its agent and to the reactions.
 *
 * The agent keeps what it was told in a file, so that a health check on the
 * node is answered without asking anybody. It is told again every minute; one
 * that has heard nothing for NODE_HEALTH_FRESH_NS knows nothing.
 */
#ifndef DAEMON_REACT_NODE_HEALTH_H
#define DAEMON_REACT_NODE_HEALTH_H

#include <stddef.h>
#include <stdint.h>

#include "common/clk.h"
#include "schema/names.h"
#include "schema/wire.h"

#define NODE_HEALTH_FRESH_NS (300 * CLK_NS_PER_S)
#define NODE_HEALTH_TEXT_MAX 300

struct node;
struct react;
struct roster;
struct standings;

struct node_health {
	enum exit_code code; /* ok warn bad unknown */
	char text[NODE_HEALTH_TEXT_MAX];
};

struct node_health_ops {
	int (
	    *send)(void *ctx, struct node *n, enum wire_type type, json_t *msg);
	/* The verdict on a node that is up. */
	void (*judge)(void *ctx, const struct node *n, struct node_health *ret);
};

/* All of them outlive it. */
struct standings *standings_new(struct roster *roster, struct react *react,
    const struct node_health_ops *ops, void *ctx);
void standings_free(struct standings *s); /* NULL is allowed */
/* About once a second. */
void standings_tick(struct standings *s);

#endif
