/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_tick.c - the steps of every live run, in the order of priority.
 */
#include <stdlib.h>

#include "daemon/run/run_int.h"
#include "daemon/run/run_order.h"
#include "daemon/run/run_state.h"
#include "daemon/run/admit.h"
#include "daemon/run/launch.h"
#include "daemon/run/intake.h"
#include "daemon/run/outcome.h"

static void
run_tick(struct run *r)
{
	uint64_t since_ns = clk_ns() - r->step_ns;
	int gone = !r->launcher_runs;
	uint64_t release_ns = RUN_RELEASE_NS +
	    (r->state == RUN_FINISHED ? RUN_LEAVE_NS : 0);
	struct runs *rs = r->all;
	struct run *last;

	switch (r->step) {
	case STEP_WAIT:
		admit_tick(r);
		break;
	case STEP_PREPARE:
	case STEP_LAUNCH:
	case STEP_FIRST:
	case STEP_RUN:
		launch_tick(r);
		outcome_tick(r);
		break;
	case STEP_LEAVE:
		if (!r->is_followed)
			run_order_on(r);
		r->is_followed = 1;
		/* Its nodes are held until its processes are gone. */
		if (!r->ended && (gone || since_ns >= RUN_LEAVE_NS))
			run_end_all(r);
		if (r->ended && (gone || since_ns >= release_ns))
			run_step_set(r, STEP_DONE);
		break;
	case STEP_DONE:
		break;
	}
	if (r->step != STEP_DONE)
		return;
	run_shrink(r);
	TAILQ_REMOVE(&rs->live, r, link);
	TAILQ_INSERT_HEAD(&rs->ended, r, link);
	if (++rs->ended_count <= RUN_ENDED_MAX)
		return;
	last = TAILQ_LAST(&rs->ended, run_list);
	TAILQ_REMOVE(&rs->ended, last, link);
	rs->ended_count--;
	run_free(last);
}

/* Return the highest priority of live runs below a bound; INT64_MIN: none. */
static int64_t
run_tick_priority_below(const struct runs *rs, int64_t bound)
{
	int64_t best = INT64_MIN;
	const struct run *r;

	TAILQ_FOREACH (r, &rs->live, link)
		if (r->priority < bound && r->priority > best)
			best = r->priority;
	return best;
}

void
runs_tick(struct runs *rs)
{
	int64_t priority = run_tick_priority_below(rs, INT64_MAX);
	struct run *r, *next;

	rs->tick++;
	/* In the order of priority, and of age within one priority. */
	while (priority != INT64_MIN) {
		for (r = TAILQ_LAST(&rs->live, run_list); r != NULL; r = next) {
			next = TAILQ_PREV(r, run_list, link);
			if (r->priority == priority)
				run_tick(r);
		}
		priority = run_tick_priority_below(rs, priority);
	}
	intake_tick(rs);
}
