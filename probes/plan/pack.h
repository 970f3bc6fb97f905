/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.h - a plan as bytes, for transport from the rank that built it to all
 * others.
 */
#ifndef PROBES_PLAN_PACK_H
#define PROBES_PLAN_PACK_H

#include <stddef.h>

#include "probes/plan/plan.h"

/* Return a plan as compressed bytes; the caller frees them. One rank builds a
 * plan and sends it to all others, so that a file is read only once and all
 * ranks have the same plan. Plans are repetitive, and they travel through the
 * network under test; hence the compression. The bytes are valid only for
 * processes of one program: layout and byte order are those of the machine. */
void *plan_pack(const struct plan *p, size_t *ret_bytes);
/* Return the plan that plan_pack packed; the caller frees it with plan_free. */
struct plan *plan_unpack(const void *packed, size_t bytes);

#endif
