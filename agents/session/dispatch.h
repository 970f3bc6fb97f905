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

/* Show an unnumbered record, when somebody is there to see it. */
void dispatch_progress(struct agent *ag, const char *run, json_t *record);
/* Keep a numbered record and send it when there is room. */
void dispatch_spool(struct agent *ag, const char *run,
    const struct record_head *head, const json_t *record);
/* Send of the spool what the session has room for. */
void dispatch_pump(struct agent *ag);
/* A run has closed; an agent that is stopping may be done. */
void dispatch_run_closed(struct agent *ag);
/* End all work, then the loop. */
void dispatch_stop(struct agent *ag, const char *why);

#endif
