/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.c - the order of a ring from the seed and the round alone.
 */
#include "probes/job/ring.h"

#include <assert.h>
#include <stdlib.h>

#include "common/rng.h"
#include "common/xalloc.h"

#define STREAM_RINGS 16 /* first of the seed's streams for rings */

void
ring_order(const struct ring *ring, int *order)
{
	struct rng r;

	for (int i = 0; i < ring->size; i++)
		order[i] = i;
	if (ring->natural)
		return;
	rng_seed3(&r, ring->seed, STREAM_RINGS + (uint64_t)ring->test,
	    (uint64_t)ring->round << 16 | (uint64_t)ring->slice);
	rng_shuffle(&r, order, (size_t)ring->size);
}

/* (0, 1) (0, 2) (1, 2) (0, 3) ...: the pairs with the larger rank b start at
 * b (b - 1) / 2. */
int
ring_pair(int round, int size, int rank)
{
	int at, b = 1;

	if (size < 2)
		return rank;
	at = (int)((long)round % ((long)size * (size - 1) / 2));
	while (at >= b)
		at -= b++;
	return rank == at ? b : rank == b ? at : rank;
}

int
ring_match(const struct ring *ring, int rank)
{
	int *order = xcalloc((size_t)ring->size, sizeof(*order));
	int at = 0, with;

	assert(rank >= 0 && rank < ring->size);
	ring_order(ring, order);
	while (order[at] != rank)
		at++;
	with = (at ^ 1) < ring->size ? order[at ^ 1] : rank;
	free(order);
	return with;
}

void
ring_neighbours(const struct ring *ring, int rank, int *ret_left,
    int *ret_right)
{
	int *order = xcalloc((size_t)ring->size, sizeof(*order));
	int at = 0;

	assert(rank >= 0 && rank < ring->size);
	ring_order(ring, order);
	while (order[at] != rank)
		at++;
	*ret_left = order[(at + ring->size - 1) % ring->size];
	*ret_right = order[(at + 1) % ring->size];
	free(order);
}
