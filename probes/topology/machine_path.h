/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine_path.h - the path of bytes from one rank of a machine to another, and
 * the resources on it.
 */
#ifndef PROBES_TOPOLOGY_MACHINE_PATH_H
#define PROBES_TOPOLOGY_MACHINE_PATH_H

#include <stddef.h>
#include <stdint.h>

#include "probes/topology/machine.h"
#include "schema/machines.h"

#define MACHINE_PATH_MAX 32 /* most resources on the path of one transfer */

/* The path of one transfer. */
struct machine_path {
	uint32_t resources[MACHINE_PATH_MAX];
	uint32_t count;
	double rate_max_per_s; /* rate of the transport alone; 0: no limit */
	uint64_t latency_ps, overhead_ps;
};

/* Return the machine with as many ranks per node as this total number of ranks
 * needs. It is a copy of the struct only and shares the arrays of m. The
 * functions below expect it. */
struct machine machine_fit(const struct machine *m, uint32_t ranks);
/* Return the vertex of a rank's device. */
uint32_t machine_rank_vertex(const struct machine *m, uint32_t rank);
/* Return the number of nodes that these ranks occupy. */
uint32_t machine_nodes(const struct machine *m, uint32_t ranks);
/* Return the host that is the fewest links away from a device, or MACHINE_NONE
 * if no host is reached. */
uint32_t machine_host(const struct machine *m, uint32_t device);
/* Return 1 if one link leads from a to b, 0 if not. */
int machine_joined(const struct machine *m, uint32_t a, uint32_t b);
/* Return how near two vertices of a node are. Larger is nearer: fewer links
 * first, then wider links. 0: they are connected only through the host. */
double machine_nearness(const struct machine *m, uint32_t a, uint32_t b);
/* Return the NIC to which a device or socket is bound. */
uint32_t machine_nic(const struct machine *m, uint32_t vertex);

/* Return the number of resources of this many nodes, and their capacities in an
 * array that the caller frees. A capacity of 0 is no limit; such a resource is
 * on no path. */
uint32_t machine_resources(const struct machine *m, uint32_t nodes);
double *machine_capacities(const struct machine *m, uint32_t nodes);
/* Write the name of a resource: "node2 d0>d1 nvlink", "node0 n1 out", "leaf1
 * up"; with the names of m->place if it is set. */
void machine_resource_name(const struct machine *m, uint32_t nodes,
    uint32_t resource, char *ret, size_t ret_bytes);

/* The ends of a transfer: two ranks of a machine with this many nodes, and a
 * vertex of the node of each. */
struct machine_ends {
	uint32_t nodes;
	uint32_t src, dst;
	uint32_t from, to;
};

/* Compute the path of a transfer. Return 0, or -EOPNOTSUPP if the transport
 * cannot be used there. */
int machine_path(const struct machine *m, const struct machine_ends *ends,
    enum machines_via via, struct machine_path *ret);
/* Compute the path of a local operation of a rank through memory. reduces: 1
 * for a reduction, 0 for a copy. */
void machine_local(const struct machine *m, uint32_t rank, int reduces,
    struct machine_path *ret);

/* Compute m->next, the paths between all parts of a node. machine_parse calls
 * it. */
void machine_route(struct machine *m);

#endif
