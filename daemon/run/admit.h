/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admit.h - admission of a pending run: choose its nodes and the time of its
 * start.
 */
#ifndef DAEMON_RUN_ADMIT_H
#define DAEMON_RUN_ADMIT_H

struct run;

/* Start the run if its nodes, the budget and the batch system permit it; record
 * it as overdue or missed if they do not in time. Call it several times a
 * second for a run in STEP_WAIT. */
void admit_tick(struct run *r);

#endif
