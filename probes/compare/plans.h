/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plans.h - the probes of a campaign that are plans: one after another, each
 * proven, run and reported.
 *
 * All ranks: plans_new; rank 0 plans_lead while the others plans_follow;
 * plans_free.
 */
#ifndef PROBES_COMPARE_PLANS_H
#define PROBES_COMPARE_PLANS_H

#include "common/conf.h"
#include "probes/pattern/pattern.h"
#include "probes/job/emit.h"
#include "probes/job/world.h"
#include "schema/names.h"

#define PLANS_WHY_BYTES 512

struct plans;

/* What came of it. status: 2 wrong data, or a plan that check refuses; 3
 * something was not measured because of what was asked for. */
struct plans_result {
	int status;       /* the worst */
	enum cause cause; /* the first */
	char why[PLANS_WHY_BYTES];
};

/* emit: rank 0's, else NULL. */
struct plans *plans_new(struct world *w, struct emit *emit);
void plans_free(struct plans *ps); /* collective */

/* Rank 0: the sections of c that are plans, or only one of them. steps: each
 * step by itself too, whatever c says. table: print one. */
void plans_lead(struct plans *ps, struct conf *c, const struct pattern *only,
    int steps, int table, struct plans_result *ret);
/* The others; the status is rank 0's. */
void plans_follow(struct plans *ps, struct plans_result *ret);

#endif
