/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sysfs.h - read small files of the kernel, in sysfs and procfs. The path is
 * dir/name.
 *
 * No function blocks. Each call returns 0; -ENOENT if the file is unreadable or
 * empty; -EPROTO if it has unexpected contents.
 */
#ifndef COMMON_SYSFS_H
#define COMMON_SYSFS_H

#include <stddef.h>
#include <stdint.h>

/* Read the first cap_bytes - 1 bytes of the file; "" on failure. */
int sysfs_text(const char *dir, const char *name, char *ret, size_t cap_bytes);
/* Read the first line, without the newline; "" on failure. */
int sysfs_line(const char *dir, const char *name, char *ret, size_t cap_bytes);
/* Read the integer that is the first line. */
int sysfs_int(const char *dir, const char *name, int64_t *ret);

#endif
