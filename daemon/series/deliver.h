/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deliver.h - what nodes deliver of what their hardware promises: the newest
 * numbers of groups, stripes, copies within nodes and rails. Pure memory.
 */
#ifndef DAEMON_SERIES_DELIVER_H
#define DAEMON_SERIES_DELIVER_H

#include <jansson.h>
#include <stddef.h>

#include "schema/record.h"

#define DELIVER_GROUPS_MAX    256
#define DELIVER_STRIPES_MAX   16
#define DELIVER_SPARSE_MAX    64
#define DELIVER_PATTERN_BYTES 64
#define DELIVER_PLACES_MAX    65536

/* Of the largest message of the newest run: the group as a whole, with groups
 * 0, or each way through the busiest of the nodes of so many. */
struct deliver_group {
	const char *pattern, *direction;
	int k, groups;
	char run[RECORD_RUN_MAX + 1];
	double bytes, per_s;
	double share; /* of what a node is rated for; NAN: not known */
};
struct deliver_groups {
	struct deliver_group rows[DELIVER_GROUPS_MAX];
	size_t count;
};
struct deliver_stripe {
	char via[32]; /* transports of the steps, as "ipc+mpi+ipc" */
	int g;
	char run[RECORD_RUN_MAX + 1];
	double bytes, efficiency;
};
/* An application's pattern against the MPI's own. */
struct deliver_sparse {
	char pattern[DELIVER_PATTERN_BYTES];
	const char *scope;
	int stripes;
	char run[RECORD_RUN_MAX + 1];
	double bytes, speedup;
};
struct deliver_place {
	char *node;
	int rail; /* DELIVER_SELF: copies within the node */
	double ratio;
};
#define DELIVER_SELF (-1)

/* Starts as { 0 }. Rows in the order of their first record. */
struct deliver {
	struct deliver_groups groups; /* as a whole */
	struct deliver_groups scales; /* through a node */
	struct deliver_stripe stripes[DELIVER_STRIPES_MAX];
	size_t stripes_count;
	struct deliver_sparse sparse[DELIVER_SPARSE_MAX];
	size_t sparse_count;
	struct deliver_place *places;
	size_t places_count, places_cap;
	json_t *index; /* of places, by "node rail" */
};

/* Any record; those of other probes change nothing. */
void deliver_take(struct deliver *d, const json_t *record);
void deliver_clear(struct deliver *d); /* frees */

#endif
