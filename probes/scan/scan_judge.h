/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan_judge.h - what medians of pairs mean for nodes: effects, intervals and
 * sets. The functions are pure.
 *
 * An effect is the natural logarithm of the factor by which something is slower
 * than the typical node. A value above 0 is slower, for times and for rates.
 */
#ifndef PROBES_SCAN_SCAN_JUDGE_H
#define PROBES_SCAN_SCAN_JUDGE_H

#include <stddef.h>

#include "common/bisect.h"
#include "schema/names_probe.h"
#include "schema/names_run.h"

/* Slow means more than 15 % below the others, as in coalctl preflight. */
#define JUDGE_EFFECT_MIN 0.1625 /* -ln(0.85) */
#define JUDGE_LEVEL      0.95   /* confidence level of intervals */

/* The median of a pair of nodes. */
struct scan_judge_pair {
	int a, b; /* nodes, a < b */
	double p50;
};
/* The results of a node. */
struct scan_judge_node {
	int node;
	double n, p50;     /* number and median of its samples */
	double score;      /* score of its pairs; NAN: none */
	double wait_ratio; /* see cores.h; NAN: unknown */
};
/* The results of one test in one group; the caller frees it with
 * scan_judge_result_clear. */
struct scan_judge_result {
	enum canary_test test;
	enum cause cause;
	struct scan_judge_pair *pairs;
	size_t pairs_count;
	struct scan_judge_node *nodes;
	size_t nodes_count;
};
/* The typical node of one test, with which nodes are compared. */
struct scan_judge_typical {
	int known;
	/* Median score of the nodes on the effect scale: logarithm of a time,
	 * or of 1 / rate. */
	double median;
	double scatter; /* standard deviation of a node's effect by chance */
	/* Share of the time in which the typical node needed a core and had
	 * one. */
	double core;
};
/* A mean effect with its interval. */
struct scan_judge_interval {
	size_t n; /* number of partners */
	double mean, lo, hi;
};

void scan_judge_result_clear(struct scan_judge_result *r);
/* Convert a value in the unit of the test to the effect scale, and back. */
double scan_judge_log(enum canary_test test, double value);
double scan_judge_value(enum canary_test test, double at);

/* Compute the typical node from all nodes; known is 0 with fewer than 3
 * nodes. */
void scan_judge_typical(const struct scan_judge_result *r,
    struct scan_judge_typical *ret);
/* Return the effect of a node's score. */
double scan_judge_effect(const struct scan_judge_result *r,
    const struct scan_judge_node *node, const struct scan_judge_typical *t);
/* Return how much of an effect can be explained by waiting for cores, beyond
 * the waiting of the typical node. */
double scan_judge_doubt(const struct scan_judge_typical *t, double wait_ratio);
/* Raise *effect and *spread to the values of the group's slowest node in this
 * test, and *doubt to the largest doubt. They must begin as NAN, 0 and 0. */
void scan_judge_group(const struct scan_judge_result *r,
    const struct scan_judge_typical *t, const struct bisect_options *o,
    double *effect, double *spread, double *doubt);

/* Return the mean effect of the node's pairs with partners for which
 * is_good[partner] is 1, with its interval by Student's t. lo and hi are
 * infinite for fewer than 2 pairs. */
struct scan_judge_interval
scan_judge_node_interval(const struct scan_judge_result *r,
    const struct scan_judge_typical *t, int node, const unsigned char *is_good);
/* Return mean and interval of any sample. */
struct scan_judge_interval scan_judge_interval_of(const double *x, size_t n);

/* Put nodes into sets: two nodes are in one set if a chain of pairs that are
 * not slow connects them. least: effect from which a pair is slow.
 * ret_set[node], for n nodes, becomes the number of its set, or -1 if
 * skip[node] is 1 or the node has no such pair. Return the number of sets. */
int scan_judge_sets(const struct scan_judge_result *r,
    const struct scan_judge_typical *t, double least, int n,
    const unsigned char *skip, int *ret_set);

#endif
