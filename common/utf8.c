/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.c - bytes that are not a valid character (RFC 3629) become '?', one by
 * one, so that a text never grows and can be cleaned in place.
 */
#include "common/utf8.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Bytes of a character that begins so; 0: none does. */
static size_t
utf8_want_bytes(unsigned char first)
{
	if (first < 0x80)
		return 1;
	if (first < 0xc2 || first > 0xf4)
		return 0;
	return first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
}

/* Length of the valid character at bytes, 1..4; 0: none starts there. */
static size_t
utf8_len(const char *bytes, size_t len_bytes)
{
	/* smallest code point by length: shorter forms only */
	static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *b = (const unsigned char *)bytes;
	size_t want = len_bytes == 0 ? 0 : utf8_want_bytes(b[0]);
	uint32_t code;

	if (want <= 1 || len_bytes < want)
		return want == 1;
	code = b[0] & (0x7fu >> want);
	for (size_t i = 1; i < want; i++) {
		if ((b[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (b[i] & 0x3fu);
	}
	if (code < least[want] || code > 0x10ffff ||
	    (code >= 0xd800 && code <= 0xdfff))
		return 0;
	return want;
}

size_t
utf8_check(const char *bytes, size_t len_bytes)
{
	size_t at = 0, n;

	while (
	    at < len_bytes && (n = utf8_len(bytes + at, len_bytes - at)) != 0)
		at += n;
	return at;
}

/* Is the character one that ends a line or changes the direction of the text
 * around it: U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069? A name with it
 * is displayed as another name. */
static int
utf8_is_mark(const unsigned char *b, size_t len_bytes)
{
	if (len_bytes < 3 || b[0] != 0xe2)
		return 0;
	return b[1] == 0x80
	    ? b[2] == 0x8e || b[2] == 0x8f || (b[2] >= 0xa8 && b[2] <= 0xae)
	    : b[1] == 0x81 && b[2] >= 0xa6 && b[2] <= 0xa9;
}

/* Bytes to keep at the start of bytes; 0: the first becomes '?'. */
static size_t
utf8_keep_bytes(const char *bytes, size_t len_bytes)
{
	unsigned char c = (unsigned char)bytes[0];

	if (utf8_is_mark((const unsigned char *)bytes, len_bytes))
		return 0;
	if ((c < ' ' && c != '\n' && c != '\t') || c == 0x7f)
		return 0;
	/* C1, which some terminals obey, is c2 80 to c2 9f. */
	if (c == 0xc2 && len_bytes > 1 && (unsigned char)bytes[1] < 0xa0)
		return 0;
	return utf8_len(bytes, len_bytes);
}

void
utf8_clean_bytes(char *bytes, size_t len_bytes)
{
	size_t n;

	for (size_t i = 0; i < len_bytes; i += n) {
		n = utf8_keep_bytes(bytes + i, len_bytes - i);
		if (n == 0)
			bytes[i] = '?';
		n += n == 0;
	}
}

void
utf8_clean(char *text)
{
	size_t len = strlen(text), half = len;

	/* The last byte that begins a character may want more than is there. */
	while (half > 0 && ((unsigned char)text[half - 1] & 0xc0) == 0x80)
		half--;
	if (half > 0 && utf8_want_bytes((unsigned char)text[half - 1]) > 1 &&
	    utf8_want_bytes((unsigned char)text[half - 1]) > len - half + 1) {
		len = half - 1;
		text[len] = '\0';
	}
	utf8_clean_bytes(text, len);
}

void
utf8_format(char *ret, size_t cap_bytes, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(ret, cap_bytes, fmt, ap);
	va_end(ap);
	utf8_clean(ret);
}
