/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rounds.h - who meets whom when ranks exchange in pairs, in about log2 rounds.
 *
 * In a round every active rank has at most one partner, and each is the
 * other's. Places number the active ranks. The partner of place v at distance
 * k, from 0 for the nearest:
 *
 *   recursive     v xor 2^k
 *   swing, bine   v + d for even v, v - d for odd v, modulo the places, with
 *                 d = 1 - 2 + 4 - ... + (-2)^k: 1, -1, 3, -5, 11, ...
 *
 * A place that knows its own block, and in every round gets what its partner
 * knows, knows all after the last round, in either order of distances: sums of
 * powers of -2 reach each of 2^n consecutive numbers once. Recursive needs a
 * power of two for that, the others an even number. Ranks beyond are folded:
 * each has a neighbour that takes part for both.
 *
 * Definitions: Swing, arXiv 2401.09356; Bine trees, arXiv 2508.17311. On one
 * dimension both have the same partners. Swing reduces with the nearest
 * partner first, and gathers from the farthest; Bine, as here, the other way
 * round, which keeps blocks side by side, and its trees halve the distance.
 *
 * Pure.
 */
#ifndef PROBES_COLLECTIVE_ROUNDS_H
#define PROBES_COLLECTIVE_ROUNDS_H

#include <stdint.h>

#define ROUNDS_NONE UINT32_MAX

/* In the order of option collective.exchange. */
enum rounds_kind {
	ROUNDS_OFF,
	ROUNDS_RECURSIVE,
	ROUNDS_SWING,
	ROUNDS_BINE,
	ROUNDS_KINDS
};
extern const char *const rounds_kinds[ROUNDS_KINDS];

enum rounds_use {
	ROUNDS_TREE,   /* from one place to all, the farthest partner first */
	ROUNDS_GATHER, /* every block to all; backwards a reduce-scatter */
	ROUNDS_WHOLE,  /* all of the data in each round, the nearest first */
};

struct rounds {
	enum rounds_kind kind;
	uint32_t ranks;
	uint32_t active; /* places; ranks - active are folded */
	uint32_t count;  /* rounds */
	int farthest_first;
};

/* kind is not ROUNDS_OFF; ranks >= 1. */
struct rounds rounds_make(enum rounds_kind kind, enum rounds_use use,
    uint32_t ranks);
/* The partner of a place, or ROUNDS_NONE. */
uint32_t rounds_partner(const struct rounds *r, uint32_t place, uint32_t round);
/* The rank at a place, and the rank that it takes part for, or ROUNDS_NONE. */
uint32_t rounds_rank(const struct rounds *r, uint32_t place);
uint32_t rounds_folded(const struct rounds *r, uint32_t place);

#endif
