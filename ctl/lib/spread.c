/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spread.c - what equal runs differ by, and what of many differences is beyond
 * chance. Pure.
 */
#include "ctl/lib/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/robust.h"
#include "ctl/lib/ratio.h"

#define ERROR_SHARE     0.05 /* of comparisons of equals, and of nodes named */
#define CORRELATION_MAX 0.98
#define TAIL_DF         8.0 /* of what runs scatter by: some are far off */
#define SCALE_MIN       0.02
#define FITS            20
#define TERMS           (1 + SPREAD_SIZES)

/*
 * Runs in a row resemble each other, so that their variance is less than that
 * of runs far apart. With the lag-1 correlation r of n runs (Kendall's
 * correction for short series) their mean is worth n (1 - r) / (1 + r)
 * independent runs, their variance n (1 - r^2) / (1 + r^2).
 */
struct doubt
spread_of_runs(const double *logs, size_t n)
{
	struct doubt none = { NAN, NAN }, d;
	double mean = 0, squares = 0, lagged = 0, r, worth;

	if (n < SPREAD_RUNS_MIN)
		return none;
	for (size_t i = 0; i < n; i++)
		mean += logs[i] / (double)n;
	for (size_t i = 0; i < n; i++) {
		double x = logs[i] - mean;

		squares += x * x;
		lagged += i > 0 ? x * (logs[i - 1] - mean) : 0;
	}
	r = squares > 0 ? lagged / squares : 0;
	r = fmin(fmax(r + (1 + 3 * r) / (double)n, 0), CORRELATION_MAX);
	worth = fmax((double)n * (1 - r) / (1 + r), 1.5);
	d.se = sqrt(2 * squares / (double)n / (1 - 1 / worth));
	d.df = fmax((double)n * (1 - r * r) / (1 + r * r) - 1, 1);
	return d;
}

/* The inverse of a matrix that is symmetric and positive, in its place (Gauss
 * and Jordan). */
static void
spread_invert(double m[TERMS][TERMS])
{
	for (int p = 0; p < TERMS; p++) {
		double pivot = m[p][p];

		m[p][p] = 1;
		for (int k = 0; k < TERMS; k++)
			m[p][k] /= pivot;
		for (int i = 0; i < TERMS; i++) {
			double factor = m[i][p];

			if (i == p)
				continue;
			m[i][p] = 0;
			for (int k = 0; k < TERMS; k++)
				m[i][k] -= factor * m[p][k];
		}
	}
}

/*
 * A line through the logarithms of runs, over those of their sizes. The error
 * of a prediction is a share of a run. If the missing cost grows with a size,
 * or is constant while the rest grows, its share is the slope; the prior of the
 * slopes has that size, until runs of several sizes are more precise: few runs
 * of one size far from their prediction say little about another size. The
 * scatter is Student's t, so that an outlier has little weight: weights and
 * scale are computed alternately (EM; Lange, Little and Taylor 1989).
 */
double
spread_of_sizes(const struct sized *runs, size_t n, struct doubt *ret)
{
	double beta[TERMS] = { 0 }, scale = INFINITY, left = (double)n, off;
	double inverse[TERMS][TERMS], lack = 0;

	*ret = (struct doubt){ NAN, NAN };
	if (n < SPREAD_SIZED_MIN)
		return NAN;
	for (size_t i = 0; i < n; i++)
		lack += fabs(runs[i].log) / (double)n;
	lack = fmax(1 - exp(-lack), SCALE_MIN);
	for (int fit = 0; fit < FITS; fit++) {
		double whole[TERMS][TERMS] = { { 0 } }, right[TERMS] = { 0 };
		double squares = 0,
		       ridge = isfinite(scale) ? scale * scale / (lack * lack)
					       : SCALE_MIN;

		for (int pass = 0; pass < 2; pass++) {
			for (size_t i = 0; i < n; i++) {
				double x[TERMS] = { 1 }, w;

				memcpy(x + 1, runs[i].sizes,
				    sizeof(runs[i].sizes));
				off = runs[i].log;
				for (int k = 0; k < TERMS; k++)
					off -= beta[k] * x[k];
				w = isfinite(scale) ? (TAIL_DF + 1) /
					(TAIL_DF + off * off / (scale * scale))
						    : 1;
				squares += pass * w * off * off;
				for (int k = 0; pass == 0 && k < TERMS; k++) {
					right[k] += w * x[k] * runs[i].log;
					for (int m = 0; m < TERMS; m++)
						whole[k][m] += w * x[k] * x[m];
				}
			}
			if (pass == 1)
				break;
			memcpy(inverse, whole, sizeof(inverse));
			for (int k = 1; k < TERMS; k++)
				inverse[k][k] += ridge;
			spread_invert(inverse);
			left = (double)n;
			for (int k = 0; k < TERMS; k++) {
				beta[k] = 0;
				for (int m = 0; m < TERMS; m++) {
					beta[k] += inverse[k][m] * right[m];
					left -= inverse[k][m] * whole[m][k];
				}
			}
		}
		scale = fmax(sqrt(squares / fmax(left, 1)), SCALE_MIN);
	}
	ret->se = scale * sqrt(1 + inverse[0][0]);
	ret->df = 1 / (1 / fmax(left, 1) + 1 / TAIL_DF);
	return beta[0];
}

