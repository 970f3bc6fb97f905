/* SPDX-License-Identifier: Apache-2.0 */
/*
 * orders.h - what the collector asks of this agent, and what it is told.
 */
#ifndef AGENTS_ORDERS_H
#define AGENTS_ORDERS_H

#include "agents/agent.h"
#include "schema/record.h"

/* For session_new, with the agent as arg. */
extern const struct session_ops orders_session_ops;

/* Show an unnumbered record, when somebody is there to see it. */
void orders_progress(struct agent *ag, const char *run, json_t *record);
/* Keep a numbered record and send it when there is room. */
void orders_spool(struct agent *ag, const char *run,
    const struct record_head *head, const json_t *record);
/* Send of the spool what the session has room for. */
void orders_pump(struct agent *ag);
/* A run has closed; an agent that is stopping may be done. */
void orders_run_closed(struct agent *ag);
/* End all work, then the loop. */
void orders_stop(struct agent *ag, const char *why);

#endif
