/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numbers.c - rows of whole numbers from text that is not trusted.
 */
#include "probes/pattern/numbers.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "common/xalloc.h"

int
numbers_refuse(const struct numbers *n, long line, const char *fmt, ...)
{
	va_list ap;
	struct err what;

	va_start(ap, fmt);
	err_vsay(&what, fmt, ap);
	va_end(ap);
	return err_set(n->err, -EINVAL, "%.200s:%ld: %s", n->name, line,
	    what.text);
}

size_t
numbers_columns(const struct numbers *n, size_t row)
{
	return n->rows[row + 1] - n->rows[row];
}

static int
numbers_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* One line, which ends before stop, into a row unless it is empty. */
static int
numbers_line_read(struct numbers *n, const char *at, const char *stop)
{
	const char *word;
	char text[33];
	int opened = 0;
	size_t len;
	int64_t x;

	/* control characters would end words early, or reach terminals in error
	 * texts */
	for (const char *c = at; c < stop; c++)
		if (((unsigned char)*c < ' ' && !numbers_is_blank(*c)) ||
		    *c == 127)
			return numbers_refuse(n, n->line,
			    "not a text file: expected whole numbers");
	for (;; opened = 1) {
		while (at < stop && numbers_is_blank(*at))
			at++;
		if (at == stop || *at == '#')
			return 0;
		word = at;
		while (at < stop && !numbers_is_blank(*at) && *at != '#')
			at++;
		if (!opened && n->rows_count + 2 > n->rows_cap) {
			n->rows_cap = n->rows_cap * 2 + 64;
			n->rows = xreallocarray(n->rows, n->rows_cap,
			    sizeof(*n->rows));
			n->lines = xreallocarray(n->lines, n->rows_cap,
			    sizeof(*n->lines));
		}
		if (!opened) {
			n->rows[n->rows_count] = n->count;
			n->lines[n->rows_count++] = n->line;
			n->rows[n->rows_count] = n->count;
		}
		len = (size_t)(at - word);
		if (len >= sizeof(text))
			len = sizeof(text) - 1;
		memcpy(text, word, len);
		text[len] = '\0';
		if (at - word >= 32 ||
		    str_to_int(text, 0, (int64_t)n->max, &x) < 0)
			return numbers_refuse(n, n->line,
			    "%s%s: expected a whole number, 0 to %llu", text,
			    at - word >= 32 ? "..." : "",
			    (unsigned long long)n->max);
		if (n->most > 0 && n->count == n->most)
			return numbers_refuse(n, n->line,
			    "expected at most %zu numbers", n->most);
		n->all = xmore(n->all, n->count, sizeof(*n->all));
		n->all[n->count++] = (uint64_t)x;
		n->rows[n->rows_count] = n->count;
	}
}

int
numbers_read(struct numbers *n, const char *text, size_t len_bytes)
{
	const char *at = text, *end = text + len_bytes;
	int rc = 0;

	while (rc == 0 && at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		if (stop == NULL)
			stop = end;
		n->line++;
		rc = numbers_line_read(n, at, stop);
		at = stop < end ? stop + 1 : end;
	}
	return rc;
}

void
numbers_clear(struct numbers *n)
{
	free(n->all);
	free(n->rows);
	free(n->lines);
	n->all = NULL;
	n->rows = NULL;
	n->lines = NULL;
	n->count = n->rows_count = n->rows_cap = 0;
}
