/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phases.h - run the phases of a campaign of canaries and congestors, in pairs
 * of visits, until all tests have the requested precision or reach their
 * limits.
 */
#ifndef PROBES_CONGESTION_PHASES_H
#define PROBES_CONGESTION_PHASES_H

#include "probes/job/settings.h"
#include "probes/job/world.h"

/* Visit all phases, then relay the records of all roles in turn. Collective
 * over all ranks; relay_open must have been called. */
void phases_run(struct world *w, const struct settings *s);

#endif
