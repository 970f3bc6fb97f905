/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plans.h - the probes of a campaign that are plans.
 */
#ifndef PROBES_MEASURE_PLANS_H
#define PROBES_MEASURE_PLANS_H

#include "common/conf.h"
#include "common/err.h"
#include "probes/job/emit.h"
#include "probes/job/world.h"
#include "probes/pattern/pattern.h"
#include "schema/names_run.h"

/* Options of rank 0. */
struct plans_ask {
	struct emit *emit;
	struct conf *conf;
	const struct pattern *only; /* one probe; NULL: every section that is */
	int steps; /* time each step separately too, independent of conf */
	int table; /* print one */
};

/* The result. status: 2 wrong data, or a plan that check rejects; 3 something
 * was not measured because of invalid options. */
struct plans_result {
	int status;       /* the worst */
	enum cause cause; /* the first; rank 0 */
	struct err why;
};

/* Collective. ask: rank 0's, else NULL. */
void plans_run(struct world *w, const struct plans_ask *ask,
    struct plans_result *ret);

#endif
