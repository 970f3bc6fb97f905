/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.h - measure one plan: prove it, time it beside its baselines in
 * alternating turns, prove it again, report. One flow for every probe; what is
 * special about one says its row (struct probe).
 */
#ifndef PROBES_COMPARE_COMPARE_H
#define PROBES_COMPARE_COMPARE_H

#include <jansson.h>

#include "common/conf.h"
#include "common/str.h"
#include "common/table.h"
#include "probes/compare/baseline.h"
#include "probes/execute/exec.h"
#include "probes/job/emit.h"
#include "probes/job/world.h"
#include "probes/pattern/pattern.h"
#include "probes/plan/plan.h"
#include "probes/topology/machine.h"
#include "probes/transport/transport.h"
#include "probes/tune/tune.h"
#include "schema/names_run.h"

/* ---- plan_report.c: what running a plan gave, as records, as rows of a table
 * and as lines below it. Rank 0 ---- */

/* What of a plan is measured: the number of a step, or one of these. */
#define SUBJECT_WHOLE      (-1)
#define SUBJECT_CONCURRENT (-2) /* several plans, joined in one */

/* A plan that is measured, and what is known of it beforehand. */
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
	/* Of a group or a part: what it is; pattern NULL for others. */
	const char *pattern, *direction;
	int k, groups;
	double capacity_per_s; /* of a node, see rail_stats_capacity_per_s */
	const char *staging;
	const char *machine; /* of the prediction; NULL: there is none */
	int placed;          /* it knows on which node each rank is */
	double predicted_s;
	const double *predicted_rank_s; /* until each rank is done; or NULL */
};

#define PLAN_REPORT_SAMPLES_MAX 4096 /* raw ones in a record */

/* Exit codes: the worst of a run counts. */
#define PLAN_REPORT_BAD   2 /* wrong data, or a plan that check refuses */
#define PLAN_REPORT_WRONG 3 /* not measured because of what was asked for */

/* Where all of a run goes. A function that takes one does nothing with NULL,
 * which is that of all ranks but 0. */
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

/* Record and row of one trial, of a step or as its subject says. */
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

/* A plan beside its baseline. Members: probe of plan baseline ranks setup_s n
 * value interval, and seconds with baseline_seconds or cause with text. The
 * caller adds what it knows more. */
json_t *plan_report_speedup(const struct subject *r, const struct beside *x);
/* The same as a line. */
void plan_report_speedup_text(const struct beside *x, struct strbuf *lines);
/* Of a median; null where there are too few samples for one. */
json_t *plan_report_interval(const struct timing *t);

json_t *plan_report_begin(const struct world *w, const struct conf *c);

/* ---- compare.c ---- */

#define COMPARE_BASELINES 2

struct comparison;

/* What it measures besides the whole plan. */
enum probe_steps {
	PROBE_STEPS_ASKED, /* each step by itself too where that is asked for */
	PROBE_STEPS_TOO,   /* always: its result needs them */
	PROBE_STEPS_ONLY /* they are the measurements; the whole only proves */
};

/* A row of the table of probes that are more than a plan to time (probe.c). A
 * new probe is its options (schema/patterns.c) and its builder with a line in
 * probes/pattern/builders.h; if it has a baseline, or its records say more than
 * the others', a row here: how its plan is built, what it is timed beside, and
 * what its records say more. Hooks may be NULL. */
struct probe {
	const struct pattern
	    *pattern; /* name, options, builder; see probe_of */
	/* Of the same; the first that is NULL ends them. */
	const struct baseline_row *baselines[COMPARE_BASELINES];
	enum probe_steps steps;
	/* Only the result matters and not the order of transfers: see
	 * exec_take_turns. */
	int take_turns;
	/* A plan in one channel is run in phases beside its baseline: each rank
	 * waits for all that it does in a step before it enters the next. */
	int in_phases;
	/* A shape is found by tune = auto, with bounds and a machine that are
	 * measured first. */
	int is_tuned;
	/* Rank 0: what records say of it besides its title, as a whole, and of
	 * one step. */
	void (*describe)(const struct comparison *c, struct subject *r);
	void (*describe_step)(uint32_t step, struct subject *r);
	/* All ranks, after what was timed: what rank 0 needs for the record. */
	void (*gather)(struct comparison *c);
	/* Rank 0, in place of one record and one line for its baseline. */
	void (*report)(const struct comparison *c);
	/* All ranks, at the end: what else it measures. */
	void (*more)(struct comparison *c);
};

