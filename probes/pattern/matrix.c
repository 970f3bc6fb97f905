/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matrix.c - parse a matrix or a list from a file of numbers: the bytes from
 * each rank to each other rank.
 */
#include "probes/pattern/matrix.h"
#include "probes/pattern/numbers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/xalloc.h"

/* Where every list of a list file may start from. */
#define LIST_COLUMNS   3
#define AUTO_RANKS_MAX 1024 /* of a list, if the number is not given */

static int
matrix_same_pair(const struct numbers *r, size_t a, size_t b)
{
	return memcmp(&r->all[r->rows[a]], &r->all[r->rows[b]],
		   2 * sizeof(*r->all)) == 0;
}

/* Whether three lines of three numbers are a matrix or a list. The first two
 * numbers of a list are ranks, and no line has 0 bytes. It is a list where
 * there are more than three ranks, or if each line has another pair of two
 * ranks and more bytes than the highest rank. Otherwise it may be either. */
static enum matrix_format
matrix_tell_three(const struct numbers *r, uint32_t ranks)
{
	uint64_t limit = ranks > 0 ? ranks : AUTO_RANKS_MAX;
	uint64_t rank = 0, bytes = UINT64_MAX;
	int to_self = 0, again;

	for (size_t i = 0; i < LIST_COLUMNS; i++) {
		const uint64_t *row = &r->all[r->rows[i]];

		if (numbers_columns(r, i) != LIST_COLUMNS)
			return MATRIX_MATRIX;
		for (int k = 0; k < 2; k++)
			rank = row[k] > rank ? row[k] : rank;
		bytes = row[2] < bytes ? row[2] : bytes;
		to_self |= row[0] == row[1];
	}
	again = matrix_same_pair(r, 0, 1) || matrix_same_pair(r, 0, 2) ||
	    matrix_same_pair(r, 1, 2);
	if (rank >= limit || bytes == 0)
		return MATRIX_MATRIX;
	if (ranks > LIST_COLUMNS || (bytes > rank && !to_self && !again))
		return MATRIX_LIST;
	return MATRIX_AUTO;
}

static int
matrix_fill(const struct numbers *r, uint32_t ranks, struct matrix *ret)
{
	size_t n = numbers_columns(r, 0);

	for (size_t i = 1; i < r->rows_count; i++)
		if (numbers_columns(r, i) != n)
			return numbers_refuse(r, r->lines[i],
			    "%zu numbers: expected the same as on line %ld, "
			    "%zu",
			    numbers_columns(r, i), r->lines[0], n);
	if (r->rows_count != n)
		return numbers_refuse(r, r->lines[r->rows_count - 1],
		    "the matrix ends after %zu rows: expected %zu, the number "
		    "of columns",
		    r->rows_count, n);
	if (n > MATRIX_RANKS_MAX || (ranks > 0 && n > ranks))
		return numbers_refuse(r, r->lines[0],
		    "a matrix for %zu ranks: expected at most %u", n,
		    ranks > 0 && ranks < MATRIX_RANKS_MAX ? ranks
							  : MATRIX_RANKS_MAX);
	ret->ranks = (uint32_t)n;
	ret->cells = xcalloc(n * n, sizeof(*ret->cells));
	memcpy(ret->cells, r->all, n * n * sizeof(*ret->cells));
	return 0;
}

