/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xalloc.c - a failed allocation of a few bytes ends the program and logs the
 * size, since no caller could continue.
 */
#include "common/xalloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"

void *
xcalloc(size_t count, size_t size_bytes)
{
	void *p = calloc(count > 0 ? count : 1,
	    size_bytes > 0 ? size_bytes : 1);

	if (p == NULL)
		fatalx("out of memory: %zu times %zu bytes", count, size_bytes);
	return p;
}

void *
xreallocarray(void *old, size_t count, size_t size_bytes)
{
	size_t one = size_bytes > 0 ? size_bytes : 1;
	void *p = reallocarray(old, count > 0 ? count : 1, one);

	if (p == NULL)
		fatalx("out of memory: %zu times %zu bytes", count, size_bytes);
	return p;
}

void *
xmalloc(size_t bytes)
{
	return xrealloc(NULL, bytes);
}

void *
xrealloc(void *old, size_t bytes)
{
	return xreallocarray(old, bytes, 1);
}

void *
xmore(void *old, size_t count, size_t size_bytes)
{
	if (count == 0)
		return xreallocarray(old, 16, size_bytes);
	/* what holds 16 or another power of two is full */
	if (count >= 16 && (count & (count - 1)) == 0)
		return xreallocarray(old, 2 * count, size_bytes);
	return old;
}

char *
xstrdup(const char *text)
{
	return xstrndup(text, strlen(text));
}

char *
xstrndup(const char *text, size_t len_bytes)
{
	char *copy = strndup(text, len_bytes);

	if (copy == NULL)
		fatalx("out of memory: %zu bytes of text", len_bytes);
	return copy;
}

char *
xasprintf(const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (len < 0)
		fatalx("out of memory: formatting a text");
	return text;
}

void
xstrset(char **text, const char *to)
{
	char *copy = to == NULL ? NULL : xstrdup(to);

	free(*text);
	*text = copy;
}
