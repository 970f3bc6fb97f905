/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnosis.h - verdicts: rounds go to the judges, outliers to a confirmation
 * run, and what comes of it to the store, the event log and whoever looks.
 *
 * A node is ok, warn (an outlier), bad (the confirmation run agrees) or
 * unknown: not measured since its agent started, not reachable, or not measured
 * for stale_ns. Everything runs on the loop's thread.
 */
#ifndef DAEMON_DIAGNOSIS_DIAGNOSIS_H
#define DAEMON_DIAGNOSIS_DIAGNOSIS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "daemon/diagnosis/judge/judge.h"
#include "schema/names_run.h"
#include "schema/names_verdict.h"

struct conf;
struct diagnosis;
struct mesh_path;
struct nic_counters;
struct node;
struct roster;
struct round;
struct run;
struct store;

#define DIAGNOSIS_MESH_CLASS "mesh"
/* The baseline that the diagnosis keeps by itself. */
#define DIAGNOSIS_RECENT "recent"

struct diagnosis_options {
	struct judge_options judge;
	uint64_t stale_ns;
	int second_pass; /* 0: never by itself */
	int second_pass_per_hour;
	int follow_up;        /* runs an hour after large effects; 0: none */
	const char *baseline; /* a name: nodes are held against it */
	uint64_t seed;        /* of whom confirmation runs take; 0: by chance */
};
/* Read section verdict. Texts live as long as c. */
void diagnosis_options_read(const struct conf *c,
    struct diagnosis_options *ret);

/* The verdict of one subject, as diagnosis_ops.changed gets it. */
struct diagnosis_verdict {
	const char *kind;        /* "node", "leaf", "spine" or "fleet" */
	const char *subject;     /* its name */
	const struct node *node; /* of a node, else NULL */
	enum verdict state;
	/* An open case names its fault: what, why and since when. After its end
	 * text says why it ended. is_open 0: no case, and text may be "". */
	int is_open;
	enum what what;
	const char *text; /* of an unknown node why it is so */
	const char *run;  /* that showed it; "" */
	uint64_t since_unix_ns;
};

struct diagnosis_ops {
	/* Order a confirmation run; ret_run its id. 0 or -errno. */
	int (*order)(void *ctx, const struct conf *campaign, char ret_run[64],
	    struct err *err);
	/* May a run of that class with that launcher and section [slurm]
	 * (NULL: none) be had on that node, now or later? 1, 0, or -EAGAIN:
	 * nobody knows yet. NULL: any may. */
	int (*may_have)(void *ctx, const char *class, const char *launcher,
	    const json_t *slurm, const struct node *n);
	/* A verdict or its fault has changed: after the store got it, on the
	 * loop's thread. A node that becomes ok or unknown without a case is
	 * reported within a second. The strings are valid during the call;
	 * the callback must not call the diagnosis' functions that change it.
	 * NULL: nobody listens. */
	void (*changed)(void *ctx, const struct diagnosis_verdict *v);
};

/* roster and store outlive the diagnosis. */
struct diagnosis *diagnosis_new(struct roster *roster, struct store *store,
    const struct diagnosis_options *o, const struct diagnosis_ops *ops,
    void *ctx);
void diagnosis_free(struct diagnosis *d); /* NULL is allowed */
/* What STORE_VERDICTS answered: cases that an earlier collector left open. */
void diagnosis_load(struct diagnosis *d, const json_t *verdicts);
/* Nodes may be on other leaves now: what was said of leaves without nodes
 * ends. */
void diagnosis_leaves_changed(struct diagnosis *d);

/* What STORE_HEARD answered: whoever an earlier collector heard, not longer
 * than stale_ns ago and of the agent's process that is known now, keeps the
 * verdict that it had. After the roster's nodes; agents may be back already. */
void diagnosis_load_heard(struct diagnosis *d, const json_t *heard);

/* A baseline as STORE_BASELINES gives it, [{name body}]: the recent weeks of
 * an earlier collector, or the pinned one. Before diagnosis_load. */
void diagnosis_load_baselines(struct diagnosis *d, const json_t *rows);
/* A baseline was pinned, or dropped (NULL). */
void diagnosis_pin(struct diagnosis *d, const char *name, const json_t *body);
/* The recent weeks as the body of a baseline: {run records}, each record of
 * one class and test {probe test phase class unit n p50 nodes}, its nodes
 * {node, q25 or q75, rounds, distance sigma sums}. New reference. */
json_t *diagnosis_recent(const struct diagnosis *d);
/* Store them; the diagnosis does so each hour by itself. Before the end. */
void diagnosis_keep(struct diagnosis *d);

/* How a run was made, for the confirmation run on what it has shown. */
struct diagnosis_source {
	const char *run;
	const char *campaign;
	const char *class;
	const char *mpi;
	const char *launcher;
	json_t *slurm; /* what its [slurm] sets; NULL: nothing. Borrowed */
	/* The NIC that it demands of all of its nodes; NULL: none. */
	const char *rail;
};
/* A numbered record that is in the store, once. */
void diagnosis_record(struct diagnosis *d, const struct diagnosis_source *from,
    const struct round *round);
