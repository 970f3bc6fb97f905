/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sysfs.c - the kernel gives a small file in one read.
 */
#include "common/sysfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "common/str.h"

int
sysfs_text(const char *dir, const char *name, char *ret, size_t cap_bytes)
{
	char path[PATH_MAX];
	ssize_t n;
	int fd;

	ret[0] = '\0';
	if (str_format(path, sizeof(path), "%s/%s", dir, name) < 0)
		return -ENOENT;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -ENOENT;
	n = read(fd, ret, cap_bytes - 1);
	close(fd);
	ret[n > 0 ? n : 0] = '\0';
	return n > 0 ? 0 : -ENOENT;
}

int
sysfs_line(const char *dir, const char *name, char *ret, size_t cap_bytes)
{
	int rc = sysfs_text(dir, name, ret, cap_bytes);

	ret[strcspn(ret, "\n")] = '\0';
	return rc;
}

int
sysfs_int(const char *dir, const char *name, int64_t *ret)
{
	char line[64];

	if (sysfs_line(dir, name, line, sizeof(line)) < 0)
		return -ENOENT;
	return str_to_int(line, INT64_MIN, INT64_MAX, ret) < 0 ? -EPROTO : 0;
}
