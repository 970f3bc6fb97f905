/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compose_int.h - what the parts of compose share: a channel under
 * construction, and compositions that are written as text.
 *
 *   multicast send[i] of 0 to recv of all
 *   for i in all: reduce send[i] of all to recv of i
 *   fence
 *
 * coalmine-plan(7) has the grammar. script.c only reads; what a primitive
 * means, and whether its places exist, is for whoever takes it
 * (compose_text.c).
 */
#ifndef PROBES_COLLECTIVE_COMPOSE_INT_H
#define PROBES_COLLECTIVE_COMPOSE_INT_H

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

struct script_place {
	char buffer[32];
	int64_t block;
};

/* Root and leaves are ranks that exist; leaves ascend and are distinct. */
struct script_prim {
	enum compose_kind kind;
	uint32_t root;
	struct script_place from, to;
	uint64_t blocks;
	const uint32_t *leaves;
	uint32_t leaves_count;
};

struct script_ask {
	const char *text; /* statements end with a line or a '|' */
	uint32_t ranks, root;
	/* Every primitive in order. < 0 and why, without a place, ends it. */
	int (*take)(void *arg, const struct script_prim *prim, struct err *err);
	void *arg;
};

/* 0, or -EINVAL and why: "statement 2, at "of": ...". */
int script_run(const struct script_ask *ask, struct err *err);

#endif
