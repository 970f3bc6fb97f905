/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.h - rows without moving them.
 *
 * Made by two passes of counting and short sorts of what one rank does in one
 * step: linear in practice, 4 bytes a row.
 */
#ifndef PROBES_PLAN_INDEX_H
#define PROBES_PLAN_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "probes/plan/plan.h"

enum index_of {
	INDEX_SRC,   /* transfers by step, src, from, from_off */
	INDEX_DST,   /* transfers by step, dst, to, to_off */
	INDEX_LOCAL, /* local operations by step, rank, to, to_off */
};

struct index {
	const struct plan *p;
	enum index_of of;
	uint32_t *order; /* row numbers */
	size_t count;
	size_t *steps; /* first in order of each step, and the count */
	size_t cursor; /* of index_group */
};

/* Every rank and step of the plan must exist. */
struct index *index_new(const struct plan *p, enum index_of of);
void index_free(struct index *x); /* NULL is allowed */

/* Rows of a step are order[lo..hi). */
void index_step(const struct index *x, uint32_t step, size_t *ret_lo,
    size_t *ret_hi);
/* Rows of one rank in a step; ask for ranks in ascending order. */
void index_group(struct index *x, uint32_t step, uint32_t rank, size_t *ret_lo,
    size_t *ret_hi);

#endif
