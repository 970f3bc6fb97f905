/* SPDX-License-Identifier: Apache-2.0 */
/*
 * robust.h - statistics on which one bad sample has little influence. The
 * functions are pure.
 *
 * Functions that take an array that is not const sort it in place.
 */
#ifndef COMMON_ROBUST_H
#define COMMON_ROBUST_H

#include <stddef.h>

void robust_sort(double *x, size_t n); /* ascending */
/* Return the quantile q with linear interpolation between order statistics
 * (type 7 of Hyndman and Fan 1996). NAN if n is 0. */
double robust_quantile(double *x, size_t n, double q);
/* Return a quantile as robust_quantile does, but of two neighbouring values the
 * outer one: with interpolation the other value, however far away, would
 * influence the result. */
double robust_quantile_outer(double *x, size_t n, double q);
double robust_median(double *x, size_t n);
/* Return the scaled median absolute deviation 1.4826 * median |x - m|, which
 * estimates sigma for a normal sample. m: the median of x. */
double robust_mad(const double *x, size_t n, double m);
/* Return (x - median) / max(mad, floor); floor keeps the result of quantised
 * data finite. */
double robust_z(double x, double median, double mad, double floor);
/* Return the quantile p of the standard normal distribution (Acklam's
 * approximation, |error| < 1e-8 after one Halley step), and of Student's t
 * distribution with df degrees of freedom. 0 < p < 1. */
double robust_normal_quantile(double p);
double robust_t_quantile(double p, double df);

#endif
