/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fill.h - the initial contents of a plan's buffers, which identify rank,
 * buffer, offset and iteration. The functions are pure.
 *
 * The buffers of plans that only copy contain noise. Those of plans that reduce
 * contain elements whose result is exact in any order of operations. Integers
 * wrap. For floating point types only a few ranks contribute to each element,
 * with small integers or powers of two. These ranks change from element to
 * element, so that a lost contribution is detected.
 */
#ifndef PROBES_EXECUTE_FILL_H
#define PROBES_EXECUTE_FILL_H

#include <stddef.h>

#include "probes/plan/plan.h"

/* The initial contents of the buffers of a plan. */
struct fill {
	enum plan_op op; /* PLAN_COPY: noise */
	enum plan_type type;
	uint32_t inputs; /* largest number of inputs of one result */
	/* One of this many ranks contributes a nonzero value to an element. */
	uint32_t turns;
};

/* Determine the contents for a plan. Return 0, or -ENOTSUP if its promises have
 * different reductions. */
int fill_of_plan(const struct plan *p, struct fill *ret);

/* Write the initial bytes off to off + bytes - 1 of a buffer to `to`. */
void fill_make(const struct fill *f, uint64_t iteration, uint32_t rank,
    uint16_t buf, uint64_t off, void *to, size_t bytes);

#endif
