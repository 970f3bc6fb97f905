/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stripe_run.h - a striped transfer beside the direct one, and beside itself
 * with a barrier between the steps, in turns (versus.h).
 *
 * Striping efficiency is the speed-up over the direct transfer for each of the
 * g rails: 1 when g stripes cross as fast as one message does alone. That of a
 * rail is its bandwidth while all stripes cross, over that of the direct
 * transfer.
 */
#ifndef PROBES_COMPARE_STRIPE_RUN_H
#define PROBES_COMPARE_STRIPE_RUN_H

#include "common/str.h"
#include "probes/compare/plan_report.h"
#include "probes/compare/ab_timing.h"

#define STRIPE_STEPS_MAX 3

struct stripe_run {
	struct exec *exec;
	const struct plan *plan;
	struct plan *straight; /* the direct transfer */
	struct exec *direct;   /* NULL: why */
	struct err err;
	struct ab_timing over_direct, over_synchronous; /* side 0 is the plan */
	struct trial steps[STRIPE_STEPS_MAX];
};

/* Collective over the team of e; p was made by the builder stripe. */
void stripe_run_open(struct exec *e, const struct plan *p,
    struct stripe_run *ret);
void stripe_run_close(struct stripe_run *s);
/* Collective; *ret is the plan's own, and stays valid until close. */
void stripe_run_time(struct stripe_run *s, const struct trial_ask *ask,
    struct trial *ret);

/* Rank 0. */
json_t *stripe_run_report(const struct stripe_run *s,
    const struct plan_report *r);
json_t *stripe_run_synchronous(const struct stripe_run *s,
    const struct plan_report *r);
void stripe_run_text(const struct stripe_run *s, const struct plan_report *r,
    struct strbuf *lines);

#endif
