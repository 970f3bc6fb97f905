/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.c - a file is opened without blocking and judged by its descriptor, so
 * that it cannot be replaced between the check and the read.
 */
#include "common/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "common/log.h"
#include "common/str.h"
#include "common/xalloc.h"

/* Its number is Linux's for good (admin-guide/devices.txt). */
#define NULL_DEVICE makedev(1, 3)

#define READ_BYTES 16384 /* at first; twice as many whenever they are full */

static int
file_complain(const char *path, int rc, struct err *err)
{
	err_say(err, "%.300s: %s", path,
	    rc == -ENOTSUP ? "expected a regular file, not a pipe or a device"
			   : strerror(-rc));
	return rc;
}

int
file_open(const char *path, FILE **ret, struct err *err)
{
	/* To a plain file O_NONBLOCK means nothing. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	FILE *fp = NULL;
	struct stat st;
	int rc = 0;

	if (fd < 0 || fstat(fd, &st) < 0)
		rc = -errno;
	else if (S_ISDIR(st.st_mode))
		rc = -EISDIR;
	else if (!S_ISREG(st.st_mode) &&
	    !(S_ISCHR(st.st_mode) && st.st_rdev == NULL_DEVICE))
		rc = -ENOTSUP;
	else if ((fp = fdopen(fd, "r")) == NULL)
		rc = -errno;
	if (rc == -ENXIO) /* what open says of a socket */
		rc = -ENOTSUP;
	if (rc < 0) {
		if (fd >= 0)
			close(fd);
		return file_complain(path, rc, err);
	}
	*ret = fp; /* handed over */
	return 0;
}

int
file_check(const char *path, struct err *err)
{
	char part[4096];
	FILE *fp;
	int rc = file_open(path, &fp, err);

	if (rc < 0)
		return rc;
	while (fread(part, 1, sizeof(part), fp) > 0)
		;
	if (ferror(fp))
		rc = file_complain(path, -EIO, err);
	fclose(fp);
	return rc;
}

int
file_read(const char *path, size_t most_bytes, char **ret, size_t *ret_bytes,
    struct err *err)
{
	size_t len = 0, cap = READ_BYTES, n;
	FILE *fp;
	int rc = file_open(path, &fp, err);
	char *text;

	if (rc < 0)
		return rc;
	text = xcalloc(cap, 1);
	/* One byte more than allowed, to detect that the file is too long. */
	while (len <= most_bytes &&
	    (n = fread(text + len, 1, cap - len - 1, fp)) > 0) {
		len += n;
		if (len + 1 < cap)
			continue;
		cap *= 2;
		text = xreallocarray(text, cap, 1);
	}
	if (len > most_bytes || ferror(fp)) {
		rc = len > most_bytes ? -EFBIG : -EIO;
		free(text);
	} else {
		text[len] = '\0';
		*ret = text; /* handed over */
		*ret_bytes = len;
	}
	fclose(fp);
	return rc < 0 ? file_complain(path, rc, err) : 0;
}

int
file_lines(FILE *from, int64_t most_bytes, file_line_cb *cb, void *arg)
{
	char *line = xcalloc(1, FILE_LINE_MAX + 1);
	int c = 0, rc = 0;

	while (rc >= 0 && most_bytes > 0) {
		size_t len = 0;

		while (most_bytes-- > 0 && (c = getc_unlocked(from)) != EOF &&
		    c != '\n')
			if (len < FILE_LINE_MAX)
				line[len++] = (char)c;
		if (c == EOF && ferror(from))
			rc = -EIO;
		if (rc < 0 || (c == EOF && len == 0))
			break;
		line[len] = '\0';
		rc = cb(line, c == '\n', arg);
		if (c == EOF)
			break;
	}
	free(line);
	return rc;
}

int
file_fd_is_last(int fd)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) < 0)
		return 0;
	return (rlim_t)fd >= rl.rlim_cur -
	    (rl.rlim_cur / 8 < FILE_LAST_FDS ? rl.rlim_cur / 8 : FILE_LAST_FDS);
}

int64_t
file_number(const char *path, int64_t least, int64_t fallback)
{
	char *text = NULL;
	struct err err;
	int64_t n;
	size_t len;
	int rc;

	rc = file_read(path, 64, &text, &len, &err);
	if (rc < 0 && rc != -ENOENT)
		log_warnx("%s; using %lld", err.text, (long long)fallback);
	if (rc < 0)
		return fallback;
	text[strcspn(text, "\n")] = '\0';
	if (str_to_int(text, least, INT64_MAX, &n) < 0) {
		log_warnx("%s: invalid number; using %lld", path,
		    (long long)fallback);
		n = fallback;
	}
	free(text);
	return n;
}

int
file_new(const char *path, int mode, const char *text, struct err *err)
{
	int fd = open(path,
	    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
	size_t len = strlen(text);
	int rc = 0;

	if (fd < 0)
		return err_set(err, -errno, "%s: %s%s", path, strerror(errno),
		    errno == EEXIST ? "; not overwritten" : "");
	errno = ENOSPC; /* of a short write */
	if (write(fd, text, len) != (ssize_t)len || fsync(fd) < 0)
		rc = -errno;
	if (close(fd) < 0 && rc == 0)
		rc = -errno;
	if (rc == 0)
		return 0;
	unlink(path);
	return err_set(err, rc, "%s: %s", path, strerror(-rc));
}

int
file_rename_synced(const char *from, const char *to, struct err *err)
{
	const char *slash = strrchr(to, '/');
	char *dir = slash == NULL ? xstrdup(".")
				  : xstrndup(to, (size_t)(slash - to) + 1);
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;

	if (rename(from, to) < 0 || fd < 0 || fsync(fd) < 0)
		rc = err_set(err, -errno, "%s: %s", to, strerror(errno));
	if (fd >= 0)
		close(fd);
	free(dir);
	return rc;
}

int
file_replace(const char *path, int mode, const char *text, struct err *err)
{
	char *fresh = xasprintf("%s.new", path);
	int rc;

	unlink(fresh);
	rc = file_new(fresh, mode, text, err);
	if (rc == 0) {
		rc = file_rename_synced(fresh, path, err);
		if (rc < 0)
			unlink(fresh);
	}
	free(fresh);
	return rc;
}
