/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change.h - assumed changes of a cluster: parts that are slow, down or
 * drained, and the rates that nodes and leaves then have.
 *
 * A part is a list of nodes, a leaf (all its nodes, or if it is slow, its
 * uplinks), LEAF.uplinkN (one cable, numbered from 1 in the natural order of
 * the switches above), LEAF.SWITCH (all cables between the two) or a switch
 * above leaves (all cables to it). A drain has nodes or leaves only. The share
 * of a node or leaf is a share of its described rate. The share of a cable is a
 * share of the cable's own rate, in addition to the share that the leaf has
 * now.
 */
#ifndef CTL_LIB_CHANGE_H
#define CTL_LIB_CHANGE_H

#include <jansson.h>

#include "common/err.h"
#include "schema/topology.h"

/* The kind of a change. */
enum change_kind { CHANGE_SLOW, CHANGE_DOWN, CHANGE_DRAIN };

/* How the cables of a leaf share its traffic. */
enum change_routing {
	/* In proportion to the rates of the cables; all cables are as slow as
	 * their leaf is now. */
	CHANGE_EVEN,
	/* In proportion to the rates of the cables; the cables that change are
	 * the ones that make the leaf slow now. */
	CHANGE_BEST,
	CHANGE_WORST /* equally; all traffic waits for the slowest cable */
};

struct change;

/* Begin without changes. facts: {nodes leaves} as GET shares returns them. t:
 * the collector's topology, or NULL. Both are borrowed. change_free frees the
 * result. */
struct change *change_new(const json_t *facts, const struct topology *t);
void change_free(struct change *c);
/* Add a change. word: PART, or PART=SHARE for CHANGE_SLOW. Return 0, or -EINVAL
 * or -ENOENT with err. */
int change_add(struct change *c, enum change_kind kind, const char *word,
    struct err *err);

/* Parse the share of PART=SHARE. Return 0, or -EINVAL or -ERANGE. */
int change_share_parse(const char *word, double *ret);

/* Return a copy of facts with the rates after the changes, which the caller
 * decrefs. Nodes that are down or drained, or on a leaf without uplinks, have
 * the state "lost" and the member gone: true. */
json_t *change_facts(const struct change *c, enum change_routing routing);
/* Return facts as change_facts does, but without drains: drained nodes keep
 * their present rate or, if sound is 1, have their full rate. */
json_t *change_facts_waiting(const struct change *c, int sound);
/* Return 1 if another routing than CHANGE_EVEN gives other rates, 0 if not. */
int change_has_routing(const struct change *c);

/* The effect on a job on these nodes: the job stops if one of the nodes is
 * down, or if it has nodes on both sides of a leaf without any uplink. */
enum change_fate { CHANGE_RUNS, CHANGE_IS_DRAINED, CHANGE_STOPS };
enum change_fate change_fate(const struct change *c, const char *nodes);
/* Return the number of drained nodes. */
size_t change_drained(const struct change *c);
/* Return {kind subject now share worst} of each node and leaf whose rate
 * changes, which the caller decrefs; worst is absent if routing makes no
 * difference. */
json_t *change_list(const struct change *c);

#endif
