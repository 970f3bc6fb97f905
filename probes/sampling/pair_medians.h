/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pair_medians.h - medians of results by pair of nodes, to find which pairs
 * were slow. The functions are pure.
 *
 * The time of a rank covers the exchange with both of its neighbours, so it is
 * evidence on both pairs. A normal node is slow only with slow partners, a slow
 * node is slow with all: a node is judged by the quartile of its pairs on the
 * good side. If many nodes are slow, as under the load of jobs, most partners
 * of a node may be slow by chance; these are excluded. The table is bounded: on
 * average PAIR_MEDIANS_PARTNERS partners of each node, and PAIR_MEDIANS_KEPT
 * medians of each pair. Of more medians it keeps an unbiased sample.
 */
#ifndef PROBES_SAMPLING_PAIR_MEDIANS_H
#define PROBES_SAMPLING_PAIR_MEDIANS_H

#include <stdint.h>

#define PAIR_MEDIANS_PARTNERS 32
#define PAIR_MEDIANS_LEAST    16384   /* pairs of the smallest table: 1 MiB */
#define PAIR_MEDIANS_MOST     1000000 /* pairs of the largest table: 64 MiB */
#define PAIR_MEDIANS_KEPT     12      /* medians of a pair */

/* The table. */
struct pair_medians;

/* A pair of the table. */
struct pair_medians_row {
	int a, b;   /* nodes, a < b */
	uint64_t n; /* medians that were added */
	double p50; /* median of those that were kept */
};

/* Return an empty table, which the caller frees. low_is_bad: 1 for bandwidths,
 * 0 for times. nodes: number of nodes. seed: seed of the random sample. */
struct pair_medians *pair_medians_new(int low_is_bad, int nodes, uint64_t seed);
void pair_medians_free(struct pair_medians *p); /* p can be NULL */
/* Add the median of one round of a rank on node a whose neighbour was on node
 * b. It is ignored if a and b are the same node. */
void pair_medians_add(struct pair_medians *p, int a, int b, double median);
/* Return the number of medians dropped because the table was full. */
uint64_t pair_medians_dropped(const struct pair_medians *p);
/* Write the worst pairs to ret, the worst first, at most cap. Return their
 * number. */
int pair_medians_worst(const struct pair_medians *p,
    struct pair_medians_row *ret, int cap);
/* Return the median of one pair, in either order of nodes; NAN: the pair has
 * not met. */
double pair_medians_median(const struct pair_medians *p, int a, int b);
/* Return the quantile q of the medians of the node's pairs, of two medians the
 * outer one; NAN without pairs. */
double pair_medians_quantile(struct pair_medians *p, int node, double q);
/* Return the node's score: the quartile of its pairs on the good side. If at
 * least a quarter of its partners are slow themselves, only the pairs with
 * other partners count. NAN without pairs. */
double pair_medians_score(struct pair_medians *p, int node);

/* Return the median of the medians of all pairs; NAN without pairs. */
double pair_medians_typical(struct pair_medians *p);
/* Return the limit beyond which a pair is slow: worse than typical by the share
 * PAIR_MEDIANS_SLOW, and by PAIR_MEDIANS_SIGMAS standard deviations of the
 * pairs between nodes that are not slow themselves. Noise rarely reaches it.
 * NAN without pairs. */
#define PAIR_MEDIANS_SLOW   0.05
#define PAIR_MEDIANS_SIGMAS 2.5
double pair_medians_bound(struct pair_medians *p);
/* Return the number of the node's pairs with nodes that are not slow
 * themselves, or of all its pairs if there are none. *ret_slow: how many of
 * these pairs are beyond bound. */
int pair_medians_partners(struct pair_medians *p, int node, double bound,
    int *ret_slow);

#endif
