/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compose_tree.h - a channel of a composition under construction: from
 * primitives to the rows of a plan, over a ring of nodes and a tree of ranks.
 */
#ifndef PROBES_COLLECTIVE_COMPOSE_TREE_H
#define PROBES_COLLECTIVE_COMPOSE_TREE_H

#include "probes/collective/compose.h"
#include "probes/plan/plan.h"

/* A primitive as it was registered. */
struct prim {
	struct compose_prim is;
	uint32_t *leaves; /* of is */
	uint8_t copy;     /* lean: the root copies for itself */
};

/* A channel under construction. */
struct build {
	const struct compose_shape *shape;
	struct plan *p;
	struct order *order; /* NULL: stages alone keep the order */
	uint32_t sizes[COMPOSE_LEVELS_MAX]; /* ranks of a group, by level */
	unsigned element;                   /* bytes */
	uint16_t temp;
	uint32_t ring_step; /* of a multicast, from node to node */
	uint32_t channel, stage;
	int busy; /* the stage has rows */
};

/* The rows of primitives that no fence parts, in one channel. */
void build_epoch(struct build *b, const struct prim *prims, size_t count);

#endif
