/* SPDX-License-Identifier: Apache-2.0 */
/*
 * str.h - numbers and lists from text, strictly; growing strings.
 */
#ifndef COMMON_STR_H
#define COMMON_STR_H

#include <stddef.h>
#include <stdint.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* Whole text or -EINVAL; outside lo..hi -ERANGE. */
int str_to_int(const char *text, int64_t lo, int64_t hi, int64_t *ret);
/* len digits, lower case, into ret, which may be digits itself. -EINVAL, and
 * ret is untouched: anything else. */
int str_unhex(const char *digits, size_t len, char *ret);
int str_to_double(const char *text, double lo, double hi, double *ret);
/* "4096", "4K", "1.5M", "2G": powers of 1024. */
int str_to_bytes(const char *text, uint64_t *ret_bytes);
/* "4.0 KiB"; 16 bytes with the NUL always suffice. */
void str_bytes_format(double bytes, char *ret, size_t cap_bytes);
/* yes no true false on off 1 0 */
int str_to_bool(const char *text, int *ret);
/* Return the index of a word in a table of words, or of rows that begin with
 * theirs; -ENOENT if it is missing or NULL. */
#define STR_FIND(rows, word)                                                   \
	str_find(rows, ARRAY_LEN(rows), sizeof((rows)[0]), word)
int str_find(const void *rows, size_t count, size_t row_bytes,
    const char *word);
/* "host:port", "[v6]:port" or ":port"; the port is a number. */
struct str_address {
	char host[256]; /* without brackets; "": every address */
	char port[8];
};
int str_address_parse(const char *text, struct str_address *ret);
/* Split at commas, blanks stripped, empty items refused; a blank text is an
 * empty list. Ends with NULL; free with str_list_free. NULL for a malformed
 * list. */
char **str_list_parse(const char *text, size_t *ret_count);
void str_list_free(char **list); /* NULL is allowed */
/* Cuts the next line off *rest, which starts as the text; the last one may be
 * empty. NULL after it. */
char *str_line(char **rest);
/* snprintf semantics without truncation surprises: -ENOSPC instead. */
int str_format(char *ret, size_t cap_bytes, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* A growing text; starts as { 0 }. */
struct strbuf {
	char *text; /* NUL-ended once anything was added, else NULL */
	size_t len_bytes;
	size_t cap_bytes;
};
void strbuf_add(struct strbuf *sb, const char *text, size_t len_bytes);
void strbuf_addf(struct strbuf *sb, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void strbuf_clear(struct strbuf *sb); /* frees */

#endif
