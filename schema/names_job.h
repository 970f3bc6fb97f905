/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_job.h - findings on jobs by NCCL's RAS, and their causes.
 *
 * STR_FIND (common/str.h) finds a word in each table. Those that need attention
 * come last.
 */
#ifndef SCHEMA_NAMES_JOB_H
#define SCHEMA_NAMES_JOB_H

enum job_finding_kind {
	JOB_PROGRESSES,
	JOB_UNREAD,  /* no reply, or one that cannot be interpreted */
	JOB_BEHIND,  /* ranks lag, and their nodes or their leaf are slow */
	JOB_STALLED, /* no collective was launched between two looks */
	JOB_SILENT,  /* ranks do not answer */
	JOB_FINDING_MAX
};
extern const char *const names_job_findings[JOB_FINDING_MAX];

enum job_cause {
	JOB_CAUSE_NONE,    /* nothing is known to be wrong */
	JOB_CAUSE_PROCESS, /* no error of node, network and GPU is known */
	JOB_CAUSE_GPU,     /* an error of a GPU since the job began */
	JOB_CAUSE_NETWORK, /* a verdict on a node or leaf, or a link's error */
	JOB_CAUSE_NODE,    /* its agent is lost too */
	JOB_CAUSE_MAX
};
extern const char *const names_job_causes[JOB_CAUSE_MAX];

#endif
