/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampling.h - when enough was measured, and what it says. Pure.
 *
 * tally.c: what one test measured in one phase, by visit and round.
 * The root of the canaries keeps one per test and phase. Rounds are sparse
 * histograms, since the round, not the packet, is the unit of statistics;
 * their number is bounded: once a visit has its fill, neighbouring rounds are
 * merged and later ones count double. Values are in the unit of the record.
 */
#ifndef PROBES_SAMPLING_SAMPLING_H
#define PROBES_SAMPLING_SAMPLING_H

#include <stddef.h>
#include <stdint.h>

#include "common/hist.h"
#include "probes/job/settings.h"

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
	int stride;    /* rounds that one kept round stands for, this visit */
	int visit;     /* of the last round */
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

/* ---- impact.c: what congestion costs, with an interval. Pure ----
 *
 * Impact is congested over isolated for a time and isolated over congested for
 * a bandwidth, so above 1 is always worse. The tail (p99) is the 99th
 * percentile of a time, and of a bandwidth the rate that 99 % of the samples
 * reach, as in GPCNeT.
 *
 * Visit number v of one phase and visit v of the other are neighbours in time,
 * so a slow drift of the machine shifts both and cancels in the ratio of their
 * statistics. The impact is the geometric mean of these ratios, its interval
 * that of a mean by Student's t on their logarithms. Which of the two comes
 * first is drawn for each pair (settings_loaded_first), so that no periodic
 * disturbance can follow the order of the phases. From six pairs on the effect
 * of the order, which a drift has, is fitted and removed at the cost of one
 * degree of freedom.
 *
 * A tail needs IMPACT_TAIL_SAMPLES samples in each phase. Where a single visit
 * has fewer, the impact is the ratio of all samples, as GPCNeT's. The tail of
 * few samples jumps, so its interval is the wider of two: the interval of the
 * pairs' ratios, and that from omitting one pair at a time (the jackknife).
 * With a single visit rounds are omitted in turn, and drift is not covered.
 * test_impact_coverage.c, among the unit tests, shows on simulated machines
 * that 95 % are 95 %.
 */

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

/* ---- timing.c: what many repetitions of one thing took. Pure ----
 *
 * Per iteration the time of the slowest rank counts, and which rank that was
 * (CommBench's protocol: barrier, clock, start, wait, clock, maximum over
 * ranks). Raw times stay in the order in which they were taken.
 */

struct timing_sample {
	double s;
	int rank; /* the slowest */
};

/* Two medians, since an even number of times has no middle one: upper is the
 * sorted time number n / 2, as CommBench prints it; middle is the mean of the
 * two in the middle, as textbooks have it. */
struct timing {
	size_t n;
	double min_s, median_upper_s, median_middle_s, mean_s, max_s;
	/* Order statistics around the median that hold it with 95 %
	 * probability; NAN where there are too few samples. */
	double lo_s, hi_s;
};

/* -EINVAL without samples. */
int timing_of(const struct timing_sample *samples, size_t n,
    struct timing *ret);

/* Is the interval of the median as narrow as precision, a share of it? */
int timing_known(const struct timing *t, double precision);

/* Are so many bytes in the median faster than copies in memory were measured
 * to be, by more than clocks and caches explain? 0 where that rate is NAN. */
int timing_above_memory(const struct timing *t, uint64_t bytes,
    double memory_bytes_per_s);

/* ---- stop.c: when a test has measured enough. Pure ----
 *
 * With congestors a visit lasts its share of the time, so that all are equal
 * members of the statistics; after an even number of pairs of visits, at least
 * STOP_PAIRS_MIN, a test ends once the intervals of its impacts are as narrow
 * as asked for: what is asked for is what is reported. Without congestors, or
 * with fewer visits, a visit ends once the interval of the phase's headline is
 * narrow enough. Never before the minimum of rounds.
 */

#define STOP_GO_ON     STOP_MAX /* not yet */
#define STOP_PAIRS_MIN 6        /* fewer hardly know their spread */

struct stop_ask {
	const struct settings *settings;
	const struct tally *tally;
	const struct test_counts *exact; /* NULL: by the rule */
	double q;                        /* quantile of the headline */
	int rounds;                      /* in this visit */
	uint64_t visit_ns;               /* spent in this visit */
	int timed_out;
};

/* STOP_GO_ON or what ends the visit. */
enum stop stop_decide(const struct stop_ask *ask);
/* 1: after so many pairs both impacts are known to the precision. */
int stop_pairs(const struct impact_ask *ask, const struct settings *s,
    int pairs);

/* ---- pair_medians.c: who was slow with whom: medians by pair of nodes. Pure
 * ----
 *
 * A rank's time covers the exchange with both of its neighbours, so it is
 * evidence on both pairs. A normal node is slow with slow partners only, a slow
 * node with everyone: what speaks against a node is the quartile of its pairs
 * on the good side. Where many are slow, as with jobs, most partners of a node
 * may be so by chance: they are left out. The table is bounded: so many pairs
 * that every node can have met PAIR_MEDIANS_PARTNERS others, and
 * PAIR_MEDIANS_KEPT medians of each; of more, an unbiased sample.
 */

#define PAIR_MEDIANS_PARTNERS 32
#define PAIR_MEDIANS_LEAST    16384   /* pairs of one table: 1 MiB, */
#define PAIR_MEDIANS_MOST     1000000 /* and 64 MiB */
#define PAIR_MEDIANS_KEPT     12      /* medians of a pair */

struct pair_medians;

struct pair_medians_row {
	int a, b;   /* nodes, a < b */
	uint64_t n; /* medians seen */
	double p50; /* of those kept */
};

/* low_is_bad: 1 for bandwidths, 0 for times. nodes: how many there are. */
struct pair_medians *pair_medians_new(int low_is_bad, int nodes, uint64_t seed);
void pair_medians_free(struct pair_medians *p); /* NULL is allowed */
/* One round's median of a rank on node a that had node b as neighbour. Equal
 * nodes are no pair and are left out. */
void pair_medians_add(struct pair_medians *p, int a, int b, double median);
/* Pairs that found no room. */
uint64_t pair_medians_dropped(const struct pair_medians *p);
/* The worst first, at most cap; their number. */
int pair_medians_worst(const struct pair_medians *p,
    struct pair_medians_row *ret, int cap);
/* Of one pair, in either order; NAN: it never met. */
double pair_medians_median(const struct pair_medians *p, int a, int b);
/* A quantile of the medians of the node's pairs, of two the outer one; NAN
 * without pairs. */
double pair_medians_quantile(struct pair_medians *p, int node, double q);
/* Its score: the quartile on the good side of its pairs; where a quarter of its
 * partners or more are slow themselves, of those with the others. */
double pair_medians_score(struct pair_medians *p, int node);

/* The median of all pairs' medians; NAN without pairs. */
double pair_medians_typical(struct pair_medians *p);
/* What a slow pair is beyond: worse than typical by PAIR_MEDIANS_SLOW of it,
 * and by so many standard deviations of the pairs of nodes that are not slow
 * themselves, which noise alone hardly is. NAN without pairs. */
#define PAIR_MEDIANS_SLOW   0.05
#define PAIR_MEDIANS_SIGMAS 2.5
double pair_medians_bound(struct pair_medians *p);
/* The node's pairs with nodes that are not slow themselves, or all if there are
 * none, and how many of them are beyond bound. */
int pair_medians_partners(struct pair_medians *p, int node, double bound,
    int *ret_slow);

#endif
