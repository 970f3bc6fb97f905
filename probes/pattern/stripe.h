/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stripe.h - what a striped transfer is compared with.
 */
#ifndef PROBES_PATTERN_STRIPE_H
#define PROBES_PATTERN_STRIPE_H

#include "probes/plan/plan.h"

#define STRIPE_SECTION "stripe"

/* The message of a plan of this builder, sent at once by the transport that
 * its stripes take between the nodes. The caller ends it with plan_free. */
struct plan *stripe_direct(const struct plan *p);

#endif
