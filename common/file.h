/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.h - files that users name.
 *
 * Only regular files, or links to them, are read: opening a named pipe blocks
 * until a writer comes, and a device may have no end. The null device counts as
 * an empty file, for users who want the defaults. Nothing here blocks. An error
 * text is one line that begins with the path. Each call returns 0 or -errno;
 * -ENOTSUP means that the path is not a regular file.
 */
#ifndef COMMON_FILE_H
#define COMMON_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/err.h"

/* For reading; the caller closes *ret. */
int file_open(const char *path, FILE **ret, struct err *err);
/* Check that file_open would succeed, before a library opens the file. */
int file_check(const char *path, struct err *err);
/* The whole of it with a NUL behind; -EFBIG if that is more than most_bytes.
 * The caller frees *ret. */
int file_read(const char *path, size_t most_bytes, char **ret,
    size_t *ret_bytes, struct err *err);
/* Call cb for each line of up to most_bytes from where from is, without its
 * line end, until cb returns less than 0. A line of over FILE_LINE_MAX bytes is
 * cut there. Is ended 0, the file ends before a line end. Return the last rc of
 * cb, or -errno of the file. */
#define FILE_LINE_MAX 16384
typedef int file_line_cb(char *line, int ended, void *arg);
int file_lines(FILE *from, int64_t most_bytes, file_line_cb *cb, void *arg);
/* Whether fd is one of the last that this process may have, FILE_LAST_FDS or an
 * eighth of all: what others may take at will gets none of these. */
#define FILE_LAST_FDS 128
int file_fd_is_last(int fd);
/* Return the whole number in a small file of Coalmine, at least least. Return
 * fallback if the file is missing, or invalid, which is logged. */
int64_t file_number(const char *path, int64_t least, int64_t fallback);
/* Write text into a new file and sync it. -EEXIST: the file exists. */
int file_new(const char *path, int mode, const char *text, struct err *err);
/* Replace a file, or create it, in one step: a reader sees the old or the new
 * text, also after a power cut. */
int file_replace(const char *path, int mode, const char *text, struct err *err);
/* Rename and sync the folder, so that the new name survives a power cut. */
int file_rename_synced(const char *from, const char *to, struct err *err);

#endif
