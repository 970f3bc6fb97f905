/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h - log lines on stderr, one per change of state.
 *
 * Lines are "name: subject text". Under systemd (JOURNAL_STREAM names fd 2)
 * they begin with the journal's <N> priority instead of the name. Texts are in
 * lower case, without full stop and newline. All threads can log.
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

/* Set the program's name, which must stay valid, and the level: less important
 * lines are not written. */
void log_init(const char *name, enum log_level level);
void log_set_level(enum log_level level);
/* Parse "error" to "trace". Return 0 or -EINVAL. */
int log_level_parse(const char *text, enum log_level *ret_level);
/* Set a function that fatal and fatalx call after the line is written and
 * before they exit with status 3, so that an MPI rank can abort its job. The
 * function need not return. */
void log_set_fatal_hook(void (*hook)(void));

/* Write a line. log_warn and fatal append ": " and strerror(errno); the
 * functions that end in x do not. fatal and fatalx exit. */
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
