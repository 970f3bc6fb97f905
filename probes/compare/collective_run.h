/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collective_run.h - a composed collective, or an all-reduce for devices of
 * nodes, beside the installed MPI's own, in turns (versus.h).
 *
 * Throughput is d / t with d the bytes of a block for every rank (HiCCL
 * section 6: p times the count, divided by the time), and of an all-reduce the
 * bytes of a vector, which are the same.
 */
#ifndef PROBES_COMPARE_COLLECTIVE_RUN_H
#define PROBES_COMPARE_COLLECTIVE_RUN_H

#include "probes/tune/bounds.h"
#include "probes/compare/plan_report.h"
#include "probes/compare/baseline_collective.h"
#include "probes/compare/ab_timing.h"

struct collective_run {
	struct exec *exec;
	struct baseline_collective *rival; /* NULL: rc and why */
	int rc;
	struct err err;
	struct ab_timing versus; /* side 0 is the plan */
};

/* Collective over the team of e, whose plan p has been proven and still has
 * its results. */
void collective_run_open(struct exec *e, const struct plan *p,
    struct collective_run *ret);
void collective_run_close(struct collective_run *n);

/* Collective; *ret is side 0, and stays valid until close. */
void collective_run_time(struct collective_run *n, const struct trial_ask *ask,
    struct trial *ret);

/* Rank 0: a record of the speed-up of a collective of that name, and the same
 * as a line. */
json_t *collective_run_report(const struct plan_report *r,
    const struct collective_run *n, const char *name, const struct bounds *b);
void collective_run_text(const struct collective_run *n, char *ret,
    size_t cap_bytes);

#endif
