/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neighbor.h - the specification of a neighborhood allgather(v): the graph, the
 * bytes of each rank, the nodes of ranks and the links between devices of a
 * node.
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
#include "probes/pattern/numbers.h"
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

/* Build the plan for this many ranks, or for those of nb if these are more. The
 * caller ends it with plan_free. */
struct plan *neighbor_plan(const struct neighbor *nb, uint32_t ranks,
    const char *title);

/* Numbers of bytes, least to most of them, as sizes and ranks of nb; -EINVAL
 * and "name:line: ...". */
int neighbor_sizes_parse(const struct numbers_text *from, uint32_t least,
    uint32_t most, struct neighbor *nb, struct err *err);

#endif
