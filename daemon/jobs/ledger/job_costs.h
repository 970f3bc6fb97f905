/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_costs.h - the cost of jobs to other jobs, computed from the rows that
 * job_ledger.c stores.
 */
#ifndef DAEMON_JOBS_LEDGER_JOB_COSTS_H
#define DAEMON_JOBS_LEDGER_JOB_COSTS_H

#include <jansson.h>

/* Compute statements from rows of STORE_OCCASIONS: one for each test and name
 * of jobs, or for each job, or for each week of a name. Call job_costs_add for
 * all rows, the oldest first, in any number of calls. Then call job_costs_next
 * while it returns 1: each call computes one statement and takes a few
 * milliseconds at most. job_costs_told returns the result, [{name test jobs
 * steps cost lo hi blamed ...}], blamed ones first: a new reference. */
enum job_costs_by { JOB_COSTS_BY_NAME, JOB_COSTS_BY_JOB, JOB_COSTS_BY_WEEK };
#define JOB_COSTS_MAX 1000 /* largest number of statements */
struct job_costs;
struct job_costs *job_costs_new(enum job_costs_by by);
void job_costs_free(struct job_costs *c); /* NULL is allowed */
void job_costs_add(struct job_costs *c, const json_t *rows);
int job_costs_next(struct job_costs *c);
json_t *job_costs_told(struct job_costs *c);

#endif
