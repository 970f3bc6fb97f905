/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_job.h - findings on jobs of users, and their causes. The findings come
 * from NCCL's RAS (reliability, availability, serviceability) interface, in
 * which NCCL reports the state of a job's communicators.
 *
 * STR_FIND (common/str.h) finds a word in each table. Findings that need
 * attention come last.
 */
#ifndef SCHEMA_NAMES_JOB_H
#define SCHEMA_NAMES_JOB_H

/* A finding on one job. */
enum job_finding_kind {
	JOB_PROGRESSES, /* its collectives advance */
	JOB_UNREAD,     /* no reply, or one that cannot be interpreted */
	JOB_BEHIND,     /* ranks lag, and their nodes or their leaf are slow */
	JOB_STALLED,    /* no collective was started between two readings */
	JOB_SILENT,     /* some ranks do not answer NCCL */
	JOB_FINDING_MAX
};
extern const char *const names_job_findings[JOB_FINDING_MAX]; /* the words */

/* The cause of a finding. */
enum job_cause {
	JOB_CAUSE_NONE,    /* nothing is known to be wrong */
	JOB_CAUSE_PROCESS, /* no error of a node, network or GPU is known */
	JOB_CAUSE_GPU,     /* an error of a GPU since the job began */
	JOB_CAUSE_NETWORK, /* a verdict on a node or leaf, or link errors */
	JOB_CAUSE_NODE,    /* the agent of the node is lost too */
	JOB_CAUSE_MAX
};
extern const char *const names_job_causes[JOB_CAUSE_MAX]; /* the words */

#endif
