/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phases.c - who works in which phase, and who waits asleep.
 */
#include "probes/congestion/phases.h"

#include "common/clk.h"
#include "probes/congestion/canary_loop.h"
#include "probes/congestion/congestor.h"
#include "probes/congestion/report.h"
#include "probes/job/control.h"
#include "probes/job/relay.h"
#include "probes/job/world.h"

#define ALONE_NS CLK_NS_PER_S /* for a congestor's own rate */

static void
phases_put(const struct world *w, const struct settings *s, int stretch,
    const char *event, double stop_s)
{
	int visit;
	enum phase phase = settings_phase(s, stretch, &visit);
	json_t *r;

	if (w->rank != 0)
		return;
	r = json_pack("{s:s, s:s, s:s, s:i, s:i}", "probe", "phase", "event",
	    event, "phase", names_phases[phase], "visit", visit + 1, "visits",
	    s->visits);
	if (stop_s >= 0)
		json_object_set_new(r, "stop_s", json_real(stop_s));
	relay_put(r);
}

/* One visit to one phase; ranks without a part in it sleep. m is NULL for a
 * congestor, l for a canary. */
static void
phases_visit(const struct world *w, const struct settings *s, int stretch,
    struct canary_loop *m, struct congestor_load *l)
{
	int visit;
	enum phase phase = settings_phase(s, stretch, &visit);
	int loaded = phase == PHASE_CONGESTED;
	uint64_t done_ns = 0;
	double stop_s = loaded ? 0 : -1;

	control_barrier(w->control);
	phases_put(w, s, stretch, "begin", -1);
	if (m != NULL) {
		if (loaded)
			control_barrier(w->control); /* congestors are warm */
		canary_loop_visit(m, phase, visit, stretch);
		done_ns = clk_ns();
		if (loaded)
			control_barrier(w->control); /* canaries are done */
	} else if (loaded) {
		congestor_run(l);
	}
	control_barrier(w->control); /* the last congestor has stopped */
	control_watch(w, NULL);
	/* By the clock of the root, which saw its own test end last. */
	if (loaded && w->rank == w->canary_root)
		stop_s = (double)(clk_ns() - done_ns) / (double)CLK_NS_PER_S;
	if (loaded)
		stop_s = control_max(w->control, stop_s);
	phases_put(w, s, stretch, "end", stop_s);
}

void
phases_run(struct world *w, const struct settings *s)
{
	struct canary_loop *m = NULL;
	struct congestor_load *l = NULL;
	int left = 1;

	if (w->role == ROLES_CANARY)
		m = canary_loop_new(w, s);
	else
		l = congestor_new(w, s);
	if (s->rates) {
		/* Each kind in its turn while all others sleep. */
		for (int kind = 0; kind < s->kind_count; kind++) {
			control_barrier(w->control);
			if (w->role == kind)
				congestor_run_alone(l, ALONE_NS);
		}
		control_barrier(w->control);
	}
	for (int i = 0; i < settings_stretches(s) && left > 0; i++) {
		phases_visit(w, s, i, m, l);
		if (!settings_congested(s) || i % 2 == 0)
			continue;
		left = m == NULL ? 0 : canary_loop_pair(m, (i + 1) / 2);
		left = (int)control_max(w->control, left);
	}

	if (m != NULL)
		report_canaries(m);
	relay_turn(w->canary_root);
	for (int kind = 0; kind < s->kind_count; kind++) {
		if (w->role == kind)
			report_load(l);
		relay_turn(w->kind_root[kind]);
	}
	canary_loop_free(m);
	congestor_free(l);
}
