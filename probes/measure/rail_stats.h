/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rail_stats.h - the bytes and rates of a plan by node and by rail. A rail is
 * the nth rank of every node with its traffic between nodes. Rank 0.
 *
 * A rank's time is the best time of its part, since any disturbance makes it
 * longer. A transfer takes as long as the longer of its two ends, since a
 * sender may be done when its bytes are in a queue; so a rail of a node takes
 * as long as the longest of its transfers. Its bandwidth is the bytes sent, or
 * received if these are more, by that time. Its ratio is relative to the upper
 * quartile of all rails of all nodes, which is normal as long as fewer than
 * three quarters of them are slow. The ratio also differs from 1 if ranks share
 * a NIC, or carry more than others.
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
	0.5 /* a rail of less is named where all carry the same */

#define RAIL_STATS_NOBODY (-1)
#define RAIL_STATS_MANY   (-2)

struct place {
	uint64_t sent, received; /* bytes, between nodes */
	uint64_t own;            /* and within the rank */
	int slowest;             /* how often it was the slowest of all */
	int partner;             /* of a node: the one it met, or as above */
	double s;                /* NAN: unknown, or nothing carried */
	double predicted_s;      /* of a node, by a machine */
	double per_s, ratio;     /* rate and ratio */
	double memory_per_s;     /* of a node, as measured */
	double rated_per_s;      /* of a node's GPUs; 0: unknown */
};

struct rail_stats {
	const struct subject *subject;
	struct place *nodes, *rails;
	struct place *lanes; /* by rank: that rail of that node */
	int *rail;           /* of each rank */
	int rails_count;
};

/* Of one step, or of all (step < 0). The caller ends it with rail_stats_clear.
 */
void rail_stats_count(const struct subject *r, const struct trial *t, int step,
    struct rail_stats *ret);
void rail_stats_clear(struct rail_stats *p);

/* Write nodes and rails into a record; unknown values are omitted. */
void rail_stats_put(const struct rail_stats *p, json_t *record);
/* Rails of a ratio below share, as "rail 1 (eth1) gives 0.10 of what others
 * give"; their number. */
int rail_stats_weak(const struct rail_stats *p, double share,
    struct strbuf *text);
/* Bytes per second each way of all interfaces of a node: of the machine that
 * is described, else (NULL) of those below root, "" for this node's own, as
 * the kernel rates them, without the slower ones that nodes are managed by.
 * NAN: not known. */
double rail_stats_capacity_per_s(const struct machine *m, const char *root);
/* Write into a record of a group the time of the busiest node, in seconds, from
 * the larger of its sent and received bytes, and its share of the capacity.
 * Nothing if no bytes passed between nodes. */
void rail_stats_put_capacity(const struct rail_stats *p, double seconds,
    json_t *record);

/* Return the configured NIC of a rail, or NULL. */
const char *rail_stats_nic(int rail);

#endif
