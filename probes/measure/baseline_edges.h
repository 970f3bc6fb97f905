/* SPDX-License-Identifier: Apache-2.0 */
/*
 * baseline_edges.h - the messages of baseline_neighbor, for what computes with
 * them.
 */
#ifndef PROBES_MEASURE_BASELINE_EDGES_H
#define PROBES_MEASURE_BASELINE_EDGES_H

#include <stdint.h>

#include "probes/measure/baseline.h"

/* Of baseline_neighbor: what this rank gives, and the first block that src
 * gave it; NULL: none. */
void *baseline_neighbor_send(struct baseline *b);
void *baseline_neighbor_block(struct baseline *b, uint32_t src);

#endif
