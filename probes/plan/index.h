/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.h - the rows of a plan in another order, as an index: the rows
 * themselves are not moved.
 *
 * Building the index takes two counting sorts, and short sorts of the rows of
 * one rank in one step: linear time in practice, and 4 bytes per row.
 */
#ifndef PROBES_PLAN_INDEX_H
#define PROBES_PLAN_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "probes/plan/plan.h"

/* The rows of an index, and the keys by which they are ordered. */
enum index_of {
	INDEX_SRC,   /* transfers by step, src, from, from_off */
	INDEX_DST,   /* transfers by step, dst, to, to_off */
	INDEX_LOCAL, /* local operations by step, rank, to, to_off */
};

/* An index of the rows of a plan. */
struct index {
	const struct plan *p;
	enum index_of of;
	uint32_t *order; /* row numbers */
	size_t count;
	/* Position in order of the first row of each step, then the count. */
	size_t *steps;
	size_t cursor; /* state of index_group */
};

/* Return the index of a plan, which the caller frees. All ranks and steps in
 * the plan's rows must exist. The plan must not change while the index is
 * used. */
struct index *index_new(const struct plan *p, enum index_of of);
void index_free(struct index *x); /* x can be NULL */

/* Return the rows of a step: positions *ret_lo to *ret_hi - 1 of order. */
void index_step(const struct index *x, uint32_t step, size_t *ret_lo,
    size_t *ret_hi);
/* Return the rows of one rank in a step, as positions of order. Within a step
 * the caller must ask for ranks in ascending order. */
void index_group(struct index *x, uint32_t step, uint32_t rank, size_t *ret_lo,
    size_t *ret_hi);

#endif
