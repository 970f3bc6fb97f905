/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standing.h - how each node stands, told to its agent and to the reactions.
 *
 * The agent keeps what it was told in a file, so that a health check on the
 * node is answered without asking anybody. It is told again every minute; one
 * that has heard nothing for STANDING_FRESH_NS knows nothing.
 */
#ifndef DAEMON_STANDING_H
#define DAEMON_STANDING_H

#include <stddef.h>
#include <stdint.h>

#include "common/clk.h"
#include "schema/names.h"
#include "schema/wire.h"

#define STANDING_FRESH_NS (300 * CLK_NS_PER_S)
#define STANDING_TEXT_MAX 300

struct node;
struct react;
struct roster;
struct standings;

struct standing {
	enum exit_code code; /* ok warn bad unknown */
	char text[STANDING_TEXT_MAX];
};

struct standing_ops {
	int (
	    *send)(void *ctx, struct node *n, enum wire_type type, json_t *msg);
	/* The verdict on a node that is up. */
	void (*judge)(void *ctx, const struct node *n, struct standing *ret);
};

/* All of them outlive it. */
struct standings *standings_new(struct roster *roster, struct react *react,
    const struct standing_ops *ops, void *ctx);
void standings_free(struct standings *s); /* NULL is allowed */
/* About once a second. */
void standings_tick(struct standings *s);

#endif
