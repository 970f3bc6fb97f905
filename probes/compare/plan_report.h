/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_report.h - what running a plan gave, as records and as a table. Rank 0.
 */
#ifndef PROBES_COMPARE_PLAN_REPORT_H
#define PROBES_COMPARE_PLAN_REPORT_H

#include <jansson.h>

#include "common/conf.h"
#include "common/table.h"
#include "probes/execute/trial.h"
#include "probes/job/world.h"

#define PLAN_REPORT_SAMPLES_MAX 4096 /* raw ones in a record */

struct plan_report {
	const struct world *world;
	const struct transport_team *team;
	const char *probe;
	const struct plan *plan;
	uint64_t bytes; /* what bandwidth is made of; of: its name */
	const char *of;
	double setup_s;                  /* exec_new */
	double memory_bytes_per_s;       /* of all ranks together */
	const double *memory_rank_per_s; /* of each; or NULL */
	/* Of a group: what it is; pattern NULL for others. */
	const char *pattern, *direction;
	int k, groups;
	double rated_per_s; /* see rated.h */
	const char *staging;
	const char *machine; /* of the prediction; NULL: there is none */
	double predicted_s;
	const double *predicted_rank_s; /* until each rank is done; or NULL */
};

/* step: a number, or one of these. */
#define PLAN_REPORT_WHOLE      (-1)
#define PLAN_REPORT_CONCURRENT (-2) /* several plans, joined in one */

json_t *plan_report_begin(const struct world *w, const struct conf *c);
json_t *plan_report_trial(const struct plan_report *r, const struct trial *t,
    int step);
json_t *plan_report_fault(const struct plan_report *r,
    const struct exec_fault *f, const char *when);
/* The same as a sentence. */
void plan_report_fault_text(const struct plan_report *r,
    const struct exec_fault *f, const char *when, char *ret, size_t cap_bytes);
/* Nothing was measured. */
json_t *plan_report_refusal(const char *probe, const char *title,
    enum cause cause, const char *why);

struct table *plan_report_table(void);
void plan_report_row(struct table *table, const struct plan_report *r,
    const struct trial *t, int step);

#endif
