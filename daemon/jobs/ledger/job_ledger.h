/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_ledger.h - the cost of jobs to other jobs: collect samples of canaries
 * and steps of jobs, compare them, and store a row for each comparison.
 */
#ifndef DAEMON_JOBS_LEDGER_JOB_LEDGER_H
#define DAEMON_JOBS_LEDGER_JOB_LEDGER_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct job_ledger;
struct mesh_path;
struct roster;
struct round;
struct store;

/* Return an empty ledger, which the caller frees. sample_ns: duration of a
 * sample. late_ns: largest delay until the start or the end of a job is
 * known. */
struct job_ledger *job_ledger_new(struct store *store, struct roster *roster,
    int64_t sample_ns, int64_t late_ns);
void job_ledger_free(struct job_ledger *l); /* NULL is allowed */
/* Add the pairs of an epoch of the mesh that ended at at_ns. */
void job_ledger_paths(struct job_ledger *l, const struct mesh_path *paths,
    size_t count, int64_t at_ns);
/* Add a record of a run on these nodes, by id. */
void job_ledger_canary(struct job_ledger *l, const uint32_t *nodes,
    size_t count, const struct round *round, int64_t at_ns);
/* Add a step: a job's traffic begins (sign 1) or ends (-1). running, ended:
 * bodies of all jobs by key. */
void job_ledger_step(struct job_ledger *l, const json_t *job, int sign,
    int64_t at_ns, const json_t *running, const json_t *ended);
/* Evaluate steps that are old enough, and store the results; call it
 * periodically. */
void job_ledger_tick(struct job_ledger *l, int64_t now_ns);

/* Return the identity of a start of a job. */
uint32_t job_ledger_hash(const char *job, int64_t start_unix_ns);
/* Return the number of key in ids; a new key gets number next. */
size_t job_ledger_key_id(json_t *ids, const char *key, size_t next);

#endif
