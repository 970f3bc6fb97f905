/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roles.h - the choices of the seed: which nodes are canaries and congestors,
 * and the rings of canaries. Pure.
 *
 * Nodes are shuffled by the seed, so that no placement and no tuning of ranks
 * can keep canaries and congestors apart (GPCNeT section 3.3).
 */
#ifndef PROBES_JOB_ROLES_H
#define PROBES_JOB_ROLES_H

#include <stdint.h>

#define ROLES_CANARY     (-1) /* else an index into the mix */
#define ROLES_CANARY_MIN 2
#define ROLES_PER_KIND   2

struct roles_ask {
	int nodes;
	int kinds;    /* of congestors; 0: every node is a canary */
	double share; /* of the nodes, for canaries */
	uint64_t seed;
};

/* The smallest number of nodes that would do. */
int roles_needed(const struct roles_ask *ask);
/* ret_role[node] for ask->nodes nodes: ROLES_CANARY or the kind. -ERANGE when
 * there are too few nodes. */
int roles_assign(const struct roles_ask *ask, int *ret_role);

/* The left and right neighbours of each member in a round. A ring is drawn from
 * (seed, test, round, slice) alone: the isolated and the congested phase use
 * the same rings and so compare the same pairs. */
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
int roles_ring_match(const struct ring *ring, int rank);
/* The pairs of size ranks in turn, one a round and from the first again: is
 * this rank's turn? Then its partner, else itself. */
int roles_ring_pair(int round, int size, int rank);
/* 0 or 1: how often all pairs have had their turns before, modulo 2. */
int roles_ring_turn(int round, int size);
/* Neighbours of a rank. In a ring of two both are the same, in a ring of one
 * both are the rank itself. */
void roles_ring_neighbours(const struct ring *ring, int rank, int *ret_left,
    int *ret_right);

/* An incast: the ring is cut into groups of RING_SENDERS and one receiver, or a
 * few more so that every member is in a group. RING_SENDERS_MAX is the size
 * that a group can reach. */
#define RING_SENDERS     8
#define RING_SENDERS_MAX (2 * RING_SENDERS)
/* Rounds until every rank has received, counted from a multiple of them. */
int roles_ring_turns(int size);
/* The senders, where this rank receives in this round, and how many they are;
 * else 0 and the one to which it sends. In a ring of one that is itself. */
int roles_ring_incast(const struct ring *ring, int rank,
    int ret[RING_SENDERS_MAX]);

#endif
