/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ab_timing.h - time two methods of the same operation alternately.
 *
 * Turns go A B B A A B B A, so that a drift affects both. Each turn follows a
 * barrier, and the time of the slowest rank counts. The network counters of the
 * node are read outside the timed part.
 */
#ifndef PROBES_MEASURE_AB_TIMING_H
#define PROBES_MEASURE_AB_TIMING_H

#include "probes/execute/exec.h"
#include "probes/execute/trial.h"
#include "probes/job/nic.h"
#include "probes/sampling/timing.h"
#include "probes/transport/transport.h"

#define AB_TIMING_SIDES 2

/* One of the methods. */
struct ab_timing_side {
	void (*run)(void *arg); /* performs this rank's part once */
	void *arg;
	struct trial trial;
	struct nic_bytes wire; /* network bytes of all its turns */
};

/* The methods, and their results. */
struct ab_timing {
	int sides; /* 1: nothing to compare with */
	struct ab_timing_side side[AB_TIMING_SIDES];
	int wire_rc; /* 0, or the error because of which wire is not valid */
};

/* Time both methods, each with the same number of turns. The stop rule ends the
 * turns when it holds for both. Collective over the team. */
void ab_timing_time(const struct transport_team *team,
    const struct trial_ask *ask, struct ab_timing *v);
void ab_timing_clear(struct ab_timing *v); /* frees the samples */

/* Compute, pair by pair of turns, the time of side 1 divided by the time of
 * side 0. Return 0, or a negative error number without samples. */
int ab_timing_ratio(const struct ab_timing *v, struct timing *ret);
/* Return the median time of one side; NAN: it was not measured. */
double ab_timing_median_s(const struct ab_timing *v, int side);

#endif
