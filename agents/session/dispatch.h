/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dispatch.h - what the collector asks of this agent, and what it is told.
 */
#ifndef AGENTS_SESSION_DISPATCH_H
#define AGENTS_SESSION_DISPATCH_H

#include "agents/agent.h"
#include "schema/record.h"

/* For session_new, with the agent as arg. */
extern const struct session_ops orders_session_ops;

/* A line that record_parse has taken, which travels as it is: a numbered one
 * is kept and sent when there is room, another shown when somebody is there to
 * see it. */
void dispatch_record(struct agent *ag, const char *run,
    const struct record_head *head, const char *line, size_t len_bytes);
/* Send of the spool what the session has room for. */
void dispatch_pump(struct agent *ag);
/* A run has closed; an agent that is stopping may be done. */
void dispatch_run_closed(struct agent *ag);
/* End all work, then the loop. */
void dispatch_stop(struct agent *ag, const char *why);

#endif
