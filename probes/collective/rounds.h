/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rounds.h - the partner of each rank in each round, if ranks exchange in pairs
 * in about log2(ranks) rounds.
 *
 * In a round every active rank has at most one partner, and partnership is
 * mutual. Places number the active ranks. The partner of place v at distance k,
 * where 0 is the nearest:
 *
 *   recursive     v xor 2^k
 *   swing, bine   v + d for even v, v - d for odd v, modulo the places, with
 *                 d = 1 - 2 + 4 - ... + (-2)^k: 1, -1, 3, -5, 11, ...
 *
 * Each place begins with its own block, and in every round gets all blocks that
 * its partner has. After the last round it has all blocks, whether distances
 * ascend or descend: sums of powers of -2 reach each of 2^n consecutive numbers
 * once. For this, recursive needs a power of two of places, and the others an
 * even number. The ranks beyond that number are folded: a neighbour takes part
 * for both.
 *
 * Definitions: Swing, arXiv 2401.09356; Bine trees, arXiv 2508.17311. On one
 * dimension both have the same partners. Swing reduces with the nearest partner
 * first, and gathers from the farthest first. Bine does the opposite, as this
 * code does: blocks stay adjacent, and its trees halve the distance.
 *
 * The functions are pure.
 */
#ifndef PROBES_COLLECTIVE_ROUNDS_H
#define PROBES_COLLECTIVE_ROUNDS_H

#include <stdint.h>

#define ROUNDS_NONE UINT32_MAX /* no partner, or no folded rank */

/* The kinds of rounds, in the order of option collective.exchange. */
enum rounds_kind {
	ROUNDS_OFF,
	ROUNDS_RECURSIVE,
	ROUNDS_SWING,
	ROUNDS_BINE,
	ROUNDS_KINDS
};
extern const char *const rounds_kinds[ROUNDS_KINDS];

/* The use of the rounds, which decides the order of distances. */
enum rounds_use {
	ROUNDS_TREE, /* from one place to all; the farthest partner first */
	/* From every place its block to all places; in reverse, a
	   reduce-scatter. */
	ROUNDS_GATHER,
	ROUNDS_WHOLE, /* all data in each round; the nearest partner first */
};

/* The rounds of a number of ranks. */
struct rounds {
	enum rounds_kind kind;
	uint32_t ranks;
	uint32_t active; /* number of places; ranks - active ranks are folded */
	uint32_t count;  /* number of rounds */
	int farthest_first; /* 1: distances descend */
};

/* Return the rounds of this many ranks (at least 1). kind must not be
 * ROUNDS_OFF. */
struct rounds rounds_make(enum rounds_kind kind, enum rounds_use use,
    uint32_t ranks);
/* Return the partner of a place in a round, or ROUNDS_NONE. */
uint32_t rounds_partner(const struct rounds *r, uint32_t place, uint32_t round);
/* Return the rank at a place, and the rank for which the rank at this place
 * also takes part, or ROUNDS_NONE. */
uint32_t rounds_rank(const struct rounds *r, uint32_t place);
uint32_t rounds_folded(const struct rounds *r, uint32_t place);

#endif
