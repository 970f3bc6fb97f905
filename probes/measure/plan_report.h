/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_report.h - the results of a plan as records, as rows of a table, and as
 * lines below the table. Only rank 0 reports.
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

/* The part of a plan that was measured: the number of a step, or one of
 * these. */
#define SUBJECT_WHOLE      (-1)
#define SUBJECT_CONCURRENT (-2) /* several plans that ran at once */

/* A measured plan, with its properties. */
struct subject {
	const struct world *world;
	const struct transport_team *team;
	const char *probe;
	const struct plan *plan;
	/* Bytes from which bandwidth is computed. */
	uint64_t bytes;
	const char *of; /* name of these bytes */
	double setup_s; /* duration of exec_new */
	/* Rate at which all ranks together copy memory. */
	double memory_bytes_per_s;
	const double *memory_rank_per_s; /* rate of each rank; or NULL */
	/* Kind of a group, or of a part of binding. pattern is NULL for other
	 * probes. */
	const char *pattern, *direction;
	int k, groups;
	/* Capacity of a node, see rail_stats_capacity_per_s. */
	double capacity_per_s;
	const char *staging; /* see exec_staging; "": none */
	/* Machine of the prediction; NULL: there is none. */
	const char *machine;
	int placed; /* 1: the machine knows the node of each rank */
	double predicted_s;
	/* Time until each rank is done; or NULL. */
	const double *predicted_rank_s;
};

#define PLAN_REPORT_SAMPLES_MAX 4096 /* most raw samples in a record */

/* Exit codes; the exit code of a run is its worst. */
#define PLAN_REPORT_BAD   2 /* wrong data, or a plan that check_plan rejects */
#define PLAN_REPORT_WRONG 3 /* not measured because of invalid options */

/* The output of a run. The functions do nothing if pr is NULL, as on all ranks
 * except 0. */
struct plan_report {
	struct emit *emit;
	struct table *table;
	int rows;              /* number of rows in the table */
	struct strbuf remarks; /* lines below the table */
	int status;            /* the worst exit code so far */
	enum cause cause;      /* cause and reason of the first failure */
	struct err why;
};

/* Begin a report on emit. plan_report_close prints the table and the lines, and
 * frees them. */
void plan_report_open(struct plan_report *pr, struct emit *emit);
void plan_report_close(struct plan_report *pr);

/* Write the record and the row of one trial. step: its number, or SUBJECT_WHOLE
 * or SUBJECT_CONCURRENT. */
void plan_report_trial(struct plan_report *pr, const struct subject *r,
    const struct trial *t, int step);
/* Report that the plan moved wrong data. */
void plan_report_fault(struct plan_report *pr, const struct subject *r,
    const struct exec_fault *f, const char *when);
/* Write a record that nothing was measured. The caller also calls
 * plan_report_note. */
void plan_report_refusal(struct plan_report *pr, const char *probe,
    const char *title, enum cause cause, const char *why);
/* Record a failure for the log and the end of the run. */
void plan_report_note(struct plan_report *pr, int status, enum cause cause,
    const char *why);

/* Return the record that compares a plan with its baseline: a new reference.
 * Members: probe of plan baseline ranks setup_s n value interval, and seconds
 * with baseline_seconds, or cause with text. The caller adds further
 * members. */
json_t *plan_report_speedup(const struct subject *r, const struct beside *x);
/* Append the comparison of a plan with its baseline as a line of text. */
void plan_report_speedup_text(const struct beside *x, struct strbuf *lines);
/* Return the interval of a median, a new reference; null if there are too few
 * samples. */
json_t *plan_report_interval(const struct timing *t);

/* Return the begin record of a run of plans: a new reference. */
json_t *plan_report_begin(const struct world *w, const struct conf *c);

#endif
