/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hub.h - where sessions, roster, runs and store meet: what an agent says goes
 * to its part, what a run wants goes to its agent.
 */
#ifndef DAEMON_NET_HUB_H
#define DAEMON_NET_HUB_H

#include <openssl/ssl.h>
#include <stdint.h>

#include "daemon/mesh/mesh.h"
#include "daemon/diagnosis/diagnosis.h"

struct event_base;
struct hub;
struct series;
struct react;
struct roster;
struct run;
struct runs;
struct sessions;
struct store;
struct topo;

struct hub_options {
	uint64_t heartbeat_ns, links_ns;
	uint64_t silence_ns;
	size_t agents_max;
	struct diagnosis_options diagnosis;
	const struct topo *topo; /* outlives the hub; NULL: none */
	struct mesh_options mesh;
	struct react *react; /* outlives the hub */
	/* A run has a new state. */
	void (*changed)(void *arg, const struct run *r);
	void *arg;
};

/* store, series and o's text outlive the hub. NULL, after a line in the log,
 * when an option cannot be followed. */
struct hub *hub_new(struct event_base *base, struct store *store,
    struct series *series, const struct hub_options *o);
void hub_free(struct hub *h); /* NULL is allowed */
struct roster *hub_roster(struct hub *h);
struct runs *hub_runs(struct hub *h);
struct mesh *hub_mesh(struct hub *h);
struct diagnosis *hub_diagnosis(struct hub *h);
struct sessions *hub_sessions(struct hub *h);
/* Several times a second. */
void hub_tick(struct hub *h);

#endif
