/* SPDX-License-Identifier: Apache-2.0 */
/*
 * robust.c - the normal quantile is an approximation with one correcting step,
 * the t quantile is found by bisecting its tail, so no table limits either.
 */
#include "common/robust.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "common/str.h"
#include "common/xalloc.h"

#define INSERT_MAX 32 /* values that are sorted by insertion */

static int
robust_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The few nodes of a small run are in place sooner than qsort has its memory.
 */
void
robust_sort(double *x, size_t n)
{
	if (n > INSERT_MAX) {
		qsort(x, n, sizeof(*x), robust_compare);
		return;
	}
	for (size_t i = 1; i < n; i++) {
		double v = x[i];
		size_t k = i;

		for (; k > 0 && x[k - 1] > v; k--)
			x[k] = x[k - 1];
		x[k] = v;
	}
}

/* h = (n - 1) q; x[floor h] + (h - floor h) (x[floor h + 1] - x[floor h]) */
double
robust_quantile(double *x, size_t n, double q)
{
	double h, below;
	size_t i;

	assert(q >= 0 && q <= 1);
	if (n == 0)
		return NAN;
	robust_sort(x, n);
	h = (double)(n - 1) * q;
	below = floor(h);
	i = (size_t)below;
	if (i + 1 >= n)
		return x[n - 1];
	return x[i] + (h - below) * (x[i + 1] - x[i]);
}

double
robust_quantile_outer(double *x, size_t n, double q)
{
	if (n == 2)
		return q < 0.5 ? fmin(x[0], x[1]) : fmax(x[0], x[1]);
	return robust_quantile(x, n, q);
}

double
robust_median(double *x, size_t n)
{
	return robust_quantile(x, n, 0.5);
}

double
robust_mad(const double *x, size_t n, double m)
{
	double *off, mad;

	if (n == 0)
		return NAN;
	off = xcalloc(n, sizeof(*off));
	for (size_t i = 0; i < n; i++)
		off[i] = fabs(x[i] - m);
	/* 1 / normal quantile of 0.75 */
	mad = 1.482602218505602 * robust_median(off, n);
	free(off);
	return mad;
}

double
robust_z(double x, double median, double mad, double floor)
{
	assert(floor > 0);
	return (x - median) / (mad > floor ? mad : floor);
}

static double
robust_polynomial(const double *c, size_t n, double x)
{
	double y = 0;

	for (size_t i = 0; i < n; i++)
		y = y * x + c[i];
	return y;
}

/* P. J. Acklam's rational approximation, relative error under 1.15e-9: one
 * fraction in the middle, another in r = sqrt(-2 ln p) for a tail. */
static double
robust_acklam(double p)
{
	static const double a[] = { -3.969683028665376e+01,
		2.209460984245205e+02, -2.759285104469687e+02,
		1.383577518672690e+02, -3.066479806614716e+01,
		2.506628277459239e+00 };
	static const double b[] = { -5.447609879822406e+01,
		1.615858368580409e+02, -1.556989798598866e+02,
		6.680131188771972e+01, -1.328068155288572e+01, 1 };
	static const double c[] = { -7.784894002430293e-03,
		-3.223964580411365e-01, -2.400758277161838e+00,
		-2.549732539343734e+00, 4.374664141464968e+00,
		2.938163982698783e+00 };
	static const double d[] = { 7.784695709041462e-03,
		3.224671290700398e-01, 2.445134137142996e+00,
		3.754408661907416e+00, 1 };
	double q = p - 0.5, r;

	if (p < 0.02425) {
		r = sqrt(-2 * log(p));
		return robust_polynomial(c, ARRAY_LEN(c), r) /
		    robust_polynomial(d, ARRAY_LEN(d), r);
	}
	r = q * q;
	return q * robust_polynomial(a, ARRAY_LEN(a), r) /
	    robust_polynomial(b, ARRAY_LEN(b), r);
}

double
robust_normal_quantile(double p)
{
	double x, e, u;

	assert(p > 0 && p < 1);
	if (p > 0.5)
		return -robust_normal_quantile(1 - p);
	x = robust_acklam(p);
	/* Halley's step on F(x) - p: u = (F - p) / f, x - u / (1 + x u / 2) */
	e = 0.5 * erfc(-x / sqrt(2)) - p;
	u = e * sqrt(2 * acos(-1)) * exp(x * x / 2);
	return x - u / (1 + x * u / 2);
}

/* Continued fraction of the incomplete beta function (Abramowitz and Stegun
 * 26.5.8), evaluated front to back after Lentz. */
static double
robust_beta_fraction(double x, double a, double b)
{
	const double tiny = 1e-300;
	double f = 1, c = 1, d = 0;

	for (int i = 0; i < 500; i++) {
		int m = i / 2;
		double term;

		if (i == 0)
			term = 1;
		else if (i % 2 == 0)
			term = m * (b - m) * x /
			    ((a + 2 * m - 1) * (a + 2 * m));
		else
			term = -(a + m) * (a + b + m) * x /
			    ((a + 2 * m) * (a + 2 * m + 1));
		d = 1 + term * d;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = 1 + term / (fabs(c) < tiny ? tiny : c);
		f *= c * d;
		if (fabs(c * d - 1) < 1e-15)
			break;
	}
	return f - 1;
}

/* The regularised incomplete beta function I_x(a, b). */
static double
robust_beta_share(double x, double a, double b)
{
	double front;

	if (x <= 0)
		return 0;
	if (x >= 1)
		return 1;
	if (x > (a + 1) / (a + b + 2)) /* where the fraction converges slowly */
		return 1 - robust_beta_share(1 - x, b, a);
	front = exp(
	    lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	return front * robust_beta_fraction(x, a, b) / a;
}

/* P(T > t) = I_{df / (df + t^2)}(df / 2, 1 / 2) / 2 for t >= 0. */
static double
robust_t_tail(double t, double df)
{
	return robust_beta_share(df / (df + t * t), df / 2, 0.5) / 2;
}

double
robust_t_quantile(double p, double df)
{
	double lo = 0, hi = 1;

	assert(p > 0 && p < 1 && df > 0);
	if (p < 0.5)
		return -robust_t_quantile(1 - p, df);
	if (df > 1e7)
		return robust_normal_quantile(p);
	while (robust_t_tail(hi, df) > 1 - p && hi < 1e150) {
		lo = hi;
		hi *= 2;
	}
	while (hi - lo > 1e-12 * hi) {
		double mid = (lo + hi) / 2;

		if (robust_t_tail(mid, df) > 1 - p)
			lo = mid;
		else
			hi = mid;
	}
	return (lo + hi) / 2;
}
