/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_recover.h - all rows that can be read of a damaged SQLite store, in a
 * new one.
 */
#ifndef DAEMON_STORE_STORE_RECOVER_H
#define DAEMON_STORE_STORE_RECOVER_H

#include "common/err.h"

/* Write the rows of the file `from`, and of its log FROM-wal, into a new store
 * at `to`, which must not exist. What was saved and lost is logged for each
 * table. err: the sum, or why not. 0; 1: something was lost; -EBUSY while a
 * collector uses the file; -EEXIST; -EBADMSG: no row was found. `from` is not
 * changed. Root becomes the owner of its folder, for good. */
int store_recover(const char *from, const char *to, struct err *err);

#endif
