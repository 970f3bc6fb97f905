/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.h - the earliest step at which something may happen.
 *
 * A builder adds rows in the order in which they are meant. For each it asks
 * here for the first step, not before the one it wishes, that follows all
 * earlier rows with which it shares bytes on one of its ranks, one of the two
 * writing. Pieces of a pipeline that share nothing overlap; a fence between
 * pieces that do costs exactly the steps that it must.
 */
#ifndef PROBES_PLAN_ORDER_H
#define PROBES_PLAN_ORDER_H

#include <stdint.h>

#include "probes/plan/plan.h"

struct order;

/* Buffers may grow between calls, and be added. */
struct order *order_new(const struct plan *p);
void order_free(struct order *o); /* NULL is allowed */

/* Moves t->step or l->step up as far as needed, and remembers the row. */
void order_transfer(struct order *o, struct plan_transfer *t);
void order_local(struct order *o, struct plan_local *l,
    const struct plan_place *inputs, uint32_t inputs_count);

#endif
