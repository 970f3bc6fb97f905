/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holes.h - find where large datagrams are lost silently while small ones
 * arrive: the link of a node, the uplink of a leaf, or a leaf. Pure.
 *
 * A path is a hole if in one epoch HOLES_MIN or more large datagrams were lost,
 * none was answered, no ICMP error reported that they are too large, and
 * HOLES_MIN small ones were answered. A place is named if most of its paths are
 * holes, of two partners or more, and the partners have other paths that work.
 * Leaves come first, then the worst node; holes that a named place explains do
 * not count against others. Last, a node, or else a leaf, is named if all of
 * HOLES_MIN or more remaining holes share it: one bad member of a bond, or one
 * bad uplink of a leaf, affects only a share of the paths.
 *
 * A path is dead if HOLES_MIN or more datagrams were lost and none was
 * answered, while other nodes reached both of its ends.
 *
 * A bad stage of spines (schema/stages.h) breaks the share of the paths between
 * all of its leaves that are hashed to it. It is named before leaves, if such
 * paths remain when the worst third of the leaves is removed, and if paths
 * inside leaves work.
 */
#ifndef DAEMON_DIAGNOSIS_STATS_HOLES_H
#define DAEMON_DIAGNOSIS_STATS_HOLES_H

#include <stddef.h>
#include <stdint.h>

#include "schema/mesh.h"
#include "schema/stages.h"

/* This many datagrams of a size, all lost while small ones arrive, or this many
 * paths, are not chance. */
#define HOLES_MIN       4
#define HOLES_STAGE_MIN 8 /* bad paths over a stage */

struct hole_place { /* a node, leaf or stage */
	/* Number of tested paths, and of holes: [0] within the leaf, [1] to
	 * other leaves. Paths that another place explains do not count. For a
	 * stage: [0] paths that do not cross it, [1] paths that do. */
	uint32_t paths[2], holes[2];
	uint32_t bytes, mtu; /* smallest lost size; 0: none */
	uint32_t whom;       /* partner of its first hole; for a leaf: a node */
	uint8_t many;        /* 1: its holes have two partners or more */
	uint8_t named;
	uint8_t dead;    /* of a stage: small datagrams are lost too */
	uint32_t leaves; /* of a stage: the number of its leaves */
};

/* The arguments and the results of holes_find. */
struct holes {
	const struct mesh_path *paths;
	size_t count;
	const uint32_t *leaf_of; /* by node; SCORE_NO_LEAF: unknown */
	struct hole_place *nodes, *leaves;
	size_t node_count, leaf_count;
	/* Stages; stage_of: the stage above a leaf, by leaf number. NULL: no
	 * stages. */
	const struct stages *stages;
	const uint32_t *stage_of;
	struct hole_place *spines, *dead_spines;
	/* Holes that no place explains, and dead paths; with an example of
	 * each. */
	size_t rest, dead;
	size_t rest_alike; /* holes between the leaves of this example */
	const struct mesh_path *one, *dead_one;
};

/* Process all paths of an epoch, and set the results in h. nodes and leaves
 * must be zeroed. */
void holes_find(struct holes *h);

#endif
