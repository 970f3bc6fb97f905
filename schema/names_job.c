/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_job.c - the rows: findings of jobs and their causes.
 */
#include "schema/names_job.h"

const char *const names_job_findings[JOB_FINDING_MAX] = {
	[JOB_PROGRESSES] = "progresses",
	[JOB_UNREAD] = "unread",
	[JOB_BEHIND] = "behind",
	[JOB_STALLED] = "stalled",
	[JOB_SILENT] = "silent",
};
const char *const names_job_causes[JOB_CAUSE_MAX] = {
	[JOB_CAUSE_NONE] = "none",
	[JOB_CAUSE_PROCESS] = "process",
	[JOB_CAUSE_GPU] = "gpu",
	[JOB_CAUSE_NETWORK] = "network",
	[JOB_CAUSE_NODE] = "node",
};
