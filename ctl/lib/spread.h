/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spread.h - how much equal runs and equal periods differ, so that a difference
 * beyond it is one of the network.
 */
#ifndef CTL_LIB_SPREAD_H
#define CTL_LIB_SPREAD_H

#include <stddef.h>
#include <stdint.h>

#include "ctl/lib/ratio.h"

/* The uncertainty of a logarithm of a ratio: a standard error and its degrees
 * of freedom; NAN if unknown. */
struct doubt {
	double se, df;
};

struct compare_row {
	const char *test, *phase;
	struct estimate a, b;
	struct ratio ratio; /* as the two sides tell it themselves, */
	double level;       /* at this level, */
	struct doubt doubt; /* plus the difference between equal sides */
	int found;          /* beyond the margin and beyond chance */
	char text[112];     /* why the ratio is missing, or "" */
};

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

#endif
