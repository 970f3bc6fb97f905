/* SPDX-License-Identifier: Apache-2.0 */
/*
 * impact.h - the cost of congestion, with a confidence interval. Pure.
 *
 * Impact is congested over isolated for a time and isolated over congested for
 * a bandwidth, so above 1 is always worse. The tail (p99) is the 99th
 * percentile of a time, and of a bandwidth the rate that 99 % of the samples
 * reach, as in GPCNeT.
 *
 * Visit number v of one phase and visit v of the other are neighbours in time,
 * so a slow drift of the machine shifts both and cancels in the ratio of their
 * statistics. The impact is the geometric mean of these ratios, its interval
 * the one of a mean by Student's t on their logarithms. The order of the two is
 * random for each pair (settings_loaded_first), so that no periodic
 * disturbance can follow the order of the phases. From six pairs on the effect
 * of the order, which a drift has, is fitted and removed at the cost of one
 * degree of freedom.
 *
 * A tail needs IMPACT_TAIL_SAMPLES samples in each phase. If a single visit has
 * fewer, the impact is the ratio of all samples, as in GPCNeT. The tail of few
 * samples jumps, so its interval is the wider of two: the interval of the
 * pairs' ratios, and that from omitting one pair at a time (the jackknife).
 * With a single visit rounds are omitted in turn, and drift is not covered.
 * test_impact_coverage.c, among the unit tests, shows on simulated machines
 * that 95 % are 95 %.
 */
#ifndef PROBES_SAMPLING_IMPACT_H
#define PROBES_SAMPLING_IMPACT_H

#include <stdint.h>

#include "probes/sampling/tally.h"

/* Samples that a 99th percentile needs: 10 beyond it. */
#define IMPACT_TAIL_SAMPLES 1000

enum impact_of { IMPACT_MEAN, IMPACT_P99, IMPACT_OF_MAX };
extern const char *const impact_names[IMPACT_OF_MAX]; /* "mean", "p99" */

struct impact_ask {
	const struct tally *quiet;
	const struct tally *loaded;
	int low_is_bad; /* 1 for a bandwidth */
	double level;
	uint64_t seed; /* of the order within the pairs */
	int exact; /* 1: a tail of any number of samples, as the reference */
};

struct impact {
	double value;
	double lo, hi; /* NAN: too few rounds for an interval */
};

/* -ENODATA: a side has no samples; -ERANGE: too few samples for the tail. */
int impact_take(const struct impact_ask *ask, enum impact_of of,
    struct impact *ret);

#endif
