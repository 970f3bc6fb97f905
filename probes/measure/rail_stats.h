/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rail_stats.h - where the bytes of a plan passed and how fast: by node, and by
 * rail, which is the nth rank of every node and what it sends and receives
 * between nodes. Rank 0.
 *
 * A rank's time is the best of what its own part took, since whatever disturbs
 * it makes it longer. A transfer takes as long as the longer of its two ends,
 * since a sender may be done when its bytes are in a queue; so a rail of a node
 * takes as long as the longest of its transfers, and its bandwidth is what it
 * sent, or received if that is more, in that time. Its ratio is to what is
 * sound: the upper quartile of all rails of all nodes, so that fewer than three
 * quarters of them may be slow. Where ranks share a NIC, or have more to carry
 * than others, that is not 1 either.
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
	double per_s, ratio;     /* likewise */
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

/* nodes and rails into a record; what is unknown is left out. */
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
/* Into a record of a group: what the busiest node sent, or received if that
 * is more, in seconds, and its share of the capacity. Nothing where no bytes
 * passed between nodes. */
void rail_stats_put_capacity(const struct rail_stats *p, double seconds,
    json_t *record);

/* The NIC of a rail where somebody has said it, or NULL. */
const char *rail_stats_nic(int rail);

#endif
