/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph.h - the graph of neighbours: directed, with duplicates and self edges.
 *
 * A graph is a list of edges. A rank's destinations in MPI are its edges as a
 * source in the order of the list; the order has no meaning here.
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

#endif
