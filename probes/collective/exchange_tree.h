/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange_tree.h - stages of an exchange that follow a tree from the root.
 */
#ifndef PROBES_COLLECTIVE_EXCHANGE_TREE_H
#define PROBES_COLLECTIVE_EXCHANGE_TREE_H

#include <stdint.h>

#include "probes/collective/exchange.h"

/* Copy all blocks from the root to the buffer recv of every rank. The source is
 * the root's send, or its recv if in_place is 1. */
void exchange_broadcast(struct exchange *x, int in_place);
/* Reduce all blocks of send into buffer `to` of the root. */
void exchange_reduce(struct exchange *x, uint16_t to);
/* Copy to every rank its block of buffer `from` of the root. to: EXCHANGE_OWN
 * or EXCHANGE_SPREAD. */
void exchange_scatter(struct exchange *x, uint16_t from, enum exchange_spot to);
/* Copy the block of each rank to the root's recv. from: EXCHANGE_OWN or
 * EXCHANGE_IN_WORK. */
void exchange_gather(struct exchange *x, enum exchange_spot from);

#endif
