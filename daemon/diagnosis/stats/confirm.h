/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confirm.h - the confirmation run: an outlier is measured among nodes that are
 * known to be good. Pure.
 *
 * Six nodes are enough: the outlier, two of its leaf, and three of other
 * leaves, two of them on the same leaf. They have 15 pairs, and a record names
 * all of these. The pairs differ in the links they cross:
 *
 *            near       outlier and a node of its leaf
 *            far        outlier and a node of another leaf
 *            mates      the other nodes of the leaf among each other
 *            uplink     the other nodes of the leaf and other leaves
 *            inside     two good nodes of one other leaf
 *            outside    good nodes of different other leaves
 *
 * A slow node is slow with every partner. A slow uplink slows all nodes of the
 * leaf, but only to other leaves. A slow leaf is also slow inside.
 */
#ifndef DAEMON_DIAGNOSIS_STATS_CONFIRM_H
#define DAEMON_DIAGNOSIS_STATS_CONFIRM_H

#include <stddef.h>
#include <stdint.h>

#include "common/rng.h"
#include "daemon/diagnosis/stats/judge.h"

/* The outlier, two nodes of its leaf and three of others: every kind of pair
 * that separates node, leaf and uplink occurs at least twice. */
#define CONFIRM_NODES 6
/* Number of nodes for an incast: as many senders as in an incast of many nodes.
 */
#define CONFIRM_NODES_INCAST 10
/* Largest number of nodes, including nodes that only generate load. */
#define CONFIRM_NODES_MAX 32
#define CONFIRM_PAIRS_MAX (CONFIRM_NODES_MAX * (CONFIRM_NODES_MAX - 1) / 2)

enum confirm_finding {
	CONFIRM_CLEARED, /* as fast as the others */
	CONFIRM_NODE,
	CONFIRM_LEAF,
	CONFIRM_LINK, /* the leaf's uplink */
	CONFIRM_UNCLEAR,
	CONFIRM_BETWEEN, /* this uplink, or the only other leaf's uplink */
	CONFIRM_MAX
};
extern const char *const confirm_findings[CONFIRM_MAX]; /* "node", ... */
/* Return 1 if the finding is slow pairs of a whole leaf: inside, or on the way
 * to others. */
int confirm_is_place(enum confirm_finding finding);

/* A node that can be chosen. */
struct confirm_node {
	uint32_t id;
	uint32_t leaf; /* SCORE_NO_LEAF: unknown */
	int good;      /* up, same kind as the outlier, not an outlier itself */
	int mate;      /* good, except that its leaf is an outlier too */
};
/* Return the indices of at most CONFIRM_NODES nodes, the outlier first. Fewer
 * than three: not enough nodes for a comparison. */
size_t confirm_choose(const struct confirm_node *nodes, size_t count,
    size_t outlier, struct rng *rng, size_t ret[CONFIRM_NODES]);

/* Add an equal number of nodes of the outlier's leaf and of other leaves, up to
 * half of CONFIRM_NODES_MAX each: some faults only show under the load of a
 * whole leaf. chosen has n nodes from confirm_choose. Return the new number. */
size_t confirm_load(const struct confirm_node *nodes, size_t count,
    struct rng *rng, size_t chosen[CONFIRM_NODES_MAX], size_t n);

/* The slow direction, seen from the node or the leaf. */
enum confirm_way {
	CONFIRM_WAY_UNKNOWN, /* both directions were measured at once */
	CONFIRM_WAY_BOTH,
	CONFIRM_WAY_SEND,
	CONFIRM_WAY_RECEIVE,
	CONFIRM_WAY_MAX
};
extern const char *const confirm_ways[CONFIRM_WAY_MAX]; /* "unknown", ... */

/* Add nodes of any leaf, up to `want` in total. Return the new number. */
size_t confirm_fill(const struct confirm_node *nodes, size_t count,
    struct rng *rng, size_t chosen[CONFIRM_NODES_MAX], size_t n, size_t want);

/* The result of a pair. a, b: indices into leaves; x: logarithm of its time or
 * of 1 / rate, larger is slower. */
struct confirm_pair {
	size_t a, b;
	double x;
	double ways[2]; /* x from a to b, and from b to a; NAN: unknown */
};
/* The result of a confirmation run. */
struct confirm_report {
	enum confirm_finding finding;
	enum confirm_way way;
	double effect;   /* slowness of the outlier's pairs relative to good
			    pairs, a logarithm */
	size_t partners; /* partners of the outlier */
	size_t slow_partners; /* partners with which the outlier is slow */
	int pairs_fine;       /* the pairs of the other nodes are normal */
};
/* Write the finding of a confirmation run. leaves[0] is the outlier's leaf.
 * slow_min: a pair is slow from this effect on; see judge_slow_min(). If one of
 * the other nodes is slow itself, it is skipped. */
void confirm_judge(const uint32_t *leaves, size_t nodes,
    const struct confirm_pair *pairs, size_t count, double slow_min,
    struct confirm_report *ret);

/* Write the finding as confirm_judge does, for an incast, where every node has
 * a separate value x as a receiver; NAN: not measured. Compare the outlier,
 * index 0, with the other nodes. */
void confirm_judge_nodes(const uint32_t *leaves, const double *x, size_t nodes,
    double slow_min, struct confirm_report *ret);

/*
 * One bad uplink of several, or one bad member of a bond, slows a share of the
 * pairs of a leaf or node, and different pairs in each run: the run counts
 * them.
 */
struct confirm_share {
	size_t pairs, slow; /* pairs of the leaf or node, and slow ones */
	double usual;       /* share of slow pairs among the other nodes */
};
/* Count slow pairs. is_leaf: count the pairs that leave the leaf of leaves[0],
 * else all pairs of node 0. least: smaller effects are not slow. A pair is
 * compared with the better quartile of pairs on the same side, since a leaf may
 * be farther from all others. If its side is slower by slow_min, all of its
 * pairs are slow, so the quartile of the others is used. */
void confirm_share(const uint32_t *leaves, const struct confirm_pair *pairs,
    size_t count, int is_leaf, double least, double slow_min,
    struct confirm_share *ret);
/* Return the log likelihood ratio of a share `more` of slow pairs against a
 * share `usual`. Add it up over runs until it decides (Wald 1945). */
double confirm_share_evidence(const struct confirm_share *s, double usual,
    double more);
/* Sum of the evidence that decides: above it the share is `more`, below its
 * negative it is `usual`, each with an error in 1 of 100 cases. */
#define CONFIRM_SHARE_SURE 4.6

#endif
