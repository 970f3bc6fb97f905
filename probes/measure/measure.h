/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.h - measure one plan: prove it, time it in turns with its baselines,
 * prove it again, report. All probes share this flow; the row of a probe
 * (probe.h) has its specifics.
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

struct measurement {
	const struct probe *probe;
	struct exec *exec;
	struct subject subject;
	struct trial_ask ask;
	int steps;                     /* time each step separately too */
	int brief;                     /* prove once, time, tell nothing */
	struct plan_report *report;    /* rank 0, else NULL */
	const struct conf *conf;       /* the configuration */
	const struct bounds *bounds;   /* for collectives */
	const struct machine *machine; /* a named machine, or NULL */
	/* Made by measure_run: */
	int phased;          /* see in_phases */
	struct trial whole;  /* of the plan; borrowed from besides if any */
	struct trial *parts; /* of each step; NULL */
	struct beside besides[PROBE_BASELINES];
	int besides_count;
	/* rank 0, by node: bytes of all turns of each side; NULL */
	struct nic_bytes (*wires)[AB_TIMING_SIDES];
};

/* Measure. Collective. Return 0, or -EBADMSG on every rank after it was
 * reported. The objects stay until measure_clear. */
int measure_run(struct measurement *c);
void measure_clear(struct measurement *c); /* collective */

/* Run the plan once, for a comparison with a baseline; c is the comparison. */
void measure_run_plan_cb(void *c);
/* Both in turns, one after the other, samples into x. */
void measure_time(const struct measurement *c, struct beside *x,
    const struct ab_timing_side sides[AB_TIMING_SIDES]);
/* The volume that bandwidth is made of, and its name, into r. */
void measure_volume(struct subject *r);
/* Bytes of the largest transfer. */
uint64_t measure_largest(const struct plan *p);

#endif
