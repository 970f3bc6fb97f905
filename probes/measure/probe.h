/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe.h - the table of probes that need more than timing a plan.
 */
#ifndef PROBES_MEASURE_PROBE_H
#define PROBES_MEASURE_PROBE_H

#include <stdint.h>

#include "probes/measure/baseline.h"
#include "probes/measure/plan_report.h"
#include "probes/pattern/pattern.h"

#define PROBE_BASELINES 2

struct measurement;

/* The steps that are measured in addition to the whole plan, or instead of it.
 */
enum probe_steps {
	PROBE_STEPS_ASKED, /* each step too, if the campaign requests it */
	PROBE_STEPS_TOO,   /* each step always, because the result needs them */
	/* The steps are the measurements; the whole plan is only proven. */
	PROBE_STEPS_ONLY
};

/* A row of the table (probe.c). A new probe consists of its options
 * (schema/patterns.c) and its builder, with a line in
 * probes/pattern/builders.h. It needs a row here if it has a baseline, or
 * additional members in its records. Hooks can be NULL. */
struct probe {
	/* Its name, options and builder; see probe_of. */
	const struct pattern *pattern;
	/* The baselines of the probe; the first NULL ends the list. */
	const struct baseline_row *baselines[PROBE_BASELINES];
	enum probe_steps steps;
	/* 1: only the result matters, not the order of transfers; see
	 * exec_take_turns. */
	int take_turns;
	/* 1: a plan with one channel is run in phases, like its baseline: each
	 * rank completes a step before it enters the next. */
	int in_phases;
	/* 1: with tune = auto, a shape is searched, with bounds and a machine
	 * that are measured first. */
	int is_tuned;
	/* Rank 0: set the members of a subject that records contain in addition
	 * to its title, for the whole plan and for one step. */
	void (*describe)(const struct measurement *c, struct subject *r);
	void (*describe_step)(uint32_t step, struct subject *r);
	/* All ranks, after the timing: gather the data that rank 0 needs for
	 * the record. */
	void (*gather)(struct measurement *c);
	/* Rank 0: report, instead of the usual record and line for a
	 * baseline. */
	void (*report)(const struct measurement *c);
	/* All ranks, at the end: further measurements. */
	void (*more)(struct measurement *c);
};

/* Return the row of a probe; never NULL. A probe without a row is only proven
 * and timed. */
const struct probe *probe_of(const struct pattern *pt);

/* Rows in files of their own. */
extern const struct probe probe_neighbor;
extern const struct probe probe_stripe;
extern const struct probe probe_binding;

#endif