struct comparison {
	const struct probe *probe;
	struct exec *exec;
	struct subject subject;
	struct trial_ask ask;
	int steps;                     /* each by itself too */
	int brief;                     /* prove once, time, tell nothing */
	struct plan_report *report;    /* rank 0, else NULL */
	const struct conf *conf;       /* likewise */
	const struct bounds *bounds;   /* likewise, of collectives */
	const struct machine *machine; /* likewise, that is named; or NULL */
	/* Made by compare_run: */
	int phased;          /* see in_phases */
	struct trial whole;  /* of the plan; borrowed from besides if any */
	struct trial *parts; /* of each step; NULL */
	struct beside besides[COMPARE_BASELINES];
	int besides_count;
	/* rank 0, by node: bytes of all turns of each side; NULL */
	struct nic_bytes (*wires)[AB_TIMING_SIDES];
};

/* Collective. 0, or -EBADMSG on every rank once it is reported. What was made
 * stays until compare_clear. */
int compare_run(struct comparison *c);
void compare_clear(struct comparison *c); /* collective */

/* The plan once, as it is timed beside a baseline; c is the comparison. */
void compare_run_plan_cb(void *c);
/* Both in turns, one after the other, samples into x. */
void compare_time(const struct comparison *c, struct beside *x,
    const struct ab_timing_side sides[AB_TIMING_SIDES]);
/* The volume that bandwidth is made of, and its name, into r. */
void compare_volume(struct subject *r);
/* Bytes of the largest transfer. */
uint64_t compare_largest(const struct plan *p);

/* Never NULL: a probe without a row is proven and timed alone. */
const struct probe *probe_of(const struct pattern *pt);

/* Rows with files of their own. */
extern const struct probe probe_neighbor;
extern const struct probe probe_stripe;
extern const struct probe probe_binding;

/* spmm.c: a product with a sparse matrix, of a neighbor plan that was made for
 * one. All ranks, once the plan is reported. */
void spmm_measure(struct comparison *c);

/* ---- session.c: all ranks measure plans together: rank 0 says which, the
 * others follow until it is over. Rank 0 alone calls what is not marked as all
 * ranks' ---- */

/* A plan that stays, to be run with others. */
struct session_kept {
	struct plan *plan;
	struct exec *exec;
};

struct session {
	struct world *world;
	struct transport_team *team; /* NULL before the first plan */
	char device[16];             /* of team */
	struct session_kept *kept;
	size_t kept_count;
	/* rank 0: */
	struct plan_report report;
	struct conf *conf;
	int steps;               /* of each plan, by themselves as well */
	struct machine *machine; /* that predictions are for; NULL: none */
	struct machine *seen;    /* in its place for collectives, as measured */
	struct bounds bounds;    /* of collectives, as measured */
};

/* All ranks, on the machine that is named or, once it is, measured. */
struct pattern_site session_site(const struct session *s);

/* What came of a plan. */
struct session_outcome {
	double median_s;  /* NAN: it was not timed */
	double fastest_s; /* until both ends of one of its transfers were done;
			     0 where ranks have no own times */
	double memory_per_s; /* see trial_memory */
};

/* Does check_plan accept it? 0, or -EPROTO once it is reported. */
int session_check(struct session *s, const char *probe, const struct plan *p);
/* Takes p. */
void session_measure(struct session *s, const struct pattern *pt,
    struct plan *p, struct session_outcome *ret);

/* Times a plan without reporting it; it is proven once. turns: see
 * exec_take_turns. */
struct session_brief {
	const struct pattern *pattern;
	int turns, times;
};
void session_measure_briefly(struct session *s, const struct session_brief *b,
    struct plan *p, struct session_outcome *ret);
/* All plans that were kept at once, if there are two. */
void session_measure_together(struct session *s);

/* Ends the measurements: the other ranks return this status. */
void session_end(struct session *s, int status);
/* The others: the status of rank 0. */
int session_follow(struct session *s);
/* All ranks. */
void session_close(struct session *s);

/* Nothing was measured, for rc and this reason. */
void session_refuse(struct session *s, const char *probe, const struct plan *p,
    int rc, const char *why);

/* ---- plans.c: the probes of a campaign that are plans ---- */

/* What rank 0 is asked for. */
struct plans_ask {
	struct emit *emit;
	struct conf *conf;
	const struct pattern *only; /* one probe; NULL: every section that is */
	int steps;                  /* each by itself too, whatever conf says */
	int table;                  /* print one */
};

/* What came of it. status: 2 wrong data, or a plan that check refuses; 3
 * something was not measured because of what was asked for. */
struct plans_result {
	int status;       /* the worst */
	enum cause cause; /* the first; rank 0 */
	struct err why;
};

/* Collective. ask: rank 0's, else NULL. */
void plans_run(struct world *w, const struct plans_ask *ask,
    struct plans_result *ret);

/* ---- tuning.c: what is measured before a collective; rank 0 ---- */

/* If they are asked for: what two nodes exchange and what each node's link
 * gives, as probes of their own, into s->bounds. */
void tuning_bounds(struct session *s);
/* The fastest shape, remembered or measured, with a record of the choice.
 * -EINVAL (or -errno) and why. The caller ends *ret with plan_free. */
int tuning_choose(struct session *s, struct plan **ret, struct err *err);

#endif
