/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sysfs.h - small files of the kernel, in sysfs and procfs: dir/name.
 *
 * Nothing blocks. Each call returns 0, or -ENOENT for a file that is unreadable
 * or empty, and -EPROTO for one with unexpected contents.
 */
#ifndef COMMON_SYSFS_H
#define COMMON_SYSFS_H

#include <stddef.h>
#include <stdint.h>

/* The first cap_bytes - 1 bytes of the file; "" on failure. */
int sysfs_text(const char *dir, const char *name, char *ret, size_t cap_bytes);
/* Its first line, without the newline; "" on failure. */
int sysfs_line(const char *dir, const char *name, char *ret, size_t cap_bytes);
/* The whole number that is its first line. */
int sysfs_int(const char *dir, const char *name, int64_t *ret);

#endif
