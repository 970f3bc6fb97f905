/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phases.h - the phases of a campaign of canaries and congestors, in pairs,
 * until all tests know enough.
 */
#ifndef PROBES_CONGESTION_PHASES_H
#define PROBES_CONGESTION_PHASES_H

#include "probes/job/settings.h"
#include "probes/job/world.h"

/* Visit all phases, then relay the records of all roles in turn. Collective;
 * relay_open was called. */
void phases_run(struct world *w, const struct settings *s);

#endif
