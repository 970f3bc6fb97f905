/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape.h - tune = auto: how a composition is factorised, by prediction on a
 * machine.
 *
 * shape_choose predicts some dozens of shapes: exchanges in rounds of pairs,
 * and compositions in other forms than the default; the machine's own
 * hierarchy, the same with nodes split into twos or all side by side, a ring of
 * nodes, and none, each with and without stripes, flat and with a pipeline;
 * then the transports of each level for the best of them; then all depths for
 * the best composition. All that was tried is kept as the evidence.
 */
#ifndef PROBES_COLLECTIVE_SHAPE_H
#define PROBES_COLLECTIVE_SHAPE_H

#include "common/err.h"
#include "probes/collective/compose.h"
#include "probes/collective/rounds.h"
#include "probes/pattern/pattern.h"
#include "probes/topology/machine.h"

/* The chosen parameters of a composition. 0: given by the user, not chosen. */
struct shape {
	uint32_t factors[COMPOSE_LEVELS_MAX]; /* outermost first */
	uint32_t levels;
	uint32_t stripe, ring, depth;
	enum plan_via vias[COMPOSE_LEVELS_MAX];
	uint32_t vias_count;
	uint64_t piece_bytes;
	enum rounds_kind exchange; /* not OFF: no stripe, ring, depth */
	const char *form;          /* of the collective; NULL: not chosen */
};
/* "hierarchy=4,4 stripe=4 ring=1 depth=8 via=mpi,ipc piece=60K", which the
 * caller frees; words of options, as tables keep them. */
char *shape_print(const struct shape *s);

struct shape_row {
	struct shape shape;
	char *words; /* of it */
	double time_s;
};
struct shape_list {
	char *machine;
	struct shape_row *rows; /* the fastest first */
	uint32_t count;
};
/* For a collective with tune = auto; pt builds it. -EINVAL and why. The caller
 * ends *ret with shape_clear. */
int shape_choose(const struct pattern *pt, const struct conf *c,
    const struct pattern_site *site, struct shape_list *ret, struct err *err);
void shape_clear(struct shape_list *t); /* frees */

/* What c asks for but the size, "collective name=broadcast"; the caller
 * frees. */
char *shape_asked(const struct conf *c);
/* The plan of c with the words of a row. */
int shape_plan(const struct pattern *pt, const struct conf *c,
    const char *words, const struct pattern_site *site, struct plan **ret,
    struct err *err);
/* The plan of the best row. */
int shape_build(const struct pattern *pt, const struct conf *c,
    const struct pattern_site *site, struct plan **ret, struct err *err);

#endif
