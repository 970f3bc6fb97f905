/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world.h - the cluster of a scenario, from round to round: healthy
 * differences, jobs, faults, and the result of a measurement between two nodes.
 *
 * The value of a pair, a logarithm that grows with the slowdown, is
 *
 *     max(node a, node b) + max(job a, job b) + max(leaf a, leaf b) between
 *         leaves, or less inside one + effects of the faults on its path
 *         + noise, and in some pairs a large delay
 *
 * because the slower end decides. A seed makes everything repeatable.
 */
#ifndef TESTS_SIM_VERDICT_WORLD_H
#define TESTS_SIM_VERDICT_WORLD_H

#include <stddef.h>
#include <stdint.h>

#include "common/rng.h"
#include "tests/sim/verdict/scenario.h"

struct world_fault {
	const struct fault *f;
	uint8_t *hit;      /* by node or leaf: 1, or 2 where it sends */
	int is_leaf;       /* of what */
	double now;        /* its effect in this round */
	uint32_t member;   /* which uplink or spine */
	uint32_t pod;      /* of that spine */
	uint64_t phase_ns; /* where in its period it begins */
};

struct world {
	const struct scenario *s;
	struct rng rng;
	uint32_t nodes, leaves;
	uint32_t *leaf;         /* by node */
	double *own, *leaf_own; /* for good */
	double *off, *leaf_off; /* for a while */
	uint8_t *kind;          /* 1: the slower one */
	double day;             /* of all pairs now */
	double *leaf_busy;      /* share of its nodes with jobs that cross */
	double *late;         /* by node: how small messages wait for a core */
	double *job, *job_at; /* by node: its mean effect, and this round's */
	uint64_t *job_end_ns; /* 0: idle */
	uint8_t *job_crosses; /* its job loads its leaf's uplinks */
	double spare;         /* of the normal generator; NAN: none */
	uint64_t now_ns, begin_ns; /* of the faults; 0: they are not there */
	uint64_t end_ns;           /* of them; 0: not yet */
	struct world_fault faults[SCENARIO_FAULTS];
	uint64_t round; /* connections are new in each */
	uint32_t rail;  /* that it uses */
	size_t at_once; /* pairs that are measured together */
};

enum world_test { WORLD_LAT, WORLD_BW, WORLD_INCAST };

struct world *world_new(const struct scenario *s, uint64_t seed);
void world_free(struct world *w);
/* Advance to a round at this time: jobs and faults start and end. */
void world_step(struct world *w, uint64_t now_ns);
double world_pair(struct world *w, uint32_t a, uint32_t b,
    enum world_test test);
/* The same, for traffic from a to b only. */
double world_way(struct world *w, uint32_t a, uint32_t b, enum world_test test);
/* The same, for concurrent traffic of many senders to a. */
double world_receives(struct world *w, uint32_t a);
/* The share of echoes that get lost between them. */
double world_loss(const struct world *w, uint32_t a, uint32_t b);
/* Do large ones vanish between them, on their way there or back; do all? */
int world_is_hole(const struct world *w, uint32_t a, uint32_t b);
int world_is_dead(const struct world *w, uint32_t a, uint32_t b);
uint32_t world_pod(const struct world *w, uint32_t leaf);
double world_normal(struct world *w);
/* Return the fault that must be reported for a node or leaf, or NULL. */
const struct fault *world_guilt(const struct world *w, int is_leaf,
    uint32_t index);

#endif
