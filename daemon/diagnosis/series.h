/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series.h - series of rounds of one kind, class, rail and device, each with
 * its judge and with all that is learned from its rounds.
 */
#ifndef DAEMON_DIAGNOSIS_SERIES_H
#define DAEMON_DIAGNOSIS_SERIES_H

#include <jansson.h>

#include "daemon/cluster/roster.h"
#include "daemon/diagnosis/stats/drift.h"
#include "daemon/diagnosis/stats/judge.h"
#include "daemon/diagnosis/stats/rhythm.h"
#include "daemon/diagnosis/stats/usual.h"
#include "schema/names_probe.h"
#include "schema/names_verdict.h"

struct diagnosis;

#define DIAGNOSIS_CLASS_MAX 16 /* bytes of the name of a class of campaigns */
/* Series that a collector keeps: tests with random and with fixed partners,
 * echoes and facts, and those of single rails. */
#define SERIES_MAX   (2 * CANARY_MAX + 16 + SERIES_RAILS)
#define SERIES_RAILS 64 /* tests times rails */

/* Kinds of rounds: a test, by its number, or one of the mesh; and what shows a
 * fault without rounds, SERIES_FACT + enum what. */
enum {
	DIAGNOSIS_ECHO_LEAF = CANARY_MAX,
	DIAGNOSIS_ECHO_SPINE,
	DIAGNOSIS_LOSS_LEAF,
	DIAGNOSIS_LOSS_SPINE,
	SERIES_FACT,
	SERIES_KIND_MAX = SERIES_FACT + WHAT_MAX
};
/* The properties of a kind of rounds: name, unit of values, 1 for rates, 1 for
 * losses. */
struct series_kind {
	const char *name, *unit;
	int is_rate, is_loss;
	/* A smaller difference is recorded but not judged: applications do not
	 * notice it. */
	double least_s;
};

/* A series of rounds of one kind, with its judge. */
struct diagnosis_series {
	char class[DIAGNOSIS_CLASS_MAX];
	int sort;     /* enum test, or a kind of the mesh */
	int partners; /* enum partners: a ring is as slow as its slowest node */
	/* Rails take turns, one per round: rounds of one rail, or "" for all. A
	 * slow rail is an outlier in its own rounds, a slow node in all. */
	char rail[ROSTER_RAIL_BYTES];
	char device[8]; /* device of the memory; "": the host's */
	uint32_t bytes; /* size of a message; 0: the size of the test */
	uint64_t rounds, heard_round; /* number of rounds; for a rail: number of
				       * its newest round in the series of all
				       * rails */
	/* Time of the newest round; interval of rounds, or 0. */
	uint64_t heard_ns, every_ns;
	struct judge *judge;
	struct drift *drifts;       /* by node id */
	struct wander wander;       /* wander of the newest means of nodes */
	struct wander paths_wander; /* wander of the shares of leaves */
	double odd; /* share of outlying rounds of nodes, in about ten rounds */
	int drift_begun; /* 1: its pinned values were loaded */
	size_t drift_count;
	double level; /* mean logarithm of the rounds' medians */
	uint32_t level_n;
	double limit; /* limit of the cumulative sums, for limit_nodes nodes */
	size_t limit_nodes;
	/* All nodes together: the mean distance of each from its own level in
	 * the newest round; its usual course; and the rest. */
	double fleet_now;
	struct rhythm rhythm;
	struct drift fleet;
	struct drift *paths; /* by leaf: share of its slow pairs, less the share
			      * of all */
	/* For each leaf: the shares of slow pairs and of busy nodes in the last
	 * rounds, and sums of their squares (of slow pairs the excess) over
	 * earlier rounds. */
	double *paths_now, *busy_now, *jobs_slow, *jobs_busy;
	uint32_t paths_count;
	struct member_sum *members; /* by node id */
	size_t members_count;
	/* For each stage of spines: the share of slow pairs that most of its
	 * leaves have. */
	struct drift *stages;
	uint32_t stages_count;
	int stage_told; /* 1: spines without a name were reported */
	/* Number of nodes, and of slow ones, in the newest round. */
	uint32_t fleet_nodes, fleet_slow;
	double busy_slow; /* share of pairs that jobs may slow everywhere */
};

/* Evidence that more pairs of a node are slow than of the other nodes of its
 * leaf. */
struct member_sum {
	double sum;         /* sum of log likelihood ratios */
	double share, rest; /* share of slow pairs in the last rounds: of this
			       node; of the other nodes */
	uint32_t rounds;    /* since the sum was 0 */
	uint8_t raised;
};

/* Return the properties of a kind; the kind with this name. */
struct series_kind series_kind(int sort);
int series_kind_find(const char *name); /* or -ENOENT */
/* Return the series of these rounds, which is created if it does not exist;
 * NULL: there are too many series. */
struct diagnosis_series *diagnosis_series_of(struct diagnosis *d,
    const char *class, int sort, int partners);
/* Return the series of a fault that is shown without rounds. */
struct diagnosis_series *series_fact(struct diagnosis *d, enum what what);
/* A series of one rail, of memory of a device or of messages of one size. */
struct diagnosis_series_key {
	const char *class;
	int sort, partners;
	const char *rail, *device; /* "": all rails, the host */
	uint32_t bytes;            /* 0: the size of the test */
};
struct diagnosis_series *diagnosis_series_at(struct diagnosis *d,
    const struct diagnosis_series_key *key);
/* Return the series of a stored object, from its test, class, partners, rail,
 * device and bytes; NULL: no such test. */
struct diagnosis_series *diagnosis_series_stored(struct diagnosis *d,
    const json_t *o);
/* Learn the level of the fleet from now on. */
void series_fleet_begin(struct diagnosis_series *s);
/* Allocate the state of leaves, stages, nodes and members. */
void series_room(struct diagnosis *d, struct diagnosis_series *s,
    uint32_t leaves);
/* Return the drift and the evidence of a node, which are created if they do not
 * exist. */
struct drift *series_drift_need(struct diagnosis_series *s, uint32_t node);
struct member_sum *series_member(struct diagnosis_series *s, uint32_t node);
/* Return the drift of a node; NULL: the series has no data of the node. */
const struct drift *series_drift_of(const struct diagnosis_series *s,
    uint32_t node);
/* Clear the sums of slow pairs of a leaf or node, or over a stage. */
void series_forget_paths(struct diagnosis_series *s, enum judge_kind kind,
    uint32_t index);
/* Clear the sums of slow pairs in all kinds of rounds, after one kind has shown
 * that the paths have recovered. */
void diagnosis_forget_paths(struct diagnosis *d, enum judge_kind kind,
    uint32_t index);
void diagnosis_series_free(struct diagnosis *d);

#endif
