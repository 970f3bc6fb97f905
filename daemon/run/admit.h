/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admit.h - choose the nodes of a run and the time of its start.
 */
#ifndef DAEMON_RUN_ADMIT_H
#define DAEMON_RUN_ADMIT_H

struct run;

void admit_tick(struct run *r);

#endif
