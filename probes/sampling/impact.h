/* SPDX-License-Identifier: Apache-2.0 */
/*
 * impact.h - the cost of congestion, with a confidence interval. The functions
 * are pure.
 *
 * The impact is congested / isolated for a time, and isolated / congested for a
 * bandwidth, so that a value above 1 is always worse. The tail (p99) is the
 * 99th percentile of a time, and for a bandwidth the rate that 99 % of the
 * samples reach, as in GPCNeT (Chunduri and others, SC 2019).
 *
 * Visit number v of one phase and visit v of the other are neighbours in time.
 * A slow drift of the machine therefore shifts both, and cancels in the ratio
 * of their statistics. The impact is the geometric mean of these ratios. Its
 * interval is that of a mean by Student's t on their logarithms. The order of
 * the two visits is random for each pair (settings_loaded_first), so that no
 * periodic disturbance can follow the order of the phases. From six pairs on,
 * the effect of the order, which a drift causes, is fitted and removed at the
 * cost of one degree of freedom.
 *
 * A tail needs IMPACT_TAIL_SAMPLES samples in each phase. If a single visit has
 * fewer, the impact is the ratio of all samples, as in GPCNeT. The tail of few
 * samples jumps; its interval is therefore the wider of two: the interval of
 * the pairs' ratios, and the interval from omitting one pair at a time (the
 * jackknife). With a single visit, rounds are omitted instead of pairs, and
 * drift is not covered. test_impact_coverage.c, among the unit tests, shows on
 * simulated machines that intervals of 95 % cover 95 %.
 */
#ifndef PROBES_SAMPLING_IMPACT_H
#define PROBES_SAMPLING_IMPACT_H

#include <stdint.h>

#include "probes/sampling/tally.h"

/* Samples that a 99th percentile needs: 10 beyond it. */
#define IMPACT_TAIL_SAMPLES 1000

/* The statistic whose impact is computed. */
enum impact_of { IMPACT_MEAN, IMPACT_P99, IMPACT_OF_MAX };
extern const char *const impact_names[IMPACT_OF_MAX]; /* "mean", "p99" */

/* The samples of both phases. */
struct impact_ask {
	const struct tally *quiet;
	const struct tally *loaded;
	int low_is_bad; /* 1 for a bandwidth */
	double level;   /* confidence level of the interval, such as 0.95 */
	uint64_t seed;  /* seed of the order within the pairs */
	/* 1: a tail of any number of samples, as GPCNeT computes it. */
	int exact;
};

/* An impact with its interval. */
struct impact {
	double value;
	double lo, hi; /* NAN: too few rounds for an interval */
};

/* Compute an impact. Return 0; -ENODATA if a side has no samples; -ERANGE if it
 * has too few for the tail. */
int impact_take(const struct impact_ask *ask, enum impact_of of,
    struct impact *ret);

#endif
