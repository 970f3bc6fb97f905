/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_agents.h - messages and sessions of agents, for the runs of their nodes.
 */
#ifndef DAEMON_RUN_RUN_AGENTS_H
#define DAEMON_RUN_RUN_AGENTS_H

#include <jansson.h>

#include "common/err.h"
#include "schema/wire.h"

struct node;
struct runs;
struct strict_lines;

/* Handle a message of an agent; lines: the lines of its records, or NULL.
 * Return -EPROTO with err for a message that no correct agent sends. */
int runs_message(struct runs *rs, struct node *n, enum wire_type type,
    const json_t *msg, const struct strict_lines *lines, struct err *err);
/* Process a new session of node n; runs: ids of runs that are active there. */
void runs_hello(struct runs *rs, struct node *n, const json_t *runs);
/* Return the ids in `runs` of the runs that continue, for the welcome message.
 */
json_t *runs_keep(struct runs *rs, const struct node *n, const json_t *runs);
/* Note that a node was lost: its live runs get a sign of failure. */
void runs_lost(struct runs *rs, struct node *n);

#endif
