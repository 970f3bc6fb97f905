/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compose_tree.h - build the rows of one channel of a composition: from
 * primitives to transfers over a ring of nodes and a tree of ranks.
 */
#ifndef PROBES_COLLECTIVE_COMPOSE_TREE_H
#define PROBES_COLLECTIVE_COMPOSE_TREE_H

#include "probes/collective/compose.h"
#include "probes/plan/plan.h"

/* A registered primitive. */
struct prim {
	struct compose_prim is;
	uint32_t *leaves; /* memory of is.leaves */
	uint8_t copy;     /* lean: the root copies its own part */
};

/* A channel under construction. */
struct build {
	const struct compose_shape *shape;
	struct plan *p;
	struct order *order; /* NULL: the stages alone order the rows */
	uint32_t sizes[COMPOSE_LEVELS_MAX]; /* ranks of a group at each level */
	unsigned element;                   /* bytes of an element */
	uint16_t temp;                      /* the temporary buffer */
	/* Step of a multicast from one node of the ring to the next. */
	uint32_t ring_step;
	uint32_t channel, stage;
	int busy; /* 1: the stage has rows */
};

/* Add the rows of the primitives between two fences, in one channel. */
void build_epoch(struct build *b, const struct prim *prims, size_t count);

#endif
