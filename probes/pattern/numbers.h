/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numbers.h - parse lines of whole numbers from a file that is not trusted.
 *
 * Numbers are separated by blanks, '#' starts a comment, and empty lines are
 * ignored. The callers matrix.c, graph.c and links.c interpret the rows.
 */
#ifndef PROBES_PATTERN_NUMBERS_H
#define PROBES_PATTERN_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

#define NUMBERS_FILE_MAX (256UL * 1024 * 1024) /* bytes, for file_read */

/* The text of a file; name is for error messages. */
struct numbers_text {
	const char *name;
	const char *text;
	size_t len_bytes;
};

/* The state and the result of parsing. The caller sets name, max and err, most
 * if it is known, and line if the text does not begin at line 1. All other
 * members begin as 0. */
struct numbers {
	const char *name; /* name of the file */
	uint64_t max;     /* largest valid number */
	size_t most;      /* largest count of numbers; 0: no limit */
	struct err *err;
	long line; /* the last line that was read */
	uint64_t *all;
	size_t count;
	/* Position in all of the first number of each row, then the count. */
	size_t *rows;
	long *lines; /* line of each row */
	size_t rows_count, rows_cap;
};

/* Parse the text. Return 0, or -EINVAL with "NAME:LINE: the error and the
 * expected value" in n->err. */
int numbers_read(struct numbers *n, const char *text, size_t len_bytes);
void numbers_clear(struct numbers *n); /* frees the lists */

/* Return the count of numbers in a row. */
size_t numbers_columns(const struct numbers *n, size_t row);
/* Write an error about a line to n->err; fmt names the expected value. Return
 * -EINVAL. */
int numbers_refuse(const struct numbers *n, long line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- shipped.c: the files of etc/topologies and etc/patterns as texts. The
 * build generates them, so that a program knows them without the files. ---- */

struct shipped {
	const char *name; /* name of the file up to its first dot */
	const char *text;
};

/* Each table ends with a NULL name. */
extern const struct shipped links_files[];
extern const struct shipped matrix_files[];

#endif
