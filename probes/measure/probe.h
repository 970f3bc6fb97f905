/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe.h - the table of probes that are more than a plan to time.
 */
#ifndef PROBES_MEASURE_PROBE_H
#define PROBES_MEASURE_PROBE_H

#include <stdint.h>

#include "probes/measure/baseline.h"
#include "probes/measure/plan_report.h"
#include "probes/pattern/pattern.h"

#define PROBE_BASELINES 2

struct measurement;

/* Measurements in addition to the whole plan. */
enum probe_steps {
	PROBE_STEPS_ASKED, /* each step too, if requested */
	PROBE_STEPS_TOO,   /* always: its result needs them */
	PROBE_STEPS_ONLY /* they are the measurements; the whole only proves */
};

/* A row of the table of probes that need more than timing a plan (probe.c). A
 * new probe is its options (schema/patterns.c) and its builder with a line in
 * probes/pattern/builders.h. It needs a row here if it has a baseline or
 * additional members in its records: how its plan is built, its baselines, and
 * its additional members. Hooks may be NULL. */
struct probe {
	const struct pattern
	    *pattern; /* name, options, builder; see probe_of */
	/* Of the same; the first that is NULL ends them. */
	const struct baseline_row *baselines[PROBE_BASELINES];
	enum probe_steps steps;
	/* Only the result matters and not the order of transfers: see
	 * exec_take_turns. */
	int take_turns;
	/* A plan in one channel is run in phases, like its baseline: each rank
	 * completes a step before it enters the next. */
	int in_phases;
	/* A shape is found by tune = auto, with bounds and a machine that are
	 * measured first. */
	int is_tuned;
	/* Rank 0: what records say of it besides its title, as a whole, and of
	 * one step. */
	void (*describe)(const struct measurement *c, struct subject *r);
	void (*describe_step)(uint32_t step, struct subject *r);
	/* On all ranks, after the timing: gather the data that rank 0 needs for
	 * the record. */
	void (*gather)(struct measurement *c);
	/* Rank 0, in place of one record and one line for its baseline. */
	void (*report)(const struct measurement *c);
	/* All ranks, at the end: what else it measures. */
	void (*more)(struct measurement *c);
};

/* Never NULL: a probe without a row is proven and timed alone. */
const struct probe *probe_of(const struct pattern *pt);

/* Rows with files of their own. */
extern const struct probe probe_neighbor;
extern const struct probe probe_stripe;
extern const struct probe probe_binding;

#endif
