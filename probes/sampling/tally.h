/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally.h - what one test measured in one phase, by visit and round. Pure.
 *
 * The root of the canaries keeps one per test and phase. Rounds are sparse
 * histograms, since the round, not the packet, is the unit of statistics; their
 * number is bounded: once a visit has its fill, neighbouring rounds are merged
 * and later ones count double. Values are in the unit of the record.
 */
#ifndef PROBES_SAMPLING_TALLY_H
#define PROBES_SAMPLING_TALLY_H

#include <stdint.h>

#include "common/hist.h"

#define TALLY_ROUNDS_MAX 256 /* kept, over all visits */
#define TALLY_VISITS_MIN 3

/* A histogram of the buckets lo .. lo + len - 1 only. */
struct tally_round {
	int visit;
	int merged; /* rounds in it */
	int lo, len;
	uint64_t n;
	double sum;
	double inverse;
	uint32_t *bucket;
};

struct tally {
	struct hist total;
	double inverse;             /* sum of 1 / sample: the time of rates */
	struct tally_round *rounds; /* ascending by visit */
	int count;
	int per_visit; /* at most this many kept in a visit */
	int measured;  /* rounds added, merged ones too */
	int stride; /* number of rounds that one kept round represents, in this
		       visit */
	int visit;  /* of the last round */
};

void tally_init(struct tally *t, int visits);
void tally_clear(struct tally *t);
/* inverse: the sum of 1 / sample; 0 for times, which do not need it. */
void tally_add(struct tally *t, int visit, const struct hist *round,
    double inverse);
/* Of rates bytes over time, which is their harmonic mean: a mean of rates grows
 * when they only vary. NAN without samples. */
double tally_mean(const struct tally *t);

/* Interval of a quantile with rounds as clusters, since samples of one round
 * are alike: Woodruff's interval with the variance of the share below the
 * quantile taken between rounds, on its logit. From TALLY_VISITS_MIN visits on,
 * whose rounds are alike too, it is not narrower than with visits as clusters.
 * -ENODATA with fewer than 2 rounds or too few samples in the tail. */
int tally_interval(const struct tally *t, double q, double level,
    double *ret_lo, double *ret_hi);

#endif
