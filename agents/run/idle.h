/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle.h - is this node free for exclusive work, and does it stay so?
 *
 * A check is a row; [idle] check of the configuration names it. Some answer at
 * once, one runs a command and takes its time.
 */
#ifndef AGENTS_RUN_IDLE_H
#define AGENTS_RUN_IDLE_H

#include <jansson.h>

#include "agents/agent.h"
#include "schema/names_run.h"

struct idle_wait;

/* cause: CAUSE_NONE for idle, CAUSE_BUSY, or CAUSE_IDLE_UNKNOWN where the check
 * cannot see; text says why. */
typedef void idle_cb(enum cause cause, const char *text, void *arg);

/* Ask. known: "idle" of the order to prepare, "" if it has none. When the
 * answer is known at once cb is called and NULL returned; else cb follows from
 * the loop, within IDLE_LIMIT_S. */
#define IDLE_LIMIT_S 10
struct idle_wait *idle_check(struct agent *ag, const char *known, idle_cb *cb,
    void *arg);
void idle_cancel(struct idle_wait *w); /* cb is not called; NULL allowed */

/* Why the node is busy as far as a look can tell: 1 and text, or 0. */
int idle_look(struct agent *ag, struct err *err);

/* The jobs that the node has now, where the check looks for jobs of Slurm; else
 * NULL. The caller owns the object. */
json_t *idle_jobs(struct agent *ag);
/* 1 and the name of a job that is here and not in before, or 0; before: of
 * idle_jobs, NULL allowed. */
int idle_job_began(const json_t *before, struct err *err);

/* The looks, on a tree below root ("" for the machine's own): 1 for a job and
 * its name; 1 if slurmd runs here and gives jobs control groups. */
int idle_slurm_look(const char *root, struct err *err);
int idle_slurm_sees(const char *root);
json_t *idle_slurm_jobs(const char *root);
int idle_slurm_began(const char *root, const json_t *before, struct err *err);

#endif
