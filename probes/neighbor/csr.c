/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csr.c - a sparse matrix from a Matrix Market file, its rows in blocks over
 * ranks, and the resulting dependencies between ranks.
 */
#include "probes/neighbor/csr.h"
#include "probes/neighbor/neighbor.h"
#include "probes/neighbor/graph.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/file.h"
#include "common/str.h"
#include "common/xalloc.h"

static void
csr_entries_add(struct csr_entries *list, uint32_t row, uint32_t column,
    double value)
{
	list->at = xmore(list->at, list->count, sizeof(*list->at));
	list->at[list->count++] = (struct csr_entry){ value, row, column };
}

static int
csr_entry_compare_cb(const void *va, const void *vb)
{
	const struct csr_entry *a = va, *b = vb;

	if (a->row != b->row)
		return (a->row > b->row) - (a->row < b->row);
	return (a->column > b->column) - (a->column < b->column);
}

/* Entries of one place add up. The list is used up. */
static void
csr_make(uint32_t rows, struct csr_entries *list, struct csr *ret)
{
	struct csr m = { .rows = rows };

	m.starts = xcalloc((size_t)rows + 1, sizeof(*m.starts));
	m.columns = xcalloc(list->count + 1, sizeof(*m.columns));
	m.values = xcalloc(list->count + 1, sizeof(*m.values));
	if (list->count > 1)
		qsort(list->at, list->count, sizeof(*list->at),
		    csr_entry_compare_cb);
	for (size_t i = 0; i < list->count; i++) {
		const struct csr_entry *e = &list->at[i];

		if (i > 0 && csr_entry_compare_cb(e, e - 1) == 0) {
			m.values[m.nonzeros - 1] += e->value;
			continue;
		}
		m.starts[e->row + 1]++;
		m.columns[m.nonzeros] = e->column;
		m.values[m.nonzeros++] = e->value;
	}
	for (uint32_t i = 0; i < rows; i++)
		m.starts[i + 1] += m.starts[i];
	free(list->at);
	memset(list, 0, sizeof(*list));
	*ret = m;
}

void
csr_clear(struct csr *m)
{
	free(m->starts);
	free(m->columns);
	free(m->values);
	memset(m, 0, sizeof(*m));
}

uint32_t
csr_block(const struct csr *m, uint32_t ranks, uint32_t rank)
{
	return (uint32_t)((uint64_t)rank * m->rows / ranks);
}

/* The inverse of csr_block: the last rank whose block starts no later. */
uint32_t
csr_owner(const struct csr *m, uint32_t ranks, uint32_t row)
{
	return (uint32_t)((((uint64_t)row + 1) * ranks - 1) / m->rows);
}

void
csr_graph(const struct csr *m, uint32_t ranks, struct graph *ret)
{
	uint32_t *seen = xcalloc(ranks,
	    sizeof(*seen)); /* last rank that needed the column, + 1 */

	memset(ret, 0, sizeof(*ret));
	ret->ranks = ranks;
	for (uint32_t row = 0; row < m->rows; row++) {
		uint32_t dst = csr_owner(m, ranks, row);

		for (size_t i = m->starts[row]; i < m->starts[row + 1]; i++) {
			uint32_t src = csr_owner(m, ranks, m->columns[i]);

			if (src == dst || seen[src] == dst + 1)
				continue;
			seen[src] = dst + 1;
			graph_add(ret, src, dst);
		}
	}
	free(seen);
}

#define LINE_MAX_BYTES 1024 /* as the format says */
#define WORDS_MAX      6

struct mtx_reader {
	const char *name, *at, *end;
	long line;
	char text[LINE_MAX_BYTES + 1];
	char *words[WORDS_MAX];
	int words_count; /* one more than WORDS_MAX: too many */
	int pattern, whole;
	int sign; /* of the mirrored entry; 0: none */
	uint32_t rows;
	struct err *err;
};

static int __attribute__((format(printf, 2, 3)))
csr_mtx_refuse(const struct mtx_reader *r, const char *fmt, ...)
{
	va_list ap;
	struct err what;

	va_start(ap, fmt);
	err_vsay(&what, fmt, ap);
	va_end(ap);
	return err_set(r->err, -EINVAL, "%.200s:%ld: %s", r->name,
	    r->line > 0 ? r->line : 1, what.text);
}

/* The next line as words: 1, 0 at the end, or -EINVAL. */
static int
csr_line_read(struct mtx_reader *r)
{
	const char *stop;
	char *save = NULL;
	size_t n;

	if (r->at == r->end)
		return 0;
	stop = memchr(r->at, '\n', (size_t)(r->end - r->at));
	stop = stop == NULL ? r->end : stop;
	n = (size_t)(stop - r->at);
	r->line++;
	if (n > LINE_MAX_BYTES || memchr(r->at, '\0', n) != NULL)
		return csr_mtx_refuse(r,
		    "expected lines of text, at most %d bytes", LINE_MAX_BYTES);
	memcpy(r->text, r->at, n);
	r->text[n] = '\0';
	r->at = stop < r->end ? stop + 1 : r->end;
	r->words_count = 0;
	for (char *w = strtok_r(r->text, " \t\r", &save); w != NULL;
	     w = strtok_r(NULL, " \t\r", &save)) {
		if (r->words_count < WORDS_MAX)
			r->words[r->words_count] = w;
		if (++r->words_count > WORDS_MAX)
			break;
	}
	return 1;
}

