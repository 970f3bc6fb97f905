/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phases.h - who works when: A B B A, with everybody else asleep.
 */
#ifndef PROBES_CONGESTION_PHASES_H
#define PROBES_CONGESTION_PHASES_H

#include "probes/congestion/congestor_loop.h"
#include "probes/congestion/canary_loop.h"

/* All ranks together. measure is NULL for a congestor, load for a canary.
 * Rank 0 relays a phase record at every border. */
void phases_run(const struct world *w, const struct settings *s,
    struct canary_loop *measure, struct congestor_loop *load);

#endif
