/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ratio.h - the ratio of two numbers with their intervals.
 */
#ifndef CTL_LIB_RATIO_H
#define CTL_LIB_RATIO_H

/* A number with its interval, as far as they are known (else NAN). */
struct estimate {
	const char *of; /* "p99", "mean" ...; NULL: no value */
	const char *unit;
	double value, lo, hi;
	double level;
};

struct ratio {
	double value, lo, hi; /* NAN where not known */
};

/* b over a; of positive values only. */
struct ratio ratio_take(const struct estimate *a, const struct estimate *b);
/* worse or better only where the whole interval is beyond the margin, same
 * only where all of it is inside, else nothing is known: unclear; unknown
 * without an interval. More is worse in every unit but "B/s". */
const char *ratio_verdict(const struct ratio *r, const char *unit,
    double margin);

#endif
