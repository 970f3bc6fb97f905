/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csr.h - a square sparse matrix in compressed rows (CSR), distributed over
 * ranks in blocks of rows.
 *
 * Rank p of P owns the rows [floor(p n / P), floor((p + 1) n / P)) of the n
 * rows of the matrix, and the same rows of everything with which the matrix is
 * multiplied.
 */
#ifndef PROBES_NEIGHBOR_CSR_H
#define PROBES_NEIGHBOR_CSR_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "probes/neighbor/graph.h"

#define CSR_ROWS_MAX     (1U << 24)
#define CSR_NONZEROS_MAX (1U << 26)

/* A nonzero of the matrix. */
struct csr_entry {
	double value;
	uint32_t row, column;
};

/* A list of nonzeros. */
struct csr_entries {
	struct csr_entry *at;
	size_t count;
};

/* A matrix. The nonzeros of row r are columns[starts[r]] to columns[starts[r +
 * 1] - 1], with their values. */
struct csr {
	uint32_t rows;
	size_t nonzeros;
	/* Position of the first nonzero of each row, then the count. */
	size_t *starts;
	uint32_t *columns; /* ascending within a row */
	double *values;
};

void csr_clear(struct csr *m); /* frees the arrays */

/* Return the first row of a rank. For rank == ranks, return the number of
 * rows. */
uint32_t csr_block(const struct csr *m, uint32_t ranks, uint32_t rank);
/* Return the rank that owns a row. */
uint32_t csr_owner(const struct csr *m, uint32_t ranks, uint32_t row);
/* Make the graph of the messages of a product: an edge from the owner of a
 * column to the owner of a row, once, if the matrix has a nonzero there; no
 * edges from a rank to itself. The caller frees *ret with graph_clear. */
void csr_graph(const struct csr *m, uint32_t ranks, struct graph *ret);

/* Parse a text, or load a file, in the Matrix Market format (Boisvert, Pozo,
 * Remington, "The Matrix Market Exchange Formats", NISTIR 5935, 1996). The text
 * is not trusted. Supported: coordinate; real, integer or pattern (all values
 * 1); general, symmetric or skew-symmetric. Entries at the same place are added
 * up. Return 0 and the matrix, which the caller frees with csr_clear; -EINVAL
 * with "NAME:LINE: the error and the expected value" in err; or -errno with
 * "PATH: the reason". */
int mtx_parse(const char *name, const char *text, size_t len_bytes,
    struct csr *ret, struct err *err);
int mtx_load(const char *path, struct csr *ret, struct err *err);

#endif
