/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnosis.h - verdicts: rounds go to the judges, outliers to a confirmation
 * run, and the results to the store, the event log and the callback.
 *
 * A node is ok, warn (an outlier), bad (confirmed by a confirmation run) or
 * unknown: not measured since its agent started, not reachable, or not measured
 * for stale_ns. Everything runs on the loop's thread.
 */
#ifndef DAEMON_DIAGNOSIS_DIAGNOSIS_H
#define DAEMON_DIAGNOSIS_DIAGNOSIS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "daemon/diagnosis/stats/judge.h"
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
/* The baseline that the diagnosis maintains automatically. */
#define DIAGNOSIS_RECENT "recent"

/* The options: section verdict of coalmine.conf(5). */
struct diagnosis_options {
	struct judge_options judge;
	uint64_t stale_ns;
	int second_pass; /* 0: no automatic confirmation runs */
	int second_pass_per_hour;
	int follow_up;        /* runs an hour after large effects; 0: none */
	const char *baseline; /* name of the baseline for comparison */
	uint64_t seed;        /* for the choice of nodes; 0: random */
};
/* Read section verdict. Texts are valid as long as c. */
void diagnosis_options_read(const struct conf *c,
    struct diagnosis_options *ret);

/* The verdict of one subject, as passed to diagnosis_ops.changed. */
struct diagnosis_verdict {
	const char *kind;        /* "node", "leaf", "spine" or "fleet" */
	const char *subject;     /* its name */
	const struct node *node; /* the node, for kind "node"; else NULL */
	enum verdict state;
	/* An open case has what, the cause and the start. After its end text is
	 * the reason of the end. is_open 0: no case, and text may be "". */
	int is_open;
	enum what what;
	const char *text; /* for an unknown node the reason */
	const char *run;  /* the run that showed it; "": none */
	uint64_t since_unix_ns;
};

/* Calls of the owner, with ctx of diagnosis_new. */
struct diagnosis_ops {
	/* Order a confirmation run; ret_run: its id. 0 or -errno. */
	int (*order)(void *ctx, const struct conf *campaign, char ret_run[64],
	    struct err *err);
	/* Check whether a run of that class with that launcher and section
	 * [slurm] (NULL: none) can get that node, now or later. 1, 0, or
	 * -EAGAIN: undetermined. NULL: always 1. */
	int (*may_have)(void *ctx, const char *class, const char *launcher,
	    const json_t *slurm, const struct node *n);
	/* A verdict or its fault has changed: called on the loop's thread after
	 * the store got it. A node that becomes ok or unknown without a case is
	 * reported within a second. The strings are valid during the call; the
	 * callback must not call functions that change the diagnosis. NULL: no
	 * callback. */
	void (*changed)(void *ctx, const struct diagnosis_verdict *v);
};

/* Return a diagnosis without data, which the caller frees. roster and store
 * must outlive it. */
struct diagnosis *diagnosis_new(struct roster *roster, struct store *store,
    const struct diagnosis_options *o, const struct diagnosis_ops *ops,
    void *ctx);
void diagnosis_free(struct diagnosis *d); /* NULL is allowed */
/* Take over cases that an earlier collector left open, as answered by
 * STORE_VERDICTS. */
void diagnosis_load(struct diagnosis *d, const json_t *verdicts);
/* Update the leaves after nodes may have moved: end cases of leaves without
 * nodes. */
void diagnosis_leaves_changed(struct diagnosis *d);

/* Load the answer of STORE_HEARD. A node that an earlier collector measured
 * within stale_ns, with the same agent process as now, keeps its verdict. Call
 * after the roster's nodes are loaded; agents may have reconnected already. */
void diagnosis_load_heard(struct diagnosis *d, const json_t *heard);

/* Load baselines from STORE_BASELINES, [{name body}]: the recent weeks of an
 * earlier collector, and the pinned one. Before diagnosis_load. */
void diagnosis_load_baselines(struct diagnosis *d, const json_t *rows);
/* Pin a baseline, or drop it (NULL). */
void diagnosis_pin(struct diagnosis *d, const char *name, const json_t *body);
/* Return the recent weeks as the body of a baseline: {run records}, each record
 * of one class and test {probe test phase class unit n p50 nodes}, its nodes
 * {node, q25 or q75, rounds, distance sigma sums}. New reference. */
json_t *diagnosis_recent(const struct diagnosis *d);
/* Store the recent weeks; also done automatically every hour. Call before the
 * end. */
void diagnosis_keep(struct diagnosis *d);

/* How a run was made, for a confirmation run of its result. */
struct diagnosis_source {
	const char *run;
	const char *campaign;
	const char *class;
	const char *mpi;
	const char *launcher;
	json_t *slurm; /* settings of its [slurm]; NULL: none. Borrowed */
	/* The NIC that it requires on all of its nodes; NULL: none. */
	const char *rail;
};
/* Process a numbered record that is in the store. Call once per record. */
void diagnosis_record(struct diagnosis *d, const struct diagnosis_source *from,
    const struct round *round);
/* Process a record of the mesh. */
void diagnosis_mesh(struct diagnosis *d, const struct round *round);
/* Process the mesh's pairs of one epoch; ids are of nodes of the roster. */
void diagnosis_paths(struct diagnosis *d, const struct mesh_path *paths,
    size_t count);
/* Two nodes between which an exchange did not end; test is a word of
 * names_tests, or NAMES_PLAN. */
struct diagnosis_stuck {
	const struct node *a, *b;
	const char *test;
	double waited_s;
};
/* Report all these pairs of a run. */
void diagnosis_stuck(struct diagnosis *d, const struct diagnosis_source *from,
    const struct diagnosis_stuck *pairs, size_t count);
