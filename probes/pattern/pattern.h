/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern.h - a builder: a pure function from a few options to a plan.
 *
 * Each is a row with a name (patterns.h); its options are the rows of that
 * section in schema/patterns.c. The builder checks relations between options (k
 * at most g, divisors); every error reads "where: section.key = value: expected
 * ...".
 */
#ifndef PROBES_PATTERN_PATTERN_H
#define PROBES_PATTERN_PATTERN_H

#include <stdint.h>

#include "common/conf.h"
#include "common/err.h"
#include "probes/plan/plan.h"

struct machine;

/* The ranks for which a plan is built. */
struct pattern_site {
	uint32_t ranks; /* 0: as many as the probe takes */
	/* What options that are auto are chosen for. nodes: of the ranks, where
	 * the machine is the one that we are on; 0 is 1. */
	const struct machine *machine; /* NULL: none was named or measured */
	uint32_t nodes;
	/* Leave PLAN_VIA_AUTO in the plan: it is run, and the ranks choose with
	 * transport_choose_vias. 0: it becomes mpi. */
	int keep_auto;
};

struct pattern {
	const char *name;
	const char *text; /* one sentence */
	/* Build from c. -EINVAL and why for options that are wrong, and nothing
	 * is built. The plan is sorted; the caller ends it with plan_free. By
	 * pattern_build only. */
	int (*build)(const struct conf *c, const struct pattern_site *site,
	    struct plan **ret, struct err *err);
};

/* Read "name=value" words. The caller ends *ret with conf_free. */
int pattern_options(const struct pattern *pt, char *const *words, int count,
    struct conf **ret, struct err *err);
/* As pt builds it, with what all plans are given. */
int pattern_build(const struct pattern *pt, const struct conf *c,
    const struct pattern_site *site, struct plan **ret, struct err *err);

#endif