static int
matrix_list_fill(const struct numbers *r, uint32_t ranks, struct matrix *ret)
{
	uint64_t limit = ranks > 0 && ranks < MATRIX_RANKS_MAX
	    ? ranks
	    : MATRIX_RANKS_MAX;
	uint64_t most = 0;

	for (size_t i = 0; i < r->rows_count; i++) {
		const uint64_t *row = &r->all[r->rows[i]];

		if (numbers_columns(r, i) != LIST_COLUMNS)
			return numbers_refuse(r, r->lines[i],
			    "%zu numbers: expected src dst bytes",
			    numbers_columns(r, i));
		for (int k = 0; k < 2; k++) {
			if (row[k] >= limit)
				return numbers_refuse(r, r->lines[i],
				    "rank %llu: expected 0 to %llu",
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
		const uint64_t *row = &r->all[r->rows[i]];
		uint64_t *cell = &ret->cells[row[0] * ret->ranks + row[1]];

		if (row[2] > MATRIX_CELL_MAX - *cell) {
			matrix_clear(ret);
			return numbers_refuse(r, r->lines[i],
			    "rank %llu sends too much to rank %llu: expected "
			    "at most %llu bytes",
			    (unsigned long long)row[0],
			    (unsigned long long)row[1], MATRIX_CELL_MAX);
		}
		*cell += row[2];
	}
	return 0;
}

/* ranks: their number, 0 if the file defines it. Return -EINVAL and "name:line:
 * the error and the expected value". The caller ends *ret with
 * matrix_clear. */
static int
matrix_parse(const struct numbers_text *from, enum matrix_format format,
    uint32_t ranks, struct matrix *ret, struct err *err)
{
	struct numbers r = { .name = from->name,
		.max = MATRIX_CELL_MAX,
		.err = err };
	const char *text = from->text, *end = text + from->len_bytes, *stop;
	static const char heading[] = "src dst bytes";
	size_t n = sizeof(heading) - 1;
	struct matrix m = { 0 };
	int rc;

	/* the first line of a list may be its heading */
	if (format != MATRIX_MATRIX && from->len_bytes >= n &&
	    memcmp(text, heading, n) == 0 &&
	    (from->len_bytes == n || text[n] == '\n' || text[n] == '\r')) {
		format = MATRIX_LIST;
		stop = memchr(text, '\n', from->len_bytes);
		text = stop == NULL ? end : stop + 1;
		r.line = 1;
	}
	rc = numbers_read(&r, text, (size_t)(end - text));
	if (rc == 0 && r.rows_count == 0)
		rc = numbers_refuse(&r, r.line > 0 ? r.line : 1,
		    "no numbers: expected a matrix, or lines src dst bytes");
	/* a list has three columns; so may a matrix */
	if (rc == 0 && format == MATRIX_AUTO) {
		format = r.rows_count == LIST_COLUMNS
		    ? matrix_tell_three(&r, ranks)
		    : MATRIX_LIST;
		for (size_t i = 0; i < r.rows_count; i++)
			if (numbers_columns(&r, i) != LIST_COLUMNS)
				format = MATRIX_MATRIX;
		if (format == MATRIX_AUTO)
			rc = numbers_refuse(&r, r.lines[0],
			    "ambiguous: 3 lines of 3 numbers may be a matrix "
			    "or a list; set format=matrix or format=list");
	}
	if (rc == 0)
		rc = format == MATRIX_LIST ? matrix_list_fill(&r, ranks, &m)
					   : matrix_fill(&r, ranks, &m);
	/* sums of rows and columns stay far from 2^64 whatever elements are */
	for (uint32_t i = 0; rc == 0 && i < m.ranks; i++) {
		double sent = 0, received = 0;

		for (uint32_t k = 0; k < m.ranks; k++) {
			sent += (double)m.cells[(size_t)i * m.ranks + k];
			received += (double)m.cells[(size_t)k * m.ranks + i];
		}
		if (sent > (double)MATRIX_CELL_MAX ||
		    received > (double)MATRIX_CELL_MAX)
			rc = numbers_refuse(&r, r.line,
			    "rank %u sends or receives too much: expected at "
			    "most %llu bytes",
			    i, MATRIX_CELL_MAX);
	}
	numbers_clear(&r);
	if (rc < 0) {
		matrix_clear(&m);
		return rc;
	}
	*ret = m; /* handed over */
	return 0;
}

int
matrix_load(const char *path, enum matrix_format format, uint32_t ranks,
    struct matrix *ret, struct err *err)
{
	const struct shipped *f = matrix_files;
	size_t len = 0;
	char *text = NULL;
	int rc;

	while (f->name != NULL && strcmp(f->name, path) != 0)
		f++;
	if (f->name != NULL)
		return matrix_parse(&(struct numbers_text){ path, f->text,
					strlen(f->text) },
		    format, ranks, ret, err);
	rc = file_read(path, NUMBERS_FILE_MAX, &text, &len, err);

	if (rc < 0)
		return rc;
	rc = matrix_parse(&(struct numbers_text){ path, text, len }, format,
	    ranks, ret, err);
	free(text);
	return rc;
}

void
matrix_clear(struct matrix *m)
{
	free(m->cells);
	memset(m, 0, sizeof(*m));
}
