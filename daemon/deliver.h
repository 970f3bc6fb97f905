/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deliver.h - what nodes deliver of what their hardware promises: the newest
 * numbers of groups, stripes, copies within nodes and rails. Pure memory.
 */
#ifndef DAEMON_DELIVER_H
#define DAEMON_DELIVER_H

#include <jansson.h>
#include <stddef.h>

#include "schema/record.h"

#define DELIVER_GROUPS_MAX    256
#define DELIVER_STRIPES_MAX   16
#define DELIVER_SPARSE_MAX    64
#define DELIVER_PATTERN_BYTES 64
#define DELIVER_PLACES_MAX    65536

/* Of the largest message of the newest run. */
struct deliver_group {
	const char *pattern, *direction;
	int k;
	char run[RECORD_RUN_MAX + 1];
	double bytes, per_s;
};
struct deliver_stripe {
	char via[32]; /* transports of the steps, as "ipc+mpi+ipc" */
	int g;
	char run[RECORD_RUN_MAX + 1];
	double bytes, efficiency;
};
/* A group over so many nodes; each way through the busiest of them. */
struct deliver_scale {
	const char *pattern, *direction;
	int groups;
	char run[RECORD_RUN_MAX + 1];
	double bytes, node_per_s, share; /* of what is rated; NAN: not known */
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
	struct deliver_group groups[DELIVER_GROUPS_MAX];
	size_t groups_count;
	struct deliver_stripe stripes[DELIVER_STRIPES_MAX];
	size_t stripes_count;
	struct deliver_scale scales[DELIVER_GROUPS_MAX];
	size_t scales_count;
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
