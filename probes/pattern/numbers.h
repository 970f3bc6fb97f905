/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numbers.h - lines of whole numbers from a file that is not trusted.
 *
 * Numbers are separated by blanks, '#' starts a comment, empty lines do not
 * count. The callers matrix.c, graph.c and links.c interpret the rows.
 */
#ifndef PROBES_PATTERN_NUMBERS_H
#define PROBES_PATTERN_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

#define NUMBERS_FILE_MAX (256UL * 1024 * 1024) /* bytes, for file_read */

/* The text of a file; name in messages. */
struct numbers_text {
	const char *name;
	const char *text;
	size_t len_bytes;
};

/* Set name, max and err, most where it is known, and line where the
 * text does not begin at line 1; the rest starts as 0. */
struct numbers {
	const char *name; /* of the file, in messages */
	uint64_t max;     /* of a number */
	size_t most;      /* numbers; 0: as many as there are */
	struct err *err;
	long line; /* the last one read */
	uint64_t *all;
	size_t count;
	size_t *rows; /* first number of each row, and the count */
	long *lines;  /* of each row */
	size_t rows_count, rows_cap;
};

/* Read the numbers. Return 0, or -EINVAL and "name:line: the error and the
 * expected value". */
int numbers_read(struct numbers *n, const char *text, size_t len_bytes);
void numbers_clear(struct numbers *n); /* frees */

size_t numbers_columns(const struct numbers *n, size_t row);
/* Fail for a line with -EINVAL. fmt names the expected value. */
int numbers_refuse(const struct numbers *n, long line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- shipped.c: files of etc/topologies and etc/patterns as texts; the build
 * makes the sources from them, so that a program needs no file to know them
 * ---- */

struct shipped {
	const char *name; /* of the file, up to its first dot */
	const char *text;
};

/* Each ends with a NULL name. */
extern const struct shipped links_files[];
extern const struct shipped matrix_files[];

#endif
