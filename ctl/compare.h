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

/* What a logarithm of a ratio is uncertain by: a standard error and its degrees
 * of freedom; NAN where not known. */
struct doubt {
	double se, df;
};

struct compare_row {
	const char *test, *phase;
	struct estimate a, b;
	struct ratio ratio; /* as the two sides tell it themselves, */
	double level;       /* at this level, */
	struct doubt doubt; /* and what equal sides differ by beside that */
	int found;          /* beyond the margin and beyond chance */
	char text[112];     /* why there is no ratio, or "" */
};

/* ---- spread.c ---- */

#define SPREAD_RUNS_MIN   8
#define SPREAD_BLOCKS_MIN 3
#define SPREAD_BLOCK_NS   (UINT64_C(6) * 3600 * 1000000000)

/* Means of the runs of six hours each: their number, mean and squares
 * (Welford's), and the block that is still open. */
struct blocks {
	double n, mean, square;
	uint64_t block;
	double open_sum, open_runs, runs;
};

/* Of logarithms in the order of time: what two other such runs differ by; not
 * known of fewer than SPREAD_RUNS_MIN. */
struct doubt spread_of_runs(const double *logs, size_t n);
/* Of the difference of two periods' means (Welch 1947); not known of fewer than
 * SPREAD_BLOCKS_MIN blocks. */
struct doubt spread_of_blocks(const struct blocks *a, const struct blocks *b);
/* A run's logarithm, in the order of time or against it; then the end. */
void blocks_add(struct blocks *b, uint64_t at_unix_ns, double x);
void blocks_end(struct blocks *b);
/* How much longer a run took than was predicted, and by how much its ranks and
 * bytes are more than those that are asked about, all as logarithms. */
#define SPREAD_SIZES 2
struct sized {
	double log, sizes[SPREAD_SIZES];
};
/* What another run of the size that is asked about gives: its centre, and in
 * ret that run's doubt, to be taken with its own df. NAN of fewer than
 * SPREAD_SIZED_MIN. */
#define SPREAD_SIZED_MIN 5
double spread_of_sizes(const struct sized *runs, size_t n, struct doubt *ret);
/* r, whose interval is at from_level, at level, with doubt in quadrature. */
struct ratio spread_widen(const struct ratio *r, double from_level,
    const struct doubt *d, double level);
/* Sets found in the rows of one comparison: of comparisons of equals at most
 * one in twenty has any. */
void spread_holm(struct compare_row *rows, size_t n, double margin);
/* The z from which a node stands out, when one in twenty of those that do may
 * be wrong; INFINITY: none does. Sorts z. */
double spread_z_limit(double *z, size_t n);

/* ---- verbs/compare.c ---- */

struct compare_out {
	struct compare_row *rows;
	size_t count;
	double margin;
	json_t *runs;    /* earlier ones' canaries, newest first; or NULL */
	json_t *impacts; /* and impacts */
};

/* --margin as "5%" or 0.05; 0 or an exit code. */
int compare_margin(struct ctl *c, double *ret);
void compare_begin(struct compare_out *o, double margin);
/* What runs of the campaign before all of these were, for the rows that are
 * added later. 0 or an exit code. */
int compare_history(struct ctl *c, struct compare_out *o, char *const *runs,
    size_t count);
/* The lines of two records, either of which may be NULL. */
void compare_add(struct compare_out *o, const char *test, const char *phase,
    const json_t *a, const json_t *b);
/* Prints what there is and frees it; the exit code. */
int compare_end(struct ctl *c, struct compare_out *o);

#endif
