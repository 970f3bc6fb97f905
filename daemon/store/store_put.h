/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_put.h - write rows into the tables.
 */
#ifndef DAEMON_STORE_STORE_PUT_H
#define DAEMON_STORE_STORE_PUT_H

#include "daemon/store/store_int.h"
#include "daemon/store/store_sql.h"

struct store_put_db; /* the writer's statements */

/* Prepare the statements. Return 0 or -errno. */
int store_put_new(struct sql *db, struct store_put_db **ret);
void store_put_free(struct store_put_db *p); /* NULL is allowed */
/* Find the ids of the jobs' runs, and create missing runs. In a transaction,
 * before the jobs are written. */
int store_put_runs(struct store_put_db *p, struct store_jobs *jobs);
/* Write the job's row. Its outcome is in the job after a flush. -EPROTO: only
 * this job's object is invalid; any other error ends the transaction. */
int store_put_job(struct store_put_db *p, struct store_job *job);
/* Clear the cache of run ids, which is valid in one transaction. */
void store_put_forget(struct store_put_db *p);
/* Count the new records of each run. After the flush, before the commit. */
int store_put_count(struct store_put_db *p, const struct store_jobs *jobs);

#endif
