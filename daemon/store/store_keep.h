/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_keep.h - retention, so that a store stays small. The writer calls it
 * between batches.
 */
#ifndef DAEMON_STORE_STORE_KEEP_H
#define DAEMON_STORE_STORE_KEEP_H

#include <stdint.h>

#include "daemon/store/store_int.h"
#include "daemon/store/store_sql.h"

/* Delete or roll up a slice of the rows that are older than their retention, in
 * one transaction of at most a few hundred rows. Return 1 if there are more, 0
 * if not, or -errno. */
int store_keep_slice(struct sql *db, uint64_t now_unix_ns,
    const struct store_options *o);
/* A wall clock that is safe for deleting rows. A jump forward of more than a
 * day is accepted only after collectors have seen it for a week in total, also
 * across restarts. */
struct store_clock {
	uint64_t unix_ns, at_ns; /* the accepted time, and the time by clk_ns()
				    when it was accepted */
	int is_ahead;
	uint64_t ahead_ns;      /* how long the wall clock has been ahead */
	uint64_t saved_unix_ns; /* the value saved in the store */
};
/* Read the time that was saved before the restart, or else the time of the
 * newest row. Return 0, or -errno after logging the error: without this time a
 * clock that is ahead would delete the history. */
int store_clock_read(struct sql *db, struct store_clock *ret);
/* Return the accepted time, at most clk_unix_ns(); it is saved in the store
 * once an hour. */
uint64_t store_clock_now(struct sql *db, struct store_clock *c);

#endif
