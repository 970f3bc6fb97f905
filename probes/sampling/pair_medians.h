/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pair_medians.h - medians by pair of nodes, to find which pairs were slow.
 * Pure.
 *
 * A rank's time covers the exchange with both of its neighbours, so it is
 * evidence on both pairs. A normal node is slow with slow partners only, a slow
 * node with everyone: a node is judged by the quartile of its pairs on the good
 * side. If many nodes are slow, as under load of jobs, most partners of a node
 * may be slow by chance: they are excluded. The table is bounded:
 * PAIR_MEDIANS_PARTNERS partners of each node on average, and PAIR_MEDIANS_KEPT
 * medians of each pair; of more medians, an unbiased sample.
 */
#ifndef PROBES_SAMPLING_PAIR_MEDIANS_H
#define PROBES_SAMPLING_PAIR_MEDIANS_H

#include <stdint.h>

#define PAIR_MEDIANS_PARTNERS 32
#define PAIR_MEDIANS_LEAST    16384   /* pairs of one table: 1 MiB, */
#define PAIR_MEDIANS_MOST     1000000 /* and 64 MiB */
#define PAIR_MEDIANS_KEPT     12      /* medians of a pair */

struct pair_medians;

struct pair_medians_row {
	int a, b;   /* nodes, a < b */
	uint64_t n; /* medians seen */
	double p50; /* of those kept */
};

/* low_is_bad: 1 for bandwidths, 0 for times. nodes: how many there are. */
struct pair_medians *pair_medians_new(int low_is_bad, int nodes, uint64_t seed);
void pair_medians_free(struct pair_medians *p); /* NULL is allowed */
/* Add one round's median of a rank on node a whose neighbour was on node b.
 * Ignored if both are the same node. */
void pair_medians_add(struct pair_medians *p, int a, int b, double median);
/* Return the number of medians dropped because the table was full. */
uint64_t pair_medians_dropped(const struct pair_medians *p);
/* The worst first, at most cap; their number. */
int pair_medians_worst(const struct pair_medians *p,
    struct pair_medians_row *ret, int cap);
/* Of one pair, in either order; NAN: it never met. */
double pair_medians_median(const struct pair_medians *p, int a, int b);
/* A quantile of the medians of the node's pairs, of two the outer one; NAN
 * without pairs. */
double pair_medians_quantile(struct pair_medians *p, int node, double q);
/* Its score: the quartile on the good side of its pairs; where a quarter of its
 * partners or more are slow themselves, of those with the others. */
double pair_medians_score(struct pair_medians *p, int node);

/* The median of all pairs' medians; NAN without pairs. */
double pair_medians_typical(struct pair_medians *p);
/* The limit of a slow pair: worse than typical by the share PAIR_MEDIANS_SLOW,
 * and by PAIR_MEDIANS_SIGMAS standard deviations of the pairs of nodes that are
 * not slow themselves, which noise rarely reaches. NAN without pairs. */
#define PAIR_MEDIANS_SLOW   0.05
#define PAIR_MEDIANS_SIGMAS 2.5
double pair_medians_bound(struct pair_medians *p);
/* The node's pairs with nodes that are not slow themselves, or all if there are
 * none, and how many of them are beyond bound. */
int pair_medians_partners(struct pair_medians *p, int node, double bound,
    int *ret_slow);

#endif
