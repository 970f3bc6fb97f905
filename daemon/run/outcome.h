/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outcome.h - determine the outcome of a run: from signs of failure, lost
 * ranks, the end of its launcher, and its end record.
 */
#ifndef DAEMON_RUN_OUTCOME_H
#define DAEMON_RUN_OUTCOME_H

#include <jansson.h>
#include <stdint.h>

#include "daemon/run/symptom.h"

struct node;
struct run;

/* Process a rank-lost message of a node: a rank died, or is stuck. Return 0. */
int outcome_rank_lost(struct run *r, struct node *n, const json_t *msg);
/* Process the report of a node on connections that failed, and on the ports on
 * which its ranks listen, which other nodes then try. Connections between nodes
 * of the run go into the text of a run that did not start. Return 0. */
int outcome_unanswered(struct run *r, struct node *n, const json_t *msg);
/* Note that the launcher has exited with this status; tail: the end of its
 * output. The status does not decide about success. */
void outcome_launcher_exited(struct run *r, int64_t status, const char *tail);
/* Decide about runs with signs of failure or beyond their deadline; call it
 * several times a second. */
void outcome_tick(struct run *r);
/* Finish the run with the status of its end record, which is committed. */
void outcome_end(struct run *r, const json_t *record);

#endif