/* The next line that is neither empty nor a comment. */
static int
csr_data_read(struct mtx_reader *r)
{
	int rc;

	do
		rc = csr_line_read(r);
	while (rc == 1 && (r->words_count == 0 || r->words[0][0] == '%'));
	return rc;
}

static int
csr_heading_read(struct mtx_reader *r)
{
	static const struct {
		const char *word;
		int sign;
	} symmetries[] = { { "general", 0 }, { "symmetric", 1 },
		{ "skew-symmetric", -1 } };
	int rc = csr_line_read(r);

	if (rc < 0)
		return rc;
	if (rc == 0 || r->words_count != 5 ||
	    strcasecmp(r->words[0], "%%MatrixMarket") != 0 ||
	    strcasecmp(r->words[1], "matrix") != 0)
		return csr_mtx_refuse(r,
		    "expected %%%%MatrixMarket matrix coordinate "
		    "FIELD SYMMETRY");
	if (strcasecmp(r->words[2], "coordinate") != 0)
		return csr_mtx_refuse(r, "%.40s: expected coordinate",
		    r->words[2]);
	r->pattern = strcasecmp(r->words[3], "pattern") == 0;
	r->whole = strcasecmp(r->words[3], "integer") == 0;
	if (!r->pattern && !r->whole && strcasecmp(r->words[3], "real") != 0)
		return csr_mtx_refuse(r,
		    "%.40s: expected real, integer or pattern", r->words[3]);
	for (size_t i = 0; i < ARRAY_LEN(symmetries); i++) {
		r->sign = symmetries[i].sign;
		if (strcasecmp(r->words[4], symmetries[i].word) == 0)
			return 0;
	}
	return csr_mtx_refuse(r,
	    "%.40s: expected general, symmetric or "
	    "skew-symmetric",
	    r->words[4]);
}

/* One line of an entry; the other half of a symmetric matrix comes from it. */
static int
csr_entry_read(struct mtx_reader *r, struct csr_entries *list)
{
	int64_t row = 0, column = 0, whole = 0;
	double value = 1;
	int rc = r->words_count == (r->pattern ? 2 : 3) ? 0 : -EINVAL;

	if (rc == 0)
		rc = str_to_int(r->words[0], 1, r->rows, &row);
	if (rc == 0)
		rc = str_to_int(r->words[1], 1, r->rows, &column);
	if (rc == 0 && r->whole) {
		rc = str_to_int(r->words[2], INT64_MIN, INT64_MAX, &whole);
		value = (double)whole;
	} else if (rc == 0 && !r->pattern) {
		rc = str_to_double(r->words[2], -1e300, 1e300, &value);
	}
	if (rc < 0)
		return csr_mtx_refuse(r, "expected row column%s, 1 to %u",
		    r->pattern     ? ""
			: r->whole ? " and a whole number"
				   : " and a number",
		    r->rows);
	if (r->sign != 0 && column > row)
		return csr_mtx_refuse(r,
		    "above the diagonal: expected row >= column "
		    "in a symmetric matrix");
	csr_entries_add(list, (uint32_t)row - 1, (uint32_t)column - 1, value);
	if (r->sign != 0 && column != row)
		csr_entries_add(list, (uint32_t)column - 1, (uint32_t)row - 1,
		    r->sign * value);
	return 0;
}

int
mtx_parse(const char *name, const char *text, size_t len_bytes, struct csr *ret,
    struct err *err)
{
	struct mtx_reader r = { .name = name,
		.at = text,
		.end = text + len_bytes,
		.err = err };
	int64_t rows = 0, columns = 0, entries = 0;
	struct csr_entries list = { 0 };
	int64_t count = 0;
	int rc = csr_heading_read(&r);

	if (rc == 0)
		rc = csr_data_read(&r);
	if (rc < 0)
		return rc;
	if (rc == 0 || r.words_count != 3 ||
	    str_to_int(r.words[0], 1, CSR_ROWS_MAX, &rows) < 0 ||
	    str_to_int(r.words[1], 1, CSR_ROWS_MAX, &columns) < 0 ||
	    str_to_int(r.words[2], 0, CSR_NONZEROS_MAX, &entries) < 0)
		return csr_mtx_refuse(&r,
		    "expected rows columns entries: 1 to %u twice, 0 to %u",
		    CSR_ROWS_MAX, CSR_NONZEROS_MAX);
	if (rows != columns)
		return csr_mtx_refuse(&r,
		    "%lld rows and %lld columns: expected a square matrix",
		    (long long)rows, (long long)columns);
	r.rows = (uint32_t)rows;
	rc = 0;
	while (rc == 0 && (rc = csr_data_read(&r)) == 1)
		rc = count++ < entries
		    ? csr_entry_read(&r, &list)
		    : csr_mtx_refuse(&r, "expected %lld entries",
			  (long long)entries);
	if (rc == 0 && count < entries)
		rc = csr_mtx_refuse(&r, "%lld entries: the header has %lld",
		    (long long)count, (long long)entries);
	if (rc == 0)
		csr_make(r.rows, &list, ret);
	free(list.at);
	return rc;
}

int
mtx_load(const char *path, struct csr *ret, struct err *err)
{
	size_t len = 0;
	char *text = NULL;
	int rc = file_read(path, NUMBERS_FILE_MAX, &text, &len, err);

	if (rc < 0)
		return rc;
	rc = mtx_parse(path, text, len, ret, err);
	free(text);
	return rc;
}
