/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timing.h - what many repetitions of one thing took. Pure.
 *
 * Per iteration the time of the slowest rank counts, and which rank that was
 * (CommBench's protocol: barrier, clock, start, wait, clock, maximum over
 * ranks). Raw times stay in the order in which they were taken.
 */
#ifndef PROBES_SAMPLING_TIMING_H
#define PROBES_SAMPLING_TIMING_H

#include <stddef.h>
#include <stdint.h>

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

/* Return 1 if the median rate of this many bytes exceeds the measured rate of
 * memory copies by more than clocks and caches explain; 0 if that rate is
 * NAN. */
int timing_above_memory(const struct timing *t, uint64_t bytes,
    double memory_bytes_per_s);

#endif
