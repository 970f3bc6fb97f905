/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/neighbor/mtx.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/err.h"
#include "common/file.h"
#include "common/str.h"
#include "probes/pattern/numbers.h"

#define LINE_MAX_BYTES 1024 /* as the format says */
#define WORDS_MAX      6

struct reader {
	const char *name, *at, *end;
	long line;
	char text[LINE_MAX_BYTES + 1];
	char *words[WORDS_MAX];
	int words_count; /* one more than WORDS_MAX: too many */
	int pattern, whole;
	int sign; /* of the mirrored entry; 0: none */
	uint32_t rows;
	size_t entries;
	struct err *err;
};

static int __attribute__((format(printf, 2, 3)))
refuse(const struct reader *r, const char *fmt, ...)
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
line_read(struct reader *r)
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
		return refuse(r, "allowed are lines of text, at most %d bytes",
		    LINE_MAX_BYTES);
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
data_read(struct reader *r)
{
	int rc;

	do
		rc = line_read(r);
	while (rc == 1 && (r->words_count == 0 || r->words[0][0] == '%'));
	return rc;
}

static int
heading_read(struct reader *r)
{
	static const struct {
		const char *word;
		int sign;
	} symmetries[] = { { "general", 0 }, { "symmetric", 1 },
		{ "skew-symmetric", -1 } };
	int rc = line_read(r);

	if (rc < 0)
		return rc;
	if (rc == 0 || r->words_count != 5 ||
	    strcasecmp(r->words[0], "%%MatrixMarket") != 0 ||
	    strcasecmp(r->words[1], "matrix") != 0)
		return refuse(r,
		    "allowed is %%%%MatrixMarket matrix coordinate "
		    "FIELD SYMMETRY");
	if (strcasecmp(r->words[2], "coordinate") != 0)
		return refuse(r, "%.40s: allowed is coordinate", r->words[2]);
	r->pattern = strcasecmp(r->words[3], "pattern") == 0;
	r->whole = strcasecmp(r->words[3], "integer") == 0;
	if (!r->pattern && !r->whole && strcasecmp(r->words[3], "real") != 0)
		return refuse(r, "%.40s: allowed is real, integer or pattern",
		    r->words[3]);
	for (size_t i = 0; i < ARRAY_LEN(symmetries); i++) {
		r->sign = symmetries[i].sign;
		if (strcasecmp(r->words[4], symmetries[i].word) == 0)
			return 0;
	}
	return refuse(r,
	    "%.40s: allowed is general, symmetric or "
	    "skew-symmetric",
	    r->words[4]);
}

static int
size_read(struct reader *r)
{
	int64_t rows, columns, entries;
	int rc = data_read(r);

	if (rc < 0)
		return rc;
	if (rc == 0 || r->words_count != 3 ||
	    str_to_int(r->words[0], 1, CSR_ROWS_MAX, &rows) < 0 ||
	    str_to_int(r->words[1], 1, CSR_ROWS_MAX, &columns) < 0 ||
	    str_to_int(r->words[2], 0, CSR_NONZEROS_MAX, &entries) < 0)
		return refuse(r,
		    "allowed is rows columns entries: 1 to %u "
		    "twice, 0 to %u",
		    CSR_ROWS_MAX, CSR_NONZEROS_MAX);
	if (rows != columns)
		return refuse(r,
		    "%lld rows and %lld columns: allowed are as "
		    "many rows as columns",
		    (long long)rows, (long long)columns);
	r->rows = (uint32_t)rows;
	r->entries = (size_t)entries;
	return 0;
}

static int
value_read(struct reader *r, double *ret)
{
	int64_t whole;

	*ret = 1;
	if (r->pattern)
		return 0;
	if (!r->whole)
		return str_to_double(r->words[2], -1e300, 1e300, ret);
	if (str_to_int(r->words[2], INT64_MIN, INT64_MAX, &whole) < 0)
		return -EINVAL;
	*ret = (double)whole;
	return 0;
}

static int
entry_read(struct reader *r, struct csr_entries *list)
{
	int64_t row, column;
	double value;

	if (r->words_count != (r->pattern ? 2 : 3) ||
	    str_to_int(r->words[0], 1, r->rows, &row) < 0 ||
	    str_to_int(r->words[1], 1, r->rows, &column) < 0 ||
	    value_read(r, &value) < 0)
		return refuse(r, "allowed is row column%s, 1 to %u",
		    r->pattern     ? ""
			: r->whole ? " and a whole number"
				   : " and a number",
		    r->rows);
	if (r->sign != 0 && column > row)
		return refuse(r,
		    "above the diagonal: allowed is row >= column "
		    "in a symmetric matrix");
	csr_entries_add(list, (uint32_t)row - 1, (uint32_t)column - 1, value);
	if (r->sign != 0 && column != row)
		csr_entries_add(list, (uint32_t)column - 1, (uint32_t)row - 1,
		    r->sign * value);
	return 0;
}

static int
entries_read(struct reader *r, struct csr_entries *list)
{
	size_t count = 0;
	int rc = data_read(r);

	for (; rc == 1; rc = data_read(r)) {
		if (count++ == r->entries)
			return refuse(r, "allowed are %zu entries", r->entries);
		rc = entry_read(r, list);
		if (rc < 0)
			return rc;
	}
	if (rc == 0 && count < r->entries)
		return refuse(r, "%zu entries: the heading says %zu", count,
		    r->entries);
	return rc;
}

int
mtx_parse(const char *name, const char *text, size_t len_bytes, struct csr *ret,
    struct err *err)
{
	struct reader r = { .name = name,
		.at = text,
		.end = text + len_bytes,
		.err = err };
	struct csr_entries list = { 0 };
	int rc = heading_read(&r);

	if (rc == 0)
		rc = size_read(&r);
	if (rc == 0)
		rc = entries_read(&r, &list);
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
