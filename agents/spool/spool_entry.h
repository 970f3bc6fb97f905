/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool_entry.h - read and write the entries of a spool file, and skip damaged
 * ones.
 */
#ifndef AGENTS_SPOOL_SPOOL_ENTRY_H
#define AGENTS_SPOOL_SPOOL_ENTRY_H

#include <stddef.h>
#include <stdint.h>

/* An entry: a record. */
struct spool_entry {
	uint64_t seq;
	int raw;
	char *line; /* after reading, the caller frees it */
	size_t len_bytes;
};

/* Return the number of bytes of the entry in a file. */
uint64_t spool_entry_bytes(const struct spool_entry *e);
/* Read the entry at offset `at`. Return 1; 0 at the end; -EPROTO if it is
 * damaged; another -errno if the file cannot be read there. */
int spool_entry_read(int fd, uint64_t at, struct spool_entry *ret);
/* Write the whole entry at offset `at`, or nothing. Return 0 or -errno. */
int spool_entry_write(int fd, uint64_t at, const struct spool_entry *e);

/* A scan over the entries of a file that skips damaged parts. The caller sets
 * fd, at, end and check, and seq to the last entry that it already has. */
struct spool_scan {
	int fd;
	uint64_t at, end;
	uint64_t seq;     /* number of the last entry; numbers ascend */
	uint64_t skipped; /* bytes that were skipped before the last entry */
	int check;        /* 1: lines must be JSON */
	int error;        /* 0, or -errno: the file cannot be read at `at` */
};

/* Find the next entry. Return 1, or 0 at the end or at an error. */
int spool_entry_next(struct spool_scan *s, struct spool_entry *ret);

#endif
