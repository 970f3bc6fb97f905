/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.h - measure one plan: prove it, time it alternately with its
 * baselines, prove it again, report. All probes share this procedure; the row
 * of a probe (probe.h) has its specifics.
 */
#ifndef PROBES_MEASURE_MEASURE_H
#define PROBES_MEASURE_MEASURE_H

#include "common/conf.h"
#include "probes/execute/exec.h"
#include "probes/execute/trial.h"
#include "probes/job/nic.h"
#include "probes/measure/baseline.h"
#include "probes/measure/plan_report.h"
#include "probes/measure/probe.h"
#include "probes/topology/machine.h"
#include "probes/tune/bounds.h"

/* A measurement. The caller sets the first members; all others are zero. */
struct measurement {
	const struct probe *probe;
	struct exec *exec;
	struct subject subject;
	struct trial_ask ask;
	int steps; /* 1: also time each step separately */
	/* 1: prove once and time, without a report. */
	int brief;
	struct plan_report *report;    /* rank 0, else NULL */
	const struct conf *conf;       /* the configuration */
	const struct bounds *bounds;   /* for collectives: measured bounds */
	const struct machine *machine; /* a named machine, or NULL */
	/* Made by measure_run: */
	int phased; /* 1: see in_phases */
	/* Times of the plan; borrowed from besides if there are any. */
	struct trial whole;
	struct trial *parts; /* times of each step; NULL */
	struct beside besides[PROBE_BASELINES];
	int besides_count;
	/* rank 0, by node: network bytes of all turns of each side; NULL */
	struct nic_bytes (*wires)[AB_TIMING_SIDES];
};

/* Measure a plan. Collective. Return 0, or -EBADMSG on every rank after wrong
 * data was reported. The results are valid until measure_clear. */
int measure_run(struct measurement *c);
void measure_clear(struct measurement *c); /* collective */

/* Watch this rank until control_watch while it waits for others
 * (job/control.h), each time for as long as one run of the plan may take. Not
 * on a device: its libraries prepare themselves in their first calls, for as
 * long as they like. */
void measure_watch(const struct measurement *c);
/* Run the plan once, for a comparison with a baseline. c: the struct
 * measurement. */
void measure_run_plan_cb(void *c);
/* Time two methods alternately, with the options of c, into x. */
void measure_time(const struct measurement *c, struct beside *x,
    const struct ab_timing_side sides[AB_TIMING_SIDES]);
/* Set the number of bytes from which the bandwidth is computed, and its
 * name. */
void measure_volume(struct subject *r);
/* Return the bytes of the largest transfer of a plan. */
uint64_t measure_largest(const struct plan *p);

#endif
