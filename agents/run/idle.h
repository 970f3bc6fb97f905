/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle.h - is this node free for exclusive work?
 *
 * A check is a row; [idle] check of the configuration names it. Some can tell
 * at once, one runs a command and takes its time.
 */
#ifndef AGENTS_RUN_IDLE_H
#define AGENTS_RUN_IDLE_H

#include "agents/agent.h"

struct idle_wait;

/* busy: NULL for idle, else why not. */
typedef void idle_cb(const char *busy, void *arg);

/* Ask. When the answer is known at once cb is called and NULL returned; else
 * cb follows from the loop, within IDLE_LIMIT_S. */
#define IDLE_LIMIT_S 10
struct idle_wait *idle_check(struct agent *ag, idle_cb *cb, void *arg);
void idle_cancel(struct idle_wait *w); /* cb is not called; NULL allowed */

/* Why the node is busy as far as a look can tell: 1 and text, or 0. */
int idle_look(struct agent *ag, struct err *err);

/* The looks, on a tree below root ("" for the machine's own). */
int idle_slurm_look(const char *root, struct err *err);

#endif
