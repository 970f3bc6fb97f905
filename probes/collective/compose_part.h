/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compose_part.h - what the parts of compose share.
 */
#ifndef PROBES_COLLECTIVE_COMPOSE_PART_H
#define PROBES_COLLECTIVE_COMPOSE_PART_H

#include "probes/collective/compose.h"
#include "probes/plan/order.h"

/* Bring what holder has at from to to of every leaf. */
struct cast {
	const uint32_t *leaves; /* ascending */
	uint32_t leaves_count;
	uint32_t holder;
	struct plan_place from, to;
	uint64_t count; /* elements */
	uint8_t self;   /* the holder, if a leaf, has not got its own yet */
};

struct casts {
	struct cast *at;
	size_t count, cap;
};

struct input {
	uint32_t rank;
	struct plan_place at;
};

/* Reduce what the inputs have into out at root. */
struct fold {
	const uint32_t *leaves; /* of the first level: all have it at from */
	struct plan_place from;
	struct input *inputs; /* of later levels; NULL before */
	uint32_t inputs_count;
	uint32_t root;
	struct plan_place out;
	uint64_t count;
	uint8_t has_out; /* 0: out is a temporary, made when needed */
	uint8_t alias;   /* what comes of it may stay where it is */
	uint8_t lone;    /* a relay's own data, which it adds in place */
	struct plan_place result; /* where it is in the end */
};

struct folds {
	struct fold *at;
	size_t count, cap;
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

void build_stage_end(struct build *b);
struct plan_place build_temp(struct build *b, uint32_t rank, uint64_t count);
void build_send(struct build *b, uint32_t src, struct plan_place from,
    uint32_t dst, struct plan_place to, uint64_t count, uint8_t via);
void build_copy(struct build *b, uint32_t rank, struct plan_place from,
    struct plan_place to, uint64_t count);
void build_reduce(struct build *b, uint32_t rank, const struct plan_place *in,
    uint32_t inputs, struct plan_place to, uint64_t count);

void casts_add(struct casts *list, struct cast c);
void folds_add(struct folds *list, struct fold f);

/* Where rank is, or would be, in ascending leaves. */
uint32_t leaves_find(const uint32_t *leaves, uint32_t count, uint32_t rank);
int leaves_have(const uint32_t *leaves, uint32_t count, uint32_t rank);

/* Stripe, ring and tree of one epoch in one channel. Lists are used up. */
void cast_all(struct build *b, struct casts *list);
void cast_tree(struct build *b, struct casts *list);
void fold_all(struct build *b, struct folds *list);

#endif
