/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mesh_gather.h - combine the reports of one epoch to one record for each
 * class. Pure: nodes are ids and names, without the roster.
 *
 * A loss counts only if the target was listening during the whole epoch: it has
 * reported too, and its host dropped no request. Otherwise the echo counts as
 * unknown.
 */
#ifndef DAEMON_MESH_MESH_GATHER_H
#define DAEMON_MESH_MESH_GATHER_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/hist.h"
#include "schema/mesh.h"

struct mesh_gather;

/* The results of one pair of nodes. */
struct mesh_pair {
	uint32_t a, b; /* sender, target */
	enum mesh_class class;
	uint32_t answered, lost, unknown;
	double p50_s; /* NAN: no answer */
	/* Large datagrams of large_bytes each; 0: none. mesh_gather_close adds
	 * them to the counts above if any was answered. */
	uint32_t large_bytes, large_answered, large_lost, large_unsent;
};

struct mesh_totals { /* the totals of one class */
	uint64_t answered, lost, unknown, unsent;
	struct hist rtt_s;
};

/* find returns the id of a node, or -ENOENT; name the name of an id. */
struct mesh_names {
	long (*find)(void *arg, const char *node);
	const char *(*name)(void *arg, size_t id);
	void *arg;
};

struct mesh_gather *mesh_gather_new(uint64_t epoch, uint64_t seed,
    const struct mesh_names *names);
void mesh_gather_free(struct mesh_gather *g); /* NULL is allowed */
/* Return the number of the epoch. */
uint64_t mesh_gather_epoch(const struct mesh_gather *g);
/* Add a mesh-report of that epoch. Return -EPROTO with err for contents that no
 * correct agent sends; -EALREADY for a second report of the node. */
int mesh_gather_add(struct mesh_gather *g, size_t node, const json_t *report,
    struct err *err);
/* Return the number of reports. */
size_t mesh_gather_reports(const struct mesh_gather *g);
/* Call once after the last report: classify losses. The functions below need
 * it. */
void mesh_gather_close(struct mesh_gather *g);
/* Return the pairs in *ret, and their number; or the totals of a class. They
 * belong to g. */
size_t mesh_gather_pairs(const struct mesh_gather *g,
    const struct mesh_pair **ret);
const struct mesh_totals *mesh_gather_totals(const struct mesh_gather *g,
    enum mesh_class class);
/* Return the record of a class without run and seq; NULL if no node sent an
 * echo. */
json_t *mesh_gather_record(const struct mesh_gather *g, enum mesh_class class);

#endif
