/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect.h - histograms of the ranks of a role, summed up at its root.
 *
 * Collective over the group; results are valid only at group rank 0.
 */
#ifndef PROBES_JOB_COLLECT_H
#define PROBES_JOB_COLLECT_H

#include <mpi.h>

#include "common/hist.h"
#include "probes/job/cores.h"
#include "probes/job/world.h"

struct collect_node {
	double node; /* index; < 0: an entry without a node */
	double n, q25, p50, q75, p99;
	double run_s, wait_s; /* of its ranks together, as cores.h */
};

/* Sum of the histograms of all ranks of comm, at its rank 0. */
void collect_sum(MPI_Comm comm, const struct hist *mine, struct hist *ret);
/* Return the number of entries in *ret: one per node, from all its ranks, in
 * the order of nodes. cores: NULL if unused. The caller frees. */
int collect_nodes(const struct world *w, const struct hist *mine,
    const struct cores *cores, struct collect_node **ret);

#endif
