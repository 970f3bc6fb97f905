/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_graph.h - one rank's part of a plan, and what each of its events waits
 * for.
 *
 * Events are in the order step, sends and receives, local operations. An
 * executor may follow the steps of each channel, or start an event as soon as
 * those it waits for are complete: both give the same result. Waits are found
 * from overlapping buffer ranges of this rank, so they hold across channels.
 *
 * Both ends of a transfer have the same tag: its place among all transfers
 * from src to dst, in the order of the plan's rows.
 */
#ifndef PROBES_PLAN_RANK_GRAPH_H
#define PROBES_PLAN_RANK_GRAPH_H

#include "probes/plan/plan.h"

enum rank_graph_kind {
	RANK_GRAPH_SEND,
	RANK_GRAPH_RECV,
	RANK_GRAPH_SELF,
	RANK_GRAPH_LOCAL
};

struct rank_graph_event {
	enum rank_graph_kind kind;
	uint32_t step;
	uint32_t
	    row; /* in plan.transfers, or plan.locals for RANK_GRAPH_LOCAL */
	uint32_t tag;   /* of a transfer */
	uint32_t wait;  /* first of waits in view.waits */
	uint32_t waits; /* events of this view, all of them earlier ones */
};

struct rank_graph {
	uint32_t rank;
	struct rank_graph_event *events;
	uint32_t events_count;
	uint32_t *waits;
	size_t waits_count;
};

/* The plan must be sorted and have passed check_plan. */
void rank_graph_make(const struct plan *p, uint32_t rank,
    struct rank_graph *ret);
void rank_graph_clear(struct rank_graph *v); /* frees */

#endif
