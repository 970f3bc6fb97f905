/* SPDX-License-Identifier: Apache-2.0 */
/*
 * histogram.c - both histograms share one range and one scale, so that their
 * bars can be compared by eye; outliers are counted in the outer rows.
 */
#include "ctl/lib/histogram.h"

#include <math.h>
#include <string.h>

#include "common/table.h"
#include "ctl/lib/print.h"

#define ROWS_MAX  16
#define BAR_CELLS 24

/* Which buckets the rows show: first..last in steps. Values beyond are counted
 * in the outermost rows. */
struct span {
	int first, last, step;
};

/* From the lowest 0.1 % to the highest 0.1 % of both, in steps of equal ratio.
 */
static struct span
histogram_span_of(const struct hist *a, const struct hist *b)
{
	double lo = INFINITY, hi = 0;
	const struct hist *both[] = { a, b };
	struct span s;

	for (int i = 0; i < 2; i++) {
		if (both[i]->count == 0)
			continue;
		lo = fmin(lo, hist_quantile(both[i], 0.001));
		hi = fmax(hi, hist_quantile(both[i], 0.999));
	}
	s.first = hist_index(lo);
	s.last = hist_index(hi);
	s.step = (s.last - s.first + ROWS_MAX) / ROWS_MAX;
	return s;
}

/* The share of samples in buckets (from, to]; outer rows take the rest. */
static double
histogram_share(const struct hist *h, const struct span *s, int from)
{
	int lo = from <= s->first ? HIST_FIRST : from;
	int hi = from + s->step > s->last ? HIST_LAST : from + s->step - 1;
	uint64_t n = 0;

	for (int i = lo; i <= hi; i++)
		n += h->bucket[i - HIST_FIRST];
	return h->count == 0 ? 0 : (double)n / (double)h->count;
}

static double
histogram_share_max(const struct hist *h, const struct span *s)
{
	double most = 0;

	for (int at = s->first; at <= s->last; at += s->step)
		most = fmax(most, histogram_share(h, s, at));
	return most;
}

void
histogram_print(const struct hist *left, const char *left_title,
    const struct hist *right, const char *right_title, const char *unit,
    int ascii, FILE *to)
{
	struct span s;
	double scale;

	if (left->count + right->count == 0)
		return;
	s = histogram_span_of(left, right);
	scale = fmax(histogram_share_max(left, &s),
	    histogram_share_max(right, &s));
	if (right->count > 0)
		fprintf(to, "%12s  %7s %-*s  %7s %s\n", "up to", "", BAR_CELLS,
		    left_title, "", right_title);
	else
		fprintf(to, "%12s  %7s %s\n", "up to", "", left_title);
	for (int at = s.first; at <= s.last; at += s.step) {
		int end = at + s.step - 1 > s.last ? s.last : at + s.step - 1;
		double a = histogram_share(left, &s, at),
		       b = histogram_share(right, &s, at);
		char bound[PRINT_BYTES], bar_a[BAR_CELLS * 3 + 1],
		    bar_b[BAR_CELLS * 3 + 1];
		size_t n;

		print_quantity(hist_bound(end), unit, bound);
		table_bar(a / scale, BAR_CELLS, ascii, bar_a, sizeof(bar_a));
		table_bar(b / scale, BAR_CELLS, ascii, bar_b, sizeof(bar_b));
		if (right->count == 0) {
			for (n = strlen(bar_a); n > 0 && bar_a[n - 1] == ' ';)
				bar_a[--n] = '\0';
			fprintf(to, "%12s  %5.1f %%%s%s\n", bound, a * 100,
			    n == 0 ? "" : " ", bar_a);
			continue;
		}
		n = strlen(bar_b);
		while (n > 0 && bar_b[n - 1] == ' ')
			bar_b[--n] = '\0';
		fprintf(to, "%12s  %5.1f %% %s  %5.1f %%%s%s\n", bound, a * 100,
		    bar_a, b * 100, n == 0 ? "" : " ", bar_b);
	}
}
