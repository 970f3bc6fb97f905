/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binding_run.h - what the steps of a binding plan say together: which model
 * of plan/fit.h they fit, which rails are weak, and how the MPI's own scatter
 * and all-to-all do beside them (CommBench, section 5.2.2).
 *
 * Bandwidths are those of the fastest iteration: whatever disturbs one makes it
 * slower.
 */
#ifndef PROBES_COMPARE_BINDING_RUN_H
#define PROBES_COMPARE_BINDING_RUN_H

#include "common/str.h"
#include "probes/pattern/binding.h"
#include "probes/predict/binding_fit.h"
#include "probes/compare/plan_report.h"

/* An MPI collective beside the step that moves as much between the nodes. */
struct binding_rival {
	const char *name;
	enum binding_part part; /* with which k */
	uint32_t k;
	struct trial trial; /* no samples: why */
	struct err err;
};
#define BINDING_RIVALS 2

struct binding_run {
	uint32_t g;
	uint64_t bytes;
	double *best_s; /* by step */
	struct binding_rival rivals[BINDING_RIVALS];
};

/* All ranks. p was made by the builder binding. */
void binding_run_open(const struct plan *p, struct binding_run *ret);
void binding_run_close(struct binding_run *b);
void binding_run_step(struct binding_run *b, uint32_t step,
    const struct trial *t);
/* Collective: the MPI's own, with buffers of their own. */
void binding_run_rivals(struct binding_run *b,
    const struct transport_team *team, const struct trial_ask *ask);

struct binding_limits {
	double tolerance, weak; /* as options */
};
/* Rank 0: records, and lines for people. */
typedef void binding_put(void *arg, json_t *record);
void binding_run_report(const struct binding_run *b,
    const struct plan_report *r, const struct binding_limits *limits,
    binding_put *put, void *arg, struct strbuf *lines);

#endif
