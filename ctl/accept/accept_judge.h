/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accept_judge.h - what measurements say about promises: each part holds its
 * promise, fails it, or is undetermined. Pure.
 *
 * A path is measured as a whole and is as fast as its slowest part. Each path
 * is tested against the least share of its promise, in both directions, and the
 * error of all tests of a report together is limited (Holm 1979). Parts follow
 * from paths by logic, which adds no error.
 */
#ifndef CTL_ACCEPT_ACCEPT_JUDGE_H
#define CTL_ACCEPT_ACCEPT_JUDGE_H

#include <stddef.h>
#include <stdint.h>

#define ACCEPT_RUNS_MAX  64
#define ACCEPT_PARTS_MAX 2 /* of a path */
/* Measurements are judged up to this many times, with more runs each time; each
 * judgement gets this part of the error. */
#define ACCEPT_LOOKS 3

enum accept_state { ACCEPT_OPEN, ACCEPT_HOLDS, ACCEPT_FAILS, ACCEPT_STATE_MAX };
extern const char *const accept_states[ACCEPT_STATE_MAX];

struct accept_path {
	size_t class; /* of paths that scatter equally */
	uint32_t parts[ACCEPT_PARTS_MAX];
	size_t part_count;
	double x[ACCEPT_RUNS_MAX]; /* logarithms of rate over promised rate */
	size_t n;
	/* of accept_judge; NAN where n is 0 */
	double value, lo, hi; /* share of the promise; interval for all paths */
	enum accept_state state;
};

struct accept_part {
	enum accept_state state;
	double value; /* of its best path; NAN: not measured */
	double lo, hi;
	size_t paths, slow; /* measured, and those that fail */
};

struct accept_options {
	double share; /* of the promise that has to be reached */
	double error; /* probability of any wrong statement of a kind */
	size_t paths; /* that the whole report has, measured or not */
};

/* Judge all paths and parts. */
void accept_judge(const struct accept_options *o, struct accept_path *paths,
    size_t path_count, struct accept_part *parts, size_t part_count);
/* Return the share of its promise at or below which a path of that class is
 * found with the given probability; NAN: not known. */
double accept_detects(const struct accept_options *o,
    const struct accept_path *paths, size_t path_count, size_t class,
    double probability);
/* Return the number of runs by which a path at that share of its promise is
 * found with the given probability, for a scatter of logarithms; at most
 * ACCEPT_RUNS_MAX. */
size_t accept_runs(const struct accept_options *o, double scatter,
    double found_share, double probability);
/* Return that quantile of the means of a class, at most 0; NAN without any. */
double accept_typical(const struct accept_path *paths, size_t path_count,
    size_t class, double quantile);
/* Subtract it from the measurements of a class. */
void accept_shift(struct accept_path *paths, size_t path_count, size_t class,
    double by);

#endif
