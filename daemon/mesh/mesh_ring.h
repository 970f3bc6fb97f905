/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mesh_ring.h - who asks whom in an epoch of the mesh. Pure.
 *
 * The members of a leaf, and all nodes, stand in a circle in an order that the
 * seed draws. A ring with stride s lets each ask the one s places on, so each
 * is asked once; all strides together are all pairs. Strides whose pairs were
 * not exercised lately come first. Across the spine a ring leaves out those
 * whose turn is one of their own leaf, who then take part in a further ring.
 */
#ifndef DAEMON_MESH_MESH_RING_H
#define DAEMON_MESH_MESH_RING_H

#include <stddef.h>
#include <stdint.h>

#include "schema/mesh.h"

#define MESH_RING_MAX 16 /* targets of a node in one class */

struct mesh_site {
	size_t id;   /* of the node */
	size_t leaf; /* of the leaf */
};

struct mesh_aims {
	size_t count;
	uint32_t site[MESH_RING_MAX]; /* indices of sites */
};

struct mesh_rings {
	const struct mesh_site *sites;
	size_t count;
	uint64_t order_seed; /* of the circle: the same for many epochs */
	uint64_t seed;       /* of this epoch */
	/* 1 when a pair of node ids was exercised lately. */
	int (*covered)(void *arg, size_t a, size_t b);
	void *arg;
};

/* aims: count of them, all zero. */
void mesh_rings_draw(const struct mesh_rings *r, enum mesh_class class,
    size_t targets, struct mesh_aims *aims);

#endif
