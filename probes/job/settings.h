/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.h - a campaign as the engine uses it: names resolved, spans in ns.
 *
 * Every rank fills it from the same text, so every rank decides alike.
 */
#ifndef PROBES_JOB_SETTINGS_H
#define PROBES_JOB_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

#include "common/conf.h"
#include "probes/job/roles.h"
#include "probes/plan/plan.h"
#include "schema/names_probe.h"

#define COMMAND_LINE_BYTES 2001

/* In the order of the option's words. */
enum command_on { COMMAND_FIRST, COMMAND_EACH };

struct settings {
	enum canary_test tests[CANARY_MAX];
	int test_count;
	enum congestor kinds[CONGESTOR_MAX]; /* none is an empty list */
	int kind_count;
	double share;  /* of the nodes, for canaries */
	uint64_t seed; /* never 0: rank 0 chose one if the file had none */

	double precision; /* half width of the p99 interval over p99 */
	double level;
	uint64_t time_ns; /* of one test in one phase, all visits together */
	int rounds_min;
	int iterations;   /* of a round; 0: chosen by time */
	int large_rounds; /* of one operation of a rate; 0: as of others */
	int warmup;       /* operations before a round */
	uint64_t timeout_ns;
	uint64_t stuck_ns; /* nothing moves between two ranks */
	int raw;
	enum partners partners;
	int exact; /* 1: GPCNeT's loop counts */

	/* Of the test command. */
	char command[COMMAND_LINE_BYTES];
	enum command_on command_on;
	int command_repetitions; /* in a visit */
	uint64_t command_interval_ns, command_timeout_ns;

	size_t congestor_bytes;
	size_t allreduce_bytes;
	int rates;
	uint64_t load_warmup_ns;
	uint64_t burst_ns, pause_ns; /* burst 0: no pauses */
	double strength;             /* share of the time of a burst */

	int visits; /* to each phase */

	char device[16], gpu_aware[8]; /* as measure says */
	enum plan_via via;
	int share_gpu;
	enum phase quiet;
};

void settings_read(const struct conf *c, struct settings *ret);
/* Operations in a round of that test; 0: chosen by time. */
int settings_iterations(const struct settings *s, enum canary_test test);
/* Exact number of rounds in a visit; 0: by the stop rule. */
int settings_rounds(const struct settings *s, enum canary_test test);
/* 1 when the campaign has a congested phase. */
int settings_congested(const struct settings *s);
/* Return 1 if the congested visit of this pair of visits is first. Random by
 * pair, from the seed; the second pair has the opposite order of the first, so
 * that two pairs distinguish a drift from an impact. */
int settings_loaded_first(uint64_t seed, int pair);
/* Phase of stretch number i of 2 * visits (visits without congestors); pairs of
 * visits are neighbours. *ret_visit counts from 0 within the phase. A single
 * pair begins with the quiet phase. */
enum phase settings_phase(const struct settings *s, int i, int *ret_visit);
/* How many stretches there are. */
int settings_stretches(const struct settings *s);

#endif
