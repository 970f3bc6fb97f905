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
 * explains does not count against others. At last a node, or else a leaf, that
 * all of HOLES_MIN holes or more share is named: one of several members of a
 * bond, or of a leaf's uplinks, meets a share of the paths only.
 *
 * A path is dead when HOLES_MIN datagrams or more were lost and none was
 * answered, while both of its ends were answered by others.
 *
 * A stage of spines (schema/stages.h) is where a share of the paths between all
 * of its leaves end, for a hash chose that one: it is named before leaves,
 * where this is so between those leaves too that are left without the worst
 * third, and not inside leaves.
 */
#ifndef DAEMON_DIAGNOSIS_JUDGE_HOLES_H
#define DAEMON_DIAGNOSIS_JUDGE_HOLES_H

#include <stddef.h>
#include <stdint.h>

#include "schema/mesh.h"
#include "schema/stages.h"

#define HOLES_MIN       4
#define HOLES_STAGE_MIN 8 /* bad paths over a stage */

struct hole_place { /* a node, leaf or stage */
	/* Within the leaf, to other leaves: that tell, and that are holes. What
	 * another place explains is left out. Of a stage: that do not cross it,
	 * and that do. */
	uint32_t paths[2], holes[2];
	uint32_t bytes, mtu; /* the least that was lost; 0: none */
	uint32_t whom; /* of its first hole: a partner, of leaves a node */
	uint8_t many;  /* and another one */
	uint8_t named;
	uint8_t dead;    /* of a stage: small ones end there too */
	uint32_t leaves; /* likewise: how many it serves */
};

struct holes {
	const struct mesh_path *paths;
	size_t count;
	const uint32_t *leaf_of; /* by node; SCORE_NO_LEAF: not known */
	struct hole_place *nodes, *leaves;
	size_t node_count, leaf_count;
	/* By stage; stage_of: above a leaf, by its number. NULL: no stages. */
	const struct stages *stages;
	const uint32_t *stage_of;
	struct hole_place *spines, *dead_spines;
	/* Holes that no place explains, dead paths; and one of each. */
	size_t rest, dead;
	size_t rest_alike; /* holes between the same two leaves as that one */
	const struct mesh_path *one, *dead_one;
};

/* All of an epoch's paths; nodes and leaves come as zeros. */
void holes_find(struct holes *h);

#endif
