/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stop.h - the stop rule of a test: whether it has measured enough. The
 * functions are pure.
 *
 * With congestors, a visit lasts for its share of the time, so that all visits
 * are equal members of the statistics. After an even number of pairs of visits,
 * and at least STOP_PAIRS_MIN, a test ends once the intervals of its impacts
 * are as narrow as requested: the precision that is requested is that of the
 * reported result. Without congestors, or with fewer visits, a visit ends once
 * the interval of the phase's main result is narrow enough. No visit ends
 * before the minimum of rounds.
 */
#ifndef PROBES_SAMPLING_STOP_H
#define PROBES_SAMPLING_STOP_H

#include <stdint.h>

#include "probes/job/settings.h"
#include "probes/sampling/impact.h"
#include "probes/sampling/tally.h"
#include "schema/names_probe.h"

#define STOP_GO_ON STOP_MAX /* the visit continues */
/* With fewer pairs their spread is hardly known. */
#define STOP_PAIRS_MIN 6

/* The state of a visit. */
struct stop_ask {
	const struct settings *settings;
	const struct tally *tally;
	/* GPCNeT's counts; NULL: the rule applies. */
	const struct test_counts *exact;
	double q; /* quantile of the main result */
	/* Rounds in a visit; 0: the rule applies. */
	int rounds_exact;
	int rounds;        /* rounds in this visit so far */
	uint64_t visit_ns; /* duration of this visit so far */
	int timed_out;     /* 1: an operation timed out */
};

/* Return what ends the visit, or STOP_GO_ON. */
enum stop stop_decide(const struct stop_ask *ask);
/* Return 1 if both impacts have the requested precision after this many pairs,
 * 0 if not. */
int stop_pairs(const struct impact_ask *ask, const struct settings *s,
    int pairs);

#endif
