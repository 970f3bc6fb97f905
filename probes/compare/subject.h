/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subject.h - a plan that is measured, and what is known of it beforehand.
 */
#ifndef PROBES_COMPARE_SUBJECT_H
#define PROBES_COMPARE_SUBJECT_H

#include "probes/job/world.h"
#include "probes/plan/plan.h"
#include "probes/transport/transport.h"

/* What of it: the number of a step, or one of these. */
#define SUBJECT_WHOLE      (-1)
#define SUBJECT_CONCURRENT (-2) /* several plans, joined in one */

struct subject {
	const struct world *world;
	const struct transport_team *team;
	const char *probe;
	const struct plan *plan;
	uint64_t bytes;                  /* what bandwidth is made of */
	const char *of;                  /* and its name */
	double setup_s;                  /* exec_new */
	double memory_bytes_per_s;       /* of all ranks together */
	const double *memory_rank_per_s; /* of each; or NULL */
	/* Of a group or a part: what it is; pattern NULL for others. */
	const char *pattern, *direction;
	int k, groups;
	double capacity_per_s; /* of a node, see rail_stats_capacity_per_s */
	const char *staging;
	const char *machine; /* of the prediction; NULL: there is none */
	int placed;          /* it knows on which node each rank is */
	double predicted_s;
	const double *predicted_rank_s; /* until each rank is done; or NULL */
};

#endif
