/* SPDX-License-Identifier: Apache-2.0 */
/*
 * canary_loop.h - the canaries' work: every test in every visit, and its
 * results. All canaries call these functions together. The root (group rank 0)
 * keeps the tallies, decides when a test has enough samples and sends the
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

/* As GPCNeT counts with its loop counts: the value of a ring for a rank is that
 * of all its operations there; the least and the largest of them, the means
 * over rings of their mean and of their worst. */
struct canary_loop_rings {
	int n;
	double min, max;
	double sum_mean, sum_worst;
};

/* One test in one phase. */
struct canary_loop_cell {
	int iterations;      /* of a round; 0: not calibrated yet */
	uint64_t operations; /* in all rounds, and their duration */
	uint64_t elapsed_ns;
	int rounds; /* of all visits */
	struct hist mine;
	struct cores cores; /* of this rank, while it took its samples */
	/* Sent by this rank in all rounds, as fabric_sent_bytes; and the
	 * minimum for the timed operations. */
	double sent_bytes, wanted_bytes;
	enum stop stopped_by;
	enum cause cause; /* CAUSE_NONE, or why the test ended early */
	/* at the root only: */
	struct tally tally;
	struct canary_loop_rings rings;
	struct pair_medians *pairs; /* NULL for collectives */
	/* With partners one-way, of each pair: from the node that comes first
	 * to the other, and back. */
	struct pair_medians *ways[2];
};

struct canary_loop_test {
	struct canary canary;
	struct err err; /* if the MPI does not support it */
	int known;      /* its impacts, with the requested precision */
	struct canary_loop_cell cells[PHASE_MAX];
};

struct canary_loop {
	struct world *world;
	const struct settings *settings;
	struct link link; /* of the slice */
	struct rounds *rounds;
	struct canary_loop_test *tests; /* settings->test_count */
	uint64_t started_ns;
	uint64_t told_ns; /* last progress */
	int stretch;      /* of all visits to all phases */
};

struct canary_loop *canary_loop_new(struct world *w, const struct settings *s);
void canary_loop_free(struct canary_loop *m); /* collective; NULL is allowed */
/* Every test of the campaign in this visit; stretch counts visits of all
 * phases, for the progress shown. */
void canary_loop_visit(struct canary_loop *m, enum phase phase, int visit,
    int stretch);
/* The two sides of a test's impact. At the root. */
struct impact_ask canary_loop_impact(const struct canary_loop *m, int test);
/* After a visit to each phase; pairs: of visits so far. Returns how many tests
 * still have something to measure. Collective. */
int canary_loop_pair(struct canary_loop *m, int pairs);

#endif
