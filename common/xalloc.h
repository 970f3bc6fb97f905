/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xalloc.h - small allocations that end the process instead of returning NULL.
 *
 * Use them for sizes that the program chooses. A size that a peer, a file or a
 * device determines is checked and limited by the caller, and -ENOMEM is then
 * an ordinary error. The caller frees all results with free().
 */
#ifndef COMMON_XALLOC_H
#define COMMON_XALLOC_H

#include <stddef.h>

void *xcalloc(size_t count, size_t size_bytes);
/* Reallocate as realloc does, to count * size_bytes bytes, with a check for
 * overflow. */
void *xreallocarray(void *old, size_t count, size_t size_bytes);
/* Make room for one more item in a list that grows by one item at a time and
 * begins as NULL. count: the items that it has. Return the list. */
void *xmore(void *old, size_t count, size_t size_bytes);
/* As malloc and realloc. For libraries whose callers, or the libraries
 * themselves, do not check every allocation. */
void *xmalloc(size_t bytes);
void *xrealloc(void *old, size_t bytes);
char *xstrdup(const char *text);
char *xstrndup(const char *text, size_t len_bytes);
/* Replace *text by a copy of `to`, which can be NULL, and free the old text. */
void xstrset(char **text, const char *to);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
