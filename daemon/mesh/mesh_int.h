/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mesh_int.h - what the mesh's own files share. Pure: nodes are ids and names
 * here, nothing else of the roster is known.
 */
#ifndef DAEMON_MESH_MESH_INT_H
#define DAEMON_MESH_MESH_INT_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/hist.h"
#include "schema/mesh.h"

/*
 * mesh_ring.c: who asks whom in an epoch.
 *
 * The members of a leaf, and all nodes, stand in a circle in an order that the
 * seed draws. A ring with stride s lets each ask the one s places on, so each
 * is asked once; all strides together are all pairs. Strides whose pairs were
 * not exercised lately come first. Across the spine a ring leaves out those
 * whose turn is one of their own leaf, who then take part in a further ring.
 */

#define MESH_RING_MAX 16 /* targets of a node in one class */

struct mesh_site {
	size_t id;   /* of the node */
	size_t leaf; /* of the leaf */
};

struct mesh_aims {
	size_t count;
	uint32_t site[MESH_RING_MAX]; /* indices of sites */
};

struct mesh_rings {
	const struct mesh_site *sites;
	size_t count;
	uint64_t order_seed; /* of the circle: the same for many epochs */
	uint64_t seed;       /* of this epoch */
	/* 1 when a pair of node ids was exercised lately. */
	int (*covered)(void *arg, size_t a, size_t b);
	void *arg;
};

/* aims: count of them, all zero. */
void mesh_rings_draw(const struct mesh_rings *r, enum mesh_class class,
    size_t targets, struct mesh_aims *aims);

/*
 * mesh_gather.c: the reports of one epoch, made into one record a class.
 *
 * A loss counts only where the target is known to have lived and listened all
 * the epoch: it has reported too, and its host dropped no request. Otherwise
 * it is unknown.
 */

struct mesh_gather;

struct mesh_pair {
	uint32_t a, b; /* who asked, who was asked */
	enum mesh_class class;
	uint32_t answered, lost, unknown;
	double p50_s; /* NAN: no answer */
	/* Of large datagrams, of so many bytes; 0: none. Above they are from
	 * mesh_gather_close on, where any was answered. */
	uint32_t large_bytes, large_answered, large_lost, large_unsent;
};

struct mesh_totals { /* of one class */
	uint64_t answered, lost, unknown, unsent;
	struct hist rtt_s;
};

/* find: the id of a node, or -ENOENT; name: of an id. */
struct mesh_names {
	long (*find)(void *arg, const char *node);
	const char *(*name)(void *arg, size_t id);
	void *arg;
};

struct mesh_gather *mesh_gather_new(uint64_t epoch, uint64_t seed,
    const struct mesh_names *names);
void mesh_gather_free(struct mesh_gather *g); /* NULL is allowed */
uint64_t mesh_gather_epoch(const struct mesh_gather *g);
/* A mesh-report of that epoch. -EPROTO and why for one that no honest agent
 * sends; -EALREADY for a second one of the node. */
int mesh_gather_add(struct mesh_gather *g, size_t node, const json_t *report,
    struct err *err);
size_t mesh_gather_reports(const struct mesh_gather *g);
/* All reports are in: losses are settled. Once, before what follows. */
void mesh_gather_close(struct mesh_gather *g);
size_t mesh_gather_pairs(const struct mesh_gather *g,
    const struct mesh_pair **ret);
const struct mesh_totals *mesh_gather_totals(const struct mesh_gather *g,
    enum mesh_class class);
/* The record of a class without run and seq; NULL where nobody asked. */
json_t *mesh_gather_record(const struct mesh_gather *g, enum mesh_class class);

#endif
