/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coverage.h - the parts of the network that were exercised in the last 24
 * hours: pairs of nodes, pairs of leaves, links of nodes and of leaves.
 *
 * Each has a byte with the hour of its newest measurement: 48 MiB for all pairs
 * of 10,000 nodes. Nodes and leaves are numbers from 0, in the order in which
 * they were first seen. Pure: hours are arguments (wall clock, since the epoch)
 * and must not decrease. A pair without an answer and without a known loss was
 * not exercised.
 */
#ifndef DAEMON_MESH_COVERAGE_H
#define DAEMON_MESH_COVERAGE_H

#include <stddef.h>
#include <stdint.h>

#define COVERAGE_HOURS 24

struct coverage;

/* Return an empty coverage, which the caller frees. */
struct coverage *coverage_new(void);
void coverage_free(struct coverage *c); /* NULL is allowed */

/* Record traffic between nodes a and b of leaves la and lb, or on a link. The
 * caller numbers links (mesh_link_id). */
void coverage_pair(struct coverage *c, uint64_t hour, size_t a, size_t la,
    size_t b, size_t lb);
void coverage_link(struct coverage *c, uint64_t hour, size_t link);
void coverage_uplink(struct coverage *c, uint64_t hour, size_t leaf);

/* Return 1 if it was exercised in the last 24 hours. */
int coverage_has_pair(const struct coverage *c, uint64_t hour, size_t a,
    size_t b);
int coverage_has_leaves(const struct coverage *c, uint64_t hour, size_t la,
    size_t lb);
int coverage_has_link(const struct coverage *c, uint64_t hour, size_t link);
int coverage_has_uplink(const struct coverage *c, uint64_t hour, size_t leaf);

/* Partners of a node or leaf in the last 24 hours. Links that every measured
 * path crosses together cannot be distinguished. */
struct coverage_met {
	uint32_t others; /* number of partners; of a leaf: other leaves */
	size_t one;      /* one of them */
	int inside;      /* of a node: one is on its own leaf */
};
/* Write the partners of each node and each leaf. ret_nodes: by node;
 * ret_leaves: by leaf, for all numbers of leaf_of. */
void coverage_met(const struct coverage *c, uint64_t hour,
    const uint32_t *leaf_of, size_t nodes, struct coverage_met *ret_nodes,
    struct coverage_met *ret_leaves);

/* Count pairs of nodes of different leaves by the groups of both, lower one
 * first: ret[low * groups + high], which begins as zeros. A node whose group is
 * groups or more has none. */
void coverage_between(const struct coverage *c, uint64_t hour,
    const uint32_t *leaf_of, const uint32_t *group_of, size_t nodes,
    size_t groups, uint64_t *ret);

/* Numbers of exercised parts. */
struct coverage_counts {
	uint64_t pairs, leaves, links, uplinks;
};
/* Count exercised pairs, leaves, links and uplinks. */
void coverage_count(struct coverage *c, uint64_t hour,
    struct coverage_counts *ret);

#endif
