/* SPDX-License-Identifier: Apache-2.0 */
/*
 * impact.h - what congestion costs, with an interval. Pure.
 *
 * Impact is congested over isolated for a time and isolated over congested for
 * a bandwidth, so above 1 is always worse. The tail (p99) is the 99th
 * percentile of a time, and of a bandwidth the rate that 99 % of the samples
 * reach, as in GPCNeT.
 *
 * Visit number v of one phase and visit v of the other lie side by side in
 * time (A B, B A, ...), so a slow drift of the machine shifts both and cancels
 * in the ratio of their statistics. The impact is the geometric mean of these
 * ratios, its interval that of a mean by Student's t on their logarithms. As
 * the order within the pairs alternates, a drift makes the ratios alternate
 * too: with an even number of pairs, at least six, that part is taken out of
 * their spread, and a degree of freedom for it.
 *
 * Where a visit has too few samples for a tail of its own, the impact is the
 * ratio of all samples, as GPCNeT's. The tail of few samples jumps, so its
 * interval is the wider of two: that of the pairs' ratios, and that from
 * leaving out one pair at a time (the jackknife). With a single visit rounds
 * are left out in turn, and drift is not covered. test_impact_coverage.c, among
 * the unit tests, shows on made-up machines that 95 % are 95 %.
 */
#ifndef PROBES_SAMPLING_IMPACT_H
#define PROBES_SAMPLING_IMPACT_H

#include "probes/sampling/tally.h"

/* Samples beyond the percentile that a visit needs for a tail of its own. */
#define IMPACT_TAIL_MIN 1

enum impact_of { IMPACT_MEAN, IMPACT_P99, IMPACT_OF_MAX };
extern const char *const impact_names[IMPACT_OF_MAX]; /* "mean", "p99" */

struct impact_ask {
	const struct tally *quiet;
	const struct tally *loaded;
	int low_is_bad; /* 1 for a bandwidth */
	double level;
};

struct impact {
	double value;
	double lo, hi; /* NAN: too few rounds for an interval */
};

/* -ENODATA when a side has no samples. */
int impact_take(const struct impact_ask *ask, enum impact_of of,
    struct impact *ret);

#endif
