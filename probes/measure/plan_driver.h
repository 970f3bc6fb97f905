/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_driver.h - all ranks measure plans together: rank 0 chooses each plan,
 * and the other ranks follow until the end. Only rank 0 calls the functions
 * that are not marked "all ranks".
 */
#ifndef PROBES_MEASURE_PLAN_DRIVER_H
#define PROBES_MEASURE_PLAN_DRIVER_H

#include <stddef.h>

#include "common/conf.h"
#include "probes/execute/exec.h"
#include "probes/job/world.h"
#include "probes/measure/plan_report.h"
#include "probes/pattern/pattern.h"
#include "probes/plan/plan.h"
#include "probes/topology/machine.h"
#include "probes/transport/transport.h"
#include "probes/tune/bounds.h"

/* A plan that is kept, to be run together with others. */
struct plan_driver_kept {
	struct plan *plan;
	struct exec *exec;
};

/* The state on one rank. */
struct plan_driver {
	struct world *world;
	struct transport_team *team; /* NULL before the first plan */
	char device[16];             /* device of the team */
	struct plan_driver_kept *kept;
	size_t kept_count;
	/* rank 0: */
	struct plan_report report;
	struct conf *conf;
	int is_campaign; /* 0: one probe, from words */
	/* 1: also time each step of a plan separately. */
	int steps;
	struct machine *machine; /* for predictions; NULL: none */
	/* Only for collectives: the measured machine, used instead of machine.
	 */
	struct machine *seen;
	struct bounds bounds; /* only for collectives: measured bounds */
};

/* All ranks: return the ranks for which plans are built, and the machine: the
 * one that is named or, once it has been measured, the measured one. */
struct pattern_site plan_driver_site(const struct plan_driver *s);

/* The result of a plan. */
struct plan_driver_outcome {
	double median_s; /* NAN: it was not timed */
	/* Time until both ends of the fastest transfer were done; 0 if ranks
	 * have no times of their own. */
	double fastest_s;
	double memory_per_s; /* see trial_memory */
};

/* Check a plan with check_plan. Return 0, or -EPROTO after reporting the
 * violation. */
int plan_driver_check(struct plan_driver *s, const char *probe,
    const struct plan *p);
/* Measure and report a plan; takes p. */
void plan_driver_measure(struct plan_driver *s, const struct pattern *pt,
    struct plan *p, struct plan_driver_outcome *ret);

/* Time a plan without reporting it; it is proven once. Takes p. turns: 1: see
 * exec_take_turns. times: number of iterations. */
struct plan_driver_brief {
	const struct pattern *pattern;
	int turns, times;
};
void plan_driver_measure_briefly(struct plan_driver *s,
    const struct plan_driver_brief *b, struct plan *p,
    struct plan_driver_outcome *ret);
/* Measure all plans that were kept at once, if there are at least two. */
void plan_driver_measure_together(struct plan_driver *s);

/* End: the other ranks return this status from plan_driver_follow. */
void plan_driver_end(struct plan_driver *s, int status);
/* All ranks except 0: take part until plan_driver_end. Return the status of
 * rank 0. */
int plan_driver_follow(struct plan_driver *s);
/* All ranks: free what s owns. */
void plan_driver_close(struct plan_driver *s);

/* Report that a plan was not measured, with the error rc and the reason. */
void plan_driver_refuse(struct plan_driver *s, const char *probe,
    const struct plan *p, int rc, const char *why);

#endif
