/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matrix.h - read the number of bytes from each rank to each other rank.
 *
 * A matrix is text with as many rows as columns; rows are senders, and cells
 * are whole numbers of elements. A list has lines "src dst bytes"; lines with
 * the same pair are added up. A list is recognised by its three columns. Three
 * lines of three numbers could be either, and are rejected unless the format is
 * given.
 */
#ifndef PROBES_PATTERN_MATRIX_H
#define PROBES_PATTERN_MATRIX_H

#include <stdint.h>

#include "common/err.h"

#define MATRIX_RANKS_MAX 4096
#define MATRIX_CELL_MAX  (1ULL << 50) /* largest value of a cell */

/* MATRIX_AUTO: recognise the format as described above. */
enum matrix_format { MATRIX_AUTO, MATRIX_MATRIX, MATRIX_LIST };

/* The bytes or elements of all pairs of ranks. */
struct matrix {
	uint32_t ranks;
	int is_list;     /* cells are bytes, not elements */
	uint64_t *cells; /* [sender * ranks + receiver] */
};

/* Load a file, or a shipped one by its name (etc/patterns). ranks: the number
 * of ranks, or 0 if the file decides. Return 0 and the matrix, which the caller
 * frees with matrix_clear; -errno if the file cannot be read; -EINVAL if it is
 * malformed. err has the reason. */
int matrix_load(const char *path, enum matrix_format format, uint32_t ranks,
    struct matrix *ret, struct err *err);
void matrix_clear(struct matrix *m); /* frees the cells */

#endif
