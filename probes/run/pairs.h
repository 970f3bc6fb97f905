/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairs.h - who was slow with whom: medians by pair of nodes. Pure.
 *
 * A rank's time covers the exchange with both of its neighbours, so it is
 * evidence on both pairs. A node with good partners is innocent and a guilty
 * node is bad with everyone: what speaks against a node is the quartile of its
 * pairs on the good side. The table is bounded: PAIRS_MAX pairs, PAIRS_KEPT
 * medians of each; of more, an unbiased sample.
 */
#ifndef PROBES_RUN_PAIRS_H
#define PROBES_RUN_PAIRS_H

#include <stdint.h>

#define PAIRS_MAX  16384 /* pairs of one table: 1 MiB */
#define PAIRS_KEPT 12    /* medians of a pair */

struct pairs;

struct pairs_row {
	int a, b;   /* nodes, a < b */
	uint64_t n; /* medians seen */
	double p50; /* of those kept */
};

/* low_is_bad: 1 for bandwidths, 0 for times. */
struct pairs *pairs_new(int low_is_bad, uint64_t seed);
void pairs_free(struct pairs *p); /* NULL is allowed */
/* One round's median of a rank on node a that had node b as neighbour. Equal
 * nodes are no pair and are left out. */
void pairs_add(struct pairs *p, int a, int b, double median);
/* Pairs that found no room. */
uint64_t pairs_dropped(const struct pairs *p);
/* The worst first, at most cap; their number. */
int pairs_worst(const struct pairs *p, struct pairs_row *ret, int cap);
/* Of one pair, in either order; NAN: it never met. */
double pairs_median(const struct pairs *p, int a, int b);
/* A quantile of the medians of the node's pairs; NAN without pairs. */
double pairs_quantile(const struct pairs *p, int node, double q);

/* The median of all pairs' medians; NAN without pairs. */
double pairs_typical(const struct pairs *p);
/* The node's pairs, and how many of them are worse than typical by more than
 * PAIRS_SLOW of it. */
#define PAIRS_SLOW 0.05
int pairs_partners(const struct pairs *p, int node, double typical,
    int *ret_slow);

#endif
