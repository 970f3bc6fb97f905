/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/judge/loss.h"

#include <math.h>

#define Z 1.6448536269514722 /* 95 % on one side */

/* (p + z^2 / 2n - z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n) */
double
loss_share(uint64_t lost, uint64_t sent)
{
	double n = (double)sent, p, c = Z * Z / n;

	if (sent == 0 || lost == 0)
		return 0;
	p = (double)lost / n;
	return (p + c / 2 - Z * sqrt(p * (1 - p) / n + c / (4 * n))) / (1 + c);
}

double
loss_number(double share)
{
	return -LOSS_WEIGHT * log1p(-fmin(share, 0.99));
}

double
loss_of_number(double x)
{
	return -expm1(-x / LOSS_WEIGHT);
}
