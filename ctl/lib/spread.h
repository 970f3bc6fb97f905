/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spread.h - how much equal runs and equal periods differ from each other. Only
 * a difference beyond that is a difference of the network.
 */
#ifndef CTL_LIB_SPREAD_H
#define CTL_LIB_SPREAD_H

#include <stddef.h>
#include <stdint.h>

#include "ctl/lib/ratio.h"

/* The uncertainty of the logarithm of a ratio: a standard error and its degrees
 * of freedom; NAN if unknown. */
struct doubt {
	double se, df;
};

/* A line of a comparison. */
struct compare_row {
	const char *test, *phase;
	struct estimate a, b;
	/* The ratio of a and b with the intervals that they have themselves. */
	struct ratio ratio;
	double level;       /* confidence level of ratio */
	struct doubt doubt; /* the additional difference between equal sides */
	/* 1: the difference is beyond the margin and beyond chance. */
	int found;
	char text[112]; /* why the ratio is missing, or "" */
};

#define SPREAD_RUNS_MIN   8
#define SPREAD_BLOCKS_MIN 3
#define SPREAD_BLOCK_NS   (UINT64_C(6) * 3600 * 1000000000)

/* The mean results of blocks of six hours: their number, mean and sum of
 * squares (Welford's method), and the block that is still open. */
struct blocks {
	double n, mean, square;
	uint64_t block;
	double open_sum, open_runs, runs;
};

/* Return how much two further runs would differ, from the logarithms of earlier
 * runs in the order of time; unknown for fewer than SPREAD_RUNS_MIN runs. */
struct doubt spread_of_runs(const double *logs, size_t n);
/* Return the uncertainty of the difference of two periods' means (Welch 1947);
 * unknown for fewer than SPREAD_BLOCKS_MIN blocks. */
struct doubt spread_of_blocks(const struct blocks *a, const struct blocks *b);
/* Add the logarithm of a run, in ascending or descending order of time.
 * blocks_end closes the last block. */
void blocks_add(struct blocks *b, uint64_t at_unix_ns, double x);
void blocks_end(struct blocks *b);
/* A run of another size, as logarithms: how much longer it took than predicted,
 * and by how much its ranks and bytes exceed those of the run in question. */
#define SPREAD_SIZES 2
struct sized {
	double log, sizes[SPREAD_SIZES];
};
/* Predict a run of the size in question. Return its expected logarithm; ret:
 * its uncertainty, with degrees of freedom of its own. NAN for fewer than
 * SPREAD_SIZED_MIN runs. */
#define SPREAD_SIZED_MIN 5
double spread_of_sizes(const struct sized *runs, size_t n, struct doubt *ret);
/* Return r, whose interval has from_level, with an interval at level that
 * includes the uncertainty d (added in quadrature). */
struct ratio spread_widen(const struct ratio *r, double from_level,
    const struct doubt *d, double level);
/* Set found in the rows of one comparison (Holm's procedure): of comparisons of
 * equal sides at most one in twenty has any row that is found. */
void spread_holm(struct compare_row *rows, size_t n, double margin);
/* Return the z from which a node is an outlier, if one in twenty outliers may
 * be wrong; INFINITY: no node is one. Sorts z. */
double spread_z_limit(double *z, size_t n);

#endif
