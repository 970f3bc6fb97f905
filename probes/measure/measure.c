/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.c - prove a plan, time it in turns with its baselines and report it.
 * Data is proven before the timed part; the data left by the timed part is
 * proven after it, and then again with other data.
 */

#include "probes/measure/measure.h"

#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "probes/execute/trial.h"
#include "probes/job/control.h"
#include "probes/job/emit.h"
#include "probes/measure/ab_timing.h"
#include "probes/measure/baseline.h"
#include "probes/measure/plan_report.h"
#include "probes/measure/probe.h"

#define FIRST_DATA  1 /* "iterations" of fill: any two numbers */
#define SECOND_DATA 2

/* Bandwidth counts the bytes that the pattern delivers, not those in
 * transit. */
void
measure_volume(struct subject *r)
{
	static const char *const names[] = { "message", "per_group",
		"delivered" };

	r->of = "footprint";
	r->bytes = plan_volume(r->plan);
	for (size_t i = 0; i < r->plan->notes_count; i++)
		for (size_t k = 0; k < ARRAY_LEN(names); k++)
			if (strcmp(r->plan->notes[i].name, names[k]) == 0) {
				r->of = names[k];
				r->bytes = r->plan->notes[i].value;
			}
}

uint64_t
measure_largest(const struct plan *p)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < p->transfers_count; i++)
		if (p->transfers[i].bytes > bytes)
			bytes = p->transfers[i].bytes;
	return bytes;
}

/* ---- prove ---- */

static int
measure_fault(const struct measurement *c, int rc, const struct exec_fault *f,
    const char *when)
{
	if (rc < 0)
		plan_report_fault(c->report, &c->subject, f, when);
	return rc;
}

static int
measure_prove(const struct measurement *c, uint64_t data, const char *when)
{
	struct exec_fault f;
	int rc = trial_prove(c->subject.team, c->exec, data, &f);

	return measure_fault(c, rc, &f, when);
}

/* ---- time ---- */

void
measure_run_plan_cb(void *arg)
{
	const struct measurement *c = arg;

	if (!c->phased) {
		exec_run(c->exec);
		return;
	}
	for (uint32_t i = 0; i < c->subject.plan->steps; i++) {
		exec_start(c->exec, i, i + 1);
		exec_wait(c->exec);
	}
}

void
measure_time(const struct measurement *c, struct beside *x,
    const struct ab_timing_side sides[AB_TIMING_SIDES])
{
	x->turns.sides = x->baseline != NULL ? AB_TIMING_SIDES : 1;
	for (int i = 0; i < AB_TIMING_SIDES; i++)
		x->turns.side[i] = sides[i];
	ab_timing_time(c->subject.team, &c->ask, &x->turns);
}

static void
measure_time_parts(struct measurement *c)
{
	uint32_t steps = c->subject.plan->steps;

	c->parts = xcalloc(steps + (size_t)1, sizeof(*c->parts));
	for (uint32_t i = 0; i < steps; i++)
		trial_time(c->exec, i, i + 1, &c->ask, &c->parts[i]);
}

static void
measure_time_all(struct measurement *c)
{
	for (int i = 0; i < c->besides_count; i++) {
		struct beside *x = &c->besides[i];

		if (i > 0 && x->baseline == NULL)
			continue;
		measure_time(c, x,
		    (struct ab_timing_side[AB_TIMING_SIDES]){
			{ .run = measure_run_plan_cb, .arg = c },
			{ .run = x->baseline != NULL ? x->baseline->row->run
						     : NULL,
			    .arg = x->baseline } });
	}
	if (c->besides_count > 0)
		c->whole = c->besides[0].turns.side[0].trial;
	else if (c->probe->steps != PROBE_STEPS_ONLY)
		trial_time(c->exec, 0, UINT32_MAX, &c->ask, &c->whole);
	if (c->probe->steps != PROBE_STEPS_ASKED)
		measure_time_parts(c);
	if (c->probe->gather != NULL && c->besides_count > 0)
		c->probe->gather(c);
}

