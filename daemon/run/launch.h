/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch.h - prepare the nodes of a run, and start its ranks.
 */
#ifndef DAEMON_RUN_LAUNCH_H
#define DAEMON_RUN_LAUNCH_H

#include <jansson.h>

struct launcher;
struct node;
struct run;

/* Return the launcher with this value of campaign.launcher; NULL: unknown. */
const struct launcher *launcher_find(const char *name);
/* Send prepare to all nodes of the run. */
void launch_prepare(struct run *r);
/* Check the time limits of preparing and launching; call it several times a
 * second. */
void launch_tick(struct run *r);
/* Process a prepared, launched or exited message of a node of the run. Return
 * 0. */
int launch_prepared(struct run *r, struct node *n, const json_t *msg);
int launch_launched(struct run *r, struct node *n, const json_t *msg);
int launch_exited(struct run *r, struct node *n, const json_t *msg);

#endif
