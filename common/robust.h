/* SPDX-License-Identifier: Apache-2.0 */
/*
 * robust.h - statistics that one bad sample cannot bend. Pure.
 *
 * Functions that take a non-const array sort it in place.
 */
#ifndef COMMON_ROBUST_H
#define COMMON_ROBUST_H

#include <stddef.h>

void robust_sort(double *x, size_t n); /* ascending */
/* Linear interpolation between order statistics (type 7 of Hyndman and Fan
 * 1996). NAN when n is 0. */
double robust_quantile(double *x, size_t n, double q);
/* The same, but of two values the outer one: interpolated, the other one,
 * however far off, would have a part in it. */
double robust_quantile_outer(double *x, size_t n, double q);
double robust_median(double *x, size_t n);
/* 1.4826 * median |x - m|, which estimates sigma for a normal sample. */
double robust_mad(const double *x, size_t n, double m);
/* (x - median) / max(mad, floor): floor keeps quantised data finite. */
double robust_z(double x, double median, double mad, double floor);
/* Quantile of the standard normal (Acklam's approximation, |error| < 1e-8
 * after one Halley step) and of Student's t. 0 < p < 1. */
double robust_normal_quantile(double p);
double robust_t_quantile(double p, double df);

#endif
