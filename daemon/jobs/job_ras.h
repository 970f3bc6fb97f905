/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_ras.h - the progress of running jobs, according to the RAS interface of
 * NCCL that agents read: ranks that do not answer, jobs that stall, and causes
 * on their nodes.
 */
#ifndef DAEMON_JOBS_JOB_RAS_H
#define DAEMON_JOBS_JOB_RAS_H

#include <jansson.h>
#include <stdint.h>

#include "daemon/jobs/job_cause.h"

struct node;
struct ras_report;
struct roster;
struct store;

/* The options. */
struct job_ras_options {
	struct store *store; /* NULL: no events */
	struct roster *roster;
	/* Open cases, as diagnosis_json; the caller decrefs. */
	json_t *(*cases)(void *arg);
	enum verdict (*verdict)(void *arg, const struct node *n);
	void *arg;
};

struct job_ras;
/* Return an empty table of jobs, which the caller frees. What o points to must
 * outlive it. */
struct job_ras *job_ras_new(const struct job_ras_options *o);
void job_ras_free(struct job_ras *jr); /* NULL is allowed */
/* Process an agent's report. key: names the start of the job. job: its body in
 * the store. A finding needs two reports. */
void job_ras_take(struct job_ras *jr, const char *key, const json_t *job,
    const struct node *from, const struct ras_report *report,
    int64_t now_unix_ns);
/* Forget all jobs whose key is not a key of `running`. */
void job_ras_keep(struct job_ras *jr, const json_t *running);
/* Return {job owner state cause text since_unix_ns at_unix_ns version comms} of
 * one start of a job: a new reference; NULL: no report. */
json_t *job_ras_json(const struct job_ras *jr, const char *key);
/* Return the reports of all jobs, those with a finding first: a new reference.
 */
json_t *job_ras_list(const struct job_ras *jr);
/* Count the jobs by finding, from the reports of the last ten minutes. */
void job_ras_counts(const struct job_ras *jr, size_t ret[JOB_FINDING_MAX]);

#endif
