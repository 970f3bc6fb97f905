/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outcome.h - the outcome of a run: signs of failure, lost ranks, its
 * launcher's end and its end record.
 */
#ifndef DAEMON_RUN_OUTCOME_H
#define DAEMON_RUN_OUTCOME_H

#include <jansson.h>
#include <stdint.h>

#include "daemon/run/symptom.h"

struct node;
struct run;

int outcome_rank_lost(struct run *r, struct node *n, const json_t *msg);
void outcome_launcher_exited(struct run *r, int64_t status, const char *tail);
void outcome_tick(struct run *r);
/* Its end record is committed. */
void outcome_end(struct run *r, const json_t *record);

#endif
