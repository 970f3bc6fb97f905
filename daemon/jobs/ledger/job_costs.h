/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_costs.h - statements on what jobs cost others, out of the rows of
 * job_ledger.c.
 */
#ifndef DAEMON_JOBS_LEDGER_JOB_COSTS_H
#define DAEMON_JOBS_LEDGER_JOB_COSTS_H

#include <jansson.h>

/* Statements out of rows of STORE_OCCASIONS, one for each test and each name,
 * or job of it, or week of it: [{name test jobs steps cost lo hi blamed ...}],
 * first who is blamed. Rows come in any number of calls, the oldest first;
 * then each call of job_costs_next makes a statement, while it is 1: a few
 * milliseconds at most. */
enum job_costs_by { JOB_COSTS_BY_NAME, JOB_COSTS_BY_JOB, JOB_COSTS_BY_WEEK };
#define JOB_COSTS_MAX 1000 /* statements that are told */
struct job_costs;
struct job_costs *job_costs_new(enum job_costs_by by);
void job_costs_free(struct job_costs *c); /* NULL is allowed */
void job_costs_add(struct job_costs *c, const json_t *rows);
int job_costs_next(struct job_costs *c);
json_t *job_costs_told(struct job_costs *c);

#endif
