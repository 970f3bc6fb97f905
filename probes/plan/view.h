/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.h - one rank's part of a plan, and what each of its events waits for.
 *
 * Events are in the order step, sends and receives, local operations. An
 * executor may follow the steps of each channel, or start an event as soon as
 * those it waits for are complete: both give the same result. Waits are found
 * from overlapping buffer ranges of this rank, so they hold across channels.
 *
 * Both ends of a transfer have the same tag: its place among all transfers
 * from src to dst, in the order of the plan's rows.
 */
#ifndef PROBES_PLAN_VIEW_H
#define PROBES_PLAN_VIEW_H

#include "probes/plan/plan.h"

enum view_kind { VIEW_SEND, VIEW_RECV, VIEW_SELF, VIEW_LOCAL };

struct view_event {
	enum view_kind kind;
	uint32_t step;
	uint32_t row;   /* in plan.transfers, or plan.locals for VIEW_LOCAL */
	uint32_t tag;   /* of a transfer */
	uint32_t wait;  /* first of waits in view.waits */
	uint32_t waits; /* events of this view, all of them earlier ones */
};

struct view {
	uint32_t rank;
	struct view_event *events;
	uint32_t events_count;
	uint32_t *waits;
	size_t waits_count;
};

/* The plan must be sorted and have passed check_plan. */
void view_make(const struct plan *p, uint32_t rank, struct view *ret);
void view_clear(struct view *v); /* frees */

#endif
