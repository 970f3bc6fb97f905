/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_tuning.h - measurements before a collective. Rank 0.
 */
#ifndef PROBES_MEASURE_SHAPE_TUNING_H
#define PROBES_MEASURE_SHAPE_TUNING_H

#include "common/err.h"
#include "probes/measure/session.h"
#include "probes/plan/plan.h"

/* If they are asked for: what two nodes exchange and what each node's link
 * gives, as probes of their own, into s->bounds. */
void shape_tuning_bounds(struct session *s);
/* The fastest shape, remembered or measured, with a record of the choice.
 * -EINVAL (or -errno) and why. The caller ends *ret with plan_free. */
int shape_tuning_choose(struct session *s, struct plan **ret, struct err *err);

#endif
