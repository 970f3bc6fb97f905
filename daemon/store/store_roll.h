/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_roll.h - what is kept of a record when its time in full is over.
 */
#ifndef DAEMON_STORE_STORE_ROLL_H
#define DAEMON_STORE_STORE_ROLL_H

#include <stdint.h>

struct sql;

/* Roll up the oldest record that came before this and has not been, in a
 * transaction. 1: done, there may be more; 0: nothing is left; -errno. */
int store_roll_one(struct sql *db, uint64_t before_unix_ns);

#endif
