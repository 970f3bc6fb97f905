/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matrix.h - the number of bytes from each rank to each other rank.
 *
 * A matrix is text: as many rows as columns, senders are rows, whole numbers of
 * elements. A list has lines "src dst bytes"; equal pairs add up. A list is
 * recognised by its three columns. Three lines of three numbers could be either
 * and are rejected unless the format is given.
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

/* Load a file, or a shipped one by its name (etc/patterns). Return -errno if it
 * cannot be read. */
int matrix_load(const char *path, enum matrix_format format, uint32_t ranks,
    struct matrix *ret, struct err *err);
void matrix_clear(struct matrix *m);

#endif
