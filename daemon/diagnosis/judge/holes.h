/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holes.h - who swallows large datagrams and says nothing, while small ones
 * pass: the link of a node, the uplink of a leaf, or a leaf. Pure.
 *
 * A path is a hole when in one epoch HOLES_MIN large datagrams or more were
 * lost, none was answered, nobody said that they are too large, and HOLES_MIN
 * small ones were answered. A place is named where most of its paths are holes,
 * of two partners or more, and those who stand at their other ends have paths
 * that are well. Leaves come first, then the worst node; what a named one
 * explains does not count against others.
 *
 * A path is dead when HOLES_MIN datagrams or more were lost and none was
 * answered, while both of its ends were answered by others.
 */
#ifndef DAEMON_DIAGNOSIS_JUDGE_HOLES_H
#define DAEMON_DIAGNOSIS_JUDGE_HOLES_H

#include <stddef.h>
#include <stdint.h>

#include "schema/mesh.h"

#define HOLES_MIN 4

struct hole_place { /* a node or leaf */
	/* Within the leaf, to other leaves: that tell, and that are holes. What
	 * another place explains is left out. */
	uint32_t paths[2], holes[2];
	uint32_t bytes, mtu; /* the least that was lost; 0: none */
	uint32_t whom; /* of its first hole: a partner, of leaves a node */
	uint8_t many;  /* and another one */
	uint8_t named;
};

struct holes {
	const struct mesh_path *paths;
	size_t count;
	const uint32_t *leaf_of; /* by node; SCORE_NO_LEAF: not known */
	struct hole_place *nodes, *leaves;
	size_t node_count, leaf_count;
	/* Holes that no place explains, dead paths; and one of each. */
	size_t rest, dead;
	const struct mesh_path *one, *dead_one;
};

/* All of an epoch's paths; nodes and leaves come as zeros. */
void holes_find(struct holes *h);

#endif
