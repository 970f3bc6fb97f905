/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mesh.h - the mesh canary as the collector runs it: epochs, keys, who asks
 * whom, and the records that come of it.
 *
 * Epochs are aligned to the wall clock, so they grow over restarts. At its
 * hello a node gets a key and answers from then on; from the next epoch on it
 * is a target and asks. Orders of an epoch leave a slice at a time.
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

struct mesh_options {
	int enabled;
	uint64_t interval_ns;
	uint64_t round_ns;
	uint64_t timeout_ns;
	uint16_t port;
	int burst;
	size_t leaf_targets, spine_targets;
	double rate, target_rate; /* datagrams a second: a node's, a target's */
	const char *net;          /* CIDR that addresses must lie in; "": the
				     session's address is used */
};
/* Read section mesh. Texts live as long as c. */
void mesh_options_read(const struct conf *c, struct mesh_options *ret);

struct mesh_ops {
	/* Takes msg. -ENOTCONN when the node has no session. */
	int (
	    *send)(void *ctx, struct node *n, enum wire_type type, json_t *msg);
	/* A record is on its way into the store. */
	void (*record)(void *ctx, const json_t *record);
	/* The same epoch's pairs, of both classes. */
	/* until_unix_ns: when the epoch was over. */
	void (*paths)(void *ctx, const struct mesh_path *paths, size_t count,
	    uint64_t until_unix_ns);
};

/* roster, store and o's text outlive it. -EINVAL and why for a net that is
 * none. */
int mesh_new(struct roster *roster, struct store *store,
    const struct mesh_options *o, const struct mesh_ops *ops, void *ctx,
    struct mesh **ret, struct err *err);
void mesh_free(struct mesh *m); /* NULL is allowed */
/* Is it a network, or ""? -EINVAL and why. */
int mesh_net_check(const char *text, struct err *err);
/* Its welcome is out. */
void mesh_greeted(struct mesh *m, struct node *n);
/* mesh-ready or mesh-report; -EPROTO and why for one that no
 * honest agent sends. */
int mesh_message(struct mesh *m, struct node *n, enum wire_type type,
    const json_t *msg, struct err *err);
/* Several times a second. */
void mesh_tick(struct mesh *m);

/* Its nodes and their links were exercised too. */
void mesh_cover_run(struct mesh *m, const struct run *r);
/* What was exercised; outlives nothing. */
struct coverage *mesh_coverage(struct mesh *m);
/* The number of a link for coverage: of one of its node's rails, by place; of
 * a node that names none, 0. */
size_t mesh_link_id(const struct node *n, size_t rail);
/* The number of a leaf for coverage, by name. */
size_t mesh_leaf_id(struct mesh *m, const char *leaf);

/* Since start, for metrics. */
struct mesh_sum {
	uint64_t answered, lost, unknown;
	struct hist rtt_s;
};
const struct mesh_sum *mesh_sums(const struct mesh *m, enum mesh_class class);
size_t mesh_ready_count(const struct mesh *m);
uint64_t mesh_interval_ns(const struct mesh *m);
/* Why a node takes no part, or NULL. */
const char *mesh_trouble(const struct mesh *m, const struct node *n);

#endif
