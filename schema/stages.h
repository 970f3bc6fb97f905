/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stages.h - which switches paths cross, according to a topology.
 *
 * Between two leaves there are many shortest paths; a hash of each connection,
 * or routes that no file shows, choose one. Measurements cannot distinguish the
 * switches of such a choice, nor the links to them. All switches directly above
 * any leaf that share a leaf form one stage, for example the spines of a pod;
 * so do the switches above all spines of a pod. A path goes up, stage by stage,
 * until the stages of both of its leaves meet. Pure.
 */
#ifndef SCHEMA_STAGES_H
#define SCHEMA_STAGES_H

#include <stddef.h>
#include <stdint.h>

#include "schema/topology.h"

#define STAGE_NONE UINT32_MAX

struct stage {
	char *switches; /* a hostlist; NULL: the topology has no names */
	size_t switch_count;
	uint32_t links; /* from below */
	uint32_t above; /* the stage to which these lead; STAGE_NONE */
	int tier;       /* of its switches: 2 is above leaves */
};

struct stages {
	struct stage *list;
	size_t count;
	/* By switch: the stage above it, of leaves; STAGE_NONE. */
	uint32_t *of_switch;
};

/* Build the stages of a topology; a leaf without a switch above it gets one
 * unnamed stage. */
struct stages *stages_new(const struct topology *t);
void stages_free(struct stages *s); /* NULL is allowed */
int stages_are_named(const struct stages *s);
/* Does a path from a leaf below stage `from` go through `stage` if it goes up
 * as far as it can? */
int stages_lead(const struct stages *s, uint32_t from, uint32_t stage);
/* Does a path between two leaves, below these stages, cross it? Nobody knows:
 * no. */
int stages_cross(const struct stages *s, uint32_t stage, uint32_t a,
    uint32_t b);

#endif
