/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle.h - check whether this node is idle, so that an exclusive run can start,
 * and whether it remains idle.
 *
 * A check is a row; option check of section [idle] selects it. Most checks
 * answer immediately; one runs a command.
 */
#ifndef AGENTS_RUN_IDLE_H
#define AGENTS_RUN_IDLE_H

#include <jansson.h>

#include "agents/agent.h"
#include "agents/process/child.h"
#include "agents/process/strvec.h"
#include "schema/names_run.h"

struct idle_wait;

/* Called with the result. cause: CAUSE_NONE if the node is idle; CAUSE_BUSY; or
 * CAUSE_IDLE_UNKNOWN if the check cannot decide. text: the reason. */
typedef void idle_cb(enum cause cause, const char *text, void *arg);

/* Start a check. known: what the collector knows from the batch system, member
 * "idle" of its order to prepare; "" if it knows nothing. If the
 * answer is available immediately, cb is called and NULL returned. Otherwise
 * the loop calls cb within IDLE_LIMIT_S. */
#define IDLE_LIMIT_S 10
struct idle_wait *idle_check(struct agent *ag, const char *known, idle_cb *cb,
    void *arg);
/* Set program, arguments and environment of idle.command, which the caller
 * frees. */
void idle_command_spec(const struct agent *ag, struct child_spec *spec,
    struct strvec *argv, struct strvec *env);
void idle_cancel(struct idle_wait *w); /* cb is not called; w can be NULL */

/* Return 1 with the reason in text if a quick check finds the node busy, else
 * 0. */
int idle_look(struct agent *ag, struct err *err);

/* Return the current jobs of the node if the check looks for jobs of Slurm,
 * otherwise NULL: a new reference. */
json_t *idle_jobs(struct agent *ag);
/* Return 1 with the name of a job that runs here and is not in before,
 * otherwise 0. before: a result of idle_jobs; it can be NULL. */
int idle_job_began(const json_t *before, struct err *err);

/* Make the same checks on a tree below root ("" for this machine).
 * idle_slurm_look: 1 with the name of a job if any runs. idle_slurm_sees: 1 if
 * slurmd runs here and gives jobs control groups. */
int idle_slurm_look(const char *root, struct err *err);
int idle_slurm_sees(const char *root);
json_t *idle_slurm_jobs(const char *root);
int idle_slurm_began(const char *root, const json_t *before, struct err *err);

#endif
