/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally.h - the results of one test in one phase, by visit and round. The
 * functions are pure.
 *
 * The root of the canaries keeps one tally per test and phase. Rounds are
 * stored as sparse histograms, because the round, and not the packet, is the
 * unit of statistics. Their number is bounded: once a visit has its maximum,
 * neighbouring rounds are merged, and later kept rounds stand for twice as
 * many. Values are in the unit of the record.
 */
#ifndef PROBES_SAMPLING_TALLY_H
#define PROBES_SAMPLING_TALLY_H

#include <stdint.h>

#include "common/hist.h"

#define TALLY_ROUNDS_MAX 256 /* rounds that are kept, over all visits */
#define TALLY_VISITS_MIN 3

/* A round: a histogram of the buckets lo to lo + len - 1 only. */
struct tally_round {
	int visit;
	int merged; /* number of rounds in it */
	int lo, len;
	uint64_t n;
	double sum;
	double inverse; /* sum of 1 / sample, as in struct tally */
	uint32_t *bucket;
};

/* The results of a test in a phase. */
struct tally {
	struct hist total;
	double inverse; /* sum of 1 / sample: the time, if samples are rates */
	struct tally_round *rounds; /* in ascending order of visits */
	int count;
	int per_visit; /* largest number of kept rounds in a visit */
	int measured;  /* rounds that were added, including merged ones */
	/* Number of rounds that one kept round represents, in this visit. */
	int stride;
	int visit; /* visit of the last round */
};

/* Begin an empty tally for this many visits. tally_clear frees the rounds. */
void tally_init(struct tally *t, int visits);
void tally_clear(struct tally *t);
/* Add a round of a visit. inverse: the sum of 1 / sample for rates; 0 for
 * times, which do not need it. */
void tally_add(struct tally *t, int visit, const struct hist *round,
    double inverse);
/* Return the mean; NAN without samples. The mean of rates is all bytes divided
 * by all time, which is the harmonic mean of the samples: their arithmetic mean
 * would rise if they only varied. */
double tally_mean(const struct tally *t);

/* Compute the interval of quantile q with rounds as clusters, because samples
 * of one round resemble each other: the interval of Woodruff (1952, "Confidence
 * intervals for medians and other position measures"), with the variance of
 * the share below the quantile taken between rounds, on the logit of this
 * share. From TALLY_VISITS_MIN visits on, whose rounds resemble each other too,
 * the interval is at least as wide as with visits as clusters. Return 0, or
 * -ENODATA with fewer than 2 rounds or too few samples in the tail. */
int tally_interval(const struct tally *t, double q, double level,
    double *ret_lo, double *ret_hi);

#endif
