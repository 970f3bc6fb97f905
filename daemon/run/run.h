/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - the life of runs: from an order to a final state.
 *
 *   pending   waits for its nodes            (admit.c)
 *   starting  prepare to all nodes, launch to the head, daemons through the
 *             agents                         (launch.c)
 *   running   since its first record         (intake.c)
 *   final     finished once its end record is committed; otherwise as the
 *             signs of failure decide        (outcome.c)
 *
 * After its end a run holds its nodes until all its processes there have ended.
 * This part does not depend on sessions: messages are sent through ops, and
 * time is clk_ns(), so a test can simulate agents and time.
 */
#ifndef DAEMON_RUN_RUN_H
#define DAEMON_RUN_RUN_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "common/conf.h"
#include "common/err.h"
#include "schema/names_run.h"
#include "schema/wire.h"

struct conf;
struct costs;
struct node;
struct record_line;
struct strict_lines;
struct roster;
struct run;
struct runs;
struct slurm;
struct store;

#define RUN_WHY_MAX 240

/* Two nodes between which an exchange did not end. */
struct run_stuck {
	const struct node *a, *b;
	const char *what; /* the test, a word of names_tests */
	double waited_s;
};

/* Calls of the owner, with ctx as the first argument. */
struct runs_ops {
	/* Takes msg. -ENOTCONN when the node has no session. */
	int (
	    *send)(void *ctx, struct node *n, enum wire_type type, json_t *msg);
	/* Send a frame that is shared by many nodes; returns the same errors as
	 * send. */
	int (*share)(void *ctx, struct node *n, struct wire_frame *f);
	/* End the node's session: the agent reconnects and repeats messages
	 * that were not acknowledged. */
	void (*hang_up)(void *ctx, struct node *n, const char *why);
	/* A numbered record was committed; called once for each. */
	void (*committed)(void *ctx, const struct run *r, const json_t *record,
	    const struct record_line *line);
	/* The run has a new state. */
	void (*changed)(void *ctx, const struct run *r);
	/* Two nodes of the run cannot exchange messages; called before its end.
	 * May be NULL. */
	void (
	    *stuck)(void *ctx, const struct run *r, const struct run_stuck *s);
	/* Return 1 with the reason in err if runs should avoid that node. May
	 * be NULL. */
	int (*avoid)(void *ctx, const struct node *n, struct err *err);
	/* A node's counters at the border of a phase of the run. May be NULL.
	 */
	void (*counters)(void *ctx, const struct run *r, const struct node *n,
	    const json_t *nics);
};

/* Return an empty set of runs, which the caller frees. All arguments must
 * outlive it. */
struct runs *runs_new(struct roster *roster, struct store *store,
    const struct runs_ops *ops, void *ctx);
/* Limits of the records that a head may send for a run; 0: no limit. */
struct runs_quota {
	uint64_t records, bytes;
};
/* Read the limits of section quota. Texts live as long as c. */
void runs_quota_read(const struct conf *c, struct runs_quota *ret);
void runs_set_quota(struct runs *rs, const struct runs_quota *quota);
/* Set the limits of costs; costs outlives rs. */
void runs_set_costs(struct runs *rs, struct costs *costs);
/* Set the batch system that reports idle nodes; slurm outlives rs. */
void runs_set_slurm(struct runs *rs, struct slurm *slurm);
/* Return 1 if Slurm may give that node to a run of that class with that
 * launcher ("": the default) and section [slurm] (NULL: none) at some time; 0
 * if not; -EAGAIN while the query is pending. */
int runs_may_have(struct runs *rs, const char *class, const char *launcher,
    const json_t *slurm, const struct node *n);
/* Free the runs of this process. Live runs continue on their nodes: the next
 * collector resumes them. */
void runs_free(struct runs *rs); /* NULL is allowed */

/* Why a run was ordered. */
enum run_origin {
	RUN_BY_USER,
	RUN_BY_SCHEDULE,
	RUN_BY_CONFIRMATION,
	RUN_BY_AGAIN,  /* a scheduled run again, after stuck ranks */
	RUN_BY_SEARCH, /* for the pair of nodes at which ranks were stuck */
	RUN_ORIGIN_MAX
};

