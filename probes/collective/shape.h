/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape.h - tune = auto: choose how a composition is factorised, by prediction
 * on a described machine.
 *
 * shape_choose predicts the times of some dozens of shapes. First come
 * exchanges in rounds of pairs, and compositions in other forms than the
 * default. Then come hierarchies: the machine's own, the same with nodes split
 * into twos or all side by side, a ring of nodes, and none; each with and
 * without stripes, flat and as a pipeline. Then the transports of each level
 * are varied for the best of these, and all depths for the best composition.
 * All shapes that were tried are kept as evidence.
 */
#ifndef PROBES_COLLECTIVE_SHAPE_H
#define PROBES_COLLECTIVE_SHAPE_H

#include "common/err.h"
#include "probes/collective/compose.h"
#include "probes/collective/rounds.h"
#include "probes/pattern/pattern.h"
#include "probes/topology/machine.h"

/* The chosen parameters of a composition. 0: the parameter is the user's, and
 * was not chosen. */
struct shape {
	uint32_t factors[COMPOSE_LEVELS_MAX]; /* outermost first */
	uint32_t levels;
	uint32_t stripe, ring, depth;
	enum plan_via vias[COMPOSE_LEVELS_MAX];
	uint32_t vias_count;
	uint64_t piece_bytes; /* longest piece of a message; see plan.h */
	/* If not ROUNDS_OFF, stripe, ring and depth are not used. */
	enum rounds_kind exchange;
	const char *form; /* form of the collective; NULL: not chosen */
};
/* Return the shape as the words of options, which the caller frees:
 * "hierarchy=4,4 stripe=4 ring=1 depth=8 via=mpi,ipc piece=60K". */
char *shape_print(const struct shape *s);

/* A shape that was tried. */
struct shape_row {
	struct shape shape;
	char *words;   /* shape_print of shape */
	double time_s; /* predicted time */
};
/* All shapes that were tried. */
struct shape_list {
	char *machine;          /* name of the machine */
	struct shape_row *rows; /* the fastest first */
	uint32_t count;
};
/* Choose the shape of a collective with tune = auto, which pt builds. Return 0
 * and the shapes, the fastest first, which the caller frees with shape_clear;
 * or -EINVAL with the reason in err. */
int shape_choose(const struct pattern *pt, const struct conf *c,
    const struct pattern_site *site, struct shape_list *ret, struct err *err);
void shape_clear(struct shape_list *t); /* frees the lists */

/* Return the options of c except for the size, such as "collective
 * name=broadcast"; the caller frees them. */
char *shape_asked(const struct conf *c);
/* Build the plan of c with the words of a row. Return 0 and the plan, or a
 * negative error number with the reason in err. */
int shape_plan(const struct pattern *pt, const struct conf *c,
    const char *words, const struct pattern_site *site, struct plan **ret,
    struct err *err);
/* Choose a shape with shape_choose, and build the plan of the fastest. The
 * result is as for shape_plan. */
int shape_build(const struct pattern *pt, const struct conf *c,
    const struct pattern_site *site, struct plan **ret, struct err *err);

#endif
