/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tune.h - hierarchy = auto and tune = auto: how a composition is factorised,
 * from the wiring of a machine and by prediction on it.
 *
 * tune_choose predicts some dozens of shapes: the machine's own hierarchy, the
 * same with nodes split into twos or all side by side, a ring of nodes, and
 * none, each with and without stripes, flat and with a pipeline; then the
 * transports of each level for the best of them; then all depths for the best
 * of those. All that was tried is kept as the evidence.
 */
#ifndef PROBES_COLLECTIVE_TUNE_H
#define PROBES_COLLECTIVE_TUNE_H

#include "common/err.h"
#include "probes/collective/compose.h"
#include "probes/pattern/pattern.h"
#include "probes/topology/machine.h"

/* The factors for so many ranks, outermost first: leaves, nodes of a leaf,
 * groups of devices that are nearer to each other than to all others. Their
 * product is ranks. */
void tune_hierarchy(const struct machine *m, uint32_t ranks,
    uint32_t factors[COMPOSE_LEVELS_MAX], uint32_t *ret_levels);
/* hierarchy = auto of a section: the factors and levels of *ret. */
int tune_auto(const struct conf *c, const char *section,
    const struct pattern_site *site, struct compose_shape *ret,
    struct err *err);

/* What is chosen of a composition. 0: not chosen here, since it was given. */
struct shape {
	uint32_t factors[COMPOSE_LEVELS_MAX]; /* outermost first */
	uint32_t levels;
	uint32_t stripe, ring, depth;
	enum plan_via vias[COMPOSE_LEVELS_MAX];
	uint32_t vias_count;
	uint64_t piece_bytes;
};
/* "hierarchy=4,4 stripe=4 ring=1 depth=8 via=mpi,ipc piece=60K", which the
 * caller frees; words of options, as tables keep them. */
char *shape_print(const struct shape *s);

struct tune_row {
	struct shape shape;
	char *words; /* of it */
	double time_s;
};
struct tune {
	char *machine;
	struct tune_row *rows; /* the fastest first */
	uint32_t count;
};
/* For a collective with tune = auto. -EINVAL and why. The caller ends *ret
 * with tune_clear. */
int tune_choose(const struct conf *c, const struct pattern_site *site,
    struct tune *ret, struct err *err);
void tune_clear(struct tune *t); /* frees */

/* What c asks for but the size, "collective name=broadcast"; the caller
 * frees. */
char *tune_asked(const struct conf *c);
/* The plan of c with the words of a row. */
int tune_plan(const struct conf *c, const char *words,
    const struct pattern_site *site, struct plan **ret, struct err *err);
/* The plan of the best row. */
int tune_build(const struct conf *c, const struct pattern_site *site,
    struct plan **ret, struct err *err);

#endif
