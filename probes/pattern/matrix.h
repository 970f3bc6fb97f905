/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matrix.h - who sends how much to whom, from a file that is not trusted.
 *
 * A matrix is text: as many rows as columns, senders are rows, whole numbers
 * of elements. A list has lines "src dst bytes"; equal pairs add up. '#' starts
 * a comment. A list is told from a matrix by its three columns; three lines of
 * three numbers that could be either are refused, and the format must be said.
 */
#ifndef PROBES_PATTERN_MATRIX_H
#define PROBES_PATTERN_MATRIX_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "probes/pattern/numbers.h"

#define MATRIX_RANKS_MAX 4096
#define MATRIX_CELL_MAX  (1ULL << 50)

enum matrix_format { MATRIX_AUTO, MATRIX_MATRIX, MATRIX_LIST };

struct matrix {
	uint32_t ranks;
	int is_list;     /* cells are bytes, not elements */
	uint64_t *cells; /* [sender * ranks + receiver] */
};

/* ranks: how many there are, 0 if the file says. -EINVAL and "name:line: what
 * is wrong and what is allowed". The caller ends *ret with matrix_clear. */
int matrix_parse(const struct numbers_text *from, enum matrix_format format,
    uint32_t ranks, struct matrix *ret, struct err *err);
/* A file, or by its name what is shipped (etc/patterns). -errno where it cannot
 * be read. */
int matrix_load(const char *path, enum matrix_format format, uint32_t ranks,
    struct matrix *ret, struct err *err);
void matrix_clear(struct matrix *m);

#endif
