/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roster.h - every node ever seen: its state, its inventory, its runs.
 *
 * Nodes are never freed before the roster, so pointers to them may be kept.
 * After a restart of the collector known nodes start as lost. Times are
 * arguments (monotonic); wall clock is from clk_unix_ns.
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

/* Load of the host by its agent: the largest recent values, decaying over half
 * a minute, since rounds are shorter than the interval of reports. 0: not
 * reported. */
struct node_host {
	double cpu;       /* share of time in which a task waits for a core */
	double steal;     /* share of time that the hypervisor took */
	double wait_s;    /* the agent's own wait for a core */
	double throttled; /* share of time in which a CPU quota stopped it */
	double hot;       /* share of time in which heat lowered its clock */
	double net;      /* share of its link's rate in use, busier direction */
	double net_told; /* net at the last report, without decay */
	double jobs;     /* net while no run of ours was on the node */
	uint64_t jobs_ns; /* time of the last report for jobs */
	int ours;         /* a run of ours was there at the last heartbeat */
};

/* An error event of a device; text NULL: none since the collector started. */
struct node_error {
	char *text;
	int64_t unix_ns;
};

/* Maintenance by an order. until_unix_ns 0: none. */
struct node_maintenance {
	uint64_t until_unix_ns;
	char *by, *text; /* the user who ordered it, and the reason */
};

/* A node, and its agent. */
struct node {
	char *name;
	enum agent_state state;
	int known;               /* 0: new, not logged yet */
	struct session *session; /* NULL: not connected */
	struct node_maintenance maintenance;
	int forgotten;    /* found by its id only */
	int lost_told;    /* lost_cb was called during maintenance */
	int greeted;      /* welcome was sent: it accepts orders */
	uint64_t serial;  /* number of the session; grows with every hello */
	uint64_t last_ns; /* time of its last message; 0: none since start */
	uint64_t since_unix_ns; /* begin of state */
	uint64_t first_seen_unix_ns;
	uint64_t last_seen_unix_ns;
	char *software;
	char *boot;
	uint64_t boot_unix_ns; /* when boot was first reported; 0: unknown */
	char *addr;
	char leaf[TOPO_LEAF_MAX]; /* "" unknown */
	size_t id;                /* place in the order of first sight */
	json_t *inventory;        /* may be NULL */
	char *inventory_text;     /* inventory as text; NULL: not made yet */
	uint64_t nics_serial;     /* changes with its NICs */
	struct port_look *links;  /* reported, not processed yet; or NULL */
	char *busy;               /* reason why it is not idle; NULL: idle */
	char *alarm;              /* error that its agent reports, or NULL */
	struct node_host host;
	uint64_t host_ns;             /* time of the last host message */
	double numbers[NODE_NUMBERS]; /* values of node_numbers; NAN: unknown */
	int64_t skew_ns;              /* its wall clock minus ours */
	struct run *exclusive;        /* run that holds it alone */
	unsigned shared;              /* background runs on it */
	uint64_t claim_tick;          /* when a run last waited for it */
	int64_t claim_priority;
	uint64_t used_unix_ns; /* when a run last measured it; 0: not yet */
	int adopted;           /* unknown runs with accepted records */
	char *adopted_run;     /* the last of those runs */
	/* Interval of heartbeats agreed with its session. */
	uint64_t heartbeat_ns;
	int resend;           /* it holds records that were not committed */
	size_t message_bytes; /* size of its message that is being handled */
	uint64_t late_records, late_bytes; /* records of runs that have ended */
	uint64_t late_begin_ns;            /* start of the hour they count */
	unsigned events; /* events of roster_event in the hour from events_ns */
	uint64_t events_ns;
	struct account work;  /* time for its messages, in all sessions */
	struct account beats; /* cost of its heartbeats (account.h) */
	struct account rows;  /* cost of its rows in the store (account.h) */
	uint64_t put_ns;      /* when its row was last written */
	int is_unput;         /* its newest row is not in the store */
	int is_inventory_unput;
	uint64_t term; /* term of another collector that it accepted; or 0 */
	uint64_t in_band_ns; /* last accepted measurements of its jobs */
	uint64_t ras_ns;     /* last accepted report of communicators */
	/* The newest error of its GPUs, and of its other devices. */
	struct node_error gpu_error, link_error;
	uint64_t renewed_ns; /* when it last asked for a certificate */
};

/* Options of the roster. */
struct roster_limits {
	/* Interval of heartbeats, and the time without messages after which a
	 * node is lost: minimum values. */
	uint64_t heartbeat_ns, silence_ns;
	const struct topo *topo; /* NULL: leaves stay unknown */
	/* The store deletes a node's row at this age; 0: never. */
	uint64_t retention_ns;
};

/* Return an empty roster, which the caller frees. lost_cb is called when a node
 * has just become lost. store can be NULL in tests. */
