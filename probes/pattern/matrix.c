/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/pattern/matrix.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/str.h"
#include "common/xalloc.h"

/* Where every list of a list file may start from. */
#define LIST_COLUMNS   3
#define AUTO_RANKS_MAX 1024 /* of a list, when nobody said how many */

struct reader {
	const char *name;
	const char *at, *end;
	long line;
	uint64_t *numbers;
	size_t count, cap;
	size_t *rows; /* first number of each row, and the count */
	long *lines;  /* of each row */
	size_t rows_count, rows_cap;
	char *why;
	size_t why_bytes;
};

static int __attribute__((format(printf, 3, 4)))
refuse(const struct reader *r, long line, const char *fmt, ...)
{
	va_list ap;
	int n;

	n = snprintf(r->why, r->why_bytes, "%.200s:%ld: ", r->name, line);
	if (n < 0 || (size_t)n >= r->why_bytes)
		return -EINVAL;
	va_start(ap, fmt);
	vsnprintf(r->why + n, r->why_bytes - (size_t)n, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

static void
row_open(struct reader *r)
{
	if (r->rows_count + 2 > r->rows_cap) {
		r->rows_cap = r->rows_cap * 2 + 64;
		r->rows = xreallocarray(r->rows, r->rows_cap, sizeof(*r->rows));
		r->lines = xreallocarray(r->lines, r->rows_cap,
		    sizeof(*r->lines));
	}
	r->rows[r->rows_count] = r->count;
	r->lines[r->rows_count++] = r->line;
	r->rows[r->rows_count] = r->count;
}

static int
number_add(struct reader *r, const char *word, size_t len_bytes)
{
	char text[32];
	int64_t x;

	if (len_bytes >= sizeof(text))
		return refuse(r, r->line,
		    "%.32s...: allowed is a whole number, 0 to %llu", word,
		    MATRIX_CELL_MAX);
	memcpy(text, word, len_bytes);
	text[len_bytes] = '\0';
	if (str_to_int(text, 0, (int64_t)MATRIX_CELL_MAX, &x) < 0)
		return refuse(r, r->line,
		    "%s: allowed is a whole number, 0 to %llu", text,
		    MATRIX_CELL_MAX);
	if (r->count == r->cap) {
		r->cap = r->cap * 2 + 1024;
		r->numbers = xreallocarray(r->numbers, r->cap,
		    sizeof(*r->numbers));
	}
	r->numbers[r->count++] = (uint64_t)x;
	r->rows[r->rows_count] = r->count;
	return 0;
}

static int
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* One line, which ends before stop, into a row unless it is empty. */
static int
line_read(struct reader *r, const char *stop)
{
	int rc = 0, opened = 0;

	while (rc == 0) {
		const char *word;

		while (r->at < stop && is_blank(*r->at))
			r->at++;
		if (r->at == stop || *r->at == '#')
			return 0;
		word = r->at;
		while (r->at < stop && !is_blank(*r->at) && *r->at != '#')
			r->at++;
		if (!opened)
			row_open(r);
		opened = 1;
		rc = number_add(r, word, (size_t)(r->at - word));
	}
	return rc;
}

/* A first line of words is the heading of a list. */
static int
skip_heading(struct reader *r)
{
	static const char heading[] = "src dst bytes";
	size_t n = sizeof(heading) - 1;

	if ((size_t)(r->end - r->at) < n || memcmp(r->at, heading, n) != 0 ||
	    ((size_t)(r->end - r->at) > n && r->at[n] != '\n' &&
		r->at[n] != '\r'))
		return 0;
	while (r->at < r->end && *r->at != '\n')
		r->at++;
	r->at += r->at < r->end;
	r->line++;
	return 1;
}

static int
lines_read(struct reader *r)
{
	int rc = 0;

	while (rc == 0 && r->at < r->end) {
		const char *stop = memchr(r->at, '\n',
		    (size_t)(r->end - r->at));

		if (stop == NULL)
			stop = r->end;
		r->line++;
		rc = line_read(r, stop);
		r->at = stop < r->end ? stop + 1 : r->end;
	}
	if (rc == 0 && r->rows_count == 0)
		return refuse(r, r->line > 0 ? r->line : 1,
		    "no numbers: allowed is a matrix, or lines src dst bytes");
	return rc;
}

static size_t
columns(const struct reader *r, size_t row)
{
	return r->rows[row + 1] - r->rows[row];
}

/* Whether three by three numbers make sense as a list. */
static int
list_like(const struct reader *r, uint32_t ranks)
{
	uint64_t limit = ranks > 0 ? ranks : AUTO_RANKS_MAX;

	for (size_t i = 0; i < r->rows_count; i++)
		if (r->numbers[r->rows[i]] >= limit ||
		    r->numbers[r->rows[i] + 1] >= limit)
			return 0;
	return 1;
}

/* *ret_format is set to what the file is; it may say so by itself. */
static int
tell_format(const struct reader *r, uint32_t ranks,
    enum matrix_format *ret_format)
{
	if (*ret_format != MATRIX_AUTO)
		return 0;
	*ret_format = MATRIX_MATRIX;
	for (size_t i = 0; i < r->rows_count; i++)
		if (columns(r, i) != LIST_COLUMNS)
			return 0;
	if (r->rows_count != LIST_COLUMNS) {
		*ret_format = MATRIX_LIST;
		return 0;
	}
	if (!list_like(r, ranks))
		return 0;
	if (ranks > LIST_COLUMNS) {
		*ret_format = MATRIX_LIST;
		return 0;
	}
	return refuse(r, r->lines[0],
	    "3 lines of 3 numbers are a matrix or a list: say format=matrix "
	    "or format=list");
}

static int
matrix_fill(const struct reader *r, uint32_t ranks, struct matrix *ret)
{
	size_t n = columns(r, 0);

	for (size_t i = 1; i < r->rows_count; i++)
		if (columns(r, i) != n)
			return refuse(r, r->lines[i],
			    "%zu numbers, but line %ld has %zu", columns(r, i),
			    r->lines[0], n);
	if (r->rows_count != n)
		return refuse(r, r->lines[r->rows_count - 1],
		    "the matrix ends after %zu rows, but it has %zu columns",
		    r->rows_count, n);
	if (n > MATRIX_RANKS_MAX || (ranks > 0 && n > ranks))
		return refuse(r, r->lines[0],
		    "a matrix for %zu ranks: allowed are at most %u", n,
		    ranks > 0 && ranks < MATRIX_RANKS_MAX ? ranks
							  : MATRIX_RANKS_MAX);
	ret->ranks = (uint32_t)n;
	ret->cells = xcalloc(n * n, sizeof(*ret->cells));
	memcpy(ret->cells, r->numbers, n * n * sizeof(*ret->cells));
	return 0;
}

static int
list_fill(const struct reader *r, uint32_t ranks, struct matrix *ret)
{
	uint64_t limit = ranks > 0 && ranks < MATRIX_RANKS_MAX
	    ? ranks
	    : MATRIX_RANKS_MAX;
	uint64_t most = 0;

	for (size_t i = 0; i < r->rows_count; i++) {
		const uint64_t *row = &r->numbers[r->rows[i]];

		if (columns(r, i) != LIST_COLUMNS)
			return refuse(r, r->lines[i],
			    "%zu numbers: allowed is src dst bytes",
			    columns(r, i));
		for (int k = 0; k < 2; k++) {
			if (row[k] >= limit)
				return refuse(r, r->lines[i],
				    "rank %llu: allowed is 0 to %llu",
				    (unsigned long long)row[k],
				    (unsigned long long)limit - 1);
			most = row[k] > most ? row[k] : most;
		}
	}
	ret->is_list = 1;
	ret->ranks = ranks > 0 ? (uint32_t)limit : (uint32_t)most + 1;
	ret->cells = xcalloc((size_t)ret->ranks * ret->ranks,
	    sizeof(*ret->cells));
	for (size_t i = 0; i < r->rows_count; i++) {
		const uint64_t *row = &r->numbers[r->rows[i]];

		ret->cells[row[0] * ret->ranks + row[1]] += row[2];
	}
	return 0;
}

/* Sums of rows and columns stay far from 2^64 whatever the elements are. */
static int
sums_check(const struct reader *r, const struct matrix *m)
{
	for (uint32_t i = 0; i < m->ranks; i++) {
		double sent = 0, received = 0;

		for (uint32_t k = 0; k < m->ranks; k++) {
			sent += (double)m->cells[(size_t)i * m->ranks + k];
			received += (double)m->cells[(size_t)k * m->ranks + i];
		}
		if (sent > (double)MATRIX_CELL_MAX ||
		    received > (double)MATRIX_CELL_MAX)
			return refuse(r, r->line,
			    "rank %u sends or receives more than %llu", i,
			    MATRIX_CELL_MAX);
	}
	return 0;
}

int
matrix_parse(const char *name, const char *text, size_t len_bytes,
    enum matrix_format format, uint32_t ranks, struct matrix *ret, char *why,
    size_t why_bytes)
{
	struct reader r = { .name = name,
		.at = text,
		.end = text + len_bytes,
		.why = why,
		.why_bytes = why_bytes };
	struct matrix m = { 0 };
	int rc;

	if (format != MATRIX_MATRIX && skip_heading(&r))
		format = MATRIX_LIST;
	rc = lines_read(&r);
	if (rc == 0)
		rc = tell_format(&r, ranks, &format);
	if (rc == 0)
		rc = format == MATRIX_LIST ? list_fill(&r, ranks, &m)
					   : matrix_fill(&r, ranks, &m);
	if (rc == 0)
		rc = sums_check(&r, &m);
	free(r.numbers);
	free(r.rows);
	free(r.lines);
	if (rc < 0) {
		matrix_clear(&m);
		return rc;
	}
	*ret = m; /* handed over */
	return 0;
}

/* The whole of fd, MATRIX_FILE_MAX bytes at most. */
static int
slurp(int fd, char **ret, size_t *ret_bytes)
{
	size_t len = 0, cap = 65536;
	char *text = xcalloc(1, cap);
	ssize_t n;

	while ((n = read(fd, text + len, cap - len)) > 0) {
		len += (size_t)n;
		if (len < cap)
			continue;
		cap *= 2;
		if (cap > 2 * (size_t)MATRIX_FILE_MAX)
			break;
		text = xreallocarray(text, cap, 1);
	}
	if (n != 0) {
		n = n < 0 ? -errno : -EFBIG;
		free(text);
		return (int)n;
	}
	*ret = text;
	*ret_bytes = len;
	return 0;
}

int
matrix_load(const char *path, enum matrix_format format, uint32_t ranks,
    struct matrix *ret, char *why, size_t why_bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	char *text = NULL;
	int rc;

	rc = fd < 0 ? -errno : slurp(fd, &text, &len);
	if (fd >= 0)
		close(fd);
	if (rc < 0) {
		snprintf(why, why_bytes, "%.300s: %s", path, strerror(-rc));
		return rc;
	}
	rc = matrix_parse(path, text, len, format, ranks, ret, why, why_bytes);
	free(text);
	return rc;
}

void
matrix_clear(struct matrix *m)
{
	free(m->cells);
	memset(m, 0, sizeof(*m));
}
