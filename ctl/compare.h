/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.h - two sides set beside each other: runs, periods, a baseline.
 */
#ifndef CTL_COMPARE_H
#define CTL_COMPARE_H

#include "common/table.h"
#include "ctl/ctl.h"

/* A number with its interval, as far as they are known (else NAN). */
struct estimate {
	const char *of; /* "p99", "mean" ...; NULL: there is none */
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

struct compare_row {
	const char *test, *phase;
	struct estimate a, b;
	struct ratio ratio;
	const char *verdict;
	const char *text; /* why there is no ratio, or "" */
};

struct compare_out {
	struct table *table;
	json_t *json;
	double margin;
	int worse; /* how many */
};

/* --margin as "5%" or 0.05; 0 or an exit code. */
int compare_margin(struct ctl *c, double *ret);
void compare_begin(struct compare_out *o, double margin);
void compare_put(struct compare_out *o, const struct compare_row *r);
/* One line for two records, either of which may be NULL. */
void compare_add(struct compare_out *o, const char *test, const char *phase,
    const json_t *a, const json_t *b);
/* All canaries and impacts of two runs. */
void compare_records(struct compare_out *o, const json_t *a, const json_t *b);
/* Prints; the exit code. */
int compare_end(struct ctl *c, struct compare_out *o);

#endif
