/* SPDX-License-Identifier: Apache-2.0 */
/*
 * err.h - an error as a value: one sentence for a person, without a newline at
 * its end. A function that can fail for several reasons has a struct err * as
 * last parameter. It writes the sentence only on failure, and returns -errno.
 */
#ifndef COMMON_ERR_H
#define COMMON_ERR_H

#include <stdarg.h>

/* A longer text is cut, but never within a character. Invalid UTF-8 and control
 * characters become '?'. */
#define ERR_TEXT_BYTES 512

struct err {
	char text[ERR_TEXT_BYTES];
};

/* Write the sentence (printf format). err can be NULL: nothing is written. */
void err_say(struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void err_vsay(struct err *err, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));

/* Write the sentence and return rc, for one-line failures:
 * return err_set(err, -EINVAL, "...", ...). This is a macro so that the
 * compiler sees the value of rc. */
#define err_set(err, rc, ...) (err_say((err), __VA_ARGS__), (rc))

#endif
