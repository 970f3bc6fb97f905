/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plans_part.h - what the files of plans.c share; nobody else includes it.
 *
 *   plans.c           rank 0 asks for one plan after another, the others follow
 *   plans_one.c       all ranks prove, time and report one plan
 *   plans_sparse.c    likewise, beside MPI_Alltoallv
 *   plans_group.c     likewise, where steps and other ways are timed beside
 *   plans_together.c  all that were kept, at once
 *   plans_bounds.c    what is measured before collectives
 *   plans_rates.c     likewise, of the machine that we are on
 */
#ifndef PROBES_COMPARE_PLANS_PART_H
#define PROBES_COMPARE_PLANS_PART_H

#include "common/err.h"
#include "common/str.h"
#include "probes/neighbor/neighbor.h"
#include "probes/tune/bounds.h"
#include "probes/compare/plan_report.h"
#include "probes/compare/plans.h"
#include "probes/execute/trial.h"
#include "probes/topology/machine.h"

#define PLANS_EXIT_BAD    2
#define PLANS_EXIT_WRONG  3
#define PLANS_FIRST_DATA  1 /* "iterations" of fill: any two numbers */
#define PLANS_SECOND_DATA 2
#define PLANS_COLLECTIVE  "collective"
#define PLANS_TRIED       "tried" /* a plan on trial, of which nothing is told */

/* From rank 0 to all: what comes next. */
struct order {
	int more; /* 0: that was all */
	int status;
	int steps;    /* each alone as well */
	int keep;     /* the plan, for later */
	int together; /* no plan: run all that were kept */
	uint64_t plan_bytes;
	struct trial_ask ask;
	char device[16];
	char probe[16];
	uint32_t columns; /* of a product with a sparse matrix; 0: none */
};

/* A plan that stays, to be run with others. */
struct kept {
	struct plan *plan;
	struct exec *exec;
};

struct plans {
	struct world *world;
	struct transport_team *team;
	char device[16]; /* of team */
	struct kept *kept;
	size_t kept_count;
	/* rank 0: */
	struct emit *emit;
	struct table *table;
	int rows;              /* in it */
	struct strbuf remarks; /* lines below it */
	struct conf *conf;
	int steps;
	struct plans_result res;
	struct machine *machine; /* of predictions; NULL: none */
	struct machine *seen;    /* in its place for collectives; NULL */
	struct bounds bounds;    /* of collectives, as measured */
	double fastest_s;        /* of the last plan, see plans_report */
	double median_s;         /* of the last plan on trial */
	double memory_per_s;     /* likewise, see trial_memory */
	int trying;              /* a plan is on trial, so often; or 0 */
	/* of a neighbor plan with a matrix */
	struct neighbor neighbor;
	double plan_s; /* what it takes to plan it */
};

/* plans.c, rank 0 */
void plans_note(struct plans *ps, int status, enum cause cause,
    const char *why);
int plans_prove(struct plans *ps, const char *probe, const struct plan *p);
/* To all, and run it; takes p. */
void plans_send(struct plans *ps, const char *probe, struct plan *p);

/* plans_one.c */
uint64_t plans_largest(const struct plan *p); /* bytes of a transfer */
/* The volume that bandwidth is made of. */
void plans_volume(struct plan_report *r);
/* step as in plan_report_trial; ps->fastest_s becomes the time until both ends
 * of one of its transfers were done, 0 where ranks have no times of their own.
 */
void plans_report(struct plans *ps, const struct plan_report *r,
    const struct trial *t, int step);
/* 0, or -EBADMSG once it is reported. */
int plans_fault(struct plans *ps, const struct plan_report *r, int rc,
    const struct exec_fault *f, const char *when);
/* Around what is timed: every byte before; after it what the timed part left,
 * and every byte of other data. Each 0, or -EBADMSG once it is reported. */
int plans_prove_before(struct plans *ps, struct exec *e,
    const struct plan_report *r);
int plans_prove_after(struct plans *ps, struct exec *e,
    const struct plan_report *r);
void plans_refuse(struct plans *ps, const char *probe, const struct plan *p,
    int rc, const char *why);
void plans_run(struct plans *ps, const char *probe, struct plan *p,
    const struct order *o);
void plans_drop_kept(struct plans *ps);

/* Each step by itself, a record for each. */
void plans_measure_steps(struct plans *ps, struct exec *e,
    const struct plan_report *r, const struct order *o);

/* plans_sparse.c: in turns with MPI_Alltoallv. */
int plans_run_sparse(struct plans *ps, struct exec *e,
    const struct plan_report *r, const struct order *o);

/* plans_group.c */
/* A striped message, its steps, and the same without stripes. */
int plans_run_stripe(struct plans *ps, struct exec *e,
    const struct plan_report *r, const struct order *o);
/* The steps are the measurements; all together they only prove. */
int plans_run_binding(struct plans *ps, struct exec *e,
    const struct plan_report *r, const struct order *o);

/* plans_together.c */
int plans_is_kept(const struct plans *ps, const struct plan *p);
void plans_run_together(struct plans *ps, const struct order *o);

/* plans_tune.c, rank 0: a collective with tune = auto. */
int plans_tune(struct plans *ps, struct plan **ret, struct err *err);

/* plans_bounds.c, rank 0 */
void plans_bounds(struct plans *ps);
/* Are ranks on their nodes in blocks of g? Once a plan has run. */
int plans_in_blocks(const struct plans *ps, uint32_t g);

/* plans_rates.c, rank 0: once, where no machine is named, ps->seen for tuning
 * and to predict collectives; it stays NULL where its rates cannot be taken.
 */
void plans_rates(struct plans *ps);

#endif
