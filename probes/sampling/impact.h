/* SPDX-License-Identifier: Apache-2.0 */
/*
 * impact.h - what congestion costs, with an interval. Pure.
 *
 * Impact is congested over isolated for a time and isolated over congested for
 * a bandwidth, so above 1 is always worse. The tail (p99) is the 99th
 * percentile of a time, and of a bandwidth the rate that 99 % of the samples
 * reach, as in GPCNeT.
 *
 * The interval comes from resampling. Visit number v of one phase and visit v
 * of the other lie side by side in time (A B, B A, ...): such a block is drawn
 * as one, so a slow drift of the machine shifts both sides and cancels. Within
 * a block rounds are drawn anew for each side. What 95 % of the draws span is
 * widened, on the logarithm and on each side of the estimate, for the small
 * number of blocks: by sqrt(k / (k - 1)), for the variance that k blocks
 * underestimate, and by the ratio of Student's quantile with k - 1 degrees to
 * the normal's. With a single visit the rounds alone speak, and drift is not
 * covered. tests/unit/probes/sampling/test_impact_coverage.c proves it on
 * made-up machines.
 */
#ifndef PROBES_SAMPLING_IMPACT_H
#define PROBES_SAMPLING_IMPACT_H

#include <stdint.h>

#include "probes/sampling/tally.h"

#define IMPACT_DRAWS 1000

enum impact_of { IMPACT_MEAN, IMPACT_P99, IMPACT_OF_MAX };
extern const char *const impact_names[IMPACT_OF_MAX]; /* "mean", "p99" */

struct impact_ask {
	const struct tally *quiet;
	const struct tally *loaded;
	int low_is_bad; /* 1 for a bandwidth */
	int visits;
	double level;
	uint64_t seed;
};

struct impact {
	double value;
	double lo, hi; /* NAN: too few rounds for an interval */
};

/* -ENODATA when a side has no samples. */
int impact_take(const struct impact_ask *ask, enum impact_of of,
    struct impact *ret);

#endif
