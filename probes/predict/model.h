/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h - the closed models of the papers CommBench and HiCCL. Rates are in
 * bytes per second.
 */
#ifndef PROBES_PREDICT_MODEL_H
#define PROBES_PREDICT_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "probes/topology/machine.h"

/* Return the bandwidth between two groups with k active devices (CommBench,
 * equations 1 and 2). packed: each NIC serves per_nic neighbouring devices.
 * round_robin: the devices use the NICs in turn. */
double model_packed_per_s(double nic_per_s, uint32_t per_nic, uint32_t k);
double model_round_robin_per_s(double nic_per_s, uint32_t nics, uint32_t k);

/* A broadcast over nodes, in depth pieces (HiCCL, equations 1 and 2, without
 * their term for what happens inside the nodes). */
struct model_cast {
	double bytes; /* size of the broadcast */
	/* Rate at which a node sends, all NICs together (K f in the paper: K
	 * NICs of rate f). */
	double node_per_s;
	double alpha_s; /* latency of a message between nodes */
	uint32_t nodes;
	uint32_t depth;
};
/* Return the time in seconds of the broadcast along a ring, or down a tree. */
double model_ring_s(const struct model_cast *mc);
double model_tree_s(const struct model_cast *mc);

/* Return the throughput p d / t that no collective exceeds (HiCCL, Table III):
 * p ranks, each with a block of d bytes, in time t; g ranks on each node. name:
 * as in option collective.name. node_per_s: rate of a node. Return 0 if there
 * is no bound: one node, or an unknown name. */
double model_bound_per_s(const char *name, uint32_t p, uint32_t g,
    double node_per_s);

#endif
