/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.c - each line is put together in memory and leaves in one write, so
 * lines of threads and of processes that share a terminal never mix.
 */
#include "common/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/str.h"

#define LOG_LINE_MAX 4096 /* bytes; a longer line is cut and ends in "..." */
#define FATAL_STATUS 3    /* the exit status of wrong usage and bad files */

static struct {
	const char *name;
	enum log_level level;
	int to_journal;
	void (*fatal_hook)(void);
} lg = { .name = "coalmine", .level = LOG_LEVEL_INFO };

static const struct {
	const char *name;
	int priority; /* syslog(3) severity, as the journal reads it */
} levels[LOG_LEVEL_MAX] = {
	[LOG_LEVEL_ERROR] = { "error", 3 },
	[LOG_LEVEL_WARN] = { "warn", 4 },
	[LOG_LEVEL_INFO] = { "info", 6 },
	[LOG_LEVEL_DEBUG] = { "debug", 7 },
	[LOG_LEVEL_TRACE] = { "trace", 7 },
};

void
log_init(const char *name, enum log_level level)
{
	/* JOURNAL_STREAM is "device:inode" of the stream that systemd
	 * connected; it is inherited by children whose stderr may lead
	 * elsewhere. */
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat st;

	lg.name = name;
	lg.level = level;
	lg.to_journal = stream != NULL && fstat(STDERR_FILENO, &st) == 0 &&
	    sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
	    st.st_dev == (dev_t)device && st.st_ino == (ino_t)inode;
}

void
log_set_level(enum log_level level)
{
	lg.level = level;
}

int
log_level_parse(const char *text, enum log_level *ret_level)
{
	int i = STR_FIND(levels, text);

	if (i < 0)
		return -EINVAL;
	*ret_level = (enum log_level)i;
	return 0;
}

void
log_set_fatal_hook(void (*hook)(void))
{
	lg.fatal_hook = hook;
}

/* Bytes that snprintf put into a room of room_bytes. */
static size_t
log_put_bytes(int rc, size_t room_bytes)
{
	if (rc < 0)
		return 0;
	return (size_t)rc < room_bytes ? (size_t)rc : room_bytes - 1;
}

/* err: errno to add as text, or 0. */
static void __attribute__((format(printf, 3, 0)))
log_line(enum log_level level, int err, const char *fmt, va_list ap)
{
	char text[LOG_LINE_MAX], spell[128];
	const size_t room = sizeof(text) - 4; /* for "..." and newline */
	size_t len = 0, want;
	ssize_t n;
	int rc;

	if (level > lg.level)
		return;
	if (lg.to_journal)
		rc = snprintf(text, room, "<%d>", levels[level].priority);
	else
		rc = snprintf(text, room, "%s: ", lg.name);
	len += log_put_bytes(rc, room);
	rc = vsnprintf(text + len, room - len, fmt, ap);
	want = rc < 0 ? 0 : len + (size_t)rc;
	len += log_put_bytes(rc, room - len);
	if (err != 0) {
		rc = snprintf(text + len, room - len, ": %s",
		    strerror_r(err, spell, sizeof(spell)));
		want += rc < 0 ? 0 : (size_t)rc;
		len += log_put_bytes(rc, room - len);
	}
	/* Texts may quote a peer: a line break in one must not forge a log
	 * line, nor an escape sequence control the terminal. */
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
			text[i] = ' ';
	if (want > len) {
		memcpy(text + len, "...", 3);
		len += 3;
	}
	text[len++] = '\n';
	for (size_t at = 0; at<len; at += n> 0 ? (size_t)n : 0) {
		n = write(STDERR_FILENO, text + at, len - at);
		if (n == 0 || (n < 0 && errno != EINTR))
			return; /* no logger is left */
	}
}

/* Keep the callers' errno, so that logging does not change their result. */
#define LINE(level, err)                                                       \
	do {                                                                   \
		int saved_errno = errno;                                       \
		va_list ap;                                                    \
                                                                               \
		va_start(ap, fmt);                                             \
		log_line(level, err, fmt, ap);                                 \
		va_end(ap);                                                    \
		errno = saved_errno;                                           \
	} while (0)

void
log_warn(const char *fmt, ...)
{
	LINE(LOG_LEVEL_WARN, saved_errno);
}

void
log_warnx(const char *fmt, ...)
{
	LINE(LOG_LEVEL_WARN, 0);
}

void
log_info(const char *fmt, ...)
{
	LINE(LOG_LEVEL_INFO, 0);
}

void
log_debug(const char *fmt, ...)
{
	LINE(LOG_LEVEL_DEBUG, 0);
}

void
log_trace(const char *fmt, ...)
{
	LINE(LOG_LEVEL_TRACE, 0);
}

static void __attribute__((noreturn)) log_die(void)
{
	void (*hook)(void) = lg.fatal_hook;

	lg.fatal_hook = NULL; /* a hook that is fatal itself ends here */
	if (hook != NULL)
		hook();
	exit(FATAL_STATUS);
}

void
fatal(const char *fmt, ...)
{
	LINE(LOG_LEVEL_ERROR, saved_errno);
	log_die();
}

void
fatalx(const char *fmt, ...)
{
	LINE(LOG_LEVEL_ERROR, 0);
	log_die();
}
