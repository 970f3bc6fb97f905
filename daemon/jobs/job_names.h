/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_names.h - the job that programs on a node mean. Of an array task (12_3)
 * or a part of a heterogeneous job (12+1) Slurm gives programs only the raw
 * number, such as 15.
 */
#ifndef DAEMON_JOBS_JOB_NAMES_H
#define DAEMON_JOBS_JOB_NAMES_H

#include <jansson.h>

struct job_names;

/* Return an empty table, which the caller frees. */
struct job_names *job_names_new(void);
void job_names_free(struct job_names *n);

/* Set the raw number of a job, from the scheduler. */
void job_names_set_raw(struct job_names *n, const char *job, const char *raw);

/* Add a task or part that runs on a node to the next answer; other jobs have no
 * effect. */
void job_names_place(struct job_names *n, const char *node, const char *job);
/* Use what was added since the last call, at the end of an answer. */
void job_names_turn(struct job_names *n);

/* Remove a job. */
void job_names_forget(struct job_names *n, const char *job);

/* Return the job that a program on the node calls said, or NULL; jobs has the
 * scheduler's names as keys. Without a raw number from the scheduler it is the
 * only task or part on the node, and this number remains that job's. The result
 * is valid until the next call. */
const char *job_names_find(struct job_names *n, const json_t *jobs,
    const char *node, const char *said);

#endif
