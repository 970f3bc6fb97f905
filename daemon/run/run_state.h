/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_state.h - the life of a run: it is created, gets states, is finished and
 * freed. Each new state goes to the store, to the event log and to
 * runs_ops.changed.
 */
#ifndef DAEMON_RUN_RUN_STATE_H
#define DAEMON_RUN_RUN_STATE_H

#include "daemon/run/run.h"

struct conf;
struct node;

/* Create a pending run and add it to the live ones. Takes conf. */
struct run *run_new(struct runs *rs, const char *campaign, const char *by,
    struct conf *conf);
/* Free a run that is on no list. */
void run_free(struct run *r);
/* Free the data that an ended run no longer needs, nine tenths of its memory,
 * and release its nodes. */
void run_shrink(struct run *r);
/* Set a state and store it, with an event and a line in the log. The previous
 * state must not be final. text: the reason, or "". */
void run_state_set(struct run *r, enum run_state state, enum cause cause,
    const char *text);
/* End a run with a final state, here and on its nodes. Does nothing if it is
 * final. */
void run_finish(struct run *r, enum run_state state, enum cause cause,
    const char *text);
/* End the run on all of its nodes, or on one: their processes are ended. */
void run_end_all(struct run *r);
void run_end_send(struct run *r, struct node *n, const char *text);

#endif
