/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trial.h - prove and time a plan that is ready to run.
 *
 * All ranks call these together. Results are on every rank.
 */
#ifndef PROBES_EXECUTE_TRIAL_H
#define PROBES_EXECUTE_TRIAL_H

#include <stddef.h>
#include <stdint.h>

#include "probes/execute/exec.h"
#include "probes/sampling/stop.h"

struct trial_ask {
	int warmup;
	int iterations;   /* 0: by the stop rule */
	uint64_t time_ns; /* the stop rule's limit */
	double precision; /* and the precision at which to stop */
};

struct trial {
	struct timing_sample *samples; /* free with trial_clear */
	size_t count;
	double *own_s;       /* this rank's own, as many; NULL: not kept */
	double *rank_s;      /* rank 0: the median of each rank's own; NULL */
	double *rank_best_s; /* the best times */
	enum stop stopped_by;
	/* Of all ranks, as fabric_sent_bytes, over this many runs including
	 * warm-up. Rank 0; 0: unknown. */
	double sent_bytes;
	uint64_t runs;
};
void trial_clear(struct trial *t);
/* Return NAN without samples. */
double trial_median_s(const struct trial *t);

/* Steps lo to hi - 1, over and over. */
void trial_time(struct exec *e, uint32_t lo, uint32_t hi,
    const struct trial_ask *ask, struct trial *ret);
/* Several plans that are started together; each on its own, hi being its
 * last step. */
void trial_time_all(const struct transport_team *team, struct exec *const *list,
    size_t count, const struct trial_ask *ask, struct trial *ret);

/* Fill, run once, compare: 0, or -EBADMSG and the fault of the lowest rank
 * that has one. */
int trial_prove(const struct transport_team *team, struct exec *e,
    uint64_t iteration, struct exec_fault *ret);
/* Compare only: check the result of the last of many repetitions. */
int trial_compare(const struct transport_team *team, struct exec *e,
    uint64_t iteration, struct exec_fault *ret);

/* Bytes per second at which all ranks of this node together copy memory, and
 * of all nodes together, in pieces of `bytes`: what no transfer within nodes
 * can exceed. Unless NULL, on all ranks: *ret_rank_per_s becomes, at rank 0,
 * the part of each rank in the best round, which the caller frees. */
double trial_memory(const struct transport_team *team, uint64_t bytes,
    double **ret_rank_per_s);

/* Barrier. A rank that waits long sleeps, and continues late. */
void trial_meet(const struct transport_team *team);
/* Barrier after which all continue together: the timed part must not wait for a
 * sleeping rank. */
void trial_meet_to_start(const struct transport_team *team);
/* Replace the times of this rank, on every rank, by the times of the slowest
 * rank. */
void trial_slowest(const struct transport_team *team,
    struct timing_sample *samples, size_t n);

#endif
