/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phases.c - the order of phases, and the barriers at which canaries,
 * congestors and sleepers meet.
 */
#include "probes/congestion/phases.h"

#include "common/clk.h"
#include "probes/job/control.h"
#include "probes/job/relay.h"
#include "probes/congestion/report.h"
#include "probes/job/roles.h"

#define ALONE_NS CLK_NS_PER_S /* for a congestor's own rate */

/* Rank 0 says where a stretch begins and ends. */
static void
border(const struct world *w, const char *event,
    const struct report_stretch *at, double stop_s)
{
	if (w->rank == 0)
		relay_put(report_phase(event, at, stop_s));
}

/* A stretch under load: canaries not before all congestors are warm, which
 * stop when the canaries of all nodes are done. How long they took for it. */
static double
stretch_loaded(const struct world *w, int visit, int stretch,
    struct canary_loop *measure, struct congestor_loop *load)
{
	uint64_t done_ns = 0;
	double stop_s = 0;

	if (measure != NULL) {
		control_barrier(w->control);
		canary_loop_visit(measure, PHASE_CONGESTED, visit, stretch);
		done_ns = clk_ns();
		control_barrier(w->control);
	} else {
		congestor_loop_run(load);
	}
	control_barrier(w->control); /* the last congestor has stopped */
	/* By the clock of the root, which saw its own test end last. */
	if (w->rank == w->canary_root)
		stop_s = (double)(clk_ns() - done_ns) / (double)CLK_NS_PER_S;
	return control_max(w->control, stop_s);
}

void
phases_run(const struct world *w, const struct settings *s,
    struct canary_loop *measure, struct congestor_loop *load)
{
	/* each kind in its turn while all others sleep */
	for (int kind = 0; s->rates && kind < s->kind_count; kind++) {
		control_barrier(w->control);
		if (w->role == kind)
			congestor_loop_run_alone(load, ALONE_NS);
	}
	if (s->rates)
		control_barrier(w->control);
	for (int i = 0; i < settings_stretches(s); i++) {
		struct report_stretch at = { .visits = s->visits };
		double stop_s = -1;

		at.phase = settings_phase(s, i, &at.visit);
		control_barrier(w->control);
		border(w, "begin", &at, -1);
		if (at.phase == PHASE_CONGESTED) {
			stop_s = stretch_loaded(w, at.visit, i, measure, load);
		} else {
			if (measure != NULL)
				canary_loop_visit(measure, at.phase, at.visit,
				    i);
			control_barrier(w->control);
		}
		border(w, "end", &at, stop_s);
	}
}
