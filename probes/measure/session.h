/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - all ranks measure plans together: rank 0 chooses each plan, the
 * others follow until the end. Only rank 0 calls functions that are not marked
 * "all ranks".
 */
#ifndef PROBES_MEASURE_SESSION_H
#define PROBES_MEASURE_SESSION_H

#include <stddef.h>

#include "common/conf.h"
#include "probes/execute/exec.h"
#include "probes/job/world.h"
#include "probes/measure/plan_report.h"
#include "probes/pattern/pattern.h"
#include "probes/plan/plan.h"
#include "probes/topology/machine.h"
#include "probes/transport/transport.h"
#include "probes/tune/bounds.h"

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
	int is_campaign;         /* 0: a probe by its words */
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

#endif
