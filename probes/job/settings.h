/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.h - a campaign as the engine uses it: names are resolved, times are
 * in nanoseconds.
 *
 * Every rank reads it from the same text, so that every rank decides the same.
 */
#ifndef PROBES_JOB_SETTINGS_H
#define PROBES_JOB_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

#include "common/conf.h"
#include "probes/job/roles.h"
#include "probes/plan/plan.h"
#include "schema/names_probe.h"
#include "schema/options.h"

#define COMMAND_LINE_BYTES 2001

/* The ranks that run the program of the test command, in the order of the
 * option's words. */
enum command_on { COMMAND_FIRST, COMMAND_EACH };

/* The settings. */
struct settings {
	enum canary_test tests[CANARY_MAX];
	int test_count;
	enum congestor kinds[CONGESTOR_MAX]; /* empty for the mix "none" */
	int kind_count;
	/* Relative number of nodes of each kind; all 0: equal numbers. */
	int kind_shares[CONGESTOR_MAX];
	enum roles_placement placement;
	char leaves[CAMPAIGN_LEAVES_MAX + 1]; /* for roles_order */
	double share;  /* share of the nodes that are canaries */
	uint64_t seed; /* never 0: rank 0 chooses a seed if the file has none */

	double precision; /* half width of the p99 interval, relative to p99 */
	double level;     /* confidence level of intervals */
	/* Time of one test in one phase, all visits together. */
	uint64_t time_ns;
	size_t bytes;      /* size of messages; 0: the size of each test */
	size_t rate_bytes; /* the same for tests of bandwidth */
	int rounds_min;    /* least number of rounds */
	int iterations;    /* operations of a round; 0: chosen by time */
	/* Rounds of one operation of a rate test; 0: like other tests. */
	int large_rounds;
	int warmup;          /* operations before a round */
	uint64_t timeout_ns; /* time limit of a round */
	/* Limit of a wait between two ranks without progress. */
	uint64_t stuck_ns;
	int raw; /* 1: write round records */
	enum partners partners;
	int exact; /* 1: GPCNeT's loop counts are used */

	/* Settings of the test command. */
	char command[COMMAND_LINE_BYTES];
	enum command_on command_on;
	int command_repetitions; /* runs of the program in a visit */
	uint64_t command_interval_ns, command_timeout_ns;

	size_t congestor_bytes; /* message size of congestors */
	size_t allreduce_bytes; /* message size of the congestor allreduce */
	int rates;              /* 1: measure the congestors' own rates */
	uint64_t load_warmup_ns;
	uint64_t burst_ns, pause_ns; /* burst_ns 0: no pauses */
	/* Share of a burst in which the congestors send. */
	double strength;

	int visits; /* number of visits to each phase */

	/* The options measure.device and measure.gpu_aware. */
	char device[16], gpu_aware[8];
	enum plan_via via;
	int share_gpu; /* 1: ranks may share a GPU */
	/* The phase without congestors: isolated or production. */
	enum phase quiet;
};

/* Read the settings from a campaign. */
void settings_read(const struct conf *c, struct settings *ret);
/* Return the operations in a round of this test; 0: chosen by time. */
int settings_iterations(const struct settings *s, enum canary_test test);
/* Return the exact number of rounds in a visit; 0: the stop rule decides. */
int settings_rounds(const struct settings *s, enum canary_test test);
/* Return 1 if the campaign has a congested phase, 0 if not. */
int settings_congested(const struct settings *s);
/* Return 1 if the congested visit of this pair of visits comes first, 0 if not.
 * The order is random by pair, from the seed. The second pair has the opposite
 * order of the first, so that two pairs distinguish a drift from an impact. */
int settings_loaded_first(uint64_t seed, int pair);
/* Return the phase of visit number i among the 2 * visits visits to both phases
 * (`visits` visits without congestors). Consecutive visits form the pairs.
 * *ret_visit: its number within the phase, from 0. A single pair begins with
 * the phase without congestors. */
enum phase settings_phase(const struct settings *s, int i, int *ret_visit);
/* Return the number of visits to all phases. */
int settings_stretches(const struct settings *s);

#endif
