/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.h - a plan as bytes, from the rank that built it to all others.
 */
#ifndef PROBES_PLAN_PACK_H
#define PROBES_PLAN_PACK_H

#include <stddef.h>

#include "probes/plan/plan.h"

/* A plan as bytes, from the rank that built it to all others, so that a
 * pattern's file is read once and all have the same plan. Compressed: plans
 * repeat themselves, and have to pass through the network under test. For
 * processes of one program: layout and byte order are the machine's. The
 * caller frees. */
void *plan_pack(const struct plan *p, size_t *ret_bytes);
/* What plan_pack gave; the caller ends it with plan_free. */
struct plan *plan_unpack(const void *packed, size_t bytes);

#endif
