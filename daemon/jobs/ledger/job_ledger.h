/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_ledger.h - what jobs cost others: samples of canaries and steps of jobs,
 * and the rows that are stored of them.
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

/* sample_ns: how long a sample takes; late_ns: after which every job that has
 * begun or ended is known. */
struct job_ledger *job_ledger_new(struct store *store, struct roster *roster,
    int64_t sample_ns, int64_t late_ns);
void job_ledger_free(struct job_ledger *l); /* NULL is allowed */
void job_ledger_paths(struct job_ledger *l, const struct mesh_path *paths,
    size_t count, int64_t at_ns);
/* A record of a run on these nodes, by id. */
void job_ledger_canary(struct job_ledger *l, const uint32_t *nodes,
    size_t count, const struct round *round, int64_t at_ns);
/* A job's traffic begins (1) or ends (-1); the others: bodies by key. */
void job_ledger_step(struct job_ledger *l, const json_t *job, int sign,
    int64_t at_ns, const json_t *running, const json_t *ended);
void job_ledger_tick(struct job_ledger *l, int64_t now_ns);

/* Return the identity of a start of a job. */
uint32_t job_ledger_hash(const char *job, int64_t start_unix_ns);
/* Return the number of key in ids, which gives next to a new one. */
size_t job_ledger_key_id(json_t *ids, const char *key, size_t next);

#endif
