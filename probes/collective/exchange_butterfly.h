/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange_butterfly.h - stages of an exchange that are butterflies.
 */
#ifndef PROBES_COLLECTIVE_EXCHANGE_BUTTERFLY_H
#define PROBES_COLLECTIVE_EXCHANGE_BUTTERFLY_H

#include "probes/collective/exchange.h"

/* Reduce each block of send to the rank that owns it. to: EXCHANGE_OWN,
 * EXCHANGE_IN_WORK or EXCHANGE_KEPT. */
void exchange_reduce_scatter(struct exchange *x, enum exchange_spot to);
/* Copy the block of each rank to the buffer recv of every rank. from:
 * EXCHANGE_OWN, EXCHANGE_SPREAD or EXCHANGE_KEPT. */
void exchange_allgather(struct exchange *x, enum exchange_spot from);
/* Reduce all blocks of send into the buffer recv of every rank; all data is
 * exchanged in each round. */
void exchange_allreduce(struct exchange *x);

#endif
