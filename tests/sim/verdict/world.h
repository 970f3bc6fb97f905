/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world.h - a made-up cluster that has faults and runs rounds.
 *
 * A round is one random ring (or several), as the engine draws it: a node has
 * two pairs in it. The number of a pair, a logarithm that grows with trouble,
 * is
 *
 *     max(node a, node b) + max(leaf a, leaf b) + uplinks, spine between leaves
 *         + noise of 5 %, and in one of twenty samples a large delay more
 *
 * as in docs/statistics.md: the slower end decides. Nodes differ by
 * 1 % among each other for good. Everything repeats from the seed.
 */
#ifndef TESTS_SIM_VERDICT_WORLD_H
#define TESTS_SIM_VERDICT_WORLD_H

#include <stddef.h>
#include <stdint.h>

#include "common/rng.h"
#include "daemon/diagnosis/judge/confirm.h"
#include "daemon/diagnosis/judge/score.h"

struct world_options {
	uint32_t nodes;
	uint32_t leaf_nodes; /* on a leaf; 0: leaves are not known */
	uint32_t rails;      /* of a node; each has a ring of its own */
	uint32_t rings;      /* in a round */
	double noise;        /* sigma of a pair */
	double odd_share;    /* samples with a large delay */
	double odd_mean;     /* of that delay, exponential */
	double spread;       /* sigma of nodes among each other */
};
extern const struct world_options world_defaults; /* 256 nodes of 8 leaves */

struct world {
	struct world_options o;
	struct rng rng;
	uint32_t places, leaves;
	double spare; /* of the normal generator; NAN: none */
	double *own;  /* of every place, for good */
	double *slow; /* faults: places */
	uint8_t *busy;
	double *leaf_slow, *uplink_slow;
	double spine_slow; /* pairs of leaves whose paths share a bad spine */
	uint32_t spines;
	/* scratch */
	int *order;
	double *pair; /* up to 2 * rings of a place */
	uint8_t *pair_count;
};

struct world *world_new(const struct world_options *o, uint64_t seed);
void world_free(struct world *w); /* NULL is allowed */
void world_heal(struct world *w); /* no faults */
uint32_t world_leaf(const struct world *w, uint32_t place);
/* Fill one observation of every place; obs has room for places. */
void world_round(struct world *w, struct score_obs *obs);
/* Medians of `rounds` measurements of every pair of those places, as a second
 * pass brings them; the count of pairs. */
size_t world_pairs(struct world *w, const uint32_t *places, size_t count,
    int rounds, struct confirm_pair *ret);
double world_normal(struct world *w);

#endif
