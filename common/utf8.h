/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.h - foreign bytes as text that JSON can carry. Pure. A sentence that
 * quotes a peer, a file or a child may be cut within a character, and may hold
 * what paints a terminal.
 */
#ifndef COMMON_UTF8_H
#define COMMON_UTF8_H

#include <stddef.h>

/* Offset of the first byte that belongs to no character; len_bytes: none. */
size_t utf8_check(const char *bytes, size_t len_bytes);
/* '?' for each byte that belongs to no character or is not printable, but
 * newlines and tabs. */
void utf8_clean_bytes(char *bytes, size_t len_bytes);
/* Like utf8_clean; an incomplete character at the end is dropped. */
void utf8_clean(char *text);
/* snprintf, then utf8_clean: a longer text is cut, but never within a
 * character. */
void utf8_format(char *ret, size_t cap_bytes, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
