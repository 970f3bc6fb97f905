/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.h - a machine described by a file: the parts of its nodes, their
 * links, and the path of bytes from one rank to another.
 *
 * A node is a small graph. Its vertices are devices (d0...), sockets with their
 * memory (h0...), switches (s0...) and NICs (n0...); its edges are the links of
 * the file. Between nodes, bytes leave by the NIC to which their device is
 * bound and enter by the other's NIC (CommBench, section 2.1.2), through the
 * uplinks of their leaves if they are on different leaves.
 *
 * Everything that can be the bottleneck is a resource with a capacity: each
 * direction of each link and NIC, both directions of a NIC together if the file
 * limits them, each leaf's uplinks, and the memory of devices and sockets.
 * Resources are numbered over all nodes of a machine of given size.
 *
 * Rates are bytes per second, times picoseconds.
 */
#ifndef PROBES_TOPOLOGY_MACHINE_H
#define PROBES_TOPOLOGY_MACHINE_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "schema/machines.h"

#define MACHINE_PATH_MAX 32 /* resources on the way of one transfer */
#define MACHINE_NONE     UINT32_MAX
#define MACHINE_NAME_MAX 320 /* of a resource */

enum machine_binding { BINDING_PACKED, BINDING_ROUND_ROBIN, BINDING_ONE };

struct machine_link {
	uint32_t a, b; /* vertices */
	uint32_t count;
	double rate_per_s; /* of all count together, from a to b */
	double back_per_s; /* from b to a */
	uint64_t latency_ps;
	uint8_t kind; /* enum machines_kind */
};

struct machine_via {
	int usable;
	uint64_t latency_ps, overhead_ps;
	double across, within, self; /* shares, 0 to 1 */
};

/* Nodes of a cluster, in the order of their ranks: on which leaf each is, and
 * what share of the described rates each and each leaf's uplinks give, 0 < s.
 */
struct machine_node {
	const char *name;
	uint32_t leaf; /* of leaves */
	double share;
};
struct machine_leaf {
	const char *name;
	double share;
};
struct machine_place {
	const struct machine_node *nodes;
	const struct machine_leaf *leaves;
	uint32_t nodes_count, leaves_count;
};

struct machine {
	char *name, *about;
	char *gpu, *fabric; /* classes of published results; "" */
	/* Borrowed. NULL: nodes fill one leaf after another, and all give what
	 * is described. Else no more ranks than its nodes have. */
	const struct machine_place *place;
	int unrated;        /* wiring only: its rates mean nothing */
	uint32_t nodes_max; /* 0: any */
	uint32_t ranks;     /* of a node */
	int ranks_fit;      /* more of them when there are (machine_fit) */
	uint32_t devices, hosts, switches, nics;
	enum machine_binding binding;
	double out_per_s, in_per_s, both_per_s; /* of a NIC; 0: no limit */
	uint64_t network_ps, hop_ps;
	uint32_t leaf_nodes;                           /* 0: all under one */
	double uplink_per_s;                           /* 0: no limit */
	double memory_per_s, reduce_per_s, host_per_s; /* 0: no limit */
	uint64_t launch_ps, step_ps;
	struct machine_via vias[MACHINES_VIA_MAX];
	struct machine_link *links;
	uint32_t links_count;
	/* next[a * vertices + b]: link * 2 + direction that leads from a
	 * towards b, or MACHINE_NONE */
	uint32_t *next;
	uint32_t vertices;
};

/* The way of one transfer. */
struct machine_path {
	uint32_t resources[MACHINE_PATH_MAX];
	uint32_t count;
	double rate_max_per_s; /* rate of the transport alone; 0: no limit */
	uint64_t latency_ps, overhead_ps;
};

/* Load a machine. A name without '/' is NAME.conf in the folder of machines:
 * $COALMINE_MACHINES, else the installed one, else etc/machines next to the
 * program; any other name is a path. sets are count words "section.key=value"
 * that override the file. Return -EINVAL or -errno, with "file:line: ...". */
int machine_load(const char *name, char *const *sets, int count,
    struct machine **ret, struct err *err);
/* From text; path is its name in messages. */
int machine_parse(const char *path, const char *text, struct machine **ret,
    struct err *err);
/* The GPUs of ranks that have one each. */
struct machine_gpus {
	/* The PCI address of each rank's; NULL: rank i has the i-th. */
	const char *const *pci;
	/* Direct links of the vendor's own between two ranks', [a * ranks + b];
	 * NULL: none are known. */
	const uint16_t *links;
};
/* Describe this node from the kernel's files below root, "" for the machine's
 * own, for this many ranks: which of them share a socket; or, unless gpus is
 * NULL, how their GPUs are linked. The result has no rates. Return -ERANGE for
 * more than 256 ranks. */
int machine_discover(const char *root, uint32_t ranks,
    const struct machine_gpus *gpus, struct machine **ret);
void machine_free(struct machine *m); /* NULL is allowed */

/* "d0", "h1", "s0", "n3" to a vertex, or MACHINE_NONE. */
uint32_t machine_vertex(const struct machine *m, const char *name);
/* Return the machine with as many ranks per node as this total needs: a copy of
 * the struct only. The functions below take it. */
struct machine machine_fit(const struct machine *m, uint32_t ranks);
/* Where a rank's device is. */
uint32_t machine_rank_vertex(const struct machine *m, uint32_t rank);
uint32_t machine_nodes(const struct machine *m, uint32_t ranks);
/* The host that is the fewest links away from a device, MACHINE_NONE if none
 * is reached. */
uint32_t machine_host(const struct machine *m, uint32_t device);
/* Does one link lead from a to b? */
int machine_joined(const struct machine *m, uint32_t a, uint32_t b);
/* How near two vertices of a node are, the more the nearer: by fewer links,
 * then by wider ones; 0: only through the host. */
double machine_nearness(const struct machine *m, uint32_t a, uint32_t b);
/* NIC of a device or socket. */
uint32_t machine_nic(const struct machine *m, uint32_t vertex);

/* Return the capacities of all resources of this many nodes; a capacity of 0 is
 * no limit, and such a resource is on no path. The caller frees. */
uint32_t machine_resources(const struct machine *m, uint32_t nodes);
double *machine_capacities(const struct machine *m, uint32_t nodes);
/* "node2 d0>d1 nvlink", "node0 n1 out", "leaf1 up"; of a place with its names.
 */
void machine_resource_name(const struct machine *m, uint32_t nodes,
    uint32_t resource, char *ret, size_t ret_bytes);

/* Two ranks of a machine with this many nodes, and a vertex of each one's
 * node. */
struct machine_ends {
	uint32_t nodes;
	uint32_t src, dst;
	uint32_t from, to;
};

/* -EOPNOTSUPP when the transport is not usable there. */
int machine_path(const struct machine *m, const struct machine_ends *ends,
    enum machines_via via, struct machine_path *ret);
/* Memory that a local operation of a rank goes through. */
void machine_local(const struct machine *m, uint32_t rank, int reduces,
    struct machine_path *ret);

/* Find the ways between all parts of a node: m->next. machine_parse does. */
void machine_route(struct machine *m);

#endif
