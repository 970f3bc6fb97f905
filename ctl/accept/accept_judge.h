/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accept_judge.h - decide from measurements whether the parts of a cluster hold
 * their promises: each part holds its promise, fails it, or is undetermined.
 * The functions are pure.
 *
 * A path is measured as a whole and is as fast as its slowest part. Each path
 * is tested against the least share of its promise, in both directions, and the
 * error of all tests of a report together is limited (Holm 1979). The states of
 * parts follow from the paths by logic, which adds no error.
 */
#ifndef CTL_ACCEPT_ACCEPT_JUDGE_H
#define CTL_ACCEPT_ACCEPT_JUDGE_H

#include <stddef.h>
#include <stdint.h>

#define ACCEPT_RUNS_MAX  64 /* most runs that measure a path */
#define ACCEPT_PARTS_MAX 3  /* most parts of a path */
/* The measurements are judged up to this many times, with more runs each time.
 * Each judgement gets this part of the error. */
#define ACCEPT_LOOKS 3

/* The result for a path or a part. */
enum accept_state { ACCEPT_OPEN, ACCEPT_HOLDS, ACCEPT_FAILS, ACCEPT_STATE_MAX };
extern const char *const accept_states[ACCEPT_STATE_MAX];

/* A path and its measurements. */
struct accept_path {
	/* Class of the path; paths of a class have the same scatter. */
	size_t class;
	uint32_t parts[ACCEPT_PARTS_MAX];
	size_t part_count;
	/* Logarithms of measured rate / promised rate. */
	double x[ACCEPT_RUNS_MAX];
	size_t n; /* number of measurements */
	/* How much slower its ranks' waiting for CPU cores may have made the
	 * measurements: the sum of logarithms. It excuses, and proves nothing.
	 */
	double doubt;
	/* Set by accept_judge; value, lo and hi are NAN if n is 0. */
	/* Share of the promise, with an interval that holds for all paths
	 * together. */
	double value, lo, hi;
	enum accept_state state;
	int is_excused; /* it would fail, if its ranks had not waited */
};

/* The result for a part. */
struct accept_part {
	enum accept_state state;
	double value; /* value of its best path; NAN: not measured */
	double lo, hi;
	/* Number of paths that were measured, and that fail. */
	size_t paths, slow;
	size_t excused; /* number of paths that are */
};

/* The options of a judgement. */
struct accept_options {
	double share; /* share of the promise that has to be reached */
	/* Largest probability of any wrong statement of one kind. */
	double error;
	size_t paths; /* number of paths of the whole report, measured or not */
};

/* Add a measurement to a path, and 1 to *count, if it is finite and there is
 * room. */
void accept_path_add(struct accept_path *p, double x, double doubt,
    size_t *count);
/* Judge all paths and parts. */
void accept_judge(const struct accept_options *o, struct accept_path *paths,
    size_t path_count, struct accept_part *parts, size_t part_count);
/* Let each part fail that is the only one to explain a path that fails, for
 * callers that have changed states of parts. */
void accept_blame(const struct accept_path *paths, size_t path_count,
    struct accept_part *parts);
/* Return the largest share of its promise at which a path of that class is
 * found with the given probability; NAN: unknown. */
double accept_detects(const struct accept_options *o,
    const struct accept_path *paths, size_t path_count, size_t class,
    double probability);
/* Return the number of runs with which a path at that share of its promise is
 * found with the given probability, if logarithms have this scatter; at most
 * ACCEPT_RUNS_MAX. */
size_t accept_runs(const struct accept_options *o, double scatter,
    double found_share, double probability);
/* Return that quantile of the mean logarithms of a class, at most 0; NAN
 * without any. */
double accept_typical(const struct accept_path *paths, size_t path_count,
    size_t class, double quantile);
/* Subtract `by` from the measurements of a class. */
void accept_shift(struct accept_path *paths, size_t path_count, size_t class,
    double by);

#endif
