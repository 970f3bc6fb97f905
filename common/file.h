/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.h - read and write files that users name.
 *
 * Only regular files, or links to them, are read: opening a named pipe blocks
 * until a writer opens it, and a device may have no end. The null device counts
 * as an empty file, for users who want the defaults. No function here blocks.
 * An error text is one line that begins with the path. Each call returns 0 or
 * -errno; -ENOTSUP means that the path is not a regular file.
 */
#ifndef COMMON_FILE_H
#define COMMON_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/err.h"

/* Open a file for reading; the caller closes *ret. */
int file_open(const char *path, FILE **ret, struct err *err);
/* Check that a whole file can be read, before a library reads it, which may
 * take an error for the end of the file. */
int file_check(const char *path, struct err *err);
/* Read a whole file, with a NUL behind its bytes; the caller frees *ret. Return
 * -EFBIG if the file has more than most_bytes. */
int file_read(const char *path, size_t most_bytes, char **ret,
    size_t *ret_bytes, struct err *err);
/* Call cb for each line, without its line end, of up to most_bytes from the
 * current position of `from`, until cb returns a negative value. A line of more
 * than FILE_LINE_MAX bytes is cut there. ended 0: the file ended before a line
 * end. Return the last result of cb, or -errno of the file. */
#define FILE_LINE_MAX 16384
typedef int file_line_cb(char *line, int ended, void *arg);
int file_lines(FILE *from, int64_t most_bytes, file_line_cb *cb, void *arg);
/* Return 1 if fd is one of the last descriptors that this process can have: the
 * last FILE_LAST_FDS, or the last eighth if that is less. Peers that can open
 * many connections should not get these. */
#define FILE_LAST_FDS 128
int file_fd_is_last(int fd);
/* Return the integer in a small file of Coalmine; it must be at least `least`.
 * Return fallback if the file is missing; or if it cannot be read or is
 * invalid, which is logged. */
int64_t file_number(const char *path, int64_t least, int64_t fallback);
/* Write text into a new file and sync it. Return -EEXIST if the file exists. */
int file_new(const char *path, int mode, const char *text, struct err *err);
/* Replace a file, or create it, in one step: a reader sees either the old or
 * the new text, also after a power failure. */
int file_replace(const char *path, int mode, const char *text, struct err *err);
/* Rename a file and sync its folder, so that the new name survives a power
 * failure. */
int file_rename_synced(const char *from, const char *to, struct err *err);

#endif
