/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence.h - the parts of a cluster, the paths that are measured, and what
 * the records of runs say about them. The functions are pure: they use neither
 * a collector nor a clock.
 */
#ifndef CTL_ACCEPT_EVIDENCE_H
#define CTL_ACCEPT_EVIDENCE_H

#include <jansson.h>

#include "common/conf.h"
#include "common/hostlist.h"
#include "ctl/accept/accept_judge.h"
#include "ctl/accept/load.h"

/* The classes of paths. */
enum evidence_class {
	EVIDENCE_NODES,  /* pairs of neighbours */
	EVIDENCE_LEAVES, /* pairs of leaves, all nodes of both at once */
	EVIDENCE_MEMORY, /* the memory of each node */
	/* Pairs of neighbours by one rail of both, in the runs of
	 * EVIDENCE_NODES: the rails of all nodes, rail by rail. */
	EVIDENCE_RAILS,
	EVIDENCE_PLANES, /* the typical pair of each rail, in the same runs */
	/* Loads of all nodes that hold; from here on a class is a load_kind,
	 * and each of its paths is a part. */
	EVIDENCE_LOAD,
	EVIDENCE_CLASS_MAX = EVIDENCE_LOAD + LOAD_MAX
};
extern const char *const evidence_classes[EVIDENCE_CLASS_MAX];

/* With fewer nodes one slow rail can be on most paths of its plane. */
#define EVIDENCE_PLANE_NODES 4

/* A range of an array. */
struct evidence_span {
	size_t first, count;
};

/* All evidence of a report. */
struct evidence {
	struct hostlist nodes;  /* in the order of ranks */
	struct hostlist leaves; /* in the order of their first nodes */
	size_t *leaf_of;        /* by node */
	struct accept_path *paths;
	struct accept_part *parts;
	struct evidence_span paths_of[EVIDENCE_CLASS_MAX];
	struct evidence_span parts_of[EVIDENCE_CLASS_MAX];
	size_t path_count, part_count;
	/* Efficiency of all nodes together; set by evidence_judge; NAN: not
	 * measured. */
	double efficiency;
	struct accept_options options;
	/* The reason why leaves cannot be measured, or NULL. */
	const char *leaves_why;
	size_t rails; /* of a node, that are judged; 0: only one, or none */
	struct hostlist rail_names; /* of rails, then of planes */
	int rails_seen;             /* records report rates of rails */
	int rails_cut;              /* they list the slowest rails only */
	/* By run: share of nic.rate that typical rails reach, as logarithms. */
	double rails_typical[2 * ACCEPT_RUNS_MAX];
	size_t rails_runs;
	struct load loads[LOAD_PARTS_MAX]; /* in the order of their parts */
	const char *loads_why[LOAD_MAX]; /* reasons of omitted kinds, or NULL */
};

/* Return the parts and paths of a cluster, which the caller frees. nodes:
 * [{node leaf}] of the nodes that are measured. */
struct evidence *evidence_new(const struct conf *promise, const json_t *nodes);
void evidence_free(struct evidence *e); /* NULL is allowed */
/* Return the next run to make, {class campaign round shift nodes each sizes
 * options}, which the caller decrefs; NULL: all runs were made. runs: the runs
 * that were made; e has their records and was judged. rounds: number of rounds
 * of each class before the class is judged. */
json_t *evidence_next(const struct evidence *e, const struct conf *promise,
    const json_t *runs, size_t rounds);
/* The cost of an acceptance. */
struct evidence_cost {
	size_t fewest, most;     /* number of runs */
	double fewest_s, most_s; /* their time, estimated */
	double longest_s;        /* of one run */
	double sending_s;        /* in which nodes send, of the fewest runs */
};
/* Return the cost of the runs that evidence_next returns. */
struct evidence_cost evidence_cost(const struct evidence *e,
    const struct conf *promise, size_t rounds);
/* Add the records of a run {class sizes each}; each: nodes of each leaf. Return
 * the number of paths that it measured. */
size_t evidence_add(struct evidence *e, const struct conf *promise,
    const json_t *run, const json_t *records);
/* Judge everything that was added. Call it once. */
void evidence_judge(struct evidence *e);
/* Return the name of a part, such as a node's name. It belongs to e. */
const char *evidence_part_name(const struct evidence *e, size_t part);

#endif
