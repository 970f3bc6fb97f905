/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_tuning.h - measurements before a collective: its bounds, and the choice
 * of its shape. Only rank 0 calls these functions.
 */
#ifndef PROBES_MEASURE_SHAPE_TUNING_H
#define PROBES_MEASURE_SHAPE_TUNING_H

#include "common/err.h"
#include "probes/measure/plan_driver.h"
#include "probes/plan/plan.h"

/* Measure what two nodes exchange and what each node's link delivers, as
 * separate probes, into s->bounds, if the campaign requests it. */
void shape_tuning_bounds(struct plan_driver *s);
/* Choose the fastest shape, from the file of earlier choices or by
 * measurements, and write a record of the choice. Return 0 and the plan, which
 * the caller frees with plan_free; or -EINVAL (or -errno) with the reason in
 * err. */
int shape_tuning_choose(struct plan_driver *s, struct plan **ret,
    struct err *err);

#endif
