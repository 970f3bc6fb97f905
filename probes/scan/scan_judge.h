/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan_judge.h - what medians of pairs say of nodes: effects, intervals, sets.
 * Pure.
 *
 * An effect is the natural logarithm of how many times slower something is
 * than the typical node: above 0 is slower, for times and for rates.
 */
#ifndef PROBES_SCAN_SCAN_JUDGE_H
#define PROBES_SCAN_SCAN_JUDGE_H

#include <stddef.h>

#include "common/bisect.h"
#include "schema/names_probe.h"
#include "schema/names_run.h"

/* Slow is more than 15 % below the others, as in coalctl preflight. */
#define JUDGE_EFFECT_MIN 0.1625
#define JUDGE_LEVEL      0.95 /* of intervals */

struct scan_judge_pair {
	int a, b; /* nodes, a < b */
	double p50;
};
struct scan_judge_node {
	int node;
	double n, p50;     /* of its samples */
	double score;      /* of its pairs; NAN: it has none */
	double wait_ratio; /* as cores.h; NAN: not known */
};
/* One test in one group; the caller ends it with scan_judge_result_clear. */
struct scan_judge_result {
	enum canary_test test;
	enum cause cause;
	struct scan_judge_pair *pairs;
	size_t pairs_count;
	struct scan_judge_node *nodes;
	size_t nodes_count;
};
/* What nodes are compared with, of one test. */
struct scan_judge_typical {
	int known;
	double median;  /* effect scale: logarithm of a time, or of 1 / rate */
	double scatter; /* deviation of a node's effect by chance */
	double core;    /* share of the time that it had a core, of that which
			   it wanted one */
};
struct scan_judge_interval {
	size_t n; /* partners */
	double mean, lo, hi;
};

void scan_judge_result_clear(struct scan_judge_result *r);
/* 1 when the test is a rate. */
int scan_judge_is_rate(enum canary_test test);
/* A value in the unit of the test on the effect scale, and back. */
double scan_judge_log(enum canary_test test, double value);
double scan_judge_value(enum canary_test test, double at);

/* The typical node of all nodes; unknown with fewer than 3. */
void scan_judge_typical(const struct scan_judge_result *r,
    struct scan_judge_typical *ret);
/* The effect of a node's score. */
double scan_judge_effect(const struct scan_judge_result *r,
    const struct scan_judge_node *node, const struct scan_judge_typical *t);
/* How much of an effect waiting for cores may explain: more than the typical
 * node waited. */
double scan_judge_doubt(const struct scan_judge_typical *t, double wait_ratio);
/* Raise *effect and *spread to the values of the group's slowest node in this
 * test, and *doubt to the largest one. They start as NAN, 0 and 0. */
void scan_judge_group(const struct scan_judge_result *r,
    const struct scan_judge_typical *t, const struct bisect_options *o,
    double *effect, double *spread, double *doubt);

/* The mean effect of the node's pairs with partners for which is_good[node] is
 * 1, with its interval by Student's t; lo and hi are infinite for fewer than 2.
 */
struct scan_judge_interval
scan_judge_node_interval(const struct scan_judge_result *r,
    const struct scan_judge_typical *t, int node, const unsigned char *is_good);
/* The same of any sample. */
struct scan_judge_interval scan_judge_interval_of(const double *x, size_t n);

/* Put nodes into sets: two nodes are in one set when a chain of pairs that are
 * not slow joins them. ret_set[node] for n nodes: the number of the set, or -1
 * for nodes with skip[node] and for nodes without such a pair. Returns the
 * number of sets. */
int scan_judge_sets(const struct scan_judge_result *r,
    const struct scan_judge_typical *t, double least, int n,
    const unsigned char *skip, int *ret_set);

#endif
