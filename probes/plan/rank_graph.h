/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_graph.h - the operations of one rank in a plan, and the earlier
 * operations for which each has to wait.
 *
 * The operations are events, ordered by step; in each step sends and receives
 * precede local operations. An executor can follow the steps of each channel,
 * or start an event as soon as all events that it waits for are complete: both
 * give the same result. The waits follow from overlapping buffer ranges of this
 * rank, so they also hold across channels.
 *
 * Both ends of a transfer have the same tag: its position among all transfers
 * from src to dst, in the order of the plan's rows.
 */
#ifndef PROBES_PLAN_RANK_GRAPH_H
#define PROBES_PLAN_RANK_GRAPH_H

#include "probes/plan/plan.h"

/* The kind of an event: a send, a receive, a transfer from the rank to itself,
 * or a local operation. */
enum rank_graph_kind {
	RANK_GRAPH_SEND,
	RANK_GRAPH_RECV,
	RANK_GRAPH_SELF,
	RANK_GRAPH_LOCAL
};

/* An operation of the rank. */
struct rank_graph_event {
	enum rank_graph_kind kind;
	uint32_t step;
	uint32_t
	    /* Position in plan.transfers, or in plan.locals for
	     * RANK_GRAPH_LOCAL. */
	    row;
	uint32_t tag;  /* tag of a transfer; see above */
	uint32_t wait; /* position of the first one in rank_graph.waits */
	/* Number of events that it waits for, all of them earlier ones. */
	uint32_t waits;
};

/* The graph of one rank. waits has positions in events. */
struct rank_graph {
	uint32_t rank;
	struct rank_graph_event *events;
	uint32_t events_count;
	uint32_t *waits;
	size_t waits_count;
};

/* Make the graph of a rank. The plan must be sorted and have passed check_plan.
 * The caller frees *ret with rank_graph_clear. */
void rank_graph_make(const struct plan *p, uint32_t rank,
    struct rank_graph *ret);
void rank_graph_clear(struct rank_graph *v); /* frees the lists */

#endif
