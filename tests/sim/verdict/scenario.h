/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario.h - a simulated cluster with its normal differences and its faults:
 * read from a file of tests/sim/verdict/scenarios.
 */
#ifndef TESTS_SIM_VERDICT_SCENARIO_H
#define TESTS_SIM_VERDICT_SCENARIO_H

#include <stdint.h>

#include "common/conf.h"

#define SCENARIO_FAULTS 2
#define SCENARIO_ROUND  (300ULL * 1000000000ULL) /* ns */

/* What breaks, in the order of kinds in scenario.c. */
enum fault_kind {
	FAULT_NONE,
	FAULT_NODE,           /* a node, with everyone */
	FAULT_ONE_WAY,        /* traffic that a node sends, or receives */
	FAULT_LEAF,           /* all pairs of a leaf */
	FAULT_UPLINK,         /* one of cluster.uplinks of a leaf */
	FAULT_SPINE,          /* one of cluster.spines of a pod */
	FAULT_CORE,           /* one of as many switches above the pods */
	FAULT_FLEET,          /* everything */
	FAULT_HOST,           /* a node whose CPU is taken, and it shows */
	FAULT_PORT,           /* a port that has trained to a lower rate */
	FAULT_RAIL,           /* one of cluster.rails of a node */
	FAULT_UPLINK_ONE_WAY, /* what leaves a leaf, or enters it */
	/* What only the mesh feels: */
	FAULT_LOSS, /* a node loses datagrams */
	FAULT_UPLINK_LOSS,
	FAULT_MTU, /* a node loses all large ones */
	FAULT_UPLINK_MTU,
	FAULT_SPINE_MTU,
	FAULT_SPINE_DEAD, /* it loses all */
	FAULT_MAX
};

struct fault {
	enum fault_kind kind;
	uint32_t count; /* nodes or leaves */
	double effect;  /* logarithm; of a loss the share, of a port its rate */
	double flows;   /* share of a pair's connections that meet it */
	double ramp;    /* rounds until all of the effect is there */
	size_t
	    pairs; /* effective while at least this many are measured at once */
	uint64_t on_ns, every_ns; /* there for on of every; 0: always */
	int lat, bw, incast;      /* which tests feel it */
};

struct scenario {
	const char *name; /* of the file */
	const char *about;
	int trials, quick_trials, rounds, quick_rounds, calm, heal;
	uint64_t every_ns; /* of rounds */
	int between;       /* it breaks and heals at any time between rounds */
	int restart;       /* the collector restarts before that round with the
			      fault; 0: never */
	struct {           /* normal differences */
		uint32_t nodes, leaf_min, leaf_max;
		int leaves_known, uplinks, spines, partners, bw_partners, mesh,
		    bw, rails, incast;
		int topology, pods;
		double noise, odd_share, odd_mean; /* of a pair, a round */
		double node_sd, leaf_sd, inside, loss, waits;
		double wander, leaf_wander, keep, day;
		double kind_share, kind_effect;
		int kind_known;
	} cluster;
	struct {
		double share, effect, crossing, crossing_share, hours;
		int fill; /* whole leaves */
	} jobs;
	struct fault faults[SCENARIO_FAULTS];
	struct {                        /* bounds */
		double detected, named; /* shares of trials */
		int detected_within, named_within;
		double alarms, warned, runs; /* a trial, a trial, an hour */
		double cleared, kept, green;
		double minutes[3]; /* medians: told of, named, cleared */
	} expect;
	struct conf *conf;
};

/* Read a file. Exit with a message if it is invalid. */
void scenario_load(const char *path, struct scenario *ret);
void scenario_free(struct scenario *s);

#endif