struct roster *roster_new(const struct roster_limits *limits,
    struct store *store, void (*lost_cb)(struct node *n, void *arg), void *arg);
void roster_free(struct roster *r); /* NULL is allowed */
/* Use another topology from now on. */
void roster_set_topo(struct roster *r, const struct topo *topo);
const struct topo *roster_topo(const struct roster *r); /* may be NULL */
/* Load the answer of STORE_NODES at the start. */
void roster_load(struct roster *r, const json_t *nodes);
/* Update the nodes of a standby from the answer of STORE_NODES: agents are
 * connected to the active collector. */
void roster_mirror(struct roster *r, const json_t *nodes);

struct node *roster_find(const struct roster *r, const char *name);
/* Return the node that a scheduler or a file calls name, perhaps with another
 * domain; NULL if not found or ambiguous: common/hostname.h. For the exact name
 * of an agent use roster_find. */
struct node *roster_find_host(const struct roster *r, const char *name);
/* Return 1 if no other node has its short name. */
int roster_is_alone(const struct roster *r, const struct node *n);
/* Return the number of nodes. */
size_t roster_count(const struct roster *r);
/* Return the limit of ids: it also counts forgotten nodes. */
size_t roster_ids(const struct roster *r);
/* Return the node with this id, 0 to roster_ids - 1: the order in which nodes
 * were first seen, which never changes. It may be forgotten. */
struct node *roster_by_id(const struct roster *r, size_t id);
/* Return the i-th node in human order. */
struct node *roster_at(struct roster *r, size_t i);
/* Return the number of nodes in a state. */
size_t roster_count_state(const struct roster *r, enum agent_state state);

/* Process a session's hello; creates the node if it is new. */
struct node *roster_hello(struct roster *r, const json_t *hello,
    const char *addr, struct session *s, uint64_t now_ns);
/* Process a heartbeat: load, links, alarm and numbers of a node. */
void roster_heartbeat(struct roster *r, struct node *n, const json_t *msg);
/* Count a heartbeat. Return 1 if they arrive at more than twice the agreed
 * rate. */
int roster_beats_too_often(struct node *n, uint64_t now_ns);
/* Note that a message of any type was received from a node. */
void roster_alive(struct roster *r, struct node *n, uint64_t now_ns);
/* Note that the session of a node ended. The node becomes lost unless it
 * reconnects in time. */
void roster_gone(struct roster *r, struct node *n, const char *why);
/* Limit of heartbeats of all agents together. With more nodes, new sessions get
 * a longer interval. */
#define ROSTER_HEARTBEATS_PER_S 2000
/* Time without messages after which a node is late (two and a half heartbeats,
 * since a busy machine may miss one), and after which it is lost. */
uint64_t roster_late_ns(const struct roster *r, const struct node *n);
uint64_t roster_silence_ns(const struct roster *r, const struct node *n);
/* Mark nodes as late or lost; call it periodically. */
void roster_tick(struct roster *r, uint64_t now_ns);
/* Return the number of the node's NICs that carry the bytes of jobs; ret_rails:
 * the agent's name and the interface, or "", of each. 0: not reported.
 * ret_rails is valid as long as the node's inventory. */
#define ROSTER_RAILS_MAX  16
#define ROSTER_RAIL_BYTES 40 /* bytes of a rail's name, with the NUL */
struct roster_rail {
	const char *name, *netdev;
};
size_t roster_rails(const struct node *n,
    struct roster_rail ret_rails[ROSTER_RAILS_MAX]);
/* Return the index of the rail with that name or interface, or -ENOENT. */
long roster_rail_find(const struct node *n, const char *name);
/* Begin or change the maintenance of a node, or end it with until_unix_ns 0;
 * by and text are copied. Until its end the node has the state maintenance, so
 * it is not up, not judged and raises no alarm. */
void roster_maintain(struct roster *r, struct node *n, uint64_t until_unix_ns,
    const char *by, const char *text);
/* Remove a node from the roster and the store. A later hello of its agent adds
 * the node again. -EBUSY with err: the node is connected, or in a run. */
int roster_forget(struct roster *r, struct node *n, struct err *err);
/* Return 1 if the node is neither lost nor in maintenance: its errors count. */
int roster_is_watched(const struct node *n);
/* Return 1 if the node was greeted and is neither late, lost nor in
 * maintenance; it may be busy. */
int roster_is_up(const struct node *n);
/* Write why a node is not up: "node4 is lost". */
void roster_why(const struct node *n, struct err *err);
/* Return a node as the API shows it: a new reference. */
json_t *roster_json(const struct node *n);
/* Append the node as JSON text without its closing brace, so that the caller
 * may append members. Faster than json_t for lists of all nodes. */
void roster_text(struct node *n, struct strbuf *ret);
/* Write an event that its agent can cause at will. Return 1 if it was written,
 * 0 if there were too many in this hour. store may be NULL. */
int roster_event(struct store *store, struct node *n, const char *kind,
    const char *text);

#endif
