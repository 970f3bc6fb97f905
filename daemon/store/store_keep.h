/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_keep.h - what a store needs to stay small: retention. The writer calls
 * it between batches.
 */
#ifndef DAEMON_STORE_STORE_KEEP_H
#define DAEMON_STORE_STORE_KEEP_H

#include <stdint.h>

#include "daemon/store/store_int.h"
#include "daemon/store/store_sql.h"

/* Delete or roll up a slice of what is older than its retention, in one
 * transaction of at most a few hundred rows. 1: there is more; 0: nothing left;
 * -errno. */
int store_keep_slice(struct sql *db, uint64_t now_unix_ns,
    const struct store_options *o);
/* The wall clock as far as it may be believed where rows are deleted by it: a
 * jump forward of over a day is believed once collectors have seen it for a
 * week in all, restarts or not. */
struct store_clock {
	uint64_t unix_ns, at_ns; /* believed, and when by clk_ns */
	int is_ahead;
	uint64_t ahead_ns;      /* for how long it has been ahead so far */
	uint64_t saved_unix_ns; /* in the store */
};
/* What an earlier life believed, or else the newest row. */
void store_clock_read(struct sql *db, struct store_clock *ret);
/* What it is now, at most clk_unix_ns(); kept in the store once an hour. */
uint64_t store_clock_now(struct sql *db, struct store_clock *c);

#endif
