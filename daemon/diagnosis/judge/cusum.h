/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cusum.h - slow drift of one number against its own past (Page 1954). Pure.
 *
 *   up   = max(0, up   + x - k)      x in standard deviations of a round
 *   down = max(0, down - x - k)      k: half of the shift looked for
 *
 * and an alarm when either passes h. x - k is cut at CUSUM_X_MAX - CUSUM_K, so
 * that no single round raises one.
 */
#ifndef DAEMON_DIAGNOSIS_JUDGE_CUSUM_H
#define DAEMON_DIAGNOSIS_JUDGE_CUSUM_H

#define CUSUM_K     0.5 /* of a shift of one sigma */
#define CUSUM_X_MAX 4.0

struct cusum {
	double up, down;
	unsigned up_rounds, down_rounds; /* since it left 0 */
};

/* 1: too high, -1: too low, 0: neither. */
int cusum_add(struct cusum *c, double x, double k, double h);
/* The h at which chance alone raises one alarm in `rounds` numbers of a normal
 * distribution, by the approximation of Siegmund (1985) for one side:
 * rounds = (exp(2 k b) - 2 k b - 1) / (2 k^2), b = h + 1.166, with
 * CUSUM_K. */
double cusum_limit(double rounds);

#endif