/* The order of a run. */
struct run_order {
	const char *campaign;
	const struct conf *conf; /* checked; copied */
	const json_t *overrides; /* {"section.key": "value"}, or NULL */
	const char *by;          /* origin as text: a user, "schedule" */
	enum run_origin origin;
	int attempt; /* number of the search run, from 1 (RUN_BY_SEARCH) */
	uint64_t margin_ns; /* maximum wait; 0: ordered by hand */
};
/* Create a run. Return 0, or -errno with err if no run was created. */
int runs_submit(struct runs *rs, const struct run_order *o, char ret_run[64],
    struct err *err);
/* Record a run as missed that was due and cannot be created. */
void runs_miss(struct runs *rs, const char *campaign, const struct conf *conf,
    enum cause cause, const char *text, const char *by);
/* Cancel a run. Return 0; -ENOENT: unknown; -EALREADY: it has ended. */
int runs_cancel(struct runs *rs, const char *run, const char *by,
    struct err *err);
/* Cancel all live runs. Return their number. */
size_t runs_stop_all(struct runs *rs, const char *by);
/* Advance all live runs; call it several times a second. */
void runs_tick(struct runs *rs);

/* Handle a message of an agent; lines: the lines of its records, or NULL.
 * Return -EPROTO with err for a message that no correct agent sends. */
int runs_message(struct runs *rs, struct node *n, enum wire_type type,
    const json_t *msg, const struct strict_lines *lines, struct err *err);
/* Process a new session of node n; runs: ids of runs that are active there. */
void runs_hello(struct runs *rs, struct node *n, const json_t *runs);
/* Return the ids in `runs` of the runs that continue, for the welcome message.
 */
json_t *runs_keep(struct runs *rs, const struct node *n, const json_t *runs);
/* Note that a node was lost: its live runs get a sign of failure. */
void runs_lost(struct runs *rs, struct node *n);

/* Resume the runs in the answer of STORE_LIVE_RUNS; call it once, before agents
 * connect. */
void runs_resume(struct runs *rs, const json_t *live);

/* Return {node: device} of nodes with an active fabric that their last run did
 * not use. It belongs to rs. */
const json_t *runs_unused(const struct runs *rs);
/* Return the live and recently ended runs, the newest first: a new
 * reference. */
json_t *runs_json(struct runs *rs, int is_brief);
/* Return one run: a new reference; NULL: unknown. */
json_t *runs_json_one(struct runs *rs, const char *run);
/* Return the number of live runs. */
size_t runs_live(const struct runs *rs);
/* Return the number of records received since the start, including repeated
 * ones. */
uint64_t runs_records(const struct runs *rs);
/* Return the id of a live run of that campaign, or NULL. */
const char *runs_find_campaign(const struct runs *rs, const char *campaign);
/* Return the id of a recent run on a node, or NULL; for the list of nodes. */
const char *runs_on_node(const struct runs *rs, const struct node *n);

/* A run as other parts see it. Texts live as long as the run. */
struct run_facts {
	const char *run, *campaign, *class, *mpi, *launcher;
	enum run_state state;
	enum cause cause;
	int measures_all;    /* its canaries are on all of its nodes */
	double ended_unix_s; /* 0: not yet */
	const char *devices; /* devices that it requires; "": none */
	/* Devices that carried its bytes; NULL: unknown. */
	const json_t *carried;
};
/* Return these facts of a run. */
struct run_facts run_facts(const struct run *r);
/* Return the options of its section [slurm], by key: a new reference; NULL: no
 * such section, or another launcher. */
json_t *run_slurm(const struct run *r);
/* Return the number of nodes of a run, and node i of them. */
size_t run_node_count(const struct run *r);
struct node *run_node_at(const struct run *r, size_t i);

/* networks.c: return the networks that all nodes which are up share, as texts,
 * one of those on the same interfaces: a new reference. */
json_t *networks_shared(const struct roster *roster);
/* Return addresses that several nodes have in a network with other addresses:
 * {"10.1.2.3": {"node1": "eth0", ...}}, a new reference. */
json_t *networks_repeated(const struct roster *roster);
/* Return 1 if mpi.net or rails of the node decide which network its ranks use.
 */
int networks_is_decided(const struct node *n);

#endif
