/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.h - measure one plan: prove it, time it beside its baselines in
 * alternating turns, prove it again, report. One flow for every probe; what is
 * special about one says its row (struct probe).
 */
#ifndef PROBES_COMPARE_COMPARE_H
#define PROBES_COMPARE_COMPARE_H

#include "probes/compare/baseline.h"
#include "probes/compare/plan_report.h"
#include "probes/pattern/pattern.h"
#include "probes/topology/machine.h"
#include "probes/tune/tune.h"

#define COMPARE_BASELINES 2

struct comparison;

/* What it measures besides the whole plan. */
enum probe_steps {
	PROBE_STEPS_ASKED, /* each step by itself too where that is asked for */
	PROBE_STEPS_TOO,   /* always: its result needs them */
	PROBE_STEPS_ONLY /* they are the measurements; the whole only proves */
};

/* A row of the table of probes that are more than a plan to time (probe.c). A
 * new probe is its options (schema/patterns.c) and its builder with a line in
 * probes/pattern/builders.h; if it has a baseline, or its records say more than
 * the others', a row here: how its plan is built, what it is timed beside, and
 * what its records say more. Hooks may be NULL. */
struct probe {
	const struct pattern
	    *pattern; /* name, options, builder; see probe_of */
	/* Of the same; the first that is NULL ends them. */
	const struct baseline_row *baselines[COMPARE_BASELINES];
	enum probe_steps steps;
	/* What is asked for is the result, not the way: see exec_take_turns. */
	int take_turns;
	/* A plan in one channel is run in phases beside its baseline: each rank
	 * waits for all that it does in a step before it enters the next. */
	int in_phases;
	/* A shape is found by tune = auto, with bounds and a machine that are
	 * measured first. */
	int is_tuned;
	/* Rank 0: what records say of it besides its title, as a whole, and of
	 * one step. */
	void (*describe)(const struct comparison *c, struct subject *r);
	void (*describe_step)(uint32_t step, struct subject *r);
	/* All ranks, after what was timed: what rank 0 needs for the record. */
	void (*gather)(struct comparison *c);
	/* Rank 0, in place of one record and one line for its baseline. */
	void (*report)(const struct comparison *c);
	/* All ranks, at the end: what else it measures. */
	void (*more)(struct comparison *c);
};

struct comparison {
	const struct probe *probe;
	struct exec *exec;
	struct subject subject;
	struct trial_ask ask;
	int steps;                     /* each by itself too */
	int brief;                     /* prove once, time, tell nothing */
	struct plan_report *report;    /* rank 0, else NULL */
	const struct conf *conf;       /* likewise */
	const struct bounds *bounds;   /* likewise, of collectives */
	const struct machine *machine; /* likewise, that is named; or NULL */
	/* Made by compare_run: */
	int phased;          /* see in_phases */
	struct trial whole;  /* of the plan; borrowed from besides if any */
	struct trial *parts; /* of each step; NULL */
	struct beside besides[COMPARE_BASELINES];
	int besides_count;
	/* rank 0, by node: bytes of all turns of each side; NULL */
	struct nic_bytes (*wires)[AB_TIMING_SIDES];
};

/* Collective. 0, or -EBADMSG on every rank once it is reported. What was made
 * stays until compare_clear. */
int compare_run(struct comparison *c);
void compare_clear(struct comparison *c); /* collective */

/* The plan once, as it is timed beside a baseline; c is the comparison. */
void compare_run_plan_cb(void *c);
/* Both in turns, one after the other, samples into x. */
void compare_time(const struct comparison *c, struct beside *x,
    const struct ab_timing_side sides[AB_TIMING_SIDES]);
/* The volume that bandwidth is made of, and its name, into r. */
void compare_volume(struct subject *r);
/* Bytes of the largest transfer. */
uint64_t compare_largest(const struct plan *p);

/* Never NULL: a probe without a row is proven and timed alone. */
const struct probe *probe_of(const struct pattern *pt);

/* Rows with files of their own. */
extern const struct probe probe_neighbor;
extern const struct probe probe_stripe;
extern const struct probe probe_binding;

/* spmm.c: a product with a sparse matrix, of a neighbor plan that was made for
 * one. All ranks, once the plan is reported. */
void spmm_measure(struct comparison *c);

#endif
