/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tune.h - what is measured before or beside collectives: bounds for them, a
 * machine, the shapes that were tried.
 *
 * bounds.c: what two nodes exchange, as a bound for collectives. HiCCL's
 * empirical bounds (section VI-C5): gather and scatter are held by their root,
 * which sends or receives only; all others do both at once. The rate of a node,
 * one way or each of both ways, takes the place of the rated one in Table III
 * (predict/model.h). Pure.
 */
#ifndef PROBES_TUNE_TUNE_H
#define PROBES_TUNE_TUNE_H

#include <jansson.h>
#include <stdint.h>

#include "common/err.h"
#include "probes/collective/tune.h"
#include "probes/topology/machine.h"

enum bounds_probe {
	BOUNDS_ONE_WAY,   /* group, between the first two nodes */
	BOUNDS_BOTH_WAYS, /* likewise */
	BOUNDS_PAIRS,     /* of all nodes: whose link is slow? */
	BOUNDS_SHIFTED,   /* and with the other neighbour */
	BOUNDS_PROBES
};

struct bounds {
	uint32_t ranks, per_node;
	double one_way_per_s; /* of a node's ranks together; 0: not known */
	double each_way_per_s;
};

/* The options of a probe, "group pattern=rail ..."; each rank moves so many
 * bytes. The caller frees. */
char *bounds_words(const struct bounds *b, enum bounds_probe which,
    uint64_t bytes, const char *via);
/* How many bytes each rank of a node moves for blocks of so many. */
uint64_t bounds_bytes(const struct bounds *b, uint64_t block_bytes);
/* What its fastest two ranks took, in seconds. The best of all counts: two
 * messages that cross can hold each other up in an MPI over TCP, where what
 * lets one go on queues behind the other's bytes. */
void bounds_learn(struct bounds *b, enum bounds_probe which, uint64_t bytes,
    double s);
/* Throughput p d / t that the collective cannot exceed; 0: no bound. */
double bounds_per_s(const struct bounds *b, const char *collective);

/* ---- measured_machine.c: a machine whose rates were measured and not
 * described: what was timed with a few plans becomes the numbers of a struct
 * machine, of which only the wiring is known ----
 *
 * A time that could not be taken is NAN, a rate 0. Seconds, bytes per second.
 * Pure.
 */

/* From one rank to another by one transport. */
struct measured_machine_way {
	double s;          /* one byte; NAN: cannot be used here */
	double one_per_s;  /* one such pair at a time */
	double many_per_s; /* all pairs of a node, or of two nodes, together */
};

struct measured_machine {
	uint32_t ranks, nodes;
	uint32_t per_node; /* consecutive ranks; 1: they are dealt otherwise */
	struct measured_machine_way
	    near[MACHINES_VIA_MAX]; /* ranks of one node */
	struct measured_machine_way far[MACHINES_VIA_MAX]; /* of two nodes */
	double step_s;       /* what another step of a pipeline costs */
	double memory_per_s; /* what each copies while all do */
};

/* Bytes in so many seconds, of which short_s is not due to them; 0 where it
 * was not timed. */
double measured_machine_per_s(double bytes, double s, double short_s);
/* From the times of the same in one step and in so many. */
double measured_machine_step_s(double one_s, double many_s, uint32_t steps);

/* Into a machine of machine_discover, which is rated then. Of links inside a
 * node the nearest carry what one pair exchanges, others less in proportion.
 */
void measured_machine_set(const struct measured_machine *r, struct machine *m);

/* "this machine as measured: 8 ranks on 4 nodes, 22.6M/s and 71 us between
 * nodes, ..."; the caller frees. */
char *measured_machine_text(const struct measured_machine *r);
/* Record "machine"; the caller decrefs it. */
json_t *measured_machine_record(const struct measured_machine *r,
    const char *name);

/* ---- tune_cache.c: what tune = auto has chosen, with the evidence, kept
 * between runs ----
 *
 * The table is a file of records of probe "tuning", one a line; the last line
 * of a machine, a question and a size class counts. A question is what was
 * asked for but the size. Pure but for the file.
 */

struct tune_cache_key {
	const char *machine;
	const char *asked; /* "collective name=broadcast type=float" */
	uint32_t ranks;
	uint32_t size_class; /* of 2^k to 2^(k+1) - 1 bytes */
};

uint32_t tune_cache_class(double bytes);
/* A record, "why" being "measured"; the caller adds to its array "tried". */
json_t *tune_cache_record(const struct tune_cache_key *key, double bytes);
/* The last record of that key in the table. *ret is NULL where there is none,
 * or no file; the caller decrefs it. -EPROTO or -errno, and why with
 * "file:line: ...". */
int tune_cache_find(const char *path, const struct tune_cache_key *key,
    json_t **ret, struct err *err);
/* Append it; -errno and why. */
int tune_cache_keep(const char *path, const json_t *record, struct err *err);

/* ---- tune_search.c: which shape to measure next, from what was measured so
 * far ----
 *
 * Prediction knows links, not what an overflowing queue or a shared core
 * costs, and holds many shapes for equal. So of each kind of shape, which is
 * its hierarchy and its ring, that comes near the best by prediction one is
 * measured: of those that are as good by prediction the one that takes least
 * of the hosts. From the fastest one word is changed at a time: messages cut
 * short or not, twice the depth or half of it, other stripes, other transports.
 * What is faster, beyond chance, is where it goes on from, until nothing next
 * to it is.
 *
 * Pure.
 */

#define TUNE_SEARCH_TRIES_MAX 16

struct tune_search_try {
	struct shape shape;
	char *words;        /* of it */
	double predicted_s; /* NAN: it was not among the rows */
	double seconds;     /* NAN: it could not run */
};

struct tune_search {
	const struct tune *rows; /* by reference */
	int may_cut;             /* messages: nobody asked for a piece */
	uint64_t message_bytes;  /* the longest of the fastest shape */
	struct tune_search_try tries[TUNE_SEARCH_TRIES_MAX];
	uint32_t count;
	const struct tune_search_try *best; /* NULL: none could run */
};

/* Ended with tune_search_close. */
void tune_search_open(struct tune_search *c, const struct tune *rows,
    int may_cut);
void tune_search_close(struct tune_search *c);

/* The words to measure, valid until tune_search_close; NULL: that was all. Each
 * is followed by tune_search_tell, with NAN for what cannot run. */
const char *tune_search_next(struct tune_search *c);
void tune_search_tell(struct tune_search *c, double seconds,
    uint64_t message_bytes);

#endif
