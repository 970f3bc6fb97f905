/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h - the closed models of the papers. Rates in bytes per second.
 */
#ifndef PROBES_PREDICT_MODEL_H
#define PROBES_PREDICT_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "probes/topology/machine.h"

/* Return the bandwidth between two groups with k active devices (CommBench,
 * equations 1 and 2): each NIC serves per_nic neighbours, or the devices use
 * the nics in turn. */
double model_packed_per_s(double nic_per_s, uint32_t per_nic, uint32_t k);
double model_round_robin_per_s(double nic_per_s, uint32_t nics, uint32_t k);

/* A broadcast of bytes over nodes that send node_per_s each, in depth pieces
 * (HiCCL, equations 1 and 2, without their term for what happens inside the
 * nodes). Seconds. */
struct model_cast {
	double bytes;
	double node_per_s; /* k f: of all NICs of a node */
	double alpha_s;    /* latency */
	uint32_t nodes;
	uint32_t depth;
};
double model_ring_s(const struct model_cast *mc);
double model_tree_s(const struct model_cast *mc);

/* Throughput p d / t that no collective exceeds (HiCCL, Table III), p ranks,
 * g of them on each node. name as in option collective.name; 0 when there is
 * no bound: one node, or no such name. */
double model_bound_per_s(const char *name, uint32_t p, uint32_t g,
    double node_per_s);

#endif
