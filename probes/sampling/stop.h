/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stop.h - the stop rule of a test. Pure.
 *
 * With congestors a visit lasts its share of the time, so that all are equal
 * members of the statistics; after an even number of pairs of visits, at least
 * STOP_PAIRS_MIN, a test ends once the intervals of its impacts are as narrow
 * as requested; the requested precision is the one that is reported. Without
 * congestors, or with fewer visits, a visit ends once the interval of the
 * phase's headline is narrow enough. Never before the minimum of rounds.
 */
#ifndef PROBES_SAMPLING_STOP_H
#define PROBES_SAMPLING_STOP_H

#include <stdint.h>

#include "probes/job/settings.h"
#include "probes/sampling/impact.h"
#include "probes/sampling/tally.h"
#include "schema/names_probe.h"

#define STOP_GO_ON     STOP_MAX /* not yet */
#define STOP_PAIRS_MIN 6        /* fewer hardly know their spread */

struct stop_ask {
	const struct settings *settings;
	const struct tally *tally;
	const struct test_counts *exact; /* NULL: by the rule */
	double q;                        /* quantile of the headline */
	int rounds_exact;                /* in a visit; 0: by the rule */
	int rounds;                      /* in this visit */
	uint64_t visit_ns;               /* spent in this visit */
	int timed_out;
};

/* STOP_GO_ON or what ends the visit. */
enum stop stop_decide(const struct stop_ask *ask);
/* Return 1 if after this many pairs both impacts have the requested
 * precision. */
int stop_pairs(const struct impact_ask *ask, const struct settings *s,
    int pairs);

#endif
