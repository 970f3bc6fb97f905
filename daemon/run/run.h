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
	const char *what; /* the test, a word of names_tests, or NAMES_PLAN */
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
	/* Nodes of the run cannot exchange messages; called once, before its
	 * end. May be NULL. */
	void (*stuck)(void *ctx, const struct run *r,
	    const struct run_stuck *pairs, size_t count);
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

/* Advance all live runs; call it several times a second. */
void runs_tick(struct runs *rs);

/* Return {node: device} of nodes with an active fabric that their last run did
 * not use. It belongs to rs. */
const json_t *runs_unused(const struct runs *rs);
/* Return the number of records received since the start, including repeated
 * ones. */
uint64_t runs_records(const struct runs *rs);

#endif
