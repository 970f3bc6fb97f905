/* SPDX-License-Identifier: Apache-2.0 */
/*
 * play.h - play a scenario to the collector's own diagnosis, through the
 * engine's own table of pairs, and record its verdicts.
 */
#ifndef TESTS_SIM_VERDICT_PLAY_H
#define TESTS_SIM_VERDICT_PLAY_H

#include "tests/sim/verdict/scenario.h"

struct play_result {
	int detected; /* round from 1 in which all guilty ones had a verdict, */
	int named;    /* and the right kind of it; 0: never */
	int cleared;  /* no verdict is left at the end */
	int kept;     /* all are still told of when the fault ends */
	int green;    /* a guilty node was ok in the last round of it */
	int warned;   /* innocents with a verdict, */
	int alarms;   /* and that were bad */
	int runs;     /* confirmation runs */
	/* Minutes from the start of the fault until all faulty parts had a
	 * verdict, and the right one; from its end until no verdict was left.
	 * 0: never. */
	double minutes[3];
	double hours;
};
/* verbose: print the verdicts to stdout. */
void play(const struct scenario *s, int rounds, uint64_t seed, int verbose,
    struct play_result *ret);

#endif
