/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strvec.h - growing lists of strings: arguments and environments.
 */
#ifndef AGENTS_PROCESS_STRVEC_H
#define AGENTS_PROCESS_STRVEC_H

#include <stddef.h>

struct strvec {      /* Begins as { 0 } */
	char **list; /* NULL-ended once anything was added */
	size_t count;
};

/* Append a string (printf format). */
void strvec_add(struct strvec *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Add a variable NAME=value, or replace the earlier one of that name. */
void strvec_env(struct strvec *w, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void strvec_clear(struct strvec *w); /* frees the list */

#endif
