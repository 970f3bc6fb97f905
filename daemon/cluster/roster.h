/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roster.h - every node ever seen: how it is, what it has, who uses it.
 *
 * Nodes are made once and live as long as the roster, so pointers to them may
 * be kept. Known nodes of an earlier life start as lost. Times come in as
 * arguments (monotonic), wall clock from clk_unix_ns.
 */
#ifndef DAEMON_CLUSTER_ROSTER_H
#define DAEMON_CLUSTER_ROSTER_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "common/account.h"
#include "daemon/cluster/topo.h"
#include "schema/names_agent.h"
#include "schema/node_numbers.h"

struct port_look;
struct roster;
struct run;
struct session;
struct store;
struct strbuf;

/* How busy the host is, as its agent saw it lately: the largest values, fading
 * over half a minute, since rounds are shorter than looks. 0 when not told. */
struct node_host {
	double cpu;       /* share of time in which somebody waits for a core */
	double steal;     /* share that the hypervisor took */
	double wait_s;    /* the agent's own wait for a core */
	double throttled; /* share in which a quota kept it from one */
	double hot;       /* share in which its clock was lowered by heat */
	double net;       /* share of its link that is in use, one way; */
	double net_told;  /* as it was last told, and does not fade; */
	double jobs;      /* while no run of ours was on the node */
	uint64_t jobs_ns; /* when such a time was last heard of */
	int ours;         /* a run of ours was there at the last heartbeat */
};

/* An error event of a device; text NULL: none since the collector started. */
struct node_error {
	char *text;
	int64_t unix_ns;
};

struct node {
	char *name;
	enum agent_state state;
	int known;               /* 0: new, never told of */
	struct session *session; /* NULL: not connected */
	int greeted;             /* its welcome is out: it takes orders */
	uint64_t serial;         /* of the session; grows with every hello */
	uint64_t last_ns;        /* of its last message; 0: not in this life */
	uint64_t since_unix_ns;  /* of state */
	uint64_t first_seen_unix_ns;
	uint64_t last_seen_unix_ns;
	char *software;
	char *boot;
	uint64_t boot_unix_ns; /* when that was first heard; 0: not known */
	char *addr;
	char leaf[TOPO_LEAF_MAX]; /* "" unknown */
	size_t id;                /* place in the order of first sight */
	json_t *inventory;        /* may be NULL */
	char *inventory_text;     /* the same as JSON; NULL: not made yet */
	uint64_t nics_serial;     /* changes whenever its nics were told */
	struct port_look *links;  /* told, and not looked at yet; or NULL */
	char *busy;               /* why not idle; NULL: idle */
	char *alarm;              /* what its agent complains about, or NULL */
	struct node_host host;
	uint64_t host_ns;             /* time of the last host message */
	double numbers[NODE_NUMBERS]; /* of node_numbers; NAN: unknown */
	int64_t skew_ns;              /* its wall clock minus ours */
	struct run *exclusive;        /* who holds it alone */
	unsigned shared;              /* background runs on it */
	uint64_t claim_tick;          /* when a run last waited for it */
	int64_t claim_priority;
	uint64_t used_unix_ns; /* when a run last measured it; 0: not yet */
	int adopted;           /* unknown runs whose records were kept */
	char *adopted_run;     /* the last of them */
	uint64_t heartbeat_ns; /* agreed with its session */
	int resend;            /* it holds records that were not committed */
	size_t message_bytes;  /* of its message that is being handled */
	uint64_t late_records, late_bytes; /* of runs that are over */
	uint64_t late_begin_ns;            /* of the hour they are of */
	unsigned events; /* of roster_event, in the hour from events_ns */
	uint64_t events_ns;
	struct account work;  /* of what its messages take, of all sessions */
	struct account beats; /* of its heartbeats */
	struct account rows;  /* of its rows in the store */
	int is_unput;         /* its newest row is not in the store */
	int is_inventory_unput;
	uint64_t term;       /* of another collector that it follows; or 0 */
	uint64_t in_band_ns; /* when its jobs' own measurements were taken */
	uint64_t ras_ns;     /* when its reports of communicators were taken */
	/* The newest of its GPUs, and of its other devices. */
	struct node_error gpu_error, link_error;
	uint64_t renewed_ns; /* when it last asked for a certificate */
};

