/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h - one line per change of state, on stderr.
 *
 * Lines are "name: subject text"; under systemd (JOURNAL_STREAM names fd 2)
 * they start with the journal's <N> priority instead of the name. Lower case,
 * no full stop, no newline in fmt. Threads: any.
 */
#ifndef COMMON_LOG_H
#define COMMON_LOG_H

enum log_level {
	LOG_LEVEL_ERROR,
	LOG_LEVEL_WARN,
	LOG_LEVEL_INFO,
	LOG_LEVEL_DEBUG,
	LOG_LEVEL_TRACE,
	LOG_LEVEL_MAX
};

/* name: the program's, kept by reference. */
void log_init(const char *name, enum log_level level);
void log_set_level(enum log_level level);
/* "error".."trace"; -EINVAL for anything else. */
int log_level_parse(const char *text, enum log_level *ret_level);
/* Called by fatal and fatalx after the line is out and before they exit with
 * status 3, so that an MPI rank can abort its job. It may not return. */
void log_set_fatal_hook(void (*hook)(void));

/* log_warn and fatal add ": " and strerror(errno); the x-forms do not. */
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warnx(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_trace(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void fatal(const char *fmt, ...)
    __attribute__((format(printf, 1, 2), noreturn));
void fatalx(const char *fmt, ...)
    __attribute__((format(printf, 1, 2), noreturn));

#endif
