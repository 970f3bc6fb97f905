/* SPDX-License-Identifier: Apache-2.0 */
/*
 * orders.h - follow the collector's orders and report to it.
 */
#ifndef AGENTS_ORDERS_ORDERS_H
#define AGENTS_ORDERS_ORDERS_H

#include "agents/agent.h"
#include "schema/record.h"

/* For session_new, with the agent as arg. */
extern const struct session_ops orders_session_ops;

/* A line that record_parse has taken, which travels as it is: a numbered one
 * is kept and sent when there is room, another shown when somebody is there to
 * see it. */
void orders_record(struct agent *ag, const char *run,
    const struct record_head *head, const char *line, size_t len_bytes);
/* Send of the spool what the session has room for. */
void orders_pump(struct agent *ag);
/* A run has closed; an agent that is stopping may be done. */
void orders_run_closed(struct agent *ag);
/* End all work, then the loop. */
void orders_stop(struct agent *ag, const char *why);

#endif
