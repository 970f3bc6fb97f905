/* SPDX-License-Identifier: Apache-2.0 */
/*
 * versus.h - time two ways to do the same thing, turn by turn.
 *
 * Turns go A B B A A B B A, so that what drifts, drifts for both. Each turn
 * follows a barrier, and the slowest rank's time counts. What the node's
 * network carried in a turn is read outside of its time.
 */
#ifndef PROBES_RUN_VERSUS_H
#define PROBES_RUN_VERSUS_H

#include "probes/run/trial.h"
#include "probes/run/wire.h"

#define VERSUS_SIDES 2

struct versus_side {
	void (*run)(void *arg); /* this rank's part, once */
	void *arg;
	struct trial trial;
	struct wire wire; /* of all turns */
};

struct versus {
	int sides; /* 1: nothing to compare with */
	struct versus_side side[VERSUS_SIDES];
	int wire_rc; /* 0, or why wire holds nothing */
};

/* Collective; as many turns of one as of the other. The stop rule holds when
 * it does for both. */
void versus_time(const struct transport_team *team, const struct trial_ask *ask,
    struct versus *v);
void versus_clear(struct versus *v); /* frees */

/* A side that is a plan: arg is its struct exec. */
void versus_exec_cb(void *exec);

/* Of the turns, pair by pair: time of side 1 over time of side 0. */
int versus_ratio(const struct versus *v, struct timing *ret);

#endif
