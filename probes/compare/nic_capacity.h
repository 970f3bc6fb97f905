/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nic_capacity.h - what a node's network interfaces should carry, and how much
 * of it a plan made them carry. Rank 0.
 */
#ifndef PROBES_COMPARE_NIC_CAPACITY_H
#define PROBES_COMPARE_NIC_CAPACITY_H

#include <jansson.h>

#include "probes/compare/rail_stats.h"
#include "probes/topology/machine.h"

/* Bytes per second each way of all interfaces of a node: of the machine that
 * is described, else (NULL) of those below root, "" for this node's own, as
 * the kernel rates them, without the slower ones that nodes are managed by.
 * NAN: not known. */
double nic_capacity_node_per_s(const struct machine *m, const char *root);

/* Into a record of a group: what the busiest node sent, or received if that
 * is more, in seconds, and its share of rated_per_s. Nothing where no bytes
 * passed between nodes. */
void nic_capacity_put(const struct rail_stats *p, double seconds,
    double rated_per_s, json_t *record);

#endif
