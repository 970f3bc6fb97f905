/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool_entry.h - the entries of a spool file: read, write, and skip damaged
 * ones.
 */
#ifndef AGENTS_SPOOL_SPOOL_ENTRY_H
#define AGENTS_SPOOL_SPOOL_ENTRY_H

#include <stddef.h>
#include <stdint.h>

struct spool_entry {
	uint64_t seq;
	int raw;
	char *line; /* of one that was read: the caller frees it */
	size_t len_bytes;
};

/* Return the bytes of the entry in a file. */
uint64_t spool_entry_bytes(const struct spool_entry *e);
/* Read the entry at offset at. Return 1; 0 at the end; -EPROTO for a damaged
 * one. */
int spool_entry_read(int fd, uint64_t at, struct spool_entry *ret);
/* Write all of the entry at offset at, or nothing. Return 0 or -errno. */
int spool_entry_write(int fd, uint64_t at, const struct spool_entry *e);

/* A scan of the entries of a file that skips damaged parts. */
struct spool_scan {
	int fd;
	uint64_t at, end;
	uint64_t seq;     /* of the last entry; they ascend */
	uint64_t skipped; /* bytes before the entry that was found last */
	int check;        /* lines must be JSON as well */
};

/* Find the next entry: 1, or 0 at the end. */
int spool_entry_next(struct spool_scan *s, struct spool_entry *ret);

#endif
