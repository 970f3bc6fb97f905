/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rail_stats.h - the bytes and rates of a plan by node and by rail. A rail is
 * the nth rank of every node, with its traffic between nodes. Only rank 0 has
 * them.
 *
 * A rank's time is the best time of its part, because any disturbance makes it
 * longer. A transfer takes as long as the longer of its two ends, because a
 * sender may be done when its bytes are in a queue. Therefore a rail of a node
 * takes as long as the longest of its transfers. Its bandwidth is the bytes
 * sent, or received if these are more, divided by that time. Its ratio is
 * relative to the upper quartile of all rails of all nodes, which is normal as
 * long as fewer than three quarters of them are slow. Without a separate NIC
 * for each rank of a node the ratio is unknown. It also differs from 1 if ranks
 * carry more than others.
 */
#ifndef PROBES_MEASURE_RAIL_STATS_H
#define PROBES_MEASURE_RAIL_STATS_H

#include <jansson.h>

#include "common/str.h"
#include "probes/execute/exec.h"
#include "probes/execute/trial.h"
#include "probes/measure/plan_report.h"
#include "probes/topology/machine.h"

#define RAIL_STATS_WEAK                                                        \
	0.5 /* if all rails carry the same, one below this share is named */

#define RAIL_STATS_NOBODY (-1) /* met no node */
#define RAIL_STATS_MANY   (-2) /* met several nodes */

/* The traffic of one node, or of one rail. */
struct place {
	uint64_t sent, received; /* bytes, between nodes */
	uint64_t own;            /* bytes copied within a rank */
	int slowest;             /* how often it was the slowest of all */
	/* For a node: the only node that it met, or RAIL_STATS_NOBODY or
	 * RAIL_STATS_MANY. */
	int partner;
	double s; /* time in seconds; NAN: unknown, or nothing carried */
	double predicted_s;  /* for a node: predicted time in seconds */
	double per_s, ratio; /* bandwidth in bytes/s, and ratio: see above */
	double memory_per_s; /* for a node: measured bytes/s of copies */
	/* For a node: the largest cores_wait_ratio of its ranks; NAN: unknown.
	 */
	double wait_ratio;
	/* For a node: specified rate of its GPUs' memory in bytes per second;
	 * 0: unknown. */
	double rated_per_s;
};

/* The statistics of a trial. */
struct rail_stats {
	const struct subject *subject;
	struct place *nodes, *rails;
	struct place *lanes; /* by rank: its rail of its node */
	int *rail;           /* by rank: number of its rail */
	int rails_count;
};

/* Compute the statistics of one step, or of all steps (step < 0). The caller
 * frees *ret with rail_stats_clear. */
void rail_stats_count(const struct subject *r, const struct trial *t, int step,
    struct rail_stats *ret);
void rail_stats_clear(struct rail_stats *p);

/* Write nodes and rails into a record; unknown values are omitted. */
void rail_stats_put(const struct rail_stats *p, json_t *record);
/* Append the rails with a ratio below share to text, as "rail 1 (eth1) gives
 * 0.10 of what others give". Return their number. */
int rail_stats_weak(const struct rail_stats *p, double share,
    struct strbuf *text);
/* Return the rate, in bytes per second and direction, of all interfaces of a
 * node together: of machine m, or if m is NULL, of the interfaces below root
 * ("" for this node), as the kernel states them, without slower interfaces for
 * management. NAN: unknown. */
double rail_stats_capacity_per_s(const struct machine *m, const char *root);
/* Write into a record of a group the time of the busiest node, in seconds,
 * computed from the larger of its sent and received bytes, and its share of the
 * capacity. Nothing is written if no bytes passed between nodes. */
void rail_stats_put_capacity(const struct rail_stats *p, double seconds,
    json_t *record);

/* Return 1 if COALMINE_NICS gives each of `rails` ranks of a node a separate
 * NIC, or if a node has one rank; 0 if ranks may share a NIC. */
int rail_stats_separate(int rails);
/* Return the configured NIC of a rail, or NULL. */
const char *rail_stats_nic(int rail);

#endif
