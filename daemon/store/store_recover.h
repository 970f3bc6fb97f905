/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_recover.h - save all readable rows of a damaged SQLite store into a new
 * store.
 */
#ifndef DAEMON_STORE_STORE_RECOVER_H
#define DAEMON_STORE_STORE_RECOVER_H

#include "common/err.h"

/* Write the rows of the file `from`, and of its log FROM-wal, into a new store
 * at `to`, which must not exist. The number of saved and lost rows is logged
 * for each table; err has the totals or the error. Return 0; 1: rows were lost;
 * -EBUSY while a collector uses the file; -EEXIST: `to` exists; -EBADMSG: no
 * row was found. `from` is not changed. A root process switches to the user who
 * owns its folder, permanently. */
int store_recover(const char *from, const char *to, struct err *err);

#endif
