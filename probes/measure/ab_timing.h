/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ab_timing.h - time two methods of the same thing, turn by turn.
 *
 * Turns go A B B A A B B A, so that a drift affects both. Each turn follows a
 * barrier, and the slowest rank's time counts. The network counters of the node
 * are read outside of the timed part.
 */
#ifndef PROBES_MEASURE_AB_TIMING_H
#define PROBES_MEASURE_AB_TIMING_H

#include "probes/execute/exec.h"
#include "probes/execute/trial.h"
#include "probes/job/nic.h"
#include "probes/sampling/timing.h"
#include "probes/transport/transport.h"

#define AB_TIMING_SIDES 2

struct ab_timing_side {
	void (*run)(void *arg); /* this rank's part, once */
	void *arg;
	struct trial trial;
	struct nic_bytes wire; /* of all turns */
};

struct ab_timing {
	int sides; /* 1: nothing to compare with */
	struct ab_timing_side side[AB_TIMING_SIDES];
	int wire_rc; /* 0, or why wire holds nothing */
};

/* Collective; as many turns of one as of the other. The stop rule holds when
 * it does for both. */
void ab_timing_time(const struct transport_team *team,
    const struct trial_ask *ask, struct ab_timing *v);
void ab_timing_clear(struct ab_timing *v); /* frees */

/* Of the turns, pair by pair: time of side 1 over time of side 0. */
int ab_timing_ratio(const struct ab_timing *v, struct timing *ret);
/* Of one side; NAN: it was not measured. */
double ab_timing_median_s(const struct ab_timing *v, int side);

#endif
