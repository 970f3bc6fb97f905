/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trial.h - a fault happens in a world, and a judge with a second pass looks
 * on.
 */
#ifndef TESTS_SIM_VERDICT_TRIAL_H
#define TESTS_SIM_VERDICT_TRIAL_H

#include "daemon/diagnosis/judge/judge.h"
#include "tests/sim/verdict/world.h"

#define TRIAL_CALM       8  /* rounds before the fault */
#define TRIAL_ROUNDS     12 /* rounds with it */
#define TRIAL_CONFIRM    16 /* measurements of each pair in a second pass */
#define TRIAL_GUILTY_MAX 16
/* Of CUSUM: chance names one place in so many rounds, a year of 5 minutes. */
#define TRIAL_DRIFT_ROUNDS 105120.0

struct trial_fault {
	const char *name;
	uint32_t nodes, leaf_nodes, rails;
	uint32_t guilty; /* how many nodes, rails, leaves */
	double effect;   /* logarithm: log(1.2) */
	/* Put it into w; round counts from 0. Places or leaves in guilty. */
	void (*make)(struct world *w, const struct trial_fault *f, int round,
	    const uint32_t *guilty);
	enum judge_kind kind; /* of what is to be named */
	enum confirm_finding finding;
	int host; /* 1: to be told as trouble of the host */
};
extern const struct trial_fault trial_faults[]; /* ends with a NULL name */

struct trial_result {
	int named_round;    /* from 1: all guilty are suspects; 0: never */
	int confirmed;      /* of them, by the second pass as it should be */
	int wrong_suspects; /* innocent places and leaves, named */
	int wrong_alarms;   /* and let through by the second pass */
	int host;           /* guilty that were told as host trouble */
	int cleared_round;  /* after the fault went; 0: never */
};
void trial_run(const struct trial_fault *f, uint64_t seed,
    struct trial_result *ret);

/* No fault at all, for that many rounds. */
struct trial_quiet {
	uint64_t rounds, node_rounds;
	uint64_t suspects, alarms;
	uint64_t drifts; /* places that CUSUM named */
	double seconds;
};
void trial_quiet(const struct world_options *o, uint64_t rounds, uint64_t seed,
    struct trial_quiet *ret);

/* One node gets slower by rate a round, up to most, after a day of its own
 * past; rounds until peers and CUSUM notice; 0: not within limit. */
struct trial_slow {
	uint32_t nodes;
	double rate, most; /* logarithms */
	int limit;
};
struct trial_drift {
	int peers_round, cusum_round;
	int wrong_cusum; /* other nodes that CUSUM named */
};
void trial_drift(const struct trial_slow *how, uint64_t seed,
    struct trial_drift *ret);

#endif
