/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_report.h - what running a plan gave, as records, as rows of a table
 * and as lines below it. Rank 0.
 */
#ifndef PROBES_MEASURE_PLAN_REPORT_H
#define PROBES_MEASURE_PLAN_REPORT_H

#include <jansson.h>

#include "common/conf.h"
#include "common/err.h"
#include "common/str.h"
#include "common/table.h"
#include "probes/execute/exec.h"
#include "probes/execute/trial.h"
#include "probes/job/emit.h"
#include "probes/job/world.h"
#include "probes/measure/ab_timing.h"
#include "probes/plan/plan.h"
#include "probes/transport/transport.h"
#include "schema/names_run.h"

struct beside;

/* The measured part of a plan: the number of a step, or one of these. */
#define SUBJECT_WHOLE      (-1)
#define SUBJECT_CONCURRENT (-2) /* several plans, joined in one */

/* A plan to measure, with its properties. */
struct subject {
	const struct world *world;
	const struct transport_team *team;
	const char *probe;
	const struct plan *plan;
	uint64_t bytes;                  /* what bandwidth is made of */
	const char *of;                  /* and its name */
	double setup_s;                  /* exec_new */
	double memory_bytes_per_s;       /* of all ranks together */
	const double *memory_rank_per_s; /* of each; or NULL */
	/* Of a group or a part: its kind; pattern is NULL for others. */
	const char *pattern, *direction;
	int k, groups;
	double capacity_per_s; /* of a node, see rail_stats_capacity_per_s */
	const char *staging;
	const char *machine; /* of the prediction; NULL without one */
	int placed;          /* it knows on which node each rank is */
	double predicted_s;
	const double *predicted_rank_s; /* until each rank is done; or NULL */
};

#define PLAN_REPORT_SAMPLES_MAX 4096 /* raw ones in a record */

/* Exit codes: the worst of a run counts. */
#define PLAN_REPORT_BAD   2 /* wrong data, or a plan that check refuses */
#define PLAN_REPORT_WRONG 3 /* not measured because of invalid options */

/* The output of a run. Functions do nothing with NULL, which all ranks except 0
 * have. */
struct plan_report {
	struct emit *emit;
	struct table *table;
	int rows;              /* in it */
	struct strbuf remarks; /* lines below it */
	int status;            /* the worst */
	enum cause cause;      /* the first, and why */
	struct err why;
};

void plan_report_open(struct plan_report *pr, struct emit *emit);
void plan_report_close(struct plan_report *pr);

/* Write the record and row of one trial, of a step or of its subject. */
void plan_report_trial(struct plan_report *pr, const struct subject *r,
    const struct trial *t, int step);
/* The plan moved wrong data. */
void plan_report_fault(struct plan_report *pr, const struct subject *r,
    const struct exec_fault *f, const char *when);
/* Nothing was measured: a record of it. The caller notes why. */
void plan_report_refusal(struct plan_report *pr, const char *probe,
    const char *title, enum cause cause, const char *why);
/* For the log and the end of the run. */
void plan_report_note(struct plan_report *pr, int status, enum cause cause,
    const char *why);

/* Report a plan and its baseline. Members: probe of plan baseline ranks setup_s
 * n value interval, and seconds with baseline_seconds or cause with text. The
 * caller adds further members. */
json_t *plan_report_speedup(const struct subject *r, const struct beside *x);
/* The same as a line. */
void plan_report_speedup_text(const struct beside *x, struct strbuf *lines);
/* Of a median; null where there are too few samples for one. */
json_t *plan_report_interval(const struct timing *t);

json_t *plan_report_begin(const struct world *w, const struct conf *c);

#endif
