/* SPDX-License-Identifier: Apache-2.0 */
/*
 * canary_loop.h - the work of the canaries: every test in every visit, and its
 * results. All canaries call these functions together. The root (group rank 0)
 * keeps the tallies, decides when a test has enough samples, and sends the
 * decision to the others. Each rank has a histogram per test and phase.
 */
#ifndef PROBES_CONGESTION_CANARY_LOOP_H
#define PROBES_CONGESTION_CANARY_LOOP_H

#include <stdint.h>

#include "common/err.h"
#include "common/hist.h"
#include "probes/congestion/canary.h"
#include "probes/congestion/rounds.h"
#include "probes/job/cores.h"
#include "probes/job/settings.h"
#include "probes/job/world.h"
#include "probes/sampling/impact.h"
#include "probes/sampling/pair_medians.h"
#include "probes/sampling/tally.h"
#include "schema/names_probe.h"
#include "schema/names_run.h"

/* The results of rings as GPCNeT computes them with its loop counts. The value
 * of a ring for a rank is the value of all its operations in this ring. */
struct canary_loop_rings {
	int n;           /* number of rings */
	double min, max; /* smallest and largest value */
	/* Sums over rings of the mean and of the worst value of each ring. */
	double sum_mean, sum_worst;
};

/* The state of one test in one phase. */
struct canary_loop_cell {
	int iterations;      /* operations of a round; 0: not calibrated yet */
	uint64_t operations; /* operations in all rounds, and their duration */
	uint64_t elapsed_ns;
	int rounds;         /* rounds of all visits */
	struct hist mine;   /* samples of this rank */
	struct cores cores; /* CPU time of this rank while it took samples */
	/* Bytes that this rank sent in all rounds, as fabric_sent_bytes; and
	 * the least that the timed operations must have sent. */
	double sent_bytes, wanted_bytes;
	enum stop stopped_by;
	enum cause cause; /* CAUSE_NONE, or why the test ended early */
	/* at the root only: */
	struct tally tally;
	struct canary_loop_rings rings;
	struct pair_medians *pairs; /* NULL for collectives */
	/* Only with partners one-way: medians of each pair from the node with
	 * the lower number to the other, and back. */
	struct pair_medians *ways[2];
};

/* One test in all phases. */
struct canary_loop_test {
	struct canary canary;
	struct err err; /* reason if the MPI does not support it */
	/* 1: its impacts are known with the requested precision. */
	int known;
	struct canary_loop_cell cells[PHASE_MAX];
};

/* All tests of a campaign. */
struct canary_loop {
	struct world *world;
	const struct settings *settings;
	struct link link; /* messages of the slice */
	struct rounds *rounds;
	struct canary_loop_test *tests; /* settings->test_count tests */
	uint64_t started_ns;
	uint64_t told_ns; /* time of the last progress record */
	/* Number of the current visit among all visits to all phases, from
	 * 0. */
	int stretch;
};

/* Return the state of the canaries' work, which the caller frees. Collective
 * over the canaries. w and s must live as long. */
struct canary_loop *canary_loop_new(struct world *w, const struct settings *s);
void canary_loop_free(struct canary_loop *m); /* collective; m can be NULL */
/* Run every test of the campaign in this visit. stretch: number of the visit
 * among all visits to all phases, for the progress shown. */
void canary_loop_visit(struct canary_loop *m, enum phase phase, int visit,
    int stretch);
/* Return the two sides of a test's impact. Only at the root. */
struct impact_ask canary_loop_impact(const struct canary_loop *m, int test);
/* Decide after a visit to each phase which tests are complete. pairs: number of
 * pairs of visits so far. Return the number of tests that still have to
 * measure. Collective. */
int canary_loop_pair(struct canary_loop *m, int pairs);

#endif
