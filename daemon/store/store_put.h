/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_put.h - rows into the tables.
 */
#ifndef DAEMON_STORE_STORE_PUT_H
#define DAEMON_STORE_STORE_PUT_H

#include "daemon/store/store_int.h"
#include "daemon/store/store_sql.h"

struct store_put_db; /* the writer's statements */

int store_put_new(struct sql *db, struct store_put_db **ret);
void store_put_free(struct store_put_db *p); /* NULL is allowed */
/* In a transaction, before its jobs are put: the ids of their runs, which are
 * made if need be. */
int store_put_runs(struct store_put_db *p, struct store_jobs *jobs);
/* Its outcome is in the job after a flush. -EPROTO: this job's object is not
 * fit, others may be; anything else ends the transaction. */
int store_put_job(struct store_put_db *p, struct store_job *job);
/* What it knows of runs is good in one transaction. */
void store_put_forget(struct store_put_db *p);
/* Flushed, before the commit: count what is new. */
int store_put_count(struct store_put_db *p, const struct store_jobs *jobs);

#endif