struct roster_limits {
	/* Of agents, and the silence after which a node is lost: at least. */
	uint64_t heartbeat_ns, silence_ns;
	const struct topo *topo; /* NULL: leaves stay unknown */
};

/* lost_cb: a node has just become lost. store may be NULL in tests. */
struct roster *roster_new(const struct roster_limits *limits,
    struct store *store, void (*lost_cb)(struct node *n, void *arg), void *arg);
void roster_free(struct roster *r); /* NULL is allowed */
/* Another file of leaves; the old one is not used any more. */
void roster_set_topo(struct roster *r, const struct topo *topo);
const struct topo *roster_topo(const struct roster *r); /* may be NULL */
/* What STORE_NODES answered. */
void roster_load(struct roster *r, const json_t *nodes);
/* The same, again and again, of nodes whose agents are another collector's: as
 * that one has them. */
void roster_mirror(struct roster *r, const json_t *nodes);

struct node *roster_find(const struct roster *r, const char *name);
/* The node that a scheduler or a file calls name, perhaps with another domain;
 * NULL where it could be several: common/hostname.h. An agent is its whole
 * name: roster_find. */
struct node *roster_find_host(const struct roster *r, const char *name);
/* No other node has its short name. */
int roster_is_alone(const struct roster *r, const struct node *n);
size_t roster_count(const struct roster *r);
/* By id, 0 to count - 1: the order of first sight, which never changes. */
struct node *roster_by_id(const struct roster *r, size_t id);
/* The i-th in human order. */
struct node *roster_at(struct roster *r, size_t i);
size_t roster_count_state(const struct roster *r, enum agent_state state);

/* A session's hello: makes the node if need be. */
struct node *roster_hello(struct roster *r, const json_t *hello,
    const char *addr, struct session *s, uint64_t now_ns);
void roster_heartbeat(struct roster *r, struct node *n, const json_t *msg);
/* 1: its heartbeats come at more than twice the agreed rate. Count one. */
int roster_beats_too_often(struct node *n, uint64_t now_ns);
/* Any message: it lives. */
void roster_alive(struct roster *r, struct node *n, uint64_t now_ns);
/* Its session ended; it becomes lost if none comes in time. */
void roster_gone(struct roster *r, struct node *n, const char *why);
/* Heartbeats of all agents together are so many a second: with more nodes than
 * that allows, those that come now beat less often. */
#define ROSTER_HEARTBEATS_PER_S 2000
/* Silence after which a node is late: two and a half heartbeats, for one may be
 * lost to a busy machine; and lost. */
uint64_t roster_late_ns(const struct roster *r, const struct node *n);
uint64_t roster_silence_ns(const struct roster *r, const struct node *n);
/* Now and then: who is late, who is lost. */
void roster_tick(struct roster *r, uint64_t now_ns);
/* Its NICs that carry the bytes of jobs, as its agent names them, and the
 * interface of each, or "". *ret_rails lives as long as its inventory; 0: it
 * does not say. */
#define ROSTER_RAILS_MAX  16
#define ROSTER_RAIL_BYTES 40 /* of a name */
struct roster_rail {
	const char *name, *netdev;
};
size_t roster_rails(const struct node *n,
    struct roster_rail ret_rails[ROSTER_RAILS_MAX]);
/* Index of the one with that name or interface, or -ENOENT. */
long roster_rail_find(const struct node *n, const char *name);
/* Greeted and not silent; a busy one is up. */
int roster_is_up(const struct node *n);
/* Why it is not up, in words: "node4 is lost". */
void roster_why(const struct node *n, struct err *err);
json_t *roster_json(const struct node *n);
/* The same, but its end: members may follow. For lists of all, which are long:
 * values would take longer. */
void roster_text(struct node *n, struct strbuf *ret);
/* An event that its agent can cause at will: 1 when it was written, 0 when
 * there were too many in this hour. store may be NULL. */
int roster_event(struct store *store, struct node *n, const char *kind,
    const char *text);

#endif
