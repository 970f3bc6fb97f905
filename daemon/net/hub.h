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
#include "daemon/run/run.h"

struct enroll;
struct event_base;
struct hub;
struct series;
struct react;
struct roster;
struct sessions;
struct store;
struct topo;

struct hub_options {
	uint64_t heartbeat_ns, links_ns;
	uint64_t silence_ns;
	size_t agents_max;
	size_t queue_bytes_max;
	struct runs_quota quota;
	uint64_t term; /* how often a copy of the store took over; from 1 */
	struct diagnosis_options diagnosis;
	const struct topo *topo; /* outlives the hub; NULL: none */
	struct mesh_options mesh;
	struct react *react;   /* outlives the hub */
	struct enroll *enroll; /* outlives the hub; NULL: none */
	const char *munge_users, *munge_socket; /* of enroll; "": nobody */
	/* A run has a new state. */
	void (*changed)(void *arg, const struct run *r);
	/* A record of a run is in the store; pairs of an epoch of the mesh.
	 * NULL: not wanted. */
	void (*record)(void *arg, const struct run *r, const json_t *record);
	void (*paths)(void *arg, const struct mesh_path *paths, size_t count,
	    uint64_t until_unix_ns);
	/* What jobs on a node have measured themselves, of its heartbeat. */
	void (*in_band)(void *arg, const char *node, const json_t *jobs);
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
/* The lists of tls.crl, as PEM, or NULL: agents that ask for them get them,
 * soon and at every welcome. Copies. */
void hub_set_crl(struct hub *h, const char *crl);
/* Of a standby: what the store says of nodes and of open verdicts, instead of
 * what it said before. */
void hub_mirror(struct hub *h, const json_t *nodes, const json_t *verdicts);
/* Several times a second. */
void hub_tick(struct hub *h);

#endif
