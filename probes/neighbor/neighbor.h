/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neighbor.h - the specification of a neighborhood allgather(v): the graph, the
 * bytes of each rank, the nodes of the ranks, and the links between the devices
 * of a node.
 *
 * Rank r is device r % per_node of node r / per_node. The last node can have
 * fewer ranks.
 */
#ifndef PROBES_NEIGHBOR_NEIGHBOR_H
#define PROBES_NEIGHBOR_NEIGHBOR_H

#include <stddef.h>
#include <stdint.h>

#include "common/conf.h"
#include "common/err.h"
#include "probes/neighbor/csr.h"
#include "probes/neighbor/graph.h"
#include "probes/neighbor/links.h"
#include "probes/pattern/numbers.h"
#include "probes/plan/plan.h"

#define NEIGHBOR_SECTION "neighbor"

/* A specification; free its members with neighbor_clear. */
struct neighbor {
	struct graph graph; /* sorted */
	/* Bytes that each rank sends to each of its neighbours. */
	uint64_t *sizes;
	uint32_t ranks; /* number of ranks of the graph */
	uint32_t per_node;
	struct links links;
	/* A message is cut only at multiples of this many bytes. */
	uint64_t unit;
	uint64_t threshold; /* bytes; smaller messages go directly */
	double density;     /* density of a random graph, else < 0 */
	int dataflow;       /* 1: each source has a channel of its own */
	struct csr matrix;  /* sparse matrix of a product; rows 0: none */
	uint32_t columns;   /* columns of the dense matrix, of 8 bytes each */
	/* Transports of the steps scatter, exchange and peer copy. */
	uint8_t vias[3];
};

/* Return the plan for this many ranks, or for nb->ranks if that is more. The
 * caller frees it with plan_free. */
struct plan *neighbor_plan(const struct neighbor *nb, uint32_t ranks,
    const char *title);

#endif
