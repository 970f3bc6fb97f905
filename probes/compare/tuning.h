/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuning.h - what is measured before a collective: bounds, the machine, and
 * with tune = auto its shape. Rank 0.
 */
#ifndef PROBES_COMPARE_TUNING_H
#define PROBES_COMPARE_TUNING_H

#include "probes/compare/session.h"

/* If they are asked for: what two nodes exchange and what each node's link
 * gives, as probes of their own, into s->bounds. */
void tuning_bounds(struct session *s);
/* The fastest shape, remembered or measured, with a record of the choice.
 * -EINVAL (or -errno) and why. The caller ends *ret with plan_free. */
int tuning_choose(struct session *s, struct plan **ret, struct err *err);

#endif
