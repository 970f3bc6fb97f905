/* SPDX-License-Identifier: Apache-2.0 */
/*
 * differences.h - settings of nodes that differ from those of most nodes of
 * their kind. A kind has the same processor, models of network cards, and model
 * and number of GPUs.
 */
#ifndef DAEMON_CLUSTER_DIFFERENCES_H
#define DAEMON_CLUSTER_DIFFERENCES_H

#include <jansson.h>

struct differences;

/* A setting is judged if this many nodes of a kind report it, and more than
 * half of them the same value. */
#define DIFFERENCES_LEAST 3

/* Return an empty comparison, for differences_end. */
struct differences *differences_new(void);
/* Add a node. node, leaf and inventory must live until differences_end; a node
 * without settings is not compared. */
void differences_add(struct differences *d, const char *node, const char *leaf,
    const json_t *inventory);
/* Free d and return a new reference: {nodes, kinds: [{kind nodes}], open:
 * [{kind setting values}], settings without a majority; differences: [{node
 * leaf kind setting value usual have of}], in the order of nodes: have of the
 * of nodes that report the setting have the value usual}. */
json_t *differences_end(struct differences *d);
/* Describe the changes from one inventory to another of the same node as
 * "mtu: 9000 before, now 1500; ...". Return their number; 0: ret is "".
 * Settings that only one of them has are not counted. */
size_t differences_change(const json_t *before, const json_t *after, char *ret,
    size_t cap_bytes);

#endif
