/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stripe_run.c - the comparisons of a striped transfer: the direct one, and
 * itself with a barrier between the steps.
 *
 * Striping efficiency is the speed-up over the direct transfer for each of the
 * g rails: 1 when g stripes cross as fast as one message does alone. The
 * efficiency of a rail is its bandwidth while all stripes cross, over that of
 * the direct transfer.
 */
#include <string.h>

#include "common/member.h"
#include "probes/execute/trial.h"
#include "probes/job/emit.h"
#include "probes/measure/ab_timing.h"
#include "probes/measure/baseline.h"
#include "probes/measure/measure.h"
#include "probes/measure/plan_report.h"
#include "probes/measure/probe.h"
#include "probes/measure/rail_stats.h"
#include "probes/pattern/builders.h"
#include "probes/sampling/timing.h"
#include "schema/names_verdict.h"
#include "schema/record.h"

#define TRANSLATE 1 /* the step between the nodes */

/* A speed-up with throughputs, as records of stripes have it. */
static json_t *
stripe_run_speedup(const struct subject *r, const struct beside *x)
{
	json_t *all = plan_report_speedup(r, x), *o;

	json_object_del(all, "setup_s");
	if (x->baseline == NULL)
		return all;
	o = json_pack("{s:s, s:s, s:s, s:s, s:i, s:I}", "probe", "speedup",
	    "of", r->probe, "plan", r->plan->title, "baseline", x->name,
	    "ranks", r->team->ranks, "bytes", (json_int_t)r->bytes);
	json_object_update_missing(o, all);
	json_decref(all);
	for (int i = 0; i < AB_TIMING_SIDES; i++)
		json_object_set_new(o,
		    i == 0 ? "throughput" : "baseline_throughput",
		    record_number(
			(double)r->bytes / ab_timing_median_s(&x->turns, i)));
	return o;
}

static double
stripe_run_steps_s(const struct measurement *c)
{
	double sum = 0;

	for (uint32_t i = 0; i < c->subject.plan->steps; i++)
		if (c->parts[i].count > 0)
			sum += trial_median_s(&c->parts[i]);
	return sum;
}

/* Into the record of the speed-up over the direct transfer. */
static void
stripe_run_put_rails(json_t *o, const struct measurement *c,
    struct strbuf *ret_weak)
{
	double direct_per_s = (double)c->subject.bytes /
	    ab_timing_median_s(&c->besides[0].turns, 1);
	struct rail_stats p;
	json_t *rail;
	size_t i;

	rail_stats_count(&c->subject, &c->parts[TRANSLATE], TRANSLATE, &p);
	rail_stats_put(&p, o);
	json_object_del(o, "nodes");
	member_foreach (o, "rails", i, rail)
		json_object_set_new(rail, "efficiency",
		    record_number(
			json_number_value(json_object_get(rail, "bandwidth")) /
			direct_per_s));
	if (!rail_stats_separate(p.rails_count)) {
		json_object_set_new(o, "verdict",
		    json_string(names_verdicts[VERDICT_UNKNOWN]));
		strbuf_addf(ret_weak,
		    "rails not compared: COALMINE_NICS (mpi.nics) does not "
		    "give each rank of a node a separate NIC");
	} else {
		json_object_set_new(o, "verdict",
		    json_string(
			rail_stats_weak(&p, RAIL_STATS_WEAK, ret_weak) > 0
			    ? names_verdicts[VERDICT_WARN]
			    : names_verdicts[VERDICT_OK]));
	}
	if (ret_weak->text != NULL)
		json_object_set_new(o, "text", json_string(ret_weak->text));
	rail_stats_clear(&p);
}

static void
stripe_run_report(const struct measurement *c)
{
	const struct beside *direct = &c->besides[0], *sync = &c->besides[1];
	struct strbuf *lines = &c->report->remarks;
	json_t *o = stripe_run_speedup(&c->subject, direct);
	struct strbuf weak = { 0 }, via = { 0 };
	struct timing over_direct, over_sync;
	double efficiency;
	const struct plan *p = c->subject.plan;
	uint32_t g = 0;

	if (sync->baseline != NULL)
		ab_timing_ratio(&sync->turns, &over_sync);
	if (direct->baseline == NULL) {
		emit_put(c->report->emit, o);
		strbuf_addf(lines, "striping efficiency not measured: %s\n",
		    direct->err.text);
	} else {
		ab_timing_ratio(&direct->turns, &over_direct);
		/* How many stripes there are, and how each step moves them:
		 * "ipc+mpi+ipc". */
		for (size_t i = 0; i < p->transfers_count; i++) {
			const struct plan_transfer *t = &p->transfers[i];

			g += t->step == TRANSLATE;
			if (i == 0 || t->step != t[-1].step)
				strbuf_addf(&via, "%s%s", i > 0 ? "+" : "",
				    plan_vias[t->via]);
		}
		efficiency = over_direct.median_middle_s / g;
		json_object_set_new(o, "g", json_integer(g));
		json_object_set_new(o, "via", json_string(via.text));
		json_object_set_new(o, "efficiency", record_number(efficiency));
		json_object_set_new(o, "steps_seconds",
		    record_number(stripe_run_steps_s(c)));
		stripe_run_put_rails(o, c, &weak);
		emit_put(c->report->emit, o);
		strbuf_addf(lines,
		    "striping is %.2f times as fast as direct, efficiency "
		    "%.2f; the time is %.2f times the sum of the separate "
		    "steps",
		    over_direct.median_middle_s, efficiency,
		    ab_timing_median_s(&direct->turns, 0) /
			stripe_run_steps_s(c));
		if (sync->baseline != NULL)
			strbuf_addf(lines,
			    "; %.2f times as fast as synchronous",
			    over_sync.median_middle_s);
		if (weak.text != NULL)
			strbuf_addf(lines, "\n%s", weak.text);
		strbuf_addf(lines, "\n");
	}
	if (sync->baseline != NULL)
		emit_put(c->report->emit,
		    stripe_run_speedup(&c->subject, sync));
	strbuf_clear(&via);
	strbuf_clear(&weak);
}

const struct probe probe_stripe = { .pattern = &pattern_stripe,
	.baselines = { &baseline_direct, &baseline_synchronous },
	.steps = PROBE_STEPS_TOO,
	.report = stripe_run_report };