/* Return 1 and the reason if runs should skip this node at present, because MPI
 * cannot exchange messages with it; else 0. */
int diagnosis_avoid(const struct diagnosis *d, const struct node *n,
    struct err *err);
/* Process a counters message of a node. */
void diagnosis_counters(struct diagnosis *d, const char *run,
    const struct node *n, const struct nic_counters *most);
/* Note that a run got its nodes. */
void diagnosis_run_begun(struct diagnosis *d, const char *run);
/* The end of a run. */
struct diagnosis_end {
	const char *run;
	const char *campaign;
	enum cause cause;
	/* How its canaries measure all of its nodes; NOT: they do not. */
	enum { END_MEASURES_NOT, END_MEASURES_RINGS, END_MEASURES_PAIRS } how;
};
/* Note that a run that had this node has ended; call before diagnosis_run_over.
 * After two consecutive runs of a canary campaign that should have measured the
 * node and did not, it becomes unknown. A ring, which cannot show one slow
 * node, does not end this unless only rings missed the node. */
void diagnosis_run_missed(struct diagnosis *d, const struct diagnosis_end *e,
    const struct node *n);
/* Note that a run has ended. */
void diagnosis_run_over(struct diagnosis *d, const char *run);
/* Discard the state of a node, which is unknown until it is measured again, and
 * end its case with this text. */
void diagnosis_withdraw(struct diagnosis *d, const struct node *n,
    const char *text);
/* Do the periodic work; call it about once a second. */
void diagnosis_tick(struct diagnosis *d);

/* Return {kind subject verdict what since_unix_ns at_unix_ns text test class
 * effect rounds partners slow_partners second_pass run}, worst first. all: also
 * subjects that are ok or unknown, with only kind, subject and verdict; for
 * unknown also text, the reason. */
json_t *diagnosis_json(const struct diagnosis *d, int all);
/* Return ports with more errors than usual lately, of one node or (NULL) of
 * all: {node leaf port kind counter errors span_s looks looks_with_errors usual
 * named hour day}. named: too many to be chance; hour, day: errors in these
 * times, fading exponentially. */
json_t *diagnosis_links(const struct diagnosis *d, const struct node *of);
/* Return all ports of a node, and its GPUs: {node leaf class watched ports
 * [{port is counters [{counter kind hour day total named?}] judged}]}; is: from
 * the inventory; judged: from diagnosis_links. */
json_t *diagnosis_node_links(const struct diagnosis *d, const struct node *n);
/* Return {classes [{class ports kinds {KIND: {errors ports}}}] worst [{node
 * leaf port counter kind hour day}]}: errors since the collector started, and
 * the ports that counted some in the last hour; worst: the worst ports of each
 * kind. */
json_t *diagnosis_link_health(const struct diagnosis *d);
/* Return the bandwidth of every node and leaf today as a share of its peers'
 * bandwidth, from the newest rounds of bandwidth: {nodes [{node leaf state
 * share spread rounds rate?}] leaves [{leaf share spread rounds rate?}]};
 * spread: of the share's logarithm; rounds 0: unknown; rate: in B/s in rounds
 * of the test bw, of a leaf to its nearest other leaf. */
json_t *diagnosis_shares(const struct diagnosis *d);
/* Return the verdict of a node. */
enum verdict diagnosis_of_node(const struct diagnosis *d, const struct node *n);
/* Write why a node is unknown, as a text that begins with its name. */
void diagnosis_why_unknown(const struct diagnosis *d, const struct node *n,
    struct err *err);
/* Return the judge's z of a node against its peers: the worst of the newest
 * rounds of all tests in the last day. Rounds of rings count only for a node
 * without other rounds. Positive is worse, NAN: unknown. It is evidence; the
 * decision is the verdict. */
double diagnosis_score(const struct diagnosis *d, const struct node *n);
/* Return the z that the combined rounds of a node must reach to be an outlier
 * among the nodes of the newest round; NAN: no nodes. */
double diagnosis_threshold(const struct diagnosis *d);
/* Load a canary's record from before the start: only for diagnosis_score. */
void diagnosis_score_old(struct diagnosis *d, const struct round *round);
/* Return the open incident of a node, or NULL. New reference. */
json_t *diagnosis_node_json(const struct diagnosis *d, const struct node *n);

/* Write the pending step of a node: "slow in 2 of 3 rounds, confirmation
 * pending" before its verdict, "recovering: normal in 2 of 5 rounds" before its
 * end. Return 0 and "": nothing pending. */
#define DIAGNOSIS_PENDING_MAX 80
int diagnosis_pending(const struct diagnosis *d, const struct node *n,
    char ret[DIAGNOSIS_PENDING_MAX]);
/* Return nodes and leaves that are suspects after one large effect, without a
 * case: [{kind subject text}]. New reference. */
json_t *diagnosis_suspects(const struct diagnosis *d);

/* Open cases, for metrics and alerts. */
struct diagnosis_open {
	const char *kind;    /* "node" or "leaf" */
	const char *subject; /* valid as long as the incident */
	enum what what;
	enum verdict verdict;
	const char *text; /* valid as long as the incident */
};
/* Write up to cap open cases to ret. Return their number. */
size_t diagnosis_open_cases(const struct diagnosis *d,
    struct diagnosis_open *ret, size_t cap);
/* Count the nodes by verdict, without those in maintenance. */
void diagnosis_counts(const struct diagnosis *d, size_t ret[VERDICT_MAX]);

#endif
