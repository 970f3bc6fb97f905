/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collector.h - the owner of roster, runs, diagnosis, mesh, jobs and sessions:
 * it passes messages of agents to these parts, and their messages to agents.
 */
#ifndef DAEMON_COLLECTOR_H
#define DAEMON_COLLECTOR_H

#include <openssl/ssl.h>
#include <stdint.h>

#include "daemon/diagnosis/diagnosis.h"
#include "daemon/jobs/jobs.h"
#include "daemon/mesh/mesh.h"
#include "daemon/objective/objectives.h"
#include "daemon/run/run.h"

struct enroll;
struct event_base;
struct collector;
struct series;
struct react;
struct roster;
struct sessions;
struct store;
struct topo;

/* The options of all parts. */
struct collector_options {
	uint64_t heartbeat_ns, links_ns;
	uint64_t silence_ns;
	uint64_t retention_ns; /* retention of the store's rows */
	size_t agents_max;
	size_t queue_bytes_max;
	struct runs_quota quota;
	uint64_t term; /* term of the lease, from 1; a takeover increments it */
	struct diagnosis_options diagnosis;
	const struct topo *topo; /* outlives the collector; NULL: none */
	struct mesh_options mesh;
	struct react *react;   /* outlives the collector */
	struct enroll *enroll; /* outlives the collector; NULL: none */
	const char *munge_users, *munge_socket; /* "": munge is disabled */
	struct jobs_options jobs; /* its base, store and roster are ours */
	struct objective objectives[OBJECTIVE_MAX];
	size_t objective_count;
	const struct promised
	    *promised; /* outlives the collector; NULL: none */
};

/* Return a collector, which the caller frees; NULL, after logging the reason,
 * if an option cannot be applied. store, series and o's text must outlive it.
 */
struct collector *collector_new(struct event_base *base, struct store *store,
    struct series *series, const struct collector_options *o);
void collector_free(struct collector *c); /* NULL is allowed */
/* Return the parts, which belong to the collector. */
struct roster *collector_roster(struct collector *c);
struct runs *collector_runs(struct collector *c);
struct mesh *collector_mesh(struct collector *c);
struct diagnosis *collector_diagnosis(struct collector *c);
struct sessions *collector_sessions(struct collector *c);
struct jobs *collector_jobs(struct collector *c);             /* NULL: none */
struct objectives *collector_objectives(struct collector *c); /* as above */
/* Set the function that is called with each new state of a run. */
void collector_set_changed(struct collector *c,
    void (*changed)(void *arg, const struct run *r), void *arg);
/* Use another topology, which outlives the collector. */
void collector_set_topo(struct collector *c, const struct topo *topo);
/* Add a record from before this start to series and scores. */
void collector_warm(struct collector *c, const char *class,
    const json_t *record);
/* Set the revocation lists of tls.crl as PEM, or NULL; copies. Agents that
 * request them get them soon and with every welcome. */
void collector_set_crl(struct collector *c, const char *crl);
/* Load objectives from the store; on a standby periodically. */
void collector_load_objectives(struct collector *c);
/* Replace all nodes and open verdicts by the stored ones; for a standby. */
void collector_mirror(struct collector *c, const json_t *nodes,
    const json_t *verdicts);
/* Do the periodic work of all parts; call it several times a second. */
void collector_tick(struct collector *c);

#endif
