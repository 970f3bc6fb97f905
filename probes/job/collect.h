/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect.h - sum the histograms of the ranks of a role at the role's root.
 *
 * Collective over the group; results are valid only at group rank 0.
 */
#ifndef PROBES_JOB_COLLECT_H
#define PROBES_JOB_COLLECT_H

#include <mpi.h>

#include "common/hist.h"
#include "probes/job/cores.h"
#include "probes/job/world.h"

/* The results of one node. */
struct collect_node {
	double node; /* number of the node; < 0: unused entry */
	double n, q25, p50, q75, p99;
	double run_s, wait_s; /* CPU time of its ranks together, see cores.h */
};

/* Sum the histograms of all ranks of comm at its rank 0. Collective. */
void collect_sum(MPI_Comm comm, const struct hist *mine, struct hist *ret);
/* Sum the histograms by node. Return the number of entries in *ret: one per
 * node, from all its ranks, in the order of nodes. cores: CPU time of this
 * rank, or NULL. The caller frees *ret. */
int collect_nodes(const struct world *w, const struct hist *mine,
    const struct cores *cores, struct collect_node **ret);

#endif
