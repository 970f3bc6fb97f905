/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csr.h - a square sparse matrix by rows, in blocks over ranks.
 *
 * Rank p of P owns rows [floor(p n / P), floor((p + 1) n / P)) of the matrix
 * and of everything it is multiplied with.
 */
#ifndef PROBES_NEIGHBOR_CSR_H
#define PROBES_NEIGHBOR_CSR_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "probes/neighbor/graph.h"

#define CSR_ROWS_MAX     (1U << 24)
#define CSR_NONZEROS_MAX (1U << 26)

struct csr_entry {
	double value;
	uint32_t row, column;
};

struct csr_entries {
	struct csr_entry *at;
	size_t count;
};

struct csr {
	uint32_t rows;
	size_t nonzeros;
	size_t *starts;    /* first of each row, and the count */
	uint32_t *columns; /* ascending within a row */
	double *values;
};

void csr_clear(struct csr *m); /* frees */

/* The first row of rank, or of the one behind the last. */
uint32_t csr_block(const struct csr *m, uint32_t ranks, uint32_t rank);
/* The rank that owns a row. */
uint32_t csr_owner(const struct csr *m, uint32_t ranks, uint32_t row);
/* Build the graph of row owners for a product: an edge from the owner of a
 * column to the owner of a row with a nonzero there, once, without self
 * edges. */
void csr_graph(const struct csr *m, uint32_t ranks, struct graph *ret);

/* Matrix Market files, which are not trusted (Boisvert, Pozo, Remington, "The
 * Matrix Market Exchange Formats", NISTIR 5935, 1996): coordinate, real,
 * integer or pattern (all values 1), general, symmetric or skew-symmetric.
 * Entries of one place add up. Return -EINVAL and "name:line: the error and the
 * expected value"; -errno and "path: why". The caller ends *ret with
 * csr_clear. */
int mtx_parse(const char *name, const char *text, size_t len_bytes,
    struct csr *ret, struct err *err);
int mtx_load(const char *path, struct csr *ret, struct err *err);

#endif
