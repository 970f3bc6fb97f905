/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neighbor.h - a neighborhood allgather(v) as it was asked for: who has which
 * neighbours, how much each rank gives, where ranks lie and how devices of a
 * node are wired.
 *
 * Rank r is device r % per_node of node r / per_node. The last node may be
 * smaller.
 */
#ifndef PROBES_NEIGHBOR_NEIGHBOR_H
#define PROBES_NEIGHBOR_NEIGHBOR_H

#include <stddef.h>
#include <stdint.h>

#include "common/conf.h"
#include "common/err.h"
#include "probes/neighbor/links.h"
#include "probes/pattern/numbers.h"
#include "probes/plan/plan.h"

/* ---- graph.c: who is whose neighbour: directed, with duplicates and self
 * edges ----
 *
 * A graph is a list of edges. What MPI calls a rank's destinations are its
 * edges as a source in the order of the list; the order means nothing here.
 */

#define GRAPH_RANKS_MAX 4096
#define GRAPH_EDGES_MAX (1U << 23)
#define GRAPH_DIMS_MAX  8

struct graph_edge {
	uint32_t src, dst;
};

struct graph {
	uint32_t ranks;
	struct graph_edge *edges;
	size_t count;
};

struct graph_dims {
	uint32_t count;
	uint32_t extent[GRAPH_DIMS_MAX]; /* the last varies fastest */
};

void graph_clear(struct graph *g); /* frees */
void graph_add(struct graph *g, uint32_t src, uint32_t dst);
/* By source, then destination; duplicates stay. */
void graph_sort(struct graph *g);

/* Lines "src dst"; ranks 0: one more than the highest. -EINVAL and
 * "name:line: ...", -errno and "path: ...". The caller ends *ret with
 * graph_clear. */
int graph_parse(const struct numbers_text *from, uint32_t ranks,
    struct graph *ret, struct err *err);
int graph_load(const char *path, uint32_t ranks, struct graph *ret,
    struct err *err);

/* Erdos-Renyi: each ordered pair of two ranks with probability density, by a
 * hash of the pair and the seed. So a graph of more density has all edges of
 * one of less, and one of more ranks all edges of one of fewer. */
void graph_random(uint32_t ranks, double density, uint64_t seed,
    struct graph *ret);

/* ranks as a product of count extents, as equal as prime factors allow,
 * falling: what MPI_Dims_create gives. */
void graph_dims_make(uint32_t ranks, uint32_t count, struct graph_dims *ret);
/* Neighbours of a rank in graph_moore. */
double graph_moore_degree(const struct graph_dims *d, uint32_t radius);
/* Everyone within radius along each dimension of a torus, row-major, once
 * each and without oneself. */
void graph_moore(const struct graph_dims *d, uint32_t radius,
    struct graph *ret);
/* The two next along each dimension, as in MPI_Cart_create with all periods
 * set: twice the same where an extent is 2, twice oneself where it is 1. */
void graph_cart(const struct graph_dims *d, struct graph *ret);

/* ---- the others ---- */

#define NEIGHBOR_SECTION "neighbor"

/* ---- csr.c: a square sparse matrix by rows, in blocks over ranks ----
 *
 * Rank p of P owns rows [floor(p n / P), floor((p + 1) n / P)) of the matrix
 * and of everything it is multiplied with. */
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
/* Who needs rows of whom for a product: an edge from the owner of a column to
 * the owner of a row with a nonzero there, once, none to oneself. */
void csr_graph(const struct csr *m, uint32_t ranks, struct graph *ret);

/* Matrix Market files, which are not trusted (Boisvert, Pozo, Remington, "The
 * Matrix Market Exchange Formats", NISTIR 5935, 1996): coordinate, real,
 * integer or pattern (all values 1), general, symmetric or skew-symmetric.
 * Entries of one place add up. -EINVAL and "name:line: what is wrong and what
 * is allowed"; -errno and "path: why". The caller ends *ret with csr_clear. */
int mtx_parse(const char *name, const char *text, size_t len_bytes,
    struct csr *ret, struct err *err);
int mtx_load(const char *path, struct csr *ret, struct err *err);

/* ---- what was asked for ---- */

struct neighbor {
	struct graph graph; /* sorted */
	uint64_t *sizes;    /* bytes that each rank gives to all that ask */
	uint32_t ranks;     /* of the graph */
	uint32_t per_node;
	struct links links;
	uint64_t unit;      /* bytes; cuts of a message lie at multiples */
	uint64_t threshold; /* bytes; smaller messages go directly */
	double density;     /* of a random graph, else < 0 */
	int dataflow;       /* a channel for each source */
	struct csr matrix;  /* to multiply with; rows 0: none */
	uint32_t columns;   /* of the dense matrix, 8 bytes each */
	uint8_t vias[3];    /* of scatter, exchange and peer copy */
};

/* ranks: how many there are, 0: as many as it takes. -EINVAL (or -errno) and
 * why. The caller ends *ret with neighbor_clear. */
int neighbor_read(const struct conf *c, uint32_t ranks, struct neighbor *ret,
    struct err *err);
void neighbor_clear(struct neighbor *nb); /* frees */

/* The plan, for so many ranks or those of nb if these are more; the caller
 * ends it with plan_free. */
struct plan *neighbor_plan(const struct neighbor *nb, uint32_t ranks,
    const char *title);

/* Numbers of bytes, least to most of them, as sizes and ranks of nb; -EINVAL
 * and "name:line: ...". */
int neighbor_sizes_parse(const struct numbers_text *from, uint32_t least,
    uint32_t most, struct neighbor *nb, struct err *err);

#endif
