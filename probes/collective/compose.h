/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compose.h - build collectives from multicasts, reductions and fences (HiCCL),
 * factorised over a hierarchy, as a plan.
 *
 * A multicast copies a range of its root to the same range of every leaf. A
 * reduction combines a range of every leaf with an operation, into a range of
 * its root. A composition has any number of these primitives; primitives after
 * a fence see the results of those before it. Each primitive is cut into depth
 * channels. It is then striped over the ranks of its root's node, sent along a
 * ring of nodes, and distributed down (or combined up) a tree over the factors:
 * docs/algorithms-commbench-hiccl.md, section 2.
 *
 * This code differs from the public HiCCL code where the latter is wrong: a
 * fence orders all ranges that overlap (plan/order.c), a lone relay of a ring
 * keeps its own contribution and its send buffer, and temporary places are
 * never shared. The option lean omits transfers that return a root its own
 * data, and reverses the ring of multicasts if there are reductions. Reductions
 * move towards lower nodes, so that the pipelines of both do not meet.
 */
#ifndef PROBES_COLLECTIVE_COMPOSE_H
#define PROBES_COLLECTIVE_COMPOSE_H

#include <stdint.h>

#include "common/conf.h"
#include "common/err.h"
#include "probes/pattern/pattern.h"

#define COMPOSE_LEVELS_MAX 16

/* How a composition is factorised. */
struct compose_shape {
	uint32_t ranks;
	/* Factors of the number of ranks, outermost first. */
	uint32_t factors[COMPOSE_LEVELS_MAX];
	uint8_t vias[COMPOSE_LEVELS_MAX]; /* transport of each level */
	uint32_t levels;
	/* Consecutive ranks over which a primitive is striped; divides the
	 * number of ranks. */
	uint32_t stripe;
	/* Nodes of the ring; divides the number of ranks; 1: no ring. */
	uint32_t ring;
	uint32_t depth; /* number of channels */
	int lean;       /* 1: see above */
	enum plan_type type;
	enum plan_op op; /* operation of reductions */
};

struct compose;

/* Return an empty composition, which the caller frees. The product of the
 * factors must be p->ranks, and stripe and ring must divide it. The plan p must
 * live as long; the shape is copied. */
struct compose *compose_new(struct plan *p, const struct compose_shape *shape);
void compose_free(struct compose *c); /* c can be NULL */

enum compose_kind { COMPOSE_MULTICAST, COMPOSE_REDUCTION, COMPOSE_FENCE };

/* A primitive. The ranges of count elements must already be in their
 * buffers. */
struct compose_prim {
	enum compose_kind kind; /* of a fence, the other members are not used */
	uint32_t root;
	const uint32_t *leaves; /* ranks, ascending and distinct */
	uint32_t leaves_count;
	struct plan_place from, to;
	uint64_t count;
};
/* Register a primitive, which is copied. */
void compose_add(struct compose *c, const struct compose_prim *prim);

/* Add to the plan the rows for all registered primitives. */
void compose_build(struct compose *c);

/* Read the options of a composition from a section: ranks hierarchy stripe ring
 * depth lean type op via. The number of ranks is the option ranks, else
 * site->ranks, else the product of the factors. Return 0, or -EINVAL with the
 * reason in err. */
int compose_options(const struct conf *c, const char *section,
    const struct pattern_site *site, struct compose_shape *ret,
    struct err *err);

#endif
