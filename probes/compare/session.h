/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - all ranks measure plans together: rank 0 says which, the others
 * follow until it is over. Rank 0 alone calls what is not marked as all ranks'.
 */
#ifndef PROBES_COMPARE_SESSION_H
#define PROBES_COMPARE_SESSION_H

#include "common/conf.h"
#include "probes/compare/compare.h"
#include "probes/execute/exec.h"
#include "probes/job/world.h"
#include "probes/topology/machine.h"

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
	double median_s;     /* NAN: it was not timed */
	double fastest_s;    /* until both ends of one of its transfers were
				done; 0 where ranks have no times of their own */
	double memory_per_s; /* see trial_memory */
};

/* Does check_plan accept it? 0, or -EPROTO once it is reported. */
int session_check(struct session *s, const char *probe, const struct plan *p);
/* Takes p. */
void session_measure(struct session *s, const struct pattern *pt,
    struct plan *p, struct session_outcome *ret);

/* A plan of which only the time is wanted: nothing is told, and it is proven
 * once. turns: see exec_take_turns. */
struct session_brief {
	const struct pattern *pattern;
	int turns, times;
};
void session_measure_briefly(struct session *s, const struct session_brief *b,
    struct plan *p, struct session_outcome *ret);
/* All plans that were kept at once, if there are two. */
void session_measure_together(struct session *s);

/* The others return from following with this status. */
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
