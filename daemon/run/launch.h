/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch.h - prepare the nodes of a run and start its ranks.
 */
#ifndef DAEMON_RUN_LAUNCH_H
#define DAEMON_RUN_LAUNCH_H

#include <jansson.h>

struct launcher;
struct node;
struct run;

/* Return the launcher of a value of campaign.launcher; NULL: unknown. */
const struct launcher *launcher_find(const char *name);
void launch_prepare(struct run *r);
void launch_tick(struct run *r);
int launch_prepared(struct run *r, struct node *n, const json_t *msg);
int launch_launched(struct run *r, struct node *n, const json_t *msg);
int launch_exited(struct run *r, struct node *n, const json_t *msg);

#endif
