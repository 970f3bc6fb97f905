/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neighbor_run.h - a neighborhood allgather beside the installed MPI's own, in
 * turns (versus.h), and what both put on the wire.
 *
 * A plan in one channel is run in phases, each rank waiting for all it does in
 * a step before it enters the next; any other as its data arrives.
 */
#ifndef PROBES_COMPARE_NEIGHBOR_RUN_H
#define PROBES_COMPARE_NEIGHBOR_RUN_H

#include "probes/compare/plan_report.h"
#include "probes/compare/baseline.h"
#include "probes/compare/ab_timing.h"

struct neighbor_run {
	const struct plan *plan;
	struct exec *exec;
	int phased;
	struct baseline *rival; /* NULL: rc and why */
	int rc;
	struct err err;
	struct ab_timing versus; /* side 0 is the plan */
	/* rank 0, by node: bytes of all turns of each side */
	struct nic_bytes (*wires)[AB_TIMING_SIDES];
};

/* Collective over the team of e, whose plan p has been proven. */
void neighbor_run_open(struct exec *e, const struct plan *p,
    struct neighbor_run *ret);
void neighbor_run_close(struct neighbor_run *n); /* collective */

/* Once, as an iteration of a side. */
void neighbor_run_plan_cb(void *n);
void neighbor_run_rival_cb(void *n);

/* Collective; *ret is side 0, and stays valid until close. */
void neighbor_run_time(const struct world *w, struct neighbor_run *n,
    const struct trial_ask *ask, struct trial *ret);

/* Rank 0: a record of the speed-up, and the same as a line. */
json_t *neighbor_run_report(const struct plan_report *r,
    const struct neighbor_run *n);
void neighbor_run_text(const struct neighbor_run *n, char *ret,
    size_t cap_bytes);

#endif
