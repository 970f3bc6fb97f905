/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roles.h - what the seed decides: which nodes are canaries and which are
 * congestors, and the rings of canaries. The functions are pure.
 *
 * By default nodes are shuffled by the seed, so that no placement and no tuning
 * of ranks can separate canaries and congestors (GPCNeT, section 3.3).
 */
#ifndef PROBES_JOB_ROLES_H
#define PROBES_JOB_ROLES_H

#include <stdint.h>

/* The role of a canary. The role of a congestor is its index in the mix, the
 * list of congestors of the campaign (congestor.mix). */
#define ROLES_CANARY     (-1)
#define ROLES_CANARY_MIN 2 /* least number of canary nodes */
#define ROLES_PER_KIND   2 /* least number of nodes of each congestor */

/* The placement of canaries and congestors: option congestor.placement. */
enum roles_placement {
	ROLES_RANDOM, /* shuffled by the seed */
	ROLES_BLOCKS, /* canaries, then each kind, in order */
	ROLES_SPREAD  /* each role evenly over the order */
};

/* The arguments of the assignment. */
struct roles_ask {
	int nodes;
	int kinds;    /* number of congestor kinds; 0: every node is a canary */
	double share; /* share of the nodes that are canaries */
	uint64_t seed;
	/* Relative number of nodes of each kind; NULL, or the first is 0: equal
	 * numbers. */
	const int *shares;
	enum roles_placement placement;
	/* The nodes in the order of roles_order, for a placement that is not
	 * random; NULL: 0, 1, 2 ... */
	const int *order;
};

/* Order nodes for a placement: those of each leaf together, the others last, by
 * name within each group. names: of each node; leaves: lists of hosts, one for
 * each leaf, separated by blanks. Malformed lists are skipped. */
void roles_order(const char *const *names, int nodes, const char *leaves,
    int *ret_order);

/* Return the smallest number of nodes for which an assignment exists. */
int roles_needed(const struct roles_ask *ask);
/* Assign roles: ret_role[node], for ask->nodes nodes, becomes ROLES_CANARY or
 * the index of a congestor. Return 0, or -ERANGE if there are too few nodes. */
int roles_assign(const struct roles_ask *ask, int *ret_role);

/* A ring: the left and right neighbours of each member in a round. It is drawn
 * from (seed, test, round, slice) alone: the isolated and the congested phase
 * use the same rings, and so compare the same pairs. */
struct ring {
	uint64_t seed;
	int test;
	int round;
	int slice;   /* the ranks with this number on their nodes */
	int size;    /* number of ranks in the slice */
	int natural; /* 1: in the order of ranks */
};

/* Cut the ring into pairs. Return the partner of a rank, or the rank itself, if
 * it is the one that remains of an odd number. */
int roles_ring_match(const struct ring *ring, int rank);
/* All pairs of `size` ranks have turns, one pair per round, and then the first
 * pair again. Return the partner of a rank if it is its turn in this round,
 * otherwise the rank itself. */
int roles_ring_pair(int round, int size, int rank);
/* Return how often all pairs had their turns before this round, modulo 2. */
int roles_ring_turn(int round, int size);
/* Return the neighbours of a rank. In a ring of two both are the same rank, in
 * a ring of one both are the rank itself. */
void roles_ring_neighbours(const struct ring *ring, int rank, int *ret_left,
    int *ret_right);

/* An incast: the ring is cut into groups of RING_SENDERS senders and one
 * receiver, or of a few more senders, so that every member is in a group. A
 * group has at most RING_SENDERS_MAX senders. */
#define RING_SENDERS     8
#define RING_SENDERS_MAX (2 * RING_SENDERS)
/* Return the number of rounds after which every rank has received, counted from
 * a multiple of this number. */
int roles_ring_turns(int size);
/* Return the number of senders if this rank receives in this round; ret has
 * their ranks. Otherwise return 0, and ret[0] is the receiver, which in a ring
 * of one is the rank itself. */
int roles_ring_incast(const struct ring *ring, int rank,
    int ret[RING_SENDERS_MAX]);

#endif
