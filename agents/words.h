/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.h - growing lists of strings: arguments and environments.
 */
#ifndef AGENTS_WORDS_H
#define AGENTS_WORDS_H

#include <stddef.h>

struct words {       /* starts as { 0 } */
	char **list; /* NULL-ended once anything was added */
	size_t count;
};

void words_add(struct words *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* "NAME=value" in place of an earlier one of that name. */
void words_env(struct words *w, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void words_clear(struct words *w); /* frees */

#endif
