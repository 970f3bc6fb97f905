/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.h - the canaries' work: every test in every visit, and what it gave.
 *
 * All canaries call these together. The root (group rank 0) keeps the tallies,
 * decides when a test has measured enough and tells the others; each rank
 * keeps one histogram of its own per test and phase.
 */
#ifndef PROBES_RUN_MEASURE_H
#define PROBES_RUN_MEASURE_H

#include "probes/run/pairs.h"
#include "probes/run/rounds.h"
#include "probes/run/stop.h"
#include "probes/run/tally.h"

#define MEASURE_WHY_BYTES 256

/* One test in one phase. */
struct measure_cell {
	int iterations;      /* of a round; 0: not calibrated yet */
	uint64_t operations; /* in all rounds, and what they took */
	uint64_t elapsed_ns;
	int rounds; /* of all visits */
	struct hist mine;
	struct cores cores; /* of this rank, while it took its samples */
	enum stop stopped_by;
	enum cause cause; /* CAUSE_NONE, or why the test ended early */
	/* at the root only: */
	struct tally tally;
	struct pairs *pairs; /* NULL for collectives */
};

struct measure_test {
	struct canary canary;
	char why[MEASURE_WHY_BYTES]; /* where the MPI cannot do it */
	struct measure_cell cells[PHASE_MAX];
};

struct measure {
	const struct world *world;
	const struct settings *settings;
	struct rounds *rounds;
	struct measure_test *tests; /* settings->test_count */
	uint64_t started_ns;
	uint64_t told_ns; /* last progress */
	int stretch;      /* of all visits to all phases */
};

struct measure *measure_new(const struct world *w, const struct settings *s);
void measure_free(struct measure *m); /* collective; NULL is allowed */
/* Every test of the campaign in this visit; stretch counts visits of all
 * phases, for the progress shown. */
void measure_visit(struct measure *m, enum phase phase, int visit, int stretch);
/* Quantile that is a test's headline: the bad tail of its values. */
double measure_tail(enum test test);
int measure_low_is_bad(enum test test);

#endif
