/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compose.h - collectives from multicasts, reductions and fences (HiCCL),
 * factorised over a hierarchy into a plan.
 *
 * A multicast brings a range of its root to the same range of every leaf; a
 * reduction brings op over a range of every leaf to a range of its root. Any
 * number of them may be registered; what follows a fence sees what came
 * before it. Each is cut into depth channels, then striped over the ranks of
 * its root's node, sent round a ring of nodes, and down (or up) a tree over
 * the factors: docs/algorithms-commbench-hiccl.md, section 2.
 *
 * Where the public code is wrong this is not: a fence orders whatever overlaps
 * (plan/order.c), a lone relay of a ring keeps its own contribution and its
 * send buffer, temporary places are never shared. Lean leaves out what brings a
 * root its own data back, and turns the ring of multicasts round where there
 * are reductions, which go towards lower nodes: pipelines of both do not meet.
 */
#ifndef PROBES_COLLECTIVE_COMPOSE_H
#define PROBES_COLLECTIVE_COMPOSE_H

#include <stdint.h>

#include "common/conf.h"
#include "common/err.h"
#include "probes/pattern/pattern.h"

#define COMPOSE_LEVELS_MAX 16

struct compose_shape {
	uint32_t ranks;
	uint32_t factors[COMPOSE_LEVELS_MAX]; /* outermost first */
	uint8_t vias[COMPOSE_LEVELS_MAX];     /* one a factor */
	uint32_t levels;
	uint32_t stripe; /* consecutive ranks; divides all */
	uint32_t ring;   /* nodes; divides the ranks; 1: none */
	uint32_t depth;  /* channels */
	int lean;
	enum plan_type type;
	enum plan_op op; /* of reductions */
};

struct compose;

/* The product of the factors is p->ranks, stripe and ring divide it. p is
 * kept by reference; the shape is copied. */
struct compose *compose_new(struct plan *p, const struct compose_shape *shape);
void compose_free(struct compose *c); /* NULL is allowed */

enum compose_kind { COMPOSE_MULTICAST, COMPOSE_REDUCTION, COMPOSE_FENCE };

/* The ranges of count elements must be in their buffers already. */
struct compose_prim {
	enum compose_kind kind; /* a fence has nothing else */
	uint32_t root;
	const uint32_t *leaves; /* ascending and distinct */
	uint32_t leaves_count;
	struct plan_place from, to;
	uint64_t count;
};
void compose_add(struct compose *c, const struct compose_prim *prim);

/* Add to the plan the rows for all that was registered. */
void compose_build(struct compose *c);

/* Read the options of a composition, of any section: ranks hierarchy stripe
 * ring depth lean type op via. The number of ranks is the option, else all,
 * else the product of the factors. Return 0, or -EINVAL and the reason. */
int compose_options(const struct conf *c, const char *section,
    const struct pattern_site *site, struct compose_shape *ret,
    struct err *err);

#endif
