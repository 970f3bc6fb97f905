/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph.h - the graph of neighbours of a neighborhood collective: a list of
 * directed edges between ranks. Duplicates and edges from a rank to itself are
 * valid.
 *
 * In MPI, the destinations of a rank are its edges as a source, in the order of
 * the list. Here the order has no meaning.
 */
#ifndef PROBES_NEIGHBOR_GRAPH_H
#define PROBES_NEIGHBOR_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "probes/pattern/numbers.h"

#define GRAPH_RANKS_MAX 4096
#define GRAPH_EDGES_MAX (1U << 23)
#define GRAPH_DIMS_MAX  8

/* A directed edge. */
struct graph_edge {
	uint32_t src, dst;
};

/* A graph. graph_clear frees it. */
struct graph {
	uint32_t ranks;
	struct graph_edge *edges;
	size_t count;
};

/* The extents of a grid of ranks. */
struct graph_dims {
	uint32_t count;
	uint32_t extent[GRAPH_DIMS_MAX]; /* the last varies fastest */
};

void graph_clear(struct graph *g); /* frees the edges */
/* Append an edge. */
void graph_add(struct graph *g, uint32_t src, uint32_t dst);
/* Sort the edges by source, then by destination; duplicates stay. */
void graph_sort(struct graph *g);

/* Parse a text of lines "src dst", or load a file. ranks: the number of ranks;
 * 0: one more than the highest. Return 0 and the graph, which the caller frees
 * with graph_clear; -EINVAL with "NAME:LINE: ..." in err; or -errno with "PATH:
 * ...". */
int graph_parse(const struct numbers_text *from, uint32_t ranks,
    struct graph *ret, struct err *err);
int graph_load(const char *path, uint32_t ranks, struct graph *ret,
    struct err *err);

/* Make an Erdos-Renyi graph: each ordered pair of two ranks is an edge with
 * probability density, by a hash of the pair and the seed. Therefore a graph
 * with a higher density contains all edges of one with a lower density, and one
 * with more ranks contains all edges of one with fewer. */
void graph_random(uint32_t ranks, double density, uint64_t seed,
    struct graph *ret);

/* Compute ranks as a product of count extents, which are as equal as the prime
 * factors allow, and descend: the result of MPI_Dims_create. */
void graph_dims_make(uint32_t ranks, uint32_t count, struct graph_dims *ret);
/* Return the number of neighbours of a rank in graph_moore. */
double graph_moore_degree(const struct graph_dims *d, uint32_t radius);
/* Make the graph in which the neighbours of a rank are all ranks within radius
 * along each dimension of a torus, in row-major order; each once, and not the
 * rank itself. */
void graph_moore(const struct graph_dims *d, uint32_t radius,
    struct graph *ret);
/* Make the graph of the two nearest neighbours along each dimension, as with
 * MPI_Cart_create and all periods set. An extent of 2 gives the same neighbour
 * twice, an extent of 1 gives the rank itself twice. */
void graph_cart(const struct graph_dims *d, struct graph *ret);

#endif
