/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confirm.h - the confirmation run: an outlier among nodes that are known to be
 * good. Pure.
 *
 * Six nodes are enough: the outlier, two of its leaf, and three of others, two
 * of them on one leaf. They have 15 pairs, which a record names all, and the
 * pairs differ in what they cross:
 *
 *            near       outlier and a node of its leaf
 *            far        outlier and a node of another leaf
 *            mates      the others of the leaf among each other
 *            uplink     the others of the leaf and other leaves
 *            inside     two good nodes of one other leaf
 *            outside    good nodes of different other leaves
 *
 * A node is slow with everyone; an uplink is slow for all of the leaf, but
 * only to the outside; a leaf also inside.
 */
#ifndef DAEMON_DIAGNOSIS_JUDGE_CONFIRM_H
#define DAEMON_DIAGNOSIS_JUDGE_CONFIRM_H

#include <stddef.h>
#include <stdint.h>

#include "common/rng.h"
#include "daemon/diagnosis/judge/judge.h"

#define CONFIRM_NODES 6
/* As many send into one as in an incast of many nodes. */
#define CONFIRM_NODES_INCAST 10
/* With nodes that only load what is judged. */
#define CONFIRM_NODES_MAX 32
#define CONFIRM_PAIRS_MAX (CONFIRM_NODES_MAX * (CONFIRM_NODES_MAX - 1) / 2)

enum confirm_finding {
	CONFIRM_CLEARED, /* it is as fast as the others */
	CONFIRM_NODE,
	CONFIRM_LEAF,
	CONFIRM_LINK, /* the leaf's uplink */
	CONFIRM_UNCLEAR,
	CONFIRM_BETWEEN, /* that, or the uplink of the only other leaf */
	CONFIRM_MAX
};
extern const char *const confirm_findings[CONFIRM_MAX]; /* "node", ... */

/* Who can be chosen. */
struct confirm_node {
	uint32_t id;
	uint32_t leaf; /* SCORE_NO_LEAF: unknown */
	int good;      /* up, of the outlier's kind, and not outlier itself */
	int mate;      /* good but for its leaf, which is an outlier too */
};
/* Indices of at most CONFIRM_NODES of nodes, the outlier first; fewer than
 * three: nobody is left to compare with. */
size_t confirm_choose(const struct confirm_node *nodes, size_t count,
    size_t outlier, struct rng *rng, size_t ret[CONFIRM_NODES]);

/* As many more of its leaf and of others, up to half of CONFIRM_NODES_MAX each:
 * what shows under the load of a whole leaf needs it. chosen has n from
 * confirm_choose; returns how many there are then. */
size_t confirm_load(const struct confirm_node *nodes, size_t count,
    struct rng *rng, size_t chosen[CONFIRM_NODES_MAX], size_t n);

/* Which way it is slow, as seen from the node, or from the leaf. */
enum confirm_way {
	CONFIRM_WAY_UNKNOWN, /* both were measured at once */
	CONFIRM_WAY_BOTH,
	CONFIRM_WAY_SEND,
	CONFIRM_WAY_RECEIVE,
	CONFIRM_WAY_MAX
};
extern const char *const confirm_ways[CONFIRM_WAY_MAX]; /* "unknown", ... */

/* Or as many as are wanted in all, of any leaf. */
size_t confirm_fill(const struct confirm_node *nodes, size_t count,
    struct rng *rng, size_t chosen[CONFIRM_NODES_MAX], size_t n, size_t want);

/* a, b: indices into leaves; x: logarithm, larger is worse. */
struct confirm_pair {
	size_t a, b;
	double x;
	double ways[2]; /* the same from a to b, and back; NAN: not known */
};
struct confirm_report {
	enum confirm_finding finding;
	enum confirm_way way;
	double effect;        /* of the outlier's pairs over good ones */
	size_t partners;      /* the outlier's */
	size_t slow_partners; /* of them */
	int pairs_fine;       /* the others' pairs are normal */
};
/* leaves[0] is the outlier's. slow_min: what a pair must be slower by;
 * see judge_slow_min(). One of the others may be slow itself: it is left out.
 */
void confirm_judge(const uint32_t *leaves, size_t nodes,
    const struct confirm_pair *pairs, size_t count, double slow_min,
    struct confirm_report *ret);

/* Of an incast every node has a number of its own, x, which is NAN where it was
 * not measured: the outlier's, of index 0, beside the others'. */
void confirm_judge_nodes(const uint32_t *leaves, const double *x, size_t nodes,
    double slow_min, struct confirm_report *ret);

/*
 * One of several uplinks, or one member of a bond, slows a share of the pairs
 * that leave a leaf or node, and others in each run: the run counts them.
 */
struct confirm_share {
	size_t pairs, slow; /* of the leaf or node */
	double usual;       /* the share of the others' that is slow */
};
/* is_leaf: of the pairs that leave the leaf of leaves[0], else of all that
 * node 0 has. least: what is not slow at all. A pair is compared with the
 * better quartile of its own side, since a leaf may be farther from all others;
 * but with the quartile of the others where its side is slower by slow_min, as
 * then all of its pairs are slow. */
void confirm_share(const uint32_t *leaves, const struct confirm_pair *pairs,
    size_t count, int is_leaf, double least, double slow_min,
    struct confirm_share *ret);
/* How much likelier the slow pairs are where a share `more` of them is slow
 * than where `usual` is: a logarithm, to be summed up over runs until it
 * decides (Wald 1945). */
double confirm_share_evidence(const struct confirm_share *s, double usual,
    double more);
#define CONFIRM_SHARE_SURE 4.6 /* either way: 1 in 100 by chance */

/* Lost datagrams as a number that a judge understands.
 */
/* One per cent of loss weighs as 10 % of time: a stream that loses it runs at
 * a fraction of its rate. */
#define LOSS_WEIGHT 10.0

/* The share that is surely lost: the lower end of a one-sided 95 % interval
 * (Wilson 1927), so that a few datagrams make no outlier. 0 of 0 is 0. */
double loss_share(uint64_t lost, uint64_t sent);
/* A logarithm that grows with trouble, as score.h wants it, and back. */
double loss_number(double share);
double loss_of_number(double x);
/* What the mesh itself tells of a place or leaf that loses: near, within its
 * leaf; far, between leaves: outlier 1, not 0, too little is known -1. */
enum confirm_finding loss_finding(enum judge_kind kind, int near, int far);

#endif
