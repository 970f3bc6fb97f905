/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_health.h - what the collector thinks of this node, in a file that a
 * health check reads: one JSON object, {verdict text at_unix_ns fresh_ms},
 * replaced as a whole.
 */
#ifndef AGENTS_SESSION_NODE_HEALTH_H
#define AGENTS_SESSION_NODE_HEALTH_H

#include <jansson.h>

#include "agents/agent.h"

/* A standing message; -EPROTO for a verdict that is none. A file that cannot
 * be written is told once in the log, and grows old. */
int node_health_keep(struct agent *ag, const json_t *msg);

#endif