/* A record of the mesh. */
void diagnosis_mesh(struct diagnosis *d, const struct round *round);
/* The mesh's pairs of one epoch; ids are of nodes of the roster. */
void diagnosis_paths(struct diagnosis *d, const struct mesh_path *paths,
    size_t count);
/* Two nodes of a run between which an exchange did not end; test is a word of
 * names_tests. */
void diagnosis_stuck(struct diagnosis *d, const struct diagnosis_source *from,
    const struct node *a, const struct node *b, const char *test,
    double waited_s);
/* Is that node better left out of runs for now? 1 and why, or 0. */
int diagnosis_avoid(const struct diagnosis *d, const struct node *n,
    struct err *err);
/* A counters message of a node. */
void diagnosis_counters(struct diagnosis *d, const char *run,
    const struct node *n, const struct nic_counters *most);
/* A run has got its nodes. */
void diagnosis_run_begun(struct diagnosis *d, const char *run);
/* How a run has ended. */
struct diagnosis_end {
	const char *run;
	const char *campaign;
	enum cause cause;
	int measures_all; /* its canaries are on all of its nodes */
};
/* A run that had that node has ended, before diagnosis_run_over: two in a row
 * of a campaign of canaries that should have measured it and have not, and
 * nobody knows how the node is. */
void diagnosis_run_missed(struct diagnosis *d, const struct diagnosis_end *e,
    const struct node *n);
/* A run has ended. */
void diagnosis_run_over(struct diagnosis *d, const char *run);
/* About once a second. */
void diagnosis_tick(struct diagnosis *d);

/* {kind subject verdict what since_unix_ns at_unix_ns text test class effect
 * rounds partners slow_partners second_pass run}, the worst first. all: also
 * those that are ok or unknown, with nothing but kind, subject and verdict; and
 * of an unknown one text, why. */
json_t *diagnosis_json(const struct diagnosis *d, int all);
/* Ports that have counted more errors than usual lately, of one node or (NULL)
 * of all: {node leaf port kind counter errors span_s looks looks_with_errors
 * usual named hour day}; named: there have been too many for chance; hour, day:
 * how many in the last, whose past fades. */
json_t *diagnosis_links(const struct diagnosis *d, const struct node *of);
/* All ports of a node, GPUs too: {node leaf class watched ports [{port is
 * counters [{counter kind hour day total named?}] judged}]}; is: of the
 * inventory; judged: of diagnosis_links. */
json_t *diagnosis_node_links(const struct diagnosis *d, const struct node *n);
/* {classes [{class ports kinds {KIND: {errors ports}}}] worst [{node leaf port
 * counter kind hour day}]}: errors since the collector started, ports that have
 * counted some in the last hour; the worst of each kind by name. */
json_t *diagnosis_link_health(const struct diagnosis *d);
/* What every node and leaf gives today of what its like give, by its newest
 * rounds of bandwidth: {nodes [{node leaf state share spread rounds}] leaves
 * [{leaf share spread rounds}]}; spread: of the share's logarithm; rounds 0:
 * not known. */
json_t *diagnosis_shares(const struct diagnosis *d);
enum verdict diagnosis_of_node(const struct diagnosis *d, const struct node *n);
/* Why a node is unknown, in words that begin with its name. */
void diagnosis_why_unknown(const struct diagnosis *d, const struct node *n,
    struct err *err);
/* The judge's z of a node against its peers in its newest round, worst test;
 * positive is worse, NAN is not known. It is evidence, not the decision, which
 * is the verdict. */
double diagnosis_score(const struct diagnosis *d, const struct node *n);
/* The z that the rounds of a node combined must reach for it to be an outlier
 * among the nodes of the newest round; NAN: no node is known. */
double diagnosis_threshold(const struct diagnosis *d);
/* A canary's record of before this start: only for diagnosis_score. */
void diagnosis_score_old(struct diagnosis *d, const struct round *round);
/* The open incident of a node, or NULL. New reference. */
json_t *diagnosis_node_json(const struct diagnosis *d, const struct node *n);

/* What is under way of a node: "slow in 2 of 3 rounds, confirmation pending"
 * before its verdict, "recovering: normal in 2 of 5 rounds" before its end. 0
 * and "": nothing. */
#define DIAGNOSIS_PENDING_MAX 80
int diagnosis_pending(const struct diagnosis *d, const struct node *n,
    char ret[DIAGNOSIS_PENDING_MAX]);
/* Nodes and leaves that one large effect has made suspects, without a case:
 * [{kind subject text}]. New reference. */
json_t *diagnosis_suspects(const struct diagnosis *d);

/* Open cases, for metrics and alerts. */
struct diagnosis_open {
	const char *kind;    /* "node" or "leaf" */
	const char *subject; /* lives as long as the incident */
	enum what what;
	enum verdict verdict;
	const char *text; /* likewise */
};
size_t diagnosis_open_cases(const struct diagnosis *d,
    struct diagnosis_open *ret, size_t cap);
void diagnosis_counts(const struct diagnosis *d, size_t ret[VERDICT_MAX]);

#endif
