/* SPDX-License-Identifier: Apache-2.0 */
/*
 * err.h - an error as a value: one sentence for a person, without a newline at
 * its end. Functions that can fail for a reason worth telling take one as
 * their last parameter, write it only when they fail, and return -errno.
 */
#ifndef COMMON_ERR_H
#define COMMON_ERR_H

#include <stdarg.h>

/* What is longer is cut, within a character never. */
#define ERR_TEXT_BYTES 512

struct err {
	char text[ERR_TEXT_BYTES];
};

/* Write the sentence. err_set returns rc, so that a refusal is one line:
 * return err_set(err, -EINVAL, "...", ...). err must not be NULL. */
void err_say(struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
int err_set(struct err *err, int rc, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void err_vsay(struct err *err, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));

#endif
