/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.c - a column is as wide as its widest cell, counted in characters of
 * UTF-8 and not in bytes.
 */
#include "common/table.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/xalloc.h"

#define COLUMNS_MAX 80 /* a GPU each, of 64 */
#define WRAP_MIN    12 /* no column is wrapped to fewer characters */

struct table {
	size_t columns;
	int right[COLUMNS_MAX];
	char **cells; /* the heads are the first row */
	size_t count;
};

static void
table_push(struct table *t, char *text)
{
	t->cells = xmore(t->cells, t->count, sizeof(*t->cells));
	t->cells[t->count++] = text;
}

struct table *
table_new(const char *heads)
{
	struct table *t = xcalloc(1, sizeof(*t));

	for (;;) {
		size_t n;

		assert(t->columns < COLUMNS_MAX);
		t->right[t->columns] = *heads == '>';
		heads += *heads == '>';
		n = strcspn(heads, "|");
		table_push(t, xstrndup(heads, n));
		t->columns++;
		if (heads[n] == '\0')
			return t;
		heads += n + 1;
	}
}

void
table_free(struct table *t)
{
	if (t == NULL)
		return;
	for (size_t i = 0; i < t->count; i++)
		free(t->cells[i]);
	free(t->cells);
	free(t);
}

void
table_cell(struct table *t, const char *fmt, ...)
{
	va_list ap;
	char *text;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	assert(n >= 0);
	text = xcalloc(1, (size_t)n + 1);
	va_start(ap, fmt);
	vsnprintf(text, (size_t)n + 1, fmt, ap);
	va_end(ap);
	table_push(t, text);
}

/* Characters of UTF-8 text: bytes that do not continue one. */
static size_t
table_text_width(const char *text)
{
	size_t n = 0;

	for (; *text != '\0'; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

size_t
table_terminal_width(FILE *to)
{
	struct winsize size;

	return isatty(fileno(to)) == 1 &&
		ioctl(fileno(to), TIOCGWINSZ, &size) == 0
	    ? size.ws_col
	    : 0;
}

size_t
table_wrap(const char *text, size_t width_chars, const char **ret_next)
{
	size_t chars = 0, bytes, blank = 0;

	for (bytes = 0; text[bytes] != '\0'; bytes++) {
		chars += ((unsigned char)text[bytes] & 0xc0) != 0x80;
		if (text[bytes] == ' ')
			blank = bytes;
		if (chars > width_chars)
			break;
	}
	if (text[bytes] != '\0' && blank > 0)
		bytes = blank;
	*ret_next = text + bytes + strspn(text + bytes, " ");
	return bytes;
}

/* Make the widest columns of text narrower until the table fits, or no column
 * is wider than WRAP_MIN. */
static void
table_fit(const struct table *t, size_t limit_chars, size_t *width)
{
	for (;;) {
		size_t total = 2 * (t->columns - 1), widest = COLUMNS_MAX;
		size_t over;

		for (size_t c = 0; c < t->columns; c++) {
			total += width[c];
			if (!t->right[c] && width[c] > WRAP_MIN &&
			    (widest == COLUMNS_MAX || width[c] > width[widest]))
				widest = c;
		}
		if (total <= limit_chars || widest == COLUMNS_MAX)
			return;
		over = total - limit_chars;
		width[widest] -= over < width[widest] - WRAP_MIN
		    ? over
		    : width[widest] - WRAP_MIN;
	}
}

/* Print the next line of a row, and advance its cells past it. Return 1 if a
 * cell has more. */
static int
table_line_print(const struct table *t, const size_t *width, const char **cells,
    FILE *to)
{
	size_t owed = 0; /* blanks held back, so that no line ends in one */
	int more = 0;

	for (size_t c = 0; c < t->columns; c++) {
		const char *next;
		size_t bytes = table_wrap(cells[c], width[c], &next);
		size_t pad = width[c];
		char *part = xstrndup(cells[c], bytes);

		pad -= table_text_width(part);
		owed += t->right[c] ? pad : 0;
		if (bytes > 0) {
			fprintf(to, "%*s%s", (int)owed, "", part);
			owed = 0;
		}
		owed += (t->right[c] ? 0 : pad) + 2;
		cells[c] = next;
		more |= *next != '\0';
		free(part);
	}
	fputc('\n', to);
	return more;
}

void
table_print_within(struct table *t, FILE *to, size_t limit_chars)
{
	size_t width[COLUMNS_MAX];
	const char *cells[COLUMNS_MAX];

	assert(t->count % t->columns == 0);
	memset(width, 0, sizeof(width));
	for (size_t i = 0; i < t->count; i++) {
		size_t n = table_text_width(t->cells[i]), c = i % t->columns;

		width[c] = n > width[c] ? n : width[c];
	}
	if (limit_chars > 0)
		table_fit(t, limit_chars, width);
	for (size_t i = 0; i < t->count; i += t->columns) {
		for (size_t c = 0; c < t->columns; c++)
			cells[c] = t->cells[i + c];
		while (table_line_print(t, width, cells, to))
			;
	}
}

void
table_print(struct table *t, FILE *to)
{
	table_print_within(t, to, table_terminal_width(to));
}

void
table_bar(double share, int width, int ascii, char *ret, size_t cap_bytes)
{
	/* U+2588 full block down to U+258F one eighth: E2 96 88..8F. */
	size_t len = 0;
	int eighths;

	if (!(share > 0)) /* NAN too */
		share = 0;
	if (share > 1)
		share = 1;
	eighths = (int)(share * width * 8 + 0.5);
	if (share > 0 && eighths == 0)
		eighths = 1; /* something is not nothing */
	for (int i = 0; i < width && len + 4 <= cap_bytes; i++) {
		int n = eighths - i * 8;

		n = n > 8 ? 8 : n;
		if (n <= 0 || (ascii && n < 4 && !(i == 0 && share > 0))) {
			ret[len++] = ' ';
		} else if (ascii) {
			ret[len++] = '#';
		} else {
			memcpy(ret + len, "\xe2\x96", 2);
			ret[len + 2] = (char)(0x88 + 8 - n);
			len += 3;
		}
	}
	assert(len < cap_bytes);
	ret[len] = '\0';
}
