/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change.h - assumed changes of a cluster: parts that are slow, down or
 * drained, and the rates that nodes and leaves have then.
 *
 * A part is a list of nodes, a leaf (all its uplinks), LEAF.uplinkN (one cable,
 * numbered from 1 in natural order of the switches above), LEAF.SWITCH (all
 * cables between the two) or a switch above leaves (all cables to it). The
 * share of nodes and leaves is a share of the described rate; the share of
 * cables is one of their own rate, in addition to what the leaf has now.
 */
#ifndef CTL_LIB_CHANGE_H
#define CTL_LIB_CHANGE_H

#include <jansson.h>

#include "common/err.h"
#include "schema/topology.h"

enum change_kind { CHANGE_SLOW, CHANGE_DOWN, CHANGE_DRAIN };

/* How cables share the traffic of their leaf. */
enum change_routing {
	CHANGE_EVEN, /* by rate; all are as slow as their leaf is now */
	CHANGE_BEST, /* by rate; those that change are the slow ones of now */
	CHANGE_WORST /* the same for each; all wait for the slowest */
};

struct change;

/* facts: {nodes leaves} as in GET shares, borrowed. t: of the collector, or
 * NULL; borrowed. */
struct change *change_new(const json_t *facts, const struct topology *t);
void change_free(struct change *c);
/* word: PART, for CHANGE_SLOW PART=SHARE. -EINVAL or -ENOENT. */
int change_add(struct change *c, enum change_kind kind, const char *word,
    struct err *err);

/* A copy of facts with the rates after the changes. Nodes that are down or
 * drained, or on a leaf without uplinks, have the state "lost" and are marked
 * gone: true. The caller decrefs. */
json_t *change_facts(const struct change *c, enum change_routing routing);
/* The same without drains: the drained nodes have the rate of now, or, when
 * sound, all of it. */
json_t *change_facts_waiting(const struct change *c, int sound);
/* 1 when a routing other than CHANGE_EVEN gives other rates. */
int change_has_routing(const struct change *c);

/* How a job on these nodes fares: it stops if one of them is down, or if they
 * are on both sides of a leaf that has no uplink left. */
enum change_fate { CHANGE_RUNS, CHANGE_IS_DRAINED, CHANGE_STOPS };
enum change_fate change_fate(const struct change *c, const char *nodes);
/* The number of nodes that are drained. */
size_t change_drained(const struct change *c);
/* Return {kind subject now share worst} of each node and leaf whose rate
 * changes; worst is absent if routing makes no difference. The caller decrefs.
 */
json_t *change_list(const struct change *c);

#endif
