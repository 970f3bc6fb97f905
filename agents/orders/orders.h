/* SPDX-License-Identifier: Apache-2.0 */
/*
 * orders.h - carry out the collector's orders, and report to it.
 */
#ifndef AGENTS_ORDERS_ORDERS_H
#define AGENTS_ORDERS_ORDERS_H

#include "agents/agent.h"
#include "agents/run/run.h"
#include "agents/session/session.h"

/* Callbacks for session_new and for runs; their arg is the agent. */
extern const struct session_ops orders_session_ops;
extern const struct run_ops orders_run_ops;

/* Send msg to the collector; takes msg. Return 0, or -ENOTCONN without a
 * session. arg: the agent. */
int orders_send(enum wire_type type, json_t *msg, void *arg);
/* End all work, then the event loop. why: the reason, for the log. */
void orders_stop(struct agent *ag, const char *why);

#endif
