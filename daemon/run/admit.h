/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admit.h - which nodes a run gets, and when.
 */
#ifndef DAEMON_RUN_ADMIT_H
#define DAEMON_RUN_ADMIT_H

struct run;

void admit_tick(struct run *r);

#endif
