/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/diagnosis/judge/cusum.h"

#include <math.h>

static void
step(double *sum, unsigned *rounds, double x)
{
	const double most = CUSUM_X_MAX - CUSUM_K;

	*sum = fmax(0, *sum + fmax(-most, fmin(most, x)));
	*rounds = *sum > 0 ? *rounds + 1 : 0;
}

int
cusum_add(struct cusum *c, double x, double k, double h)
{
	step(&c->up, &c->up_rounds, x - k);
	step(&c->down, &c->down_rounds, -x - k);
	return c->up > h ? 1 : c->down > h ? -1 : 0;
}

static double
rounds_at(double h)
{
	double y = 2 * CUSUM_K * (h + 1.166);

	return (exp(y) - y - 1) / (2 * CUSUM_K * CUSUM_K);
}

double
cusum_limit(double rounds)
{
	double lo = 0, hi = 60;

	/* Two sides: each may alarm half as often. */
	while (hi - lo > 1e-6) {
		double mid = (lo + hi) / 2;

		if (rounds_at(mid) < 2 * rounds)
			lo = mid;
		else
			hi = mid;
	}
	return hi;
}
