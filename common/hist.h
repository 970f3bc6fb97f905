/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hist.h - exponential histogram: constant memory, exact merge.
 *
 * Bucket i counts the values in (2^((i-1)/16), 2^(i/16)]. A quantile is
 * therefore within 4.4 % of the true one; as it is placed inside its bucket by
 * rank, it is within 0.2 % if the samples spread by 2 % or more. Values are
 * positive doubles in the unit of the record (s or B/s). i is from HIST_FIRST
 * (2^-40, below a nanosecond) to HIST_LAST (2^48, above any link). Values
 * outside are counted in the first or last bucket, while sum, min and max stay
 * exact. The struct is plain memory: ranks can add bucket arrays with MPI_SUM.
 * Merge histograms first, then take quantiles: quantiles of parts are never
 * averaged.
 */
#ifndef COMMON_HIST_H
#define COMMON_HIST_H

#include <stddef.h>
#include <stdint.h>

#define HIST_PER_OCTAVE 16
#define HIST_FIRST      (-40 * HIST_PER_OCTAVE)
#define HIST_LAST       (48 * HIST_PER_OCTAVE)
#define HIST_BUCKETS    (HIST_LAST - HIST_FIRST + 1)
/* Largest valid count from other programs: exact as a double. */
#define HIST_COUNT_MAX (1LL << 53)

/* A histogram. hist_clear empties it. */
struct hist {
	uint64_t count;
	double sum;
	double min; /* undefined while count is 0, as is max */
	double max;
	uint64_t bucket[HIST_BUCKETS]; /* bucket[i - HIST_FIRST] */
};

/* Empty a histogram. */
void hist_clear(struct hist *h);
/* Add a value once, or several times. */
void hist_add(struct hist *h, double value);
void hist_add_many(struct hist *h, double value, uint64_t times);
/* Add all samples of `from`. */
void hist_merge(struct hist *into, const struct hist *from);
/* Return the bucket of a value, limited to HIST_FIRST..HIST_LAST; a value <= 0
 * is in the first. */
int hist_index(double value);
/* Return the upper bound of bucket i: 2^(i/16). */
double hist_bound(int i);

/* Return the value that a share q of the samples does not exceed. It is placed
 * inside its bucket by rank, geometrically, and limited to min and max; these
 * are returned for the first and the last sample. NAN while count is 0. */
double hist_quantile(const struct hist *h, double q);
/* Return a quantile as hist_quantile does, for bucket counts (index 0 is
 * HIST_FIRST) without min and max. The result is continuous in q. n: the sum of
 * the counts, above 0. */
double hist_quantile_of(const uint64_t *bucket, uint64_t n, double q);
/* Return the quantile by time: each sample is weighted by its duration, a rate
 * by its inverse, so that a share q of the time passes in samples that are not
 * slower. This is what a process that arrives at a random moment experiences. A
 * quantile by samples hides one long wait behind many short ones. rate: 1 if
 * the samples are rates. NAN while count is 0. */
double hist_quantile_by_time(const struct hist *h, double q, int rate);
double hist_mean(const struct hist *h); /* NAN while count is 0 */

/*
 * The packed form of the store: version 1, then varint count, f64 sum, min, max
 * (little endian), zigzag varint first index, varint bucket count, then pairs
 * of varint (gap, count).
 *
 * hist_pack returns the length; -ENOSPC if it exceeds cap_bytes; -EDOM for
 * contents that no samples give, such as a min outside the first bucket that is
 * used. hist_unpack returns 0, or -EPROTO for anything that hist_pack could not
 * have made.
 */
#define HIST_BLOB_MAX (64 + HIST_BUCKETS * 12)
long hist_pack(const struct hist *h, uint8_t *ret, size_t cap_bytes);
int hist_unpack(const uint8_t *blob, size_t len_bytes, struct hist *ret);

#endif
