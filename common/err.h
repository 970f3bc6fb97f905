/* SPDX-License-Identifier: Apache-2.0 */
/*
 * err.h - an error as a value: one sentence for a person, without a newline at
 * its end. Functions that can fail for a reason worth telling take one as
 * their last parameter, write it only when they fail, and return -errno.
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

/* Write the sentence. A caller that does not care passes NULL. */
void err_say(struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void err_vsay(struct err *err, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));

/* Write it and have the value rc, so that a refusal is one line:
 * return err_set(err, -EINVAL, "...", ...). A macro, for then the compiler
 * knows the value. */
#define err_set(err, rc, ...) (err_say((err), __VA_ARGS__), (rc))

#endif
