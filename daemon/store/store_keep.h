/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_keep.h - what a store needs to stay small and sound: retention, free
 * pages given back, a short write-ahead log. The writer thread calls it
 * between batches.
 */
#ifndef DAEMON_STORE_STORE_KEEP_H
#define DAEMON_STORE_STORE_KEEP_H

#include <sqlite3.h>
#include <stdint.h>

/* Delete or roll up a slice of what is older than its retention, in one
 * transaction of at most a few hundred rows. 1: there is more; 0: nothing left;
 * -errno. */
int store_keep_slice(sqlite3 *db, uint64_t now_unix_ns, uint64_t retention_ns,
    uint64_t raw_retention_ns);
/* Give some free pages back to the file system. */
int store_keep_vacuum(sqlite3 *db);
/* Empty the write-ahead log if nobody reads from it. */
void store_keep_checkpoint(sqlite3 *db);

#endif
