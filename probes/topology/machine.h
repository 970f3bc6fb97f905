/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.h - a machine described by a file: the parts of its nodes, their
 * links, and the path of bytes from one rank to another.
 *
 * A node is a small graph. Its vertices are devices (d0...), sockets with their
 * memory (h0...), switches (s0...) and NICs (n0...); its edges are the links of
 * the file. Between nodes, bytes leave by the NIC to which their device is
 * bound and enter by the other device's NIC (CommBench, section 2.1.2). If the
 * nodes are on different leaves, they pass the uplinks of both leaves.
 *
 * Everything that can be a bottleneck is a resource with a capacity: each
 * direction of each link and NIC, both directions of a NIC together if the file
 * limits them, the uplinks of each leaf, and the memory of devices and sockets.
 * Resources are numbered over all nodes of a machine of a given size.
 *
 * Rates are in bytes per second, times in picoseconds.
 */
#ifndef PROBES_TOPOLOGY_MACHINE_H
#define PROBES_TOPOLOGY_MACHINE_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "schema/machines.h"

#define MACHINE_NONE     UINT32_MAX /* no vertex, or no link */
#define MACHINE_NAME_MAX 320        /* bytes of a resource's name */

/* How devices are bound to NICs. */
enum machine_binding { BINDING_PACKED, BINDING_ROUND_ROBIN, BINDING_ONE };

/* Parallel links between two vertices. */
struct machine_link {
	uint32_t a, b; /* vertices */
	uint32_t count;
	double rate_per_s; /* rate from a to b, all `count` links together */
	double back_per_s; /* rate from b to a, all `count` links together */
	uint64_t latency_ps;
	uint8_t kind; /* enum machines_kind */
};

/* The properties of a transport. */
struct machine_via {
	int usable;
	uint64_t latency_ps, overhead_ps;
	/* Shares, 0 to 1, of the rates between nodes, within a node and within
	 * a device that it reaches. */
	double across, within, self;
};

/* The nodes of a real cluster, in the order of their ranks: the leaf of each,
 * and the share of the described rates that each node, and the uplinks of each
 * leaf, deliver (> 0). */
struct machine_node {
	const char *name;
	uint32_t leaf; /* index in leaves */
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

/* A described machine, for one or more nodes of this kind. */
struct machine {
	char *name, *about; /* name, and a sentence about it */
	char *gpu, *fabric; /* classes for published results; "": none */
	/* The real cluster, borrowed. NULL: nodes fill one leaf after another,
	 * and all deliver the described rates. Otherwise there must not be more
	 * ranks than its nodes have. */
	const struct machine_place *place;
	/* 1: only the wiring is known; rates are meaningless. */
	int unrated;
	uint32_t nodes_max; /* 0: any number */
	uint32_t ranks;     /* ranks of a node */
	/* 1: a node has more ranks if there are more (machine_fit). */
	int ranks_fit;
	uint32_t devices, hosts, switches, nics;
	enum machine_binding binding;
	/* Rates of a NIC; 0: no limit. */
	double out_per_s, in_per_s, both_per_s;
	/* Latency of the network, and of each hop. */
	uint64_t network_ps, hop_ps;
	/* Nodes of a leaf; 0: all are on one leaf. */
	uint32_t leaf_nodes;
	/* Rate of a leaf's uplinks; 0: no limit. */
	double uplink_per_s;
	double memory_per_s, reduce_per_s, host_per_s; /* 0: no limit */
	uint64_t launch_ps, step_ps; /* overheads of a launch and of a step */
	struct machine_via vias[MACHINES_VIA_MAX];
	struct machine_link *links;
	uint32_t links_count;
	/* next[a * vertices + b]: the first link from a towards b, as link * 2
	 * + direction, or MACHINE_NONE. */
	uint32_t *next;
	uint32_t vertices;
};

/* Load a machine file. A name without '/' is NAME.conf in the folder of
 * machines: $COALMINE_MACHINES, else the installed one, else etc/machines next
 * to the program. Any other name is a path. sets: count words
 * "section.key=value" that override the file. Return 0 and the machine, which
 * the caller frees; or -EINVAL or -errno, with "FILE:LINE: ..." in err. */
int machine_load(const char *name, char *const *sets, int count,
    struct machine **ret, struct err *err);
/* Load a machine as machine_load does, but from a text; path is its name in
 * error messages. */
int machine_parse(const char *path, const char *text, struct machine **ret,
    struct err *err);
/* The GPUs of ranks, each of which has one. */
struct machine_gpus {
	/* PCI address of each rank's GPU; NULL: rank i has the i-th GPU. */
	const char *const *pci;
	/* Number of the vendor's direct links between the GPUs of two ranks, [a
	 * * ranks + b]; NULL: unknown. */
	const uint16_t *links;
};
/* Describe this node from the kernel's files below root ("" for this machine),
 * for this many ranks: which ranks share a socket or, if gpus is not NULL, how
 * their GPUs are linked. The result has no rates (unrated). Return 0 and the
 * machine, which the caller frees; or -ERANGE for more than 256 ranks. */
int machine_discover(const char *root, uint32_t ranks,
    const struct machine_gpus *gpus, struct machine **ret);
void machine_free(struct machine *m); /* m can be NULL */

/* Return the vertex "d0", "h1", "s0" or "n3", or MACHINE_NONE. */
uint32_t machine_vertex(const struct machine *m, const char *name);

#endif
