/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matrix.h - who sends how much to whom.
 *
 * A matrix is text: as many rows as columns, senders are rows, whole numbers
 * of elements. A list has lines "src dst bytes"; equal pairs add up. A list is
 * told from a matrix by its three columns; three lines of three numbers that
 * could be either are refused, and the format must be said.
 */
#ifndef PROBES_PATTERN_MATRIX_H
#define PROBES_PATTERN_MATRIX_H

#include <stdint.h>

#include "common/err.h"

#define MATRIX_RANKS_MAX 4096
#define MATRIX_CELL_MAX  (1ULL << 50)

enum matrix_format { MATRIX_AUTO, MATRIX_MATRIX, MATRIX_LIST };

struct matrix {
	uint32_t ranks;
	int is_list;     /* cells are bytes, not elements */
	uint64_t *cells; /* [sender * ranks + receiver] */
};

/* A file, or by its name what is shipped (etc/patterns). -errno where it cannot
 * be read. */
int matrix_load(const char *path, enum matrix_format format, uint32_t ranks,
    struct matrix *ret, struct err *err);
void matrix_clear(struct matrix *m);

#endif
