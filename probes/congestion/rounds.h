/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rounds.h - one round: one ring, a number of operations, the result at the
 * root of the canaries.
 *
 * All canaries call these together. Samples are stored in an array of fixed
 * size and counted after the last one, so that only two readings of the clock
 * are between operations.
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
#define ROUNDS_TARGET_NS      (50 * CLK_NS_PER_MS)

/* A rank's report of its round to the root. Plain doubles for MPI_Gather. */
struct rounds_rank {
	double n, sum, inverse, min, max;
	double p50;
	double node, left, right; /* nodes; left and right < 0: no ring */
	double way;               /* enum canary_way */
};
#define ROUNDS_RANK_DOUBLES (sizeof(struct rounds_rank) / sizeof(double))

struct rounds;

struct rounds *rounds_new(struct world *w, const struct settings *s);
void rounds_free(struct rounds *r); /* NULL is allowed */

struct rounds_ask {
	struct canary *canary; /* not opened if the rank is alone */
	int number;            /* of the ring */
	int iterations;
	int warmup;
};

struct rounds_result {
	int timed_out;
	long wrong_at;  /* calibration: first wrong byte of any rank, or -1 */
	int operations; /* done by every rank */
	uint64_t elapsed_ns; /* of the slowest rank */
	struct hist mine;    /* this rank's samples */
	double inverse;      /* sum of 1 / rate: this rank's, at the root all */
	struct cores cores;  /* what this rank had of a core in the round */
	/* at the root only: */
	struct hist all;
	struct rounds_rank *ranks; /* by group rank; belongs to the rounds */
};

/* Run and collect one round. */
void rounds_run(struct rounds *r, const struct rounds_ask *ask,
    struct rounds_result *ret);
/* Send known data and check it, then find the speed; nothing is counted. */
void rounds_calibrate(struct rounds *r, const struct rounds_ask *ask,
    struct rounds_result *ret);
/* Operations for a round of about ROUNDS_TARGET_NS at a known speed. */
int rounds_fit(uint64_t operations, uint64_t elapsed_ns);

#endif
