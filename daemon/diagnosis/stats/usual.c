/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usual.c - offsets of nodes by ridge regression, and the measured wander.
 */
#include "daemon/diagnosis/stats/usual.h"

#include <math.h>

#include "common/robust.h"
#include "daemon/diagnosis/stats/score.h"

/* From the median absolute deviation to the standard deviation of a normal
 * distribution. */
#define MAD_TO_SIGMA 1.482602218505602
/* The number of pooled rounds contains about this many values, and is at least
 * WANDER_ROUNDS. */
#define WANDER_NUMBERS 3000
#define WANDER_ROUNDS  20
/* The slow side has the longer tail: a pair is as slow as its slower end, which
 * hides fast nodes. SLOW_SHARE of a normal distribution is below SLOW_SIGMA
 * deviations. Means of an hour no longer depend on single slow pairs: their
 * slow side is measured separately, between SIDE_FROM and SLOW_SHARE, which are
 * SIDE_SIGMA deviations apart. */
#define SLOW_SHARE 0.95
#define SLOW_SIGMA 1.6448536269514722
#define SIDE_FROM  0.75
#define SIDE_SIGMA 0.9703638767552409
#define TAIL_MOST  1.9 /* times the middle: more is a group of slow nodes */
#define TAIL_NODES 2   /* above that share, so that one fault is not the tail */
/* Among thousands of nodes chance reaches five deviations, so the tail itself
 * is measured: FAR_SHARE of a normal distribution is below FAR_SIGMA deviations
 * and is FAR_SIDE deviations above SIDE_FROM. FAR_NODES are above it, so that a
 * few slow nodes are not the tail. Wander widens the tail by up to 1.2 of
 * SLOW_SHARE's deviation; more than FAR_MOST is a group of slow nodes. */
#define FAR_SHARE 0.999
#define FAR_SIGMA 3.0902323061678132
#define FAR_SIDE  2.4157425559718
#define FAR_NODES 8
#define FAR_MOST  1.25
/* After this many rounds, a round may increase the scatter at most by this
 * factor: many nodes that fail together are not wander. */
#define KNOWN_ROUNDS 8
#define GROWTH_MAX   1.5
/* A kind that is an eighth of the nodes is above this share. */
#define KIND_SHARE 0.88
#define KIND_SIGMA 1.1749867920660904
#define KIND_NODES 16
/* Number of rounds for which a deviation of a node lasts, about: two hours. */
#define WANDER_LASTS 24
#define BETWEEN_MIN                                                            \
	0.01 /* least deviation between nodes, half a step of                  \
		 the histograms */

static void
usual_pool(struct wander *w, double var, size_t n)
{
	uint32_t most = (uint32_t)(WANDER_NUMBERS / (n + 1)) + WANDER_ROUNDS;

	w->rounds = w->rounds < most ? w->rounds + 1 : most;
	w->var += (var - w->var) / w->rounds;
	w->nodes += ((double)n - w->nodes) / w->rounds;
}

/* Return the deviation of the slow side; 0: too few nodes. */
static double
usual_slow_side(double *x, size_t n, int is_hour)
{
	double from, slow, far;

	if ((1 - SLOW_SHARE) * (double)n < TAIL_NODES)
		return 0;
	from = is_hour ? score_quantile(x, n, SIDE_FROM) : 0;
	slow = (score_quantile(x, n, SLOW_SHARE) - from) /
	    (is_hour ? SIDE_SIGMA : SLOW_SIGMA);
	if ((1 - FAR_SHARE) * (double)n < FAR_NODES)
		return slow;
	far = (score_quantile(x, n, FAR_SHARE) - from) /
	    (is_hour ? FAR_SIDE : FAR_SIGMA);
	return fmax(slow, fmin(far, FAR_MOST * slow));
}

void
wander_hear(struct wander *w, double *x, size_t n, int is_hour)
{
	double sigma, slow;

	if (n < 2)
		return;
	slow = usual_slow_side(x, n, is_hour);
	for (size_t i = 0; i < n; i++)
		x[i] = fabs(x[i]);
	/* About 0, the usual value. The factor corrects small samples (Croux
	 * and Rousseeuw 1992). */
	sigma = MAD_TO_SIGMA * score_quantile(x, n, 0.5) * (double)n /
	    ((double)n - 0.8);
	sigma = fmax(sigma, fmin(slow, TAIL_MOST * sigma));
	if (w->rounds >= KNOWN_ROUNDS)
		sigma = fmin(sigma, GROWTH_MAX * sqrt(w->var));
	usual_pool(w, sigma * sigma, n);
}

double
wander_sd(const struct wander *w, double least)
{
	return fmax(sqrt(w->var), least);
}

size_t
wander_size(const struct wander *w)
{
	return (size_t)(w->nodes * (1 + w->rounds / 4.0));
}

double
usual_offset(const struct usual_prior *p, double leaf, double mean, uint32_t n)
{
	double own = n * p->between * p->between;

	return n == 0
	    ? leaf
	    : leaf + (mean - leaf) * own / (own + p->noise * p->noise);
}

/* The error that noise leaves, and the error of a wander that has not averaged
 * out yet. */
double
usual_variance(const struct usual_prior *p, uint32_t n)
{
	double b = p->between * p->between, e = p->noise * p->noise;
	double young = n <= WANDER_LASTS ? 1 : (double)WANDER_LASTS / n;

	return b * e / (n * b + e) +
	    (n == 0 ? 0 : young) * p->wander * p->wander;
}

double
usual_between(double *x, size_t n)
{
	double median = score_quantile(x, n, 0.5), slow = 0, sigma;

	if (n < SCORE_PEERS_MIN)
		return BETWEEN_MIN;
	if (n >= KIND_NODES)
		slow = (score_quantile(x, n, KIND_SHARE) - median) / KIND_SIGMA;
	for (size_t i = 0; i < n; i++)
		x[i] = fabs(x[i] - median);
	sigma = MAD_TO_SIGMA * score_quantile(x, n, 0.5);
	return fmax(fmax(sigma, slow), BETWEEN_MIN);
}
