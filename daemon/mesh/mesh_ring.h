/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mesh_ring.h - select the targets of each node in an epoch. Pure: nodes are
 * ids.
 *
 * The members of a leaf, and all nodes, form a circle in a random order from
 * the seed. In a ring with stride s each node sends to the node s places ahead,
 * so each node is a target once; all strides together are all pairs. Strides
 * whose pairs were not exercised recently come first. Across the spine a ring
 * skips nodes whose target would be on their own leaf; these are in a further
 * ring.
 */
#ifndef DAEMON_MESH_MESH_RING_H
#define DAEMON_MESH_MESH_RING_H

#include <stddef.h>
#include <stdint.h>

#include "schema/mesh.h"

#define MESH_RING_MAX 16 /* targets of a node in one class */

/* The place of a node. */
struct mesh_site {
	size_t id;   /* id of the node */
	size_t leaf; /* number of its leaf */
};

/* The targets of a node. */
struct mesh_aims {
	size_t count;
	uint32_t site[MESH_RING_MAX]; /* indices of sites */
};

/* The arguments of mesh_rings_draw. */
struct mesh_rings {
	const struct mesh_site *sites;
	size_t count;
	uint64_t order_seed; /* seed of the circle: the same for many epochs */
	uint64_t seed;       /* seed of this epoch */
	/* Return 1 if a pair of node ids was exercised recently. */
	int (*covered)(void *arg, size_t a, size_t b);
	void *arg;
};

/* Draw the targets of each node in one class, at most this many. aims: one for
 * each site, all zero. */
void mesh_rings_draw(const struct mesh_rings *r, enum mesh_class class,
    size_t targets, struct mesh_aims *aims);

#endif
