/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hist.h - exponential histogram: constant memory, exact merge.
 *
 * Bucket i counts values in (2^((i-1)/16), 2^(i/16)], so a quantile is within
 * 4.4 % of the true one; placed inside its bucket by rank it is within 0.2 %
 * where samples spread by 2 % and more. Values are positive doubles in the unit
 * of the record (s or B/s); i runs from HIST_FIRST (2^-40, below a nanosecond)
 * to HIST_LAST (2^48, above any link); values outside are counted in the edge
 * buckets, while sum, min and max stay exact. The struct is plain memory: ranks
 * may add bucket arrays with MPI_SUM. Merge, then take quantiles: quantiles of
 * parts are never averaged.
 */
#ifndef COMMON_HIST_H
#define COMMON_HIST_H

#include <stddef.h>
#include <stdint.h>

#define HIST_PER_OCTAVE 16
#define HIST_FIRST      (-40 * HIST_PER_OCTAVE)
#define HIST_LAST       (48 * HIST_PER_OCTAVE)
#define HIST_BUCKETS    (HIST_LAST - HIST_FIRST + 1)
#define HIST_COUNT_MAX  (1LL << 53) /* of others' samples: exact as a double */

struct hist {
	uint64_t count;
	double sum;
	double min; /* meaningless while count is 0 */
	double max;
	uint64_t bucket[HIST_BUCKETS]; /* bucket[i - HIST_FIRST] */
};

void hist_clear(struct hist *h);
void hist_add(struct hist *h, double value);
void hist_add_many(struct hist *h, double value, uint64_t times);
void hist_merge(struct hist *into, const struct hist *from);
/* Bucket of a value, clamped to HIST_FIRST..HIST_LAST; <= 0 gives the first. */
int hist_index(double value);
/* Upper bound of bucket i: 2^(i/16). */
double hist_bound(int i);

/* The value that a share q of the samples does not exceed, placed inside its
 * bucket by rank, geometrically, and clamped to min and max; these themselves
 * for the first and the last sample. NAN while count is 0. */
double hist_quantile(const struct hist *h, double q);
/* The same of bucket counts (index 0 is HIST_FIRST), which know no min and max:
 * it moves smoothly with q. n: their sum, above 0. */
double hist_quantile_of(const uint64_t *bucket, uint64_t n, double q);
/* Return the quantile by time: each sample is weighted by its duration, a rate
 * by its inverse, so that a share q of the time passes in samples that are not
 * slower. This is what a process that arrives at a random moment experiences; a
 * quantile by samples hides one long wait behind many short ones. NAN while
 * count is 0. */
double hist_quantile_by_time(const struct hist *h, double q, int rate);
double hist_mean(const struct hist *h); /* NAN while count is 0 */

/*
 * The BLOB: version 1, then varint count, f64 sum, min, max (little endian),
 * zigzag varint first index, varint bucket count, then pairs of varint
 * (gap, count). hist_pack returns the length, at most cap_bytes, or -ENOSPC;
 * -EDOM for what no samples give, such as a smallest one outside the first
 * bucket. hist_unpack trusts nothing: -EPROTO for anything a pack could not
 * have made.
 */
#define HIST_BLOB_MAX (64 + HIST_BUCKETS * 12)
long hist_pack(const struct hist *h, uint8_t *ret, size_t cap_bytes);
int hist_unpack(const uint8_t *blob, size_t len_bytes, struct hist *ret);

#endif
