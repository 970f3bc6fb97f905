/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_verdict.c [-q] [-v] [-n NUMBER] [-t TRIALS] [FILE...] - print a table
 * of the scenarios, and whether each was within its bounds. -q: the number of
 * trials of the quick test; -t: at most this many trials of each; -v: one trial
 * of each with all texts of the diagnosis, the first one or number -n.
 */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/xalloc.h"
#include "tests/sim/verdict/play.h"

#define SEED 20261121

static int failed;
static uint64_t number; /* of the first trial */

static void
bound(const struct scenario *s, const char *what, double got, double want,
    int at_least)
{
	if (at_least ? got >= want - 1e-9 : got <= want + 1e-9)
		return;
	fprintf(stderr, "%s: %s %.4g, expected at %s %.4g\n", s->name, what,
	    got, at_least ? "least" : "most", want);
	failed = 1;
}

static int
double_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Use only trials with a time. */
static void
bound_minutes(const struct scenario *s, double *const minutes[3],
    const int count[3])
{
	static const char *const whats[] = { "minutes until told",
		"minutes until named", "minutes until clear" };

	for (int i = 0; i < 3; i++) {
		if (s->expect.minutes[i] == 0)
			continue;
		qsort(minutes[i], (size_t)count[i], sizeof(double),
		    double_order);
		fprintf(stderr, "%s: %s %.1f (median of %d)\n", s->name,
		    whats[i], minutes[i][count[i] / 2], count[i]);
		bound(s, whats[i],
		    count[i] == 0 ? INFINITY : minutes[i][count[i] / 2],
		    s->expect.minutes[i], 0);
	}
}

static int
int_order(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* The median round of the trials that found the fault. */
static int
median_of(int *x, int n)
{
	qsort(x, (size_t)n, sizeof(*x), int_order);
	return n == 0 ? 0 : x[n / 2];
}

static void
run(const char *path, int quick, int most, int verbose)
{
	struct scenario s;
	struct play_result r;
	int trials, rounds, detected = 0, named = 0, cleared = 0;
	int kept = 0, green = 0;
	int in_time = 0, named_in_time = 0, found = 0;
	int *at, minute_count[3] = { 0 };
	double *minutes[3];
	double warned = 0, alarms = 0, runs = 0, hours = 0, n;

	scenario_load(path, &s);
	rounds = quick && s.quick_rounds > 0 ? s.quick_rounds : s.rounds;
	trials = quick ? s.quick_trials : s.trials < most ? s.trials : most;
	trials = verbose && trials > 0 ? 1 : trials;
	at = xcalloc((size_t)trials + 1, sizeof(*at));
	for (int k = 0; k < 3; k++)
		minutes[k] = xcalloc((size_t)trials + 1, sizeof(double));
	for (int i = 0; i < trials; i++) {
		int within = s.expect.detected_within;

		play(&s, rounds, SEED + number + (uint64_t)i, verbose, &r);
		detected += r.detected > 0;
		in_time += r.detected > 0 &&
		    (within == 0 || r.detected <= within);
		within = s.expect.named_within;
		named += r.named > 0;
		named_in_time += r.named > 0 &&
		    (within == 0 || r.named <= within);
		if (r.named > 0)
			at[found++] = r.named;
		for (int k = 0; k < 3; k++)
			if (r.minutes[k] > 0)
				minutes[k][minute_count[k]++] = r.minutes[k];
		cleared += r.cleared;
		kept += r.kept;
		green += r.green;
		warned += r.warned;
		alarms += r.alarms;
		runs += r.runs;
		hours += r.hours;
	}
	n = trials;
	if (trials > 0) {
		printf("| %s | %d |", s.about, trials);
		if (s.faults[0].kind == FAULT_NONE)
			printf(" - | - | - |");
		else
			printf(" %.1f %% | %.1f %% | %d |", 100 * detected / n,
			    100 * named / n, median_of(at, found));
		printf(" %.2f | %.2f | %.3f | %.0f %% |\n", runs / hours,
		    warned / n, alarms / n, 100 * cleared / n);
		fflush(stdout);
		bound(&s, "detected", in_time / n, s.expect.detected, 1);
		bound(&s, "named", named_in_time / n, s.expect.named, 1);
		bound(&s, "kept", kept / n, s.expect.kept, 1);
		bound(&s, "green though at fault", green / n, s.expect.green,
		    0);
		bound(&s, "cleared", cleared / n, s.expect.cleared, 1);
		bound(&s, "false alarms", alarms / n, s.expect.alarms, 0);
		bound(&s, "healthy parts warned", warned / n, s.expect.warned,
		    0);
		bound(&s, "confirmation runs an hour", runs / hours,
		    s.expect.runs, 0);
		bound_minutes(&s, minutes, minute_count);
	}
	free(at);
	for (int k = 0; k < 3; k++)
		free(minutes[k]);
	scenario_free(&s);
}

int
main(int argc, char **argv)
{
	int quick = 0, verbose = 0, opt, most = INT_MAX;

	while ((opt = getopt(argc, argv, "n:qt:v")) != -1) {
		if (opt == 'q')
			quick = 1;
		else if (opt == 'v')
			verbose = 1;
		else if (opt == 'n')
			number = (uint64_t)atoll(optarg);
		else if (opt == 't')
			most = atoi(optarg);
		else
			return 2;
	}
	printf("| scenario | trials | detected | named | rounds until named "
	       "(median) | confirmation runs an hour | healthy parts with a "
	       "warning | false alarms | cleared |\n"
	       "|---|---:|---:|---:|---:|---:|---:|---:|---:|\n");
	for (int i = optind; i < argc; i++)
		run(argv[i], quick, most, verbose);
	return failed;
}
