/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timing.h - statistics of the times of many repetitions of one operation. The
 * functions are pure.
 *
 * In each repetition the time of the slowest rank counts, and the number of
 * that rank is kept (CommBench's protocol: barrier, clock, start, wait, clock,
 * maximum over ranks). Raw times stay in the order in which they were taken.
 */
#ifndef PROBES_SAMPLING_TIMING_H
#define PROBES_SAMPLING_TIMING_H

#include <stddef.h>
#include <stdint.h>

/* The time of one repetition. */
struct timing_sample {
	double s;
	int rank; /* the slowest rank */
};

/* The statistics. There are two medians, because an even number of times has no
 * middle one: median_upper_s is the sorted time number n / 2, as CommBench
 * prints it; median_middle_s is the mean of the two in the middle, the usual
 * definition. */
struct timing {
	size_t n;
	double min_s, median_upper_s, median_middle_s, mean_s, max_s;
	/* Interval of the median: order statistics that contain it with 95 %
	 * probability; NAN if there are too few samples. */
	double lo_s, hi_s;
};

/* Compute the statistics. Return 0, or -EINVAL without samples. */
int timing_of(const struct timing_sample *samples, size_t n,
    struct timing *ret);

/* Return 1 if the interval of the median is as narrow as precision, a share of
 * the median; 0 if not. */
int timing_known(const struct timing *t, double precision);

/* Return 1 if the median rate of this many bytes exceeds the measured rate of
 * memory copies by more than clocks and caches explain. Return 0 if not, or if
 * that rate is NAN. */
int timing_above_memory(const struct timing *t, uint64_t bytes,
    double memory_bytes_per_s);

#endif
