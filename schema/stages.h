/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stages.h - which switches a path between two leaves crosses, according to a
 * topology.
 *
 * Many shortest paths connect two leaves. A hash of each connection, or routes
 * that no file shows, choose one of them. Measurements cannot distinguish the
 * switches of such a choice, nor the links to these switches. Therefore
 * switches are grouped into stages. All switches directly above leaves that
 * share a leaf form one stage, for example the spines of a pod; so do the
 * switches above all spines of a pod. A path goes up from stage to stage until
 * the stages of both of its leaves meet. The functions are pure: they do no
 * input or output.
 */
#ifndef SCHEMA_STAGES_H
#define SCHEMA_STAGES_H

#include <stddef.h>
#include <stdint.h>

#include "schema/topology.h"

#define STAGE_NONE UINT32_MAX /* no stage */

/* A stage. */
struct stage {
	/* Names of its switches, a hostlist; NULL: the topology names none. */
	char *switches;
	size_t switch_count;
	uint32_t links; /* number of links from below */
	/* The stage that these switches lead up to, or STAGE_NONE. */
	uint32_t above;
	int tier; /* tier of its switches; leaves have tier 1 */
};

/* All stages of a topology. */
struct stages {
	struct stage *list;
	size_t count;
	/* For each switch, by its number: the stage above the switch if it is a
	 * leaf, otherwise STAGE_NONE. */
	uint32_t *of_switch;
};

/* Return the stages of a topology, which the caller frees. If no switch is
 * above a leaf, one unnamed stage stands for the unknown switches. */
struct stages *stages_new(const struct topology *t);
void stages_free(struct stages *s); /* s can be NULL */
/* Return 1 if the topology names the switches of the stages, 0 if not. */
int stages_are_named(const struct stages *s);
/* Return 1 if a path that goes up from stage `from` as far as possible passes
 * through `stage`, 0 if not. */
int stages_lead(const struct stages *s, uint32_t from, uint32_t stage);
/* Return 1 if a path between two leaves below the stages a and b crosses
 * `stage`. Return 0 if it does not, or if the stages a and b do not meet. */
int stages_cross(const struct stages *s, uint32_t stage, uint32_t a,
    uint32_t b);

#endif
