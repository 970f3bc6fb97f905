/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.h - convert bytes from other programs to text that JSON can carry. The
 * functions are pure. A sentence that quotes a peer, a file or a child process
 * can be cut within a character, and can contain control characters that affect
 * a terminal.
 */
#ifndef COMMON_UTF8_H
#define COMMON_UTF8_H

#include <stddef.h>

/* Return the offset of the first byte that is not part of a valid character, or
 * len_bytes if all are valid. */
size_t utf8_check(const char *bytes, size_t len_bytes);
/* Replace by '?' each byte that is not part of a valid character or is not
 * printable, except for newlines and tabs. */
void utf8_clean_bytes(char *bytes, size_t len_bytes);
/* Clean a text that ends with a NUL as utf8_clean_bytes does; an incomplete
 * character at the end is dropped. */
void utf8_clean(char *text);
/* Format as snprintf does, then clean as utf8_clean does: a longer text is cut,
 * but never within a character. */
void utf8_format(char *ret, size_t cap_bytes, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
