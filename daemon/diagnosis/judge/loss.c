/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/diagnosis/judge/loss.h"

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

/* A node whose uplink loses is one of many; a leaf that loses inside is more
 * than its uplink. */
enum confirm_finding
loss_finding(enum judge_kind kind, int near, int far)
{
	if (kind == JUDGE_LEAF)
		return near == 1            ? CONFIRM_LEAF
		    : far == 1 && near == 0 ? CONFIRM_LINK
					    : CONFIRM_UNCLEAR;
	return near == 1 && far == 1 ? CONFIRM_NODE : CONFIRM_UNCLEAR;
}

double
loss_of_number(double x)
{
	return -expm1(-x / LOSS_WEIGHT);
}
