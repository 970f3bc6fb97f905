/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_put.h - rows into the tables. Threads: the connection's.
 */
#ifndef DAEMON_STORE_STORE_PUT_H
#define DAEMON_STORE_STORE_PUT_H

#include <sqlite3.h>

#include "daemon/store/store_int.h"

struct store_put_db; /* the writer's statements */

int store_put_new(sqlite3 *db, struct store_put_db **ret);
void store_put_free(struct store_put_db *p); /* NULL is allowed */
/* Inside a transaction. -EPROTO: this job's object is not fit, others may be;
 * anything else ends the transaction. */
int store_put_job(struct store_put_db *p, const struct store_job *job);

#endif
