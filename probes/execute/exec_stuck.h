/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_stuck.h - when a rank gives up waiting for messages of a plan.
 *
 * A message shows no progress before it is complete, so the limit depends on
 * the plan: without any completed message, a rank waits world.stuck_ns and the
 * time of the plan at STUCK_RATE, or, once the plan was replayed,
 * STUCK_TIMES the longest such wait of its replays, if that is less.
 *
 * A rank reports the ranks to which it sends, or else those from which it
 * receives. The number of the report (rank_watch.h) increases by replay and
 * step; in a step a rank that only receives is ahead of one that sends: it
 * waits for the latter in vain only if that one does not wait itself.
 */
#ifndef PROBES_EXECUTE_EXEC_STUCK_H
#define PROBES_EXECUTE_EXEC_STUCK_H

#include "probes/execute/exec_part.h"

/* Prepare the limits of a plan. */
void exec_stuck_make(struct exec *e);
/* A replay starts, or something was complete. */
void exec_stuck_start(struct exec *e);
void exec_stuck_moved(struct exec *e);
/* Nothing was complete since that time: if this is too long, and MPI messages
 * to other nodes are pending, report their ranks and abort the job. */
void exec_stuck_look(struct exec *e, uint64_t since_ns);

#endif
