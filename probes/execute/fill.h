/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fill.h - the contents of a run's buffers: together the bytes identify rank,
 * buffer, offset and iteration. Pure.
 *
 * Plans that only copy hold noise. Plans that reduce hold elements whose result
 * is exact in any order of operations. Integers wrap. Of floating point numbers
 * only a few ranks contribute to an element, with small whole numbers or powers
 * of two. These ranks change from element to element, so that a lost
 * contribution is detected.
 */
#ifndef PROBES_EXECUTE_FILL_H
#define PROBES_EXECUTE_FILL_H

#include <stddef.h>

#include "probes/plan/plan.h"

struct fill {
	enum plan_op op; /* PLAN_COPY: noise */
	enum plan_type type;
	uint32_t inputs; /* most that one result is made of */
	uint32_t turns; /* one of this many ranks contributes a nonzero value */
};

/* Return -ENOTSUP for a plan whose promises have different reductions. */
int fill_of_plan(const struct plan *p, struct fill *ret);

/* Bytes off to off + bytes of the buffer, as they are at the start. */
void fill_make(const struct fill *f, uint64_t iteration, uint32_t rank,
    uint16_t buf, uint64_t off, void *to, size_t bytes);

#endif
