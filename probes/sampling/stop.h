/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stop.h - when a test has measured enough. Pure.
 *
 * A test stops in a visit once its headline is known well enough, or when the
 * visit's share of its time is used; never before its minimum of rounds, which
 * keeps every visit a full member of the statistics.
 */
#ifndef PROBES_SAMPLING_STOP_H
#define PROBES_SAMPLING_STOP_H

#include <stdint.h>

#include "probes/job/settings.h"
#include "probes/sampling/tally.h"

#define STOP_GO_ON STOP_MAX /* not yet */

/* GPCNeT's counts for one test: rings in a measurement, operations on a ring
 * and before it, measurements. */
struct stop_exact {
	int rings;
	int iterations;
	int warmup;
	int measurements;
};
extern const struct stop_exact stop_exact[CANARY_MAX];

struct stop_ask {
	const struct settings *settings;
	const struct tally *tally;
	const struct stop_exact *exact; /* NULL: by the rule */
	double q;                       /* quantile of the headline */
	int rounds;                     /* in this visit */
	uint64_t visit_ns;              /* spent in this visit */
	int timed_out;
};

/* STOP_GO_ON or what ends the visit. */
enum stop stop_decide(const struct stop_ask *ask);

#endif
