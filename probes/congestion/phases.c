/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/congestion/phases.h"

#include "common/clk.h"
#include "probes/job/control.h"
#include "probes/job/relay.h"
#include "probes/congestion/report.h"
#include "probes/job/roles.h"

#define ALONE_NS CLK_NS_PER_S /* for a congestor's own rate */

/* Each kind in its turn while all others sleep. */
static void
rates_run(const struct world *w, const struct settings *s,
    struct congestor_loop *load)
{
	for (int kind = 0; kind < s->kind_count; kind++) {
		control_barrier(w->control);
		if (w->role == kind)
			congestor_loop_run_alone(load, ALONE_NS);
	}
	control_barrier(w->control);
}

static void
border(const struct world *w, const struct settings *s, const char *event,
    enum phase phase, int visit, double stop_s)
{
	if (w->rank == 0)
		relay_put(report_phase(event, phase, visit, s->visits, stop_s));
}

/* A canary under load: not before all congestors are warm. Returns when the
 * canaries of all nodes are done. */
static void
measure_loaded(const struct world *w, struct canary_loop *measure, int visit,
    int stretch, uint64_t *ret_done_ns)
{
	control_barrier(w->control);
	canary_loop_visit(measure, PHASE_CONGESTED, visit, stretch);
	*ret_done_ns = clk_ns();
	control_barrier(w->control);
}

static void
stretch_run(const struct world *w, const struct settings *s, int i,
    struct canary_loop *measure, struct congestor_loop *load)
{
	int visit;
	enum phase phase = settings_phase(s, i, &visit);
	uint64_t done_ns = 0;
	double stop_s = 0;

	control_barrier(w->control);
	border(w, s, "begin", phase, visit, -1);
	if (phase != PHASE_CONGESTED) {
		if (measure != NULL)
			canary_loop_visit(measure, phase, visit, i);
		control_barrier(w->control);
		border(w, s, "end", phase, visit, -1);
		return;
	}
	if (measure != NULL)
		measure_loaded(w, measure, visit, i, &done_ns);
	else
		congestor_loop_run(load);
	control_barrier(w->control); /* the last congestor has stopped */
	/* By the clock of the root, which saw its own test end last. */
	if (w->rank == w->canary_root)
		stop_s = (double)(clk_ns() - done_ns) / (double)CLK_NS_PER_S;
	border(w, s, "end", phase, visit, control_max(w->control, stop_s));
}

void
phases_run(const struct world *w, const struct settings *s,
    struct canary_loop *measure, struct congestor_loop *load)
{
	if (s->rates)
		rates_run(w, s, load);
	for (int i = 0; i < settings_stretches(s); i++)
		stretch_run(w, s, i, measure, load);
}
