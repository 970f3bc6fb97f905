/* SPDX-License-Identifier: Apache-2.0 */
/*
 * court.h - verdicts: rounds go to the judges, suspects to a second pass, and
 * what comes of it to the store, the event log and whoever looks.
 *
 *   court.c       records are rounds of a judge, one for each class and test
 *   court_case.c  a suspect's case from its opening to its end
 *   court_show.c  in words, as JSON, in lists
 *   court_pass.c  the second pass: one run of six nodes at a time
 *   court_mesh.c  the agents' mesh: echoes that are slow, or lost
 *   court_drift.c every node against its own recent weeks, and a baseline
 *
 * A node is ok, warn (suspect), bad (the second pass agrees) or unknown: not
 * measured since its agent started, not reachable, or not measured for
 * stale_ns. Everything runs on the loop's thread.
 */
#ifndef DAEMON_COURT_H
#define DAEMON_COURT_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/judge/judge.h"
#include "schema/names.h"

struct court;
struct node;
struct roster;
struct run;
struct store;

#define COURT_MESH_CLASS "mesh"
/* The baseline that the court keeps by itself. */
#define COURT_RECENT "recent"

struct court_options {
	struct judge_options judge;
	uint64_t stale_ns;
	int second_pass; /* 0: never by itself */
	int second_pass_per_hour;
	const char *baseline; /* a name: nodes are held against it */
};

struct court_ops {
	/* Order a run of that campaign text; ret_run its id. 0 or -errno. */
	int (*order)(void *ctx, const char *campaign, const char *text,
	    const char *by, char ret_run[64], char *why, size_t why_bytes);
	/* May a run of that class with that launcher and section [slurm]
	 * (NULL: none) be had on that node, now or later? 1, 0, or -EAGAIN:
	 * nobody knows yet. NULL: any may. */
	int (*may_have)(void *ctx, const char *class, const char *launcher,
	    const json_t *slurm, const struct node *n);
};

/* roster and store outlive the court. */
struct court *court_new(struct roster *roster, struct store *store,
    const struct court_options *o, const struct court_ops *ops, void *ctx);
void court_free(struct court *c); /* NULL is allowed */
/* What STORE_VERDICTS answered: cases that an earlier collector left open. */
void court_load(struct court *c, const json_t *verdicts);

/* What STORE_HEARD answered: whoever an earlier collector heard, not longer
 * than stale_ns ago and of the agent's process that is known now, keeps the
 * verdict that it had. After the roster's nodes; agents may be back already. */
void court_load_heard(struct court *c, const json_t *heard);

/* A baseline as STORE_BASELINES gives it, [{name body}]: the recent weeks of
 * an earlier collector, or the pinned one. Before court_load. */
void court_load_baselines(struct court *c, const json_t *rows);
/* A baseline was pinned, or dropped (NULL). */
void court_pin(struct court *c, const char *name, const json_t *body);
/* The recent weeks as the body of a baseline: {run records}, each record of
 * one class and test {probe test phase class unit n p50 nodes}, its nodes
 * {node, q25 or q75, rounds, distance sigma sums}. New reference. */
json_t *court_recent(const struct court *c);
/* Store them; the court does so each hour by itself. Before the end. */
void court_keep(struct court *c);

/* How a run was made, for the second pass on what it has shown. */
struct court_source {
	const char *run;
	const char *campaign;
	const char *class;
	const char *mpi;
	const char *launcher;
	json_t *slurm; /* what its [slurm] sets; NULL: nothing. Borrowed */
};
/* A numbered record that is in the store, once. */
void court_record(struct court *c, const struct court_source *from,
    const json_t *record);
/* A record of the mesh. */
void court_mesh(struct court *c, const json_t *record);
/* A counters message of a node. */
void court_counters(struct court *c, const char *run, const struct node *n,
    const json_t *nics);
/* A run has ended. */
void court_run_over(struct court *c, const char *run);
/* About once a second. */
void court_tick(struct court *c);

/* {kind subject verdict what since_unix_ns at_unix_ns text test class effect
 * rounds partners slow_partners second_pass run}, the worst first. all: also
 * those that are ok or unknown, with nothing but kind, subject and verdict. */
json_t *court_json(const struct court *c, int all);
enum verdict court_of_node(const struct court *c, const struct node *n);
/* The open case of a node, or NULL. New reference. */
json_t *court_node_json(const struct court *c, const struct node *n);

/* For metrics: open cases. */
struct court_open {
	const char *kind;    /* "node" or "leaf" */
	const char *what;    /* of words_whats (judge/words.h) */
	const char *subject; /* lives as long as the case */
	enum verdict verdict;
};
size_t court_open_cases(const struct court *c, struct court_open *ret,
    size_t cap);
void court_counts(const struct court *c, size_t ret[VERDICT_MAX]);

#endif
