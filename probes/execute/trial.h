/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trial.h - prove and time a plan that is ready to run.
 *
 * All ranks of the team call these functions together. Results are on every
 * rank unless stated otherwise.
 */
#ifndef PROBES_EXECUTE_TRIAL_H
#define PROBES_EXECUTE_TRIAL_H

#include <stddef.h>
#include <stdint.h>

#include "probes/execute/exec.h"
#include "probes/sampling/stop.h"

/* How to time a plan. */
struct trial_ask {
	int warmup;       /* iterations that are not counted */
	int iterations;   /* 0: the stop rule decides */
	uint64_t time_ns; /* the stop rule's limit */
	double precision; /* precision at which the stop rule ends */
};

/* The times of a plan. */
struct trial {
	struct timing_sample *samples; /* freed by trial_clear */
	size_t count;
	/* `count` times of this rank alone; NULL: not kept. */
	double *own_s;
	/* Rank 0: median of own_s of each rank; NULL: not kept. */
	double *rank_s;
	double *rank_best_s;     /* the same with the best time of each rank */
	double *rank_wait_ratio; /* and with its cores_wait_ratio */
	enum stop stopped_by;
	/* Bytes sent by all ranks (fabric_sent_bytes) in `runs` runs, including
	 * warm-up. Valid on rank 0; 0: unknown. */
	double sent_bytes;
	uint64_t runs;
};
void trial_clear(struct trial *t);
/* Return the middle median of the samples; NAN without samples. */
double trial_median_s(const struct trial *t);

/* Time the steps lo to hi - 1 of a plan, repeatedly. */
void trial_time(struct exec *e, uint32_t lo, uint32_t hi,
    const struct trial_ask *ask, struct trial *ret);
/* Time several plans that are started together. */
void trial_time_all(const struct transport_team *team, struct exec *const *list,
    size_t count, const struct trial_ask *ask, struct trial *ret);

/* Fill the buffers, run the plan once, and verify. Return 0, or -EBADMSG with
 * the wrong byte of the lowest rank that has one. */
int trial_prove(const struct transport_team *team, struct exec *e,
    uint64_t iteration, struct exec_fault *ret);
/* Only verify: check the result of the last of many repetitions. The result is
 * as for trial_prove. */
int trial_compare(const struct transport_team *team, struct exec *e,
    uint64_t iteration, struct exec_fault *ret);

/* Return the rate in bytes per second at which all ranks together copy memory,
 * in pieces of `bytes`. No transfer within nodes can exceed it. ret_rank_per_s:
 * NULL on all ranks, or at rank 0 it becomes the rate of each rank in the best
 * round, which the caller frees. */
double trial_memory(const struct transport_team *team, uint64_t bytes,
    double **ret_rank_per_s);

/* Wait for all ranks (barrier). A rank that waits long sleeps, and continues
 * late. */
void trial_meet(const struct transport_team *team);
/* Wait for all ranks, and let all continue at the same time: the timed part
 * must not wait for a sleeping rank. */
void trial_meet_to_start(const struct transport_team *team);
/* Replace each time of this rank by the time of the slowest rank, on every
 * rank. */
void trial_slowest(const struct transport_team *team,
    struct timing_sample *samples, size_t n);

#endif
