/* SPDX-License-Identifier: Apache-2.0 */
/*
 * play.h - a scenario is played to the collector's own diagnosis, through the
 * engine's own table of pairs: what does it say, when, and of whom?
 */
#ifndef TESTS_SIM_VERDICT_PLAY_H
#define TESTS_SIM_VERDICT_PLAY_H

#include "tests/sim/verdict/scenario.h"

struct play_result {
	int detected; /* round from 1 in which all guilty ones were told of, */
	int named;    /* and as what they are; 0: never */
	int cleared;  /* nothing is said at the end */
	int kept;     /* all are still told of when the fault ends */
	int green;    /* a guilty node was ok in the last round of it */
	int warned;   /* innocents that were told of, */
	int alarms;   /* and that were bad */
	int runs;     /* confirmation runs */
	/* After its begin: all guilty ones were told of, and named; after its
	 * end: nothing was said any more. 0: never. */
	double minutes[3];
	double hours;
};
/* verbose: what the diagnosis says goes to stdout. */
void play(const struct scenario *s, int rounds, uint64_t seed, int verbose,
    struct play_result *ret);

#endif
