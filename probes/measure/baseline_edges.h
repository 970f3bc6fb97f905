/* SPDX-License-Identifier: Apache-2.0 */
/*
 * baseline_edges.h - access to the messages of baseline_neighbor, for a product
 * that computes with them (spmm.h).
 */
#ifndef PROBES_MEASURE_BASELINE_EDGES_H
#define PROBES_MEASURE_BASELINE_EDGES_H

#include <stdint.h>

#include "probes/measure/baseline.h"

/* Return the memory of the data that this rank sends, and the first block that
 * rank src sent to it, or NULL if src sent none. */
void *baseline_neighbor_send(struct baseline *b);
void *baseline_neighbor_block(struct baseline *b, uint32_t src);

#endif
