/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confirm.h - the second pass: a suspect among nodes that are known to be
 * good. Pure.
 *
 * Six nodes are enough: the suspect, two of its leaf, and three of others, two
 * of them on one leaf. They have 15 pairs, which a record names all, and the
 * pairs differ in what they cross:
 *
 *            near       suspect and a node of its leaf
 *            far        suspect and a node of another leaf
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

#define CONFIRM_NODES 6

enum confirm_finding {
	CONFIRM_CLEARED, /* it is as fast as the others */
	CONFIRM_NODE,
	CONFIRM_LEAF,
	CONFIRM_LINK, /* the leaf's uplink */
	CONFIRM_UNCLEAR,
	CONFIRM_MAX
};
extern const char *const confirm_findings[CONFIRM_MAX]; /* "node", ... */

/* Who can be chosen. */
struct confirm_node {
	uint32_t id;
	uint32_t leaf; /* SCORE_NO_LEAF: unknown */
	int good;      /* up, of the suspect's kind, and not suspect itself */
	int mate;      /* good but for its leaf, which is suspect too */
};
/* Indices of at most CONFIRM_NODES of nodes, the suspect first; fewer than
 * three: nobody is left to compare with. */
size_t confirm_choose(const struct confirm_node *nodes, size_t count,
    size_t suspect, struct rng *rng, size_t ret[CONFIRM_NODES]);

/* a, b: indices into leaves; x: logarithm, larger is worse. */
struct confirm_pair {
	size_t a, b;
	double x;
};
struct confirm_report {
	enum confirm_finding finding;
	double effect;        /* of the suspect's pairs over good ones */
	size_t partners;      /* the suspect's */
	size_t slow_partners; /* of them */
	int pairs_fine;       /* the others' pairs are normal */
};
/* leaves[0] is the suspect's. slow_min: what a pair must be slower by;
 * see judge_slow_min(). */
void confirm_judge(const uint32_t *leaves, size_t nodes,
    const struct confirm_pair *pairs, size_t count, double slow_min,
    struct confirm_report *ret);

#endif
