/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ratio.h - the ratio of two numbers with confidence intervals.
 */
#ifndef CTL_LIB_RATIO_H
#define CTL_LIB_RATIO_H

/* A number with its interval; unknown values are NAN. */
struct estimate {
	const char *of; /* "p99", "mean", ...; NULL: no value */
	const char *unit;
	double value, lo, hi;
	double level;
};

/* A ratio with its interval; unknown values are NAN. */
struct ratio {
	double value, lo, hi;
};

/* Return b / a with its interval, for positive values. */
struct ratio ratio_take(const struct estimate *a, const struct estimate *b);
/* Return the verdict about a ratio: "worse" or "better" if the whole interval
 * is beyond the margin; "same" if the whole interval is within it; "unclear"
 * otherwise; "unknown" without an interval. A larger value is worse in every
 * unit except "B/s". */
const char *ratio_verdict(const struct ratio *r, const char *unit,
    double margin);

#endif
