/* SPDX-License-Identifier: Apache-2.0 */
/*
 * str.c - a number is a whole text or an error: no blanks, no '+', nothing
 * behind it; sizes count in powers of 1024 and must be whole bytes.
 */
#include "common/str.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

int
str_to_int(const char *text, int64_t lo, int64_t hi, int64_t *ret)
{
	long long x;
	char *end;

	/* strtoll takes blanks and '+', which a strict reader does not */
	if (!isdigit((unsigned char)text[text[0] == '-']))
		return -EINVAL;
	errno = 0;
	x = strtoll(text, &end, 10);
	if (*end != '\0')
		return -EINVAL;
	if (errno == ERANGE || x < lo || x > hi)
		return -ERANGE;
	*ret = x;
	return 0;
}

int
str_unhex(const char *digits, size_t len, char *ret)
{
	static const char all[] = "0123456789abcdef";

	/* A NUL is in the text that strchr looks into. */
	for (size_t i = 0; i < len; i++)
		if (digits[i] == '\0' || strchr(all, digits[i]) == NULL)
			return -EINVAL;
	if (len % 2 != 0)
		return -EINVAL;
	for (size_t i = 0; i < len; i += 2)
		ret[i / 2] = (char)((strchr(all, digits[i]) - all) << 4 |
		    (strchr(all, digits[i + 1]) - all));
	return 0;
}

int
str_to_double(const char *text, double lo, double hi, double *ret)
{
	const char *digits = text + (text[0] == '-');
	double x;
	char *end;

	/* neither "inf", "nan" nor hexadecimal */
	if (strspn(text, "0123456789.eE+-") != strlen(text))
		return -EINVAL;
	if (!isdigit((unsigned char)digits[0]) && digits[0] != '.')
		return -EINVAL;
	x = strtod(text, &end);
	if (end == text || *end != '\0')
		return -EINVAL;
	if (!isfinite(x) || x < lo || x > hi)
		return -ERANGE;
	*ret = x;
	return 0;
}

int
str_to_bytes(const char *text, uint64_t *ret_bytes)
{
	static const char units[] = "KMGTPE";
	size_t len = strspn(text, "0123456789.");
	double bytes, whole;
	char number[32];
	int shift = 0, rc;

	if (len == 0 || len >= sizeof(number))
		return -EINVAL;
	if (text[len] != '\0') {
		const char *unit = strchr(units, text[len]);

		if (unit == NULL || text[len + 1] != '\0')
			return -EINVAL;
		shift = 10 * (int)(unit - units + 1);
	}
	memcpy(number, text, len);
	number[len] = '\0';
	rc = str_to_double(number, 0, HUGE_VAL, &bytes);
	if (rc < 0)
		return rc;
	bytes = ldexp(bytes, shift);
	if (bytes > 0x1p53) /* where doubles stop counting every byte */
		return -ERANGE;
	if (modf(bytes, &whole) != 0)
		return -EINVAL;
	*ret_bytes = (uint64_t)whole;
	return 0;
}

void
str_bytes_format(double bytes, char *ret, size_t cap_bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB",
		"PiB", "EiB" };
	size_t i = 0;

	if (isnan(bytes)) {
		snprintf(ret, cap_bytes, "-");
		return;
	}
	/* what would be printed as 1024.0 belongs to the next unit */
	while (i + 1 < ARRAY_LEN(units) && fabs(bytes) >= 1023.95) {
		bytes /= 1024;
		i++;
	}
	if (fabs(bytes) >= 1e5)
		snprintf(ret, cap_bytes, "%.1e %s", bytes, units[i]);
	else if (i == 0 && bytes == floor(bytes))
		snprintf(ret, cap_bytes, "%.0f B", bytes);
	else
		snprintf(ret, cap_bytes, "%.1f %s", bytes, units[i]);
}

int
str_to_bool(const char *text, int *ret)
{
	static const char *const words[] = { "no", "yes", "false", "true",
		"off", "on", "0", "1" };
	int i = STR_FIND(words, text);

	if (i < 0)
		return -EINVAL;
	*ret = i % 2;
	return 0;
}

int
str_find(const void *rows, size_t count, size_t row_bytes, const char *word)
{
	for (size_t i = 0; word != NULL && i < count; i++) {
		const char *const *row = (const void *)((const char *)rows +
		    i * row_bytes);

		if (strcmp(*row, word) == 0)
			return (int)i;
	}
	return -ENOENT;
}

