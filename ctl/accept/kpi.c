/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kpi.c - indicators of rounds, with the interval of their mean.
 */
#include "ctl/accept/kpi.h"

#include <math.h>

#include "common/robust.h"

const char *const kpi_names[KPI_MAX] = {
	[KPI_JAIN] = "Jain index",
	[KPI_JCT] = "JCT ratio",
};

static double
kpi_round(const struct accept_path *paths, size_t count, size_t class,
    enum kpi kpi, size_t round)
{
	double sum = 0, squares = 0, least = INFINITY;
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		double v;

		if (paths[i].class != class || paths[i].n == 0)
			continue;
		v = exp(paths[i].x[round]);
		sum += v;
		squares += v * v;
		least = fmin(least, v);
		n++;
	}
	return kpi == KPI_JAIN ? sum * sum / ((double)n * squares) : 1 / least;
}

struct kpi_value
kpi_of(const struct accept_path *paths, size_t path_count, size_t class,
    enum kpi kpi)
{
	struct kpi_value ret = { NAN, NAN, NAN, 0 };
	double mean = 0, variance = 0, reach;
	size_t rounds = ACCEPT_RUNS_MAX, measured = 0;

	for (size_t i = 0; i < path_count; i++)
		if (paths[i].class == class && paths[i].n > 0) {
			rounds = paths[i].n < rounds ? paths[i].n : rounds;
			measured++;
		}
	if (measured < 2)
		return ret;
	for (size_t k = 0; k < rounds; k++)
		mean += kpi_round(paths, path_count, class, kpi, k) /
		    (double)rounds;
	for (size_t k = 0; k < rounds; k++) {
		double d = kpi_round(paths, path_count, class, kpi, k) - mean;

		variance += d * d;
	}
	ret = (struct kpi_value){ mean, NAN, NAN, rounds };
	if (rounds < 2)
		return ret;
	reach = robust_t_quantile(0.5 + KPI_LEVEL / 2, (double)rounds - 1) *
	    sqrt(variance / (double)(rounds - 1) / (double)rounds);
	ret.lo = fmax(0, mean - reach);
	ret.hi = kpi == KPI_JAIN ? fmin(1, mean + reach) : mean + reach;
	return ret;
}
