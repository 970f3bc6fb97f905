/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rounds.h - one round of a test: one ring, a number of operations, and the
 * result at the root of the canaries.
 *
 * All canaries call these functions together. Samples are stored in an array of
 * fixed size and counted after the last one, so that between two operations
 * there are only two readings of the clock.
 */
#ifndef PROBES_CONGESTION_ROUNDS_H
#define PROBES_CONGESTION_ROUNDS_H

#include <stdint.h>

#include "common/clk.h"
#include "common/hist.h"
#include "probes/congestion/canary.h"
#include "probes/job/cores.h"
#include "probes/job/settings.h"
#include "probes/job/world.h"

#define ROUNDS_OPERATIONS_MAX 16384 /* unless a campaign asks for more */
#define ROUNDS_TARGET_NS      (50 * CLK_NS_PER_MS) /* intended duration */

/* A rank's report of its round to the root. Only doubles, for MPI_Gather. */
struct rounds_rank {
	double n, sum, inverse, min, max;
	double p50;
	/* Numbers of nodes; left and right < 0: no ring. */
	double node, left, right;
	double way; /* enum canary_way */
};
#define ROUNDS_RANK_DOUBLES (sizeof(struct rounds_rank) / sizeof(double))

struct rounds;

/* Return the memory for rounds, which the caller frees. */
struct rounds *rounds_new(struct world *w, const struct settings *s);
void rounds_free(struct rounds *r); /* r can be NULL */

/* The arguments of a round. */
struct rounds_ask {
	struct canary *canary; /* not opened if the rank is alone */
	int number;            /* number of the ring */
	int iterations;
	int warmup;
};

/* The result of a round. */
struct rounds_result {
	int timed_out;
	/* Offset of the first wrong byte of any rank in a calibration, or -1.
	 */
	long wrong_at;
	int operations;      /* done by every rank */
	uint64_t elapsed_ns; /* time of the slowest rank */
	struct hist mine;    /* this rank's samples */
	/* Sum of 1 / rate of this rank's samples; at the root of all ranks'. */
	double inverse;
	struct cores cores; /* CPU time of this rank in the round */
	/* at the root only: */
	struct hist all;
	/* Report of each rank, by group rank; valid until the next round. */
	struct rounds_rank *ranks;
};

/* Run one round and collect its result. */
void rounds_run(struct rounds *r, const struct rounds_ask *ask,
    struct rounds_result *ret);
/* Send known data and check it, then determine the speed. No sample is
 * counted. */
void rounds_calibrate(struct rounds *r, const struct rounds_ask *ask,
    struct rounds_result *ret);
/* Return the number of operations of a round of about ROUNDS_TARGET_NS, from a
 * known number of operations and their duration. */
int rounds_fit(uint64_t operations, uint64_t elapsed_ns);

#endif