/* ---- report ---- */

static void
measure_report_parts(const struct measurement *c)
{
	for (uint32_t i = 0; i < c->subject.plan->steps; i++) {
		struct subject part = c->subject;

		if (c->report != NULL && c->probe->describe_step != NULL)
			c->probe->describe_step(i, &part);
		plan_report_trial(c->report, &part, &c->parts[i], (int)i);
	}
}

static void
measure_report_all(struct measurement *c)
{
	struct plan_report *pr = c->report;

	if (c->whole.count > 0)
		plan_report_trial(pr, &c->subject, &c->whole, SUBJECT_WHOLE);
	if (c->parts != NULL)
		measure_report_parts(c);
	if (pr != NULL && c->besides_count > 0) {
		if (c->probe->report != NULL) {
			c->probe->report(c);
		} else {
			emit_put(pr->emit,
			    plan_report_speedup(&c->subject, &c->besides[0]));
			plan_report_speedup_text(&c->besides[0], &pr->remarks);
		}
	}
	if (c->probe->more != NULL)
		c->probe->more(c);
	if (c->steps && c->parts == NULL && c->subject.plan->steps > 1) {
		measure_watch(c);
		measure_time_parts(c);
		control_watch(c->subject.team->world, NULL);
		measure_report_parts(c);
	}
}

/* ---- all of it ---- */

/* Can the result of repetitions be verified? Not where a result overwrites its
 * own source, since each iteration then starts from the last one's result. */
static int
measure_is_repeatable(const struct plan *p)
{
	int ret = 1;

	for (size_t i = 0; i < p->promises_count; i++)
		ret &= p->bufs[p->promises[i].to].role != PLAN_IN;
	return ret;
}

void
measure_watch(const struct measurement *c)
{
	const struct transport_team *team = c->subject.team;

	control_watch_plan(team->world,
	    team->ops->host_access ? exec_limit_ns(c->exec) : 0);
}

static int
measure_prove_and_time(struct measurement *c)
{
	const struct plan *p = c->subject.plan;
	const struct probe *pb = c->probe;
	int rc, again = measure_is_repeatable(p);
	struct exec_fault f;

	c->phased = pb->in_phases;
	for (size_t i = 0; i < p->transfers_count; i++)
		c->phased &= p->transfers[i].channel == 0;
	rc = measure_prove(c, FIRST_DATA, "before timing");
	if (rc < 0)
		return rc;
	if (c->brief) {
		trial_time(c->exec, 0, UINT32_MAX, &c->ask, &c->whole);
		return 0;
	}
	control_watch(c->subject.team->world, NULL);
	for (int i = 0; again && i < PROBE_BASELINES; i++)
		if (pb->baselines[i] != NULL)
			baseline_open(pb->baselines[i], c->exec, p,
			    &c->besides[c->besides_count++]);
	measure_watch(c);
	if (again)
		exec_blank(c->exec);
	measure_time_all(c);
	if (again) {
		rc = trial_compare(c->subject.team, c->exec, FIRST_DATA, &f);
		rc = measure_fault(c, rc, &f, "in the timed part");
	}
	return rc < 0 ? rc : measure_prove(c, SECOND_DATA, "after timing");
}

int
measure_run(struct measurement *c)
{
	int rc;

	measure_watch(c);
	rc = measure_prove_and_time(c);
	control_watch(c->subject.team->world, NULL);
	if (rc == 0 && !c->brief)
		measure_report_all(c);
	return rc;
}

void
measure_clear(struct measurement *c)
{
	if (c->besides_count == 0)
		trial_clear(&c->whole);
	for (int i = 0; i < c->besides_count; i++)
		baseline_close(&c->besides[i]);
	for (uint32_t i = 0; c->parts != NULL && i < c->subject.plan->steps;
	     i++)
		trial_clear(&c->parts[i]);
	free(c->parts);
	free(c->wires);
}
