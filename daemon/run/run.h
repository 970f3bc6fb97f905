/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - the life of runs: from an order to a final state.
 *
 *   pending   waits for its nodes            (admit.c)
 *   starting  prepare to all nodes, launch to the head, daemons through the
 *             agents                         (launch.c)
 *   running   since its first record         (intake.c)
 *   final     finished once its end record is committed; otherwise what the
 *             signs say                      (outcome.c)
 *
 * After its end a run holds its nodes until what it started there is gone.
 * Nothing here knows of sessions: messages leave through ops, and time is
 * clk_ns(), so a test can play all parts.
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

struct run_stuck {
	const struct node *a, *b;
	const char *what; /* of names_tests */
	double waited_s;
};

struct runs_ops {
	/* Takes msg. -ENOTCONN when the node has no session. */
	int (
	    *send)(void *ctx, struct node *n, enum wire_type type, json_t *msg);
	/* Likewise, of a frame that many nodes are sent. */
	int (*share)(void *ctx, struct node *n, struct wire_frame *f);
	/* End the node's session: it comes back and sends again what was not
	 * acknowledged. */
	void (*hang_up)(void *ctx, struct node *n, const char *why);
	/* A numbered record is in the store; once each. */
	void (*committed)(void *ctx, const struct run *r, const json_t *record,
	    const struct record_line *line);
	/* The run has a new state. */
	void (*changed)(void *ctx, const struct run *r);
	/* Two nodes of it between which nothing arrives, before its end. NULL:
	 * not wanted. */
	void (
	    *stuck)(void *ctx, const struct run *r, const struct run_stuck *s);
	/* Is that node better left out? NULL: never. */
	int (*avoid)(void *ctx, const struct node *n, struct err *err);
	/* A node's counters at a border of a phase of it. NULL: not wanted. */
	void (*counters)(void *ctx, const struct run *r, const struct node *n,
	    const json_t *nics);
};

struct runs *runs_new(struct roster *roster, struct store *store,
    const struct runs_ops *ops, void *ctx);
/* Of what a head may send for a run; 0: no limit. */
struct runs_quota {
	uint64_t records, bytes;
};
/* Read the limits of section quota. Texts live as long as c. */
void runs_quota_read(const struct conf *c, struct runs_quota *ret);
void runs_set_quota(struct runs *rs, const struct runs_quota *quota);
/* What runs may cost; outlives rs. */
void runs_set_costs(struct runs *rs, struct costs *costs);
/* Who says which nodes are idle, where a batch system does; outlives rs. */
void runs_set_slurm(struct runs *rs, struct slurm *slurm);
/* May a run of that class with that launcher ("": the usual one) and section
 * [slurm] (NULL: none) ever have that node, as far as Slurm goes: 1, 0, or
 * -EAGAIN while it is being asked. */
int runs_may_have(struct runs *rs, const char *class, const char *launcher,
    const json_t *slurm, const struct node *n);
/* Live runs are left alone: the next collector takes them up. */
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

struct run_order {
	const char *campaign;
	const struct conf *conf; /* checked; copied */
	const json_t *overrides; /* {"section.key": "value"}, or NULL */
	const char *by;          /* who or what ordered it, for people */
	enum run_origin origin;
	int attempt;        /* of RUN_BY_SEARCH, from 1 */
	uint64_t margin_ns; /* how long it may wait; 0: by hand */
};
/* 0, or -errno with why, and then there is no run. */
int runs_submit(struct runs *rs, const struct run_order *o, char ret_run[64],
    struct err *err);
/* A run that was due and cannot even be made: recorded as missed. */
void runs_miss(struct runs *rs, const char *campaign, const struct conf *conf,
    enum cause cause, const char *text, const char *by);
/* -ENOENT, -EALREADY */
int runs_cancel(struct runs *rs, const char *run, const char *by,
    struct err *err);
size_t runs_stop_all(struct runs *rs, const char *by);
/* Time passes; several times a second. */
void runs_tick(struct runs *rs);

/* Handle a message of an agent; lines: of its records, or NULL. -EPROTO with
 * why: no correct agent sends it. */
int runs_message(struct runs *rs, struct node *n, enum wire_type type,
    const json_t *msg, const struct strict_lines *lines, struct err *err);
/* n has (again) a session; runs: ids that live there. */
void runs_hello(struct runs *rs, struct node *n, const json_t *runs);
/* Those of runs that go on, for welcome. */
json_t *runs_keep(struct runs *rs, const struct node *n, const json_t *runs);
void runs_lost(struct runs *rs, struct node *n);

/* Once, before agents come: what STORE_LIVE_RUNS answered. */
void runs_resume(struct runs *rs, const json_t *live);

/* {node: device} of nodes with an active fabric that their last run did not
 * use; lives as long as rs. */
const json_t *runs_unused(const struct runs *rs);
/* The newest first; ended ones too, as long as they are remembered. */
json_t *runs_json(struct runs *rs, int is_brief);
json_t *runs_json_one(struct runs *rs, const char *run); /* NULL: unknown */
size_t runs_live(const struct runs *rs);
/* Records that were taken since the start, sent again or not. */
uint64_t runs_records(const struct runs *rs);
/* A live run of that campaign, or NULL. */
const char *runs_find_campaign(const struct runs *rs, const char *campaign);
/* Recent run on a node, or NULL; for the list of nodes. */
const char *runs_on_node(const struct runs *rs, const struct node *n);

/* Texts live as long as the run. */
struct run_facts {
	const char *run, *campaign, *class, *mpi, *launcher;
	enum run_state state;
	enum cause cause;
	int measures_all;    /* its canaries are on all of its nodes */
	double ended_unix_s; /* 0: not yet */
	const char *devices; /* that it demands; "": none */
	const json_t
	    *carried; /* those that carried its bytes; NULL: not known */
};
struct run_facts run_facts(const struct run *r);
/* What its section [slurm] sets, by key; NULL: nothing, or another launcher.
 * New reference. */
json_t *run_slurm(const struct run *r);
size_t run_node_count(const struct run *r);
struct node *run_node_at(const struct run *r, size_t i);

/* networks.c: the networks that all nodes which are up share, as texts; the
 * caller owns them. */
json_t *networks_shared(const struct roster *roster);
/* 1 where mpi.net or rails of the node decide which of them its ranks use. */
int networks_is_decided(const struct node *n);

#endif
