/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs_int.h - what jobs.c tells the ledger; nobody else includes it.
 */
#ifndef DAEMON_JOBS_JOBS_INT_H
#define DAEMON_JOBS_JOBS_INT_H

#include "daemon/jobs/jobs.h"

struct job_ledger;

/* sample_ns: how long a sample takes; late_ns: after which every job that has
 * begun or ended is known. */
struct job_ledger *job_ledger_new(struct store *store, struct roster *roster,
    int64_t sample_ns, int64_t late_ns);
void job_ledger_free(struct job_ledger *l); /* NULL is allowed */
void job_ledger_paths(struct job_ledger *l, const struct mesh_path *paths,
    size_t count, int64_t at_ns);
/* A record of a run on these nodes, by id. */
void job_ledger_canary(struct job_ledger *l, const uint32_t *nodes,
    size_t count, const json_t *record, int64_t at_ns);
/* A job's traffic begins (1) or ends (-1); the others: bodies by key. */
void job_ledger_step(struct job_ledger *l, const json_t *job, int sign,
    int64_t at_ns, const json_t *running, const json_t *ended);
void job_ledger_tick(struct job_ledger *l, int64_t now_ns);

#endif
