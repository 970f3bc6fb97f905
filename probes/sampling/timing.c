/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timing.c - medians of repetitions, and the interval that holds them.
 */

#include "probes/sampling/timing.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "common/robust.h"
#include "common/xalloc.h"

/* Clocks and caches can make a transfer look a little better than the copies
 * it is compared with. */
#define MEMORY_MARGIN 1.1

int
timing_of(const struct timing_sample *samples, size_t n, struct timing *ret)
{
	double *sorted, sum = 0, half = 0.98 * sqrt((double)n);
	double lo = floor((double)n / 2 - half);
	double hi = ceil((double)n / 2 + half);

	if (n == 0)
		return -EINVAL;
	sorted = xcalloc(n, sizeof(*sorted));
	for (size_t i = 0; i < n; i++) {
		sorted[i] = samples[i].s;
		sum += samples[i].s;
	}
	robust_sort(sorted, n);
	ret->n = n;
	ret->min_s = sorted[0];
	ret->max_s = sorted[n - 1];
	ret->mean_s = sum / (double)n;
	ret->median_upper_s = sorted[n / 2];
	ret->median_middle_s = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
	/* Ranks of the order statistics that hold the median with 95 %:
	 * binomial with p = 1/2, by its normal approximation (Conover,
	 * Practical Nonparametric Statistics, 3.2). Below 6 samples not even
	 * the extremes do. */
	ret->lo_s = ret->hi_s = NAN;
	if (n >= 6) {
		ret->lo_s = sorted[lo < 0 ? 0 : (size_t)lo];
		ret->hi_s = sorted[hi > (double)n - 1 ? n - 1 : (size_t)hi];
	}
	free(sorted);
	return 0;
}

int
timing_known(const struct timing *t, double precision)
{
	return isfinite(t->lo_s) &&
	    t->hi_s - t->lo_s <= precision * t->median_middle_s;
}

int
timing_above_memory(const struct timing *t, uint64_t bytes,
    double memory_bytes_per_s)
{
	return (double)bytes / t->median_middle_s >
	    MEMORY_MARGIN * memory_bytes_per_s;
}