static int
str_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The item between text and end without its blanks; NULL when it is empty. */
static char *
str_item(const char *text, const char *end)
{
	while (text < end && str_is_blank(*text))
		text++;
	while (end > text && str_is_blank(end[-1]))
		end--;
	return text == end ? NULL : xstrndup(text, (size_t)(end - text));
}

int
str_address_parse(const char *text, struct str_address *ret)
{
	const char *colon = strrchr(text, ':');
	size_t len = colon != NULL ? (size_t)(colon - text) : 0;
	int64_t port;

	if (colon == NULL || str_to_int(colon + 1, 0, 65535, &port) < 0)
		return -EINVAL;
	if (len > 2 && text[0] == '[' && text[len - 1] == ']') {
		text++;
		len -= 2;
	} else if (memchr(text, ':', len) != NULL) {
		return -EINVAL; /* an IPv6 address whose port is a guess */
	}
	if (len >= sizeof(ret->host))
		return -EINVAL;
	memcpy(ret->host, text, len);
	ret->host[len] = '\0';
	snprintf(ret->port, sizeof(ret->port), "%d", (int)port);
	return 0;
}

char **
str_list_parse(const char *text, size_t *ret_count)
{
	char **list = xcalloc(1, sizeof(*list));
	size_t count = 0;
	const char *end;

	if (text[strspn(text, " \t")] == '\0') {
		*ret_count = 0;
		return list;
	}
	for (;; text = end + 1) {
		end = text + strcspn(text, ",");
		list = xreallocarray(list, count + 2, sizeof(*list));
		list[count] = str_item(text, end);
		if (list[count] == NULL) {
			str_list_free(list);
			return NULL;
		}
		list[++count] = NULL;
		if (*end == '\0')
			break;
	}
	*ret_count = count;
	return list;
}

char *
str_line(char **rest)
{
	char *line = *rest, *end = line == NULL ? NULL : strchr(line, '\n');

	*rest = end == NULL ? NULL : end + 1;
	if (end != NULL)
		*end = '\0';
	return line;
}

void
str_list_free(char **list)
{
	if (list == NULL)
		return;
	for (size_t i = 0; list[i] != NULL; i++)
		free(list[i]);
	free(list);
}

int
str_format(char *ret, size_t cap_bytes, const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(ret, cap_bytes, fmt, ap);
	va_end(ap);
	if (len < 0)
		return -EINVAL;
	return (size_t)len < cap_bytes ? len : -ENOSPC;
}

/* Room for len_bytes more and the NUL. */
static void
str_reserve(struct strbuf *sb, size_t len_bytes)
{
	size_t need = sb->len_bytes + len_bytes + 1, cap = sb->cap_bytes;

	assert(need > sb->len_bytes);
	if (need <= cap)
		return;
	cap = cap * 2 > need ? cap * 2 : need;
	if (cap < 64)
		cap = 64;
	sb->text = xreallocarray(sb->text, cap, 1);
	sb->cap_bytes = cap;
}

void
strbuf_add(struct strbuf *sb, const char *text, size_t len_bytes)
{
	str_reserve(sb, len_bytes);
	if (len_bytes > 0)
		memcpy(sb->text + sb->len_bytes, text, len_bytes);
	sb->len_bytes += len_bytes;
	sb->text[sb->len_bytes] = '\0';
}

void
strbuf_addf(struct strbuf *sb, const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	assert(len >= 0);
	str_reserve(sb, (size_t)len);
	va_start(ap, fmt);
	vsnprintf(sb->text + sb->len_bytes, (size_t)len + 1, fmt, ap);
	va_end(ap);
	sb->len_bytes += (size_t)len;
}

void
strbuf_clear(struct strbuf *sb)
{
	free(sb->text);
	memset(sb, 0, sizeof(*sb));
}

char *
str_shell(const char *text)
{
	struct strbuf sb = { 0 };
	const char *p = text;

	while (isalnum((unsigned char)*p) ||
	    (*p != '\0' && strchr("/._-+:@%,=", *p) != NULL))
		p++;
	if (*p == '\0' && p != text)
		return xstrdup(text);
	strbuf_add(&sb, "'", 1);
	for (p = text; *p != '\0'; p++)
		if (*p == '\'')
			strbuf_addf(&sb, "'\\''");
		else
			strbuf_add(&sb, p, 1);
	strbuf_add(&sb, "'", 1);
	return sb.text;
}
