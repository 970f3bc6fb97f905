/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mesh.h - the collector's part of the mesh canary: epochs, keys, pairs of
 * nodes, and records.
 *
 * An epoch is one interval of the mesh (mesh.interval), at the end of which the
 * agents report. Its number is from the wall clock, so that it increases over
 * restarts. A node
 * gets a key at its hello and answers echoes from then on. From the next epoch
 * on it is a target and sends echoes. Orders of an epoch are sent in slices.
 */
#ifndef DAEMON_MESH_MESH_H
#define DAEMON_MESH_MESH_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/hist.h"
#include "schema/mesh.h"
#include "schema/wire.h"

struct conf;
struct coverage;
struct mesh;
struct node;
struct roster;
struct run;
struct store;

/* The options: section mesh of coalmine.conf(5). */
struct mesh_options {
	int enabled;
	uint64_t interval_ns;
	uint64_t round_ns;
	uint64_t timeout_ns;
	uint16_t port;
	int burst;
	size_t leaf_targets, spine_targets;
	double rate, target_rate; /* datagrams a second: a node's, a target's */
	const char *net;          /* network (CIDR) of addresses; "": the
				     session's address is used */
};
/* Read section mesh. Texts live as long as c. */
void mesh_options_read(const struct conf *c, struct mesh_options *ret);

/* Callbacks; ctx is the argument of mesh_new. */
struct mesh_ops {
	/* Takes msg. -ENOTCONN when the node has no session. */
	int (
	    *send)(void *ctx, struct node *n, enum wire_type type, json_t *msg);
	/* A record that is being stored. */
	void (*record)(void *ctx, const json_t *record);
	/* The pairs of the epoch that has ended, of both classes.
	 * until_unix_ns: end of the epoch. */
	void (*paths)(void *ctx, const struct mesh_path *paths, size_t count,
	    uint64_t until_unix_ns);
};

/* Create the mesh. roster, store and o's text must outlive it. Return 0 and the
 * mesh, which the caller frees; or -EINVAL with err if net is malformed. */
int mesh_new(struct roster *roster, struct store *store,
    const struct mesh_options *o, const struct mesh_ops *ops, void *ctx,
    struct mesh **ret, struct err *err);
void mesh_free(struct mesh *m); /* NULL is allowed */
/* Return -EINVAL with err unless text is a network or "". */
int mesh_net_check(const char *text, struct err *err);
/* Note that the welcome of a node was sent, so that it accepts orders. */
void mesh_greeted(struct mesh *m, struct node *n);
/* Process a mesh-ready or mesh-report message. Return -EPROTO with err for
 * contents that no correct agent sends. */
int mesh_message(struct mesh *m, struct node *n, enum wire_type type,
    const json_t *msg, struct err *err);
/* Call several times a second. */
void mesh_tick(struct mesh *m);

/* Count the nodes of a run and their links as exercised. */
void mesh_cover_run(struct mesh *m, const struct run *r);
/* Return the coverage; valid as long as m. */
struct coverage *mesh_coverage(struct mesh *m);
/* Return the number of a link for coverage: the link of one of the node's
 * rails, by index; rail 0 for a node that reports no rails. */
size_t mesh_link_id(const struct node *n, size_t rail);
/* Return the number of a leaf for coverage, by its name. */
size_t mesh_leaf_id(struct mesh *m, const char *leaf);

/* Totals of a class since the start, for metrics. */
struct mesh_sum {
	uint64_t answered, lost, unknown;
	struct hist rtt_s;
};
/* Return the totals of a class; the number of nodes in the mesh; the length of
 * an epoch. */
const struct mesh_sum *mesh_sums(const struct mesh *m, enum mesh_class class);
size_t mesh_ready_count(const struct mesh *m);
uint64_t mesh_interval_ns(const struct mesh *m);
/* Return the reason why a node is not in the mesh, or NULL. */
const char *mesh_trouble(const struct mesh *m, const struct node *n);

#endif