/* d -+ t(df) sqrt(v1/n1 + v2/n2)
 * df = (v1/n1 + v2/n2)^2 / ((v1/n1)^2/(n1-1) + (v2/n2)^2/(n2-1)) */
struct doubt
spread_of_blocks(const struct blocks *a, const struct blocks *b)
{
	struct doubt d = { NAN, NAN };
	double va, vb;

	if (a->n < SPREAD_BLOCKS_MIN || b->n < SPREAD_BLOCKS_MIN)
		return d;
	va = a->square / (a->n - 1) / a->n;
	vb = b->square / (b->n - 1) / b->n;
	if (!(va + vb > 0))
		return d;
	d.se = sqrt(va + vb);
	d.df = d.se * d.se * d.se * d.se /
	    (va * va / (a->n - 1) + vb * vb / (b->n - 1));
	return d;
}

static void
spread_block_close(struct blocks *b)
{
	double x = b->open_sum / b->open_runs, off = x - b->mean;

	b->n++;
	b->mean += off / b->n;
	b->square += off * (x - b->mean);
	b->open_sum = b->open_runs = 0;
}

void
blocks_add(struct blocks *b, uint64_t at_unix_ns, double x)
{
	uint64_t block = at_unix_ns / SPREAD_BLOCK_NS;

	if (b->open_runs > 0 && block != b->block)
		spread_block_close(b);
	b->block = block;
	b->open_sum += x;
	b->open_runs++;
	b->runs++;
}

void
blocks_end(struct blocks *b)
{
	if (b->open_runs > 0)
		spread_block_close(b);
}

struct ratio
spread_widen(const struct ratio *r, double from_level, const struct doubt *d,
    double level)
{
	double scale = robust_normal_quantile(0.5 + level / 2) /
	    robust_normal_quantile(0.5 + from_level / 2);
	struct ratio w = *r;
	double reach = 0;

	if (isfinite(d->se))
		reach = robust_t_quantile(0.5 + level / 2, d->df) * d->se;
	w.lo = r->value * exp(-hypot(log(r->value / r->lo) * scale, reach));
	w.hi = r->value * exp(hypot(log(r->hi / r->value) * scale, reach));
	return w;
}

/*
 * Holm (1979): the most significant of m rows is reported if its interval at 1
 * - 0.05 / m excludes equality; then the next of m - 1.
 */
void
spread_holm(struct compare_row *rows, size_t n, double margin)
{
	size_t left = 0, before;

	for (size_t i = 0; i < n; i++) {
		rows[i].found = 0;
		left += isfinite(rows[i].ratio.lo) &&
		    isfinite(rows[i].ratio.hi);
	}
	do {
		double level = 1 - ERROR_SHARE / (double)(left > 0 ? left : 1);

		before = left;
		for (struct compare_row *r = rows; r < rows + n; r++) {
			struct ratio w = spread_widen(&r->ratio, r->level,
			    &r->doubt, level);

			if (r->found || !isfinite(r->ratio.lo) ||
			    !isfinite(r->ratio.hi) ||
			    (w.lo <= 1 + margin && w.hi >= 1 / (1 + margin)))
				continue;
			r->found = 1;
			left--;
		}
	} while (left > 0 && left < before);
}

static int
spread_largest_first(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

/* Benjamini and Hochberg (1995): the largest k whose k-th largest z is beyond
 * the quantile of 1 - 0.05 k / n. The scatter is the nodes' own, hence t. */
double
spread_z_limit(double *z, size_t n)
{
	double limit = INFINITY;

	qsort(z, n, sizeof(*z), spread_largest_first);
	for (size_t k = n; k > 0 && n > 1 && isinf(limit); k--) {
		double p = ERROR_SHARE * (double)k / (double)n;

		/* None of a t is below the normal's. */
		if (z[k - 1] >= robust_normal_quantile(1 - p) &&
		    z[k - 1] >= robust_t_quantile(1 - p, (double)n - 1))
			limit = z[k - 1];
	}
	return limit;
}
