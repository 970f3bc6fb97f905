/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stop.h - the stop rule: decide when a canary test has measured enough. The
 * functions are pure.
 *
 * A run alternates between its phases, without congestors and with congestors.
 * A visit is one stay in a phase; a visit to each phase is a pair of visits. In
 * a visit a test makes rounds. The impact of congestion is computed from the
 * pairs (impact.h). A value is precise if half of the width of its confidence
 * interval is at most the share canary.precision of the value.
 *
 *   - With congestors, and at least STOP_PAIRS_MIN visits to each phase: every
 *     visit lasts for an equal part of the time of the test, so that all visits
 *     have the same weight. stop_pairs decides after each pair: the test ends
 *     after an even number of pairs if its impacts are precise.
 *   - Otherwise a visit ends when the main result of the phase is precise, or
 *     when its part of the time has passed.
 *   - A visit makes at least canary.rounds_min rounds, unless an operation
 *     times out, which ends the visit at once.
 */
#ifndef PROBES_SAMPLING_STOP_H
#define PROBES_SAMPLING_STOP_H

#include <stdint.h>

#include "probes/job/settings.h"
#include "probes/sampling/impact.h"
#include "probes/sampling/tally.h"
#include "schema/names_probe.h"

#define STOP_GO_ON STOP_MAX /* result of stop_decide: the visit continues */
/* Least number of pairs of visits from which the scatter between pairs is
 * known well enough. */
#define STOP_PAIRS_MIN 6

/* The state of a visit. */
struct stop_ask {
	const struct settings *settings;
	const struct tally *tally;
	/* GPCNeT's loop counts, with which a test ends; NULL: the rule above
	 * applies. */
	const struct test_counts *exact;
	double q; /* quantile of the main result */
	/* Fixed number of rounds in a visit; 0: the rule above applies. */
	int rounds_exact;
	int rounds;        /* rounds in this visit so far */
	uint64_t visit_ns; /* duration of this visit so far */
	int timed_out;     /* 1: an operation timed out */
};

/* Decide after a round. Return the reason why the visit ends, or STOP_GO_ON. */
enum stop stop_decide(const struct stop_ask *ask);
/* Decide after a pair of visits. ask: the samples of both phases so far. Return
 * 1 if the impacts on the mean and on the tail are precise enough after this
 * many pairs, so that the test ends; 0 if not. */
int stop_pairs(const struct impact_ask *ask, const struct settings *s,
    int pairs);

#endif
