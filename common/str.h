/* SPDX-License-Identifier: Apache-2.0 */
/*
 * str.h - parse numbers and lists strictly; build strings.
 */
#ifndef COMMON_STR_H
#define COMMON_STR_H

#include <stddef.h>
#include <stdint.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* Parse an integer, or a real number (str_to_double). Return 0; -EINVAL if the
 * text is not entirely a number; -ERANGE if it is outside lo..hi. */
int str_to_int(const char *text, int64_t lo, int64_t hi, int64_t *ret);
/* Convert len hexadecimal digits, in lower case, to len / 2 bytes at ret, which
 * can be `digits` itself. Return 0, or -EINVAL for any other digits, with ret
 * unchanged. */
int str_unhex(const char *digits, size_t len, char *ret);
int str_to_double(const char *text, double lo, double hi, double *ret);
/* Parse "4096", "4K", "1.5M" or "2G"; units are powers of 1024. Return 0,
 * -EINVAL or -ERANGE. */
int str_to_bytes(const char *text, uint64_t *ret_bytes);
/* Write a number of bytes as "4.0 KiB"; 16 bytes with the NUL always
 * suffice. */
void str_bytes_format(double bytes, char *ret, size_t cap_bytes);
/* Parse yes, true, on, 1 (1) or no, false, off, 0 (0). Return 0 or -EINVAL. */
int str_to_bool(const char *text, int *ret);
/* Return the index of a word in a table of words, or of rows that begin with a
 * word; -ENOENT if it is missing or NULL. */
#define STR_FIND(rows, word)                                                   \
	str_find(rows, ARRAY_LEN(rows), sizeof((rows)[0]), word)
int str_find(const void *rows, size_t count, size_t row_bytes,
    const char *word);
/* An address "host:port", "[v6]:port" or ":port". The port is a number. */
struct str_address {
	char host[256]; /* without brackets; "": every address */
	char port[8];
};
/* Parse an address. Return 0 or -EINVAL. */
int str_address_parse(const char *text, struct str_address *ret);
/* Split a text at commas, without the blanks around the items. Return the
 * items, NULL-ended, which the caller frees with str_list_free; an empty list
 * for a blank text; NULL if an item is empty. */
char **str_list_parse(const char *text, size_t *ret_count);
void str_list_free(char **list); /* list can be NULL */
/* Cut the next line off *rest, which begins as the text, and return it. The
 * last line can be empty. Return NULL after it. */
char *str_line(char **rest);
/* Return the text as one word of a shell, quoted if necessary; the caller
 * frees. */
char *str_shell(const char *text);
/* Format as snprintf does, but return -ENOSPC if the text does not fit. */
int str_format(char *ret, size_t cap_bytes, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* A growing text. Begins as { 0 }. */
struct strbuf {
	/* Ends with a NUL once something was added, before that NULL. */
	char *text;
	size_t len_bytes;
	size_t cap_bytes;
};
/* Append len_bytes of text, or a formatted text. */
void strbuf_add(struct strbuf *sb, const char *text, size_t len_bytes);
void strbuf_addf(struct strbuf *sb, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void strbuf_clear(struct strbuf *sb); /* frees the text */

#endif
