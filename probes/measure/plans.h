/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plans.h - run the probes of a campaign that are plans.
 */
#ifndef PROBES_MEASURE_PLANS_H
#define PROBES_MEASURE_PLANS_H

#include "common/conf.h"
#include "common/err.h"
#include "probes/job/emit.h"
#include "probes/job/world.h"
#include "probes/pattern/pattern.h"
#include "schema/names_run.h"

/* The arguments, of which only rank 0 has any. */
struct plans_ask {
	struct emit *emit;
	struct conf *conf;
	/* One probe; NULL: every section that is a plan. */
	const struct pattern *only;
	int steps; /* 1: also time each step separately, whatever conf says */
	int table; /* 1: print a table */
};

/* The result. status: 0; 2 for wrong data, or a plan that check_plan rejects; 3
 * if something was not measured because of invalid options. */
struct plans_result {
	int status;       /* the worst status */
	enum cause cause; /* cause of the first failure; rank 0 */
	struct err why;
};

/* Run the probes. Collective. ask: NULL on all ranks except 0. */
void plans_run(struct world *w, const struct plans_ask *ask,
    struct plans_result *ret);

#endif
