/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phases.h - who works when: A B B A, with everybody else asleep.
 */
#ifndef PROBES_RUN_PHASES_H
#define PROBES_RUN_PHASES_H

#include "probes/run/load.h"
#include "probes/run/measure.h"

/* All ranks together. measure is NULL for a congestor, load for a canary.
 * Rank 0 relays a phase record at every border. */
void phases_run(const struct world *w, const struct settings *s,
    struct measure *measure, struct load *load);

#endif
