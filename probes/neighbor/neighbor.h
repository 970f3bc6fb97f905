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
#include "probes/neighbor/csr.h"
#include "probes/neighbor/graph.h"
#include "probes/neighbor/links.h"
#include "probes/plan/plan.h"

#define NEIGHBOR_SECTION "neighbor"

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

uint32_t neighbor_nodes(const struct neighbor *nb);

/* Numbers of bytes, least to most of them, as sizes and ranks of nb; -EINVAL
 * and "name:line: ...". */
int neighbor_sizes_parse(const struct numbers_text *from, uint32_t least,
    uint32_t most, struct neighbor *nb, struct err *err);

/* Bytes that pass between nodes. Direct: every edge by itself, as MPI's own
 * neighborhood collectives send them; leader: one message for all receivers
 * of a source on a node. */
struct neighbor_load {
	uint64_t out_bytes, in_bytes;
};
struct neighbor_loads {
	uint32_t nodes;
	struct neighbor_load *direct, *leader; /* by node */
	uint64_t direct_bytes, leader_bytes;   /* of all nodes */
};
void neighbor_loads_make(const struct neighbor *nb, struct neighbor_loads *ret);
void neighbor_loads_clear(struct neighbor_loads *nl); /* frees */

/* The most that leaders can gain where the network alone costs time: the
 * fullest direction of a node, direct over leader. 1 when nothing passes. */
double neighbor_loads_bound(const struct neighbor_loads *nl);
/* direct over leader of all bytes; 1 when nothing passes. */
double neighbor_loads_ratio(const struct neighbor_loads *nl);
/* What that is expected to be for random graphs:
 * density * g / (1 - (1 - density)^g), g ranks on a node. */
double neighbor_ratio_expected(double density, uint32_t per_node);

#endif
