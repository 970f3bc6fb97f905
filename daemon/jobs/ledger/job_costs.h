/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_costs.h - the cost of jobs to other jobs, from the rows of job_ledger.c.
 */
#ifndef DAEMON_JOBS_LEDGER_JOB_COSTS_H
#define DAEMON_JOBS_LEDGER_JOB_COSTS_H

#include <jansson.h>

/* Make statements from rows of STORE_OCCASIONS, one for each test and each name
 * of jobs, or each job or week of a name: [{name test jobs steps cost lo hi
 * blamed ...}], blamed ones first. Add rows with any number of calls, the
 * oldest first. Then call job_costs_next while it returns 1: each call makes
 * one statement and takes a few milliseconds at most. */
enum job_costs_by { JOB_COSTS_BY_NAME, JOB_COSTS_BY_JOB, JOB_COSTS_BY_WEEK };
#define JOB_COSTS_MAX 1000 /* statements in the result */
struct job_costs;
struct job_costs *job_costs_new(enum job_costs_by by);
void job_costs_free(struct job_costs *c); /* NULL is allowed */
void job_costs_add(struct job_costs *c, const json_t *rows);
int job_costs_next(struct job_costs *c);
json_t *job_costs_told(struct job_costs *c);

#endif
