/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.h - the earliest step at which an operation of a plan can happen.
 *
 * A builder adds rows in the order in which they are meant. For each row it
 * asks here for the first possible step, which is not before the step that the
 * row proposes. The row must follow all earlier rows that access the same bytes
 * of a rank, if one of the two writes. Pieces of a pipeline that share no bytes
 * overlap; a fence between pieces that share bytes delays them by exactly the
 * necessary number of steps.
 */
#ifndef PROBES_PLAN_ORDER_H
#define PROBES_PLAN_ORDER_H

#include <stdint.h>

#include "probes/plan/plan.h"

struct order;

/* Return an empty order for a plan, which the caller frees. The plan can get
 * more and larger buffers between calls. */
struct order *order_new(const struct plan *p);
void order_free(struct order *o); /* o can be NULL */

/* Increase t->step or l->step as far as needed, and record the row's
 * accesses. */
void order_transfer(struct order *o, struct plan_transfer *t);
void order_local(struct order *o, struct plan_local *l,
    const struct plan_place *inputs, uint32_t inputs_count);

#endif
