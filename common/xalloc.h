/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xalloc.h - small allocations that die instead of returning NULL.
 *
 * For sizes that we choose. A size that a peer, a file or a device names is
 * checked and capped by the caller, and its -ENOMEM is an ordinary error.
 */
#ifndef COMMON_XALLOC_H
#define COMMON_XALLOC_H

#include <stddef.h>

void *xcalloc(size_t count, size_t size_bytes);
/* Checks count * size_bytes for overflow. */
void *xreallocarray(void *old, size_t count, size_t size_bytes);
/* A list that grows by one at a time, from NULL: what holds count items, with
 * room for another. */
void *xmore(void *old, size_t count, size_t size_bytes);
char *xstrdup(const char *text);
char *xstrndup(const char *text, size_t len_bytes);
/* A copy of to, or NULL, in the place of the old text. */
void xstrset(char **text, const char *to);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
