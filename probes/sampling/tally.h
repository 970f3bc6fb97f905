/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally.h - what one test measured in one phase, by visit and round. Pure.
 *
 * The root of the canaries keeps one per test and phase. Rounds are sparse
 * histograms, since the round, not the packet, is the unit of statistics;
 * their number is bounded: once a visit has its fill, neighbouring rounds are
 * merged and later ones count double. Values are in the unit of the record.
 */
#ifndef PROBES_SAMPLING_TALLY_H
#define PROBES_SAMPLING_TALLY_H

#include <stddef.h>
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
	uint32_t *bucket;
};

struct tally {
	struct hist total;
	struct tally_round *rounds; /* ascending by visit */
	int count;
	int per_visit; /* at most this many kept in a visit */
	int measured;  /* rounds added, merged ones too */
	int stride;    /* rounds that one kept round stands for, this visit */
	int visit;     /* of the last round */
};

void tally_init(struct tally *t, int visits);
void tally_clear(struct tally *t);
void tally_add(struct tally *t, int visit, const struct hist *round);

/* Quantile of bucket counts (index 0 is HIST_FIRST), placed inside its bucket
 * by rank, geometrically: unlike a bucket's middle it moves smoothly, which
 * resampling needs. n: their sum, above 0. */
double tally_quantile_of(const uint64_t *bucket, uint64_t n, double q);
double tally_quantile(const struct tally *t, double q);
/* Interval of a quantile with rounds as clusters, since samples of one round
 * are alike: Woodruff's interval with the variance of the share below the
 * quantile taken between rounds, on its logit. From TALLY_VISITS_MIN visits on,
 * whose rounds are alike too, it is not narrower than with visits as clusters.
 * -ENODATA with fewer than 2 rounds or too few samples in the tail. */
int tally_interval(const struct tally *t, double q, double level,
    double *ret_lo, double *ret_hi);

#endif
