/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch.h - nodes are asked and the ranks of a run are started.
 */
#ifndef DAEMON_RUN_LAUNCH_H
#define DAEMON_RUN_LAUNCH_H

#include <jansson.h>

struct launcher;
struct node;
struct run;

/* By campaign.launcher; NULL: none. */
const struct launcher *launcher_find(const char *name);
void launch_prepare(struct run *r);
void launch_tick(struct run *r);
int launch_prepared(struct run *r, struct node *n, const json_t *msg);
int launch_launched(struct run *r, struct node *n, const json_t *msg);
int launch_exited(struct run *r, struct node *n, const json_t *msg);

#endif
