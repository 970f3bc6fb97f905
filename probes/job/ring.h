/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.h - who stands left and right of whom in a round. Pure.
 *
 * A ring is drawn from (seed, test, round, slice) alone: the isolated and the
 * congested phase walk the same rings and so compare the same pairs.
 */
#ifndef PROBES_JOB_RING_H
#define PROBES_JOB_RING_H

#include <stdint.h>

/* canary.partners, in the order of its choices. */
struct ring {
	uint64_t seed;
	int test;
	int round;
	int slice;   /* which rank of each node */
	int size;    /* ranks in the slice */
	int natural; /* 1: in the order of ranks */
};

/* The ring cut into pairs: this rank's partner, or itself, the one that is
 * left over of an odd number. */
int ring_match(const struct ring *ring, int rank);
/* The pairs of size ranks in turn, one a round and from the first again: is
 * this rank's turn? Then its partner, else itself. */
int ring_pair(int round, int size, int rank);
/* order[0..size-1]: ranks in ring order. */
void ring_order(const struct ring *ring, int *order);
/* Neighbours of a rank. In a ring of two both are the same, in a ring of one
 * both are the rank itself. */
void ring_neighbours(const struct ring *ring, int rank, int *ret_left,
    int *ret_right);

#endif
