/* SPDX-License-Identifier: Apache-2.0 */
/*
 * react_int.h - what the kinds of reactions share with react.c.
 */
#ifndef DAEMON_REACT_REACT_INT_H
#define DAEMON_REACT_REACT_INT_H

#include "common/queue.h"
#include "daemon/react/react.h"
#include "daemon/process/spawn.h"

#define REACT_BEGUN 1024 /* remembered: the highest limit of an hour */

struct react_task {
	TAILQ_ENTRY(react_task) link;
	char node[256];
	char text[300]; /* the verdict's */
	char then[300]; /* of the opposite, if that was asked for meanwhile */
	int undo;
	int told; /* that it is held back */
	uint64_t not_before_ns;
};

enum react_result { REACT_DONE, REACT_LEFT, REACT_FAILED };

struct react_kind {
	const char *action;        /* as reaction.action names it */
	const char *done, *undone; /* for the log */
	int asks; /* begin finds out what was done before, and what not */
	/* Begin with r->now; ends, later or at once, in react_finish. */
	void (*begin)(struct react *r, const struct react_task *t);
};
/* NULL: nothing is done. */
const struct react_kind *react_kinds_find(const char *action);

struct react {
	struct event_base *base;
	struct store *store;
	struct react_options o;
	const struct react_kind *kind; /* NULL: nothing is done */
	TAILQ_HEAD(, react_task) tasks;
	struct react_task *now; /* of tasks; NULL: none */
	struct spawned *child;
	json_t *done;  /* node: when */
	json_t *begun; /* likewise, of what may have been done or not */
	uint64_t begun_ns[REACT_BEGUN]; /* on the clock of clk_ns */
	size_t begun_at;                /* of r->now */
	const struct roster *roster;    /* NULL: Slurm has the agents' names */
	char slurm_node[256]; /* what Slurm calls the node of r->now */
};

void react_finish(struct react *r, enum react_result result, const char *text);
/* A child that was made, or NULL and errno: a failure. */
void react_spawned(struct react *r, struct spawned *child);
void react_spawn(struct react *r, char *const *argv, char *const *env,
    spawn_cb *cb);

#endif
