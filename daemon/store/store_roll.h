/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_roll.h - reduce records that are older than the retention of their
 * details.
 */
#ifndef DAEMON_STORE_STORE_ROLL_H
#define DAEMON_STORE_STORE_ROLL_H

#include <stdint.h>

struct sql;

/* Roll up the oldest record before this time that is not rolled up yet, in a
 * transaction. Return 1 if it was done and there may be more, 0 if there was
 * none, or -errno. */
int store_roll_one(struct sql *db, uint64_t before_unix_ns);

#endif
