/* SPDX-License-Identifier: Apache-2.0 */
/*
 * react_int.h - shared declarations of react.c and the kinds of reactions.
 */
#ifndef DAEMON_REACT_REACT_INT_H
#define DAEMON_REACT_REACT_INT_H

#include "common/queue.h"
#include "daemon/react/react.h"
#include "daemon/process/spawn.h"

#define REACT_BEGUN 1024 /* actions that are kept: maximum of the limit */

/* An action that is due. */
struct react_task {
	TAILQ_ENTRY(react_task) link;
	char node[256];
	char text[300]; /* text of the verdict */
	char then[300]; /* text of the opposite task, if requested meanwhile */
	int undo;
	int told; /* 1: the delay was logged */
	uint64_t not_before_ns;
};

/* The result of an action: done, skipped, or failed. */
enum react_result { REACT_DONE, REACT_LEFT, REACT_FAILED };

/* A kind of reaction. */
struct react_kind {
	const char *action;        /* as reaction.action names it */
	const char *done, *undone; /* for the log */
	int asks; /* begin checks whether the action was done already */
	/* Start r->now; calls react_finish at once or later. */
	void (*begin)(struct react *r, const struct react_task *t);
};
/* Return the kind of an action; NULL for "none". */
const struct react_kind *react_kinds_find(const char *action);

/* The state of all reactions. */
struct react {
	struct event_base *base;
	struct store *store;
	struct react_options o;
	const struct react_kind *kind; /* NULL: no action */
	TAILQ_HEAD(, react_task) tasks;
	struct react_task *now; /* the active task of tasks; NULL: none */
	struct spawned *child;
	json_t *done;  /* a set of nodes */
	json_t *begun; /* a set of nodes, of actions with unknown result */
	uint64_t begun_ns[REACT_BEGUN]; /* on the clock of clk_ns */
	size_t begun_at; /* index in begun_ns of the action of now */
	const struct roster *roster; /* NULL: Slurm has the agents' names */
	char slurm_node[256];        /* Slurm's name of the node of r->now */
};

/* End the action of r->now with this result; text: the reason. */
void react_finish(struct react *r, enum react_result result, const char *text);
/* Set the child of r->now; NULL: spawning failed, with errno. */
void react_spawned(struct react *r, struct spawned *child);
/* Start a program for r->now; cb is called at its end. */
void react_spawn(struct react *r, char *const *argv, char *const *env,
    spawn_cb *cb);

#endif
