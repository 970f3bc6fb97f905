/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern.h - a builder: a pure function from a few options to a plan.
 *
 * Each builder is a row with a name (builders.h). Its options are the rows of
 * the section of the same name in schema/patterns.c. The builder checks
 * relations between options (k at most g, divisors). Every error reads "where:
 * section.key = value: expected ...".
 */
#ifndef PROBES_PATTERN_PATTERN_H
#define PROBES_PATTERN_PATTERN_H

#include <stdint.h>

#include "common/conf.h"
#include "common/err.h"
#include "probes/plan/plan.h"

struct machine;

/* The ranks and the machine for which a plan is built. */
struct pattern_site {
	uint32_t ranks; /* 0: as many as the probe needs */
	/* The machine for which options with the value auto are chosen; NULL:
	 * no machine was named or measured. nodes: nodes of the ranks if the
	 * machine is this one; 0 counts as 1. */
	const struct machine *machine;
	uint32_t nodes;
	/* 1: leave PLAN_VIA_AUTO in the plan, because it will run, and the
	 * ranks choose with transport_choose_vias. 0: replace it by mpi. */
	int keep_auto;
};

/* A builder. */
struct pattern {
	const char *name;
	const char *text; /* one sentence */
	/* Build a plan from the options c. Return 0 and the plan, which is
	 * sorted and which the caller frees with plan_free; or -EINVAL with the
	 * reason in err, and no plan. Only pattern_build calls this. */
	int (*build)(const struct conf *c, const struct pattern_site *site,
	    struct plan **ret, struct err *err);
};

/* Read words "name=value" as options of the builder. Return 0 and the options,
 * which the caller frees with conf_free; or -EINVAL with the reason in err. */
int pattern_options(const struct pattern *pt, char *const *words, int count,
    struct conf **ret, struct err *err);
/* Build a plan with pt, check its total size, and apply the options that all
 * plans have. Results are as for build. */
int pattern_build(const struct pattern *pt, const struct conf *c,
    const struct pattern_site *site, struct plan **ret, struct err *err);

#endif
