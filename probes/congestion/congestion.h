/* SPDX-License-Identifier: Apache-2.0 */
/*
 * congestion.h - canaries, the congestors beside them, and what both give.
 *
 * canary.c: the operations whose time tells how the network is, one row per
 * test of schema/names_probe.h. An operation is exactly the MPI calls of
 * the paper (section 3.1), on the slice communicator: what stands around it
 * (clocks, rounds, agreement) is not in here and not in its time.
 *
 * Order of calls: open (collective over the slice), any number of once and
 * check, close (collective).
 */
#ifndef PROBES_CONGESTION_CONGESTION_H
#define PROBES_CONGESTION_CONGESTION_H

#include <jansson.h>
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "common/clk.h"
#include "common/conf.h"
#include "common/err.h"
#include "common/hist.h"
#include "probes/job/cores.h"
#include "probes/job/roles.h"
#include "probes/job/settings.h"
#include "probes/job/world.h"
#include "probes/sampling/sampling.h"
#include "schema/names_probe.h"
#include "schema/names_run.h"
#include "schema/scores.h"

/* Of an operation between two: does this rank send and receive, or one of
 * both? */
enum canary_way { CANARY_BOTH_WAYS, CANARY_SENDS, CANARY_RECEIVES };

struct canary {
	enum canary_test test;
	enum canary_way way; /* set before each round */
	MPI_Comm comm;       /* the slice */
	int rank, size;
	int left, right; /* set before each round; of an incast the receiver */
	/* Of an incast, at the receiver; else none. */
	int senders[RING_SENDERS_MAX], sender_count;
	size_t bytes; /* of a message */
	int window;   /* messages to a neighbour */
	char *send;   /* to the left, then to the right */
	char *recv;   /* window messages from the left, then the right */
	MPI_Win win;  /* one-sided tests only */
	MPI_Request reqs[CONTROL_REQS_MAX];
	struct world *world;
};

struct canary_ops {
	int ring;    /* 1: has neighbours; 0: a collective */
	int natural; /* 1: the ring is never shuffled */
	int halved;  /* 1: the time is that of two messages in a row */
	int onesided;
	/* One operation. */
	void (*once)(struct canary *c);
	/* Bytes that this rank sends in one operation; bandwidths only. */
	double (*sent_bytes)(const struct canary *c);
};
extern const struct canary_ops canary_ops[CANARY_MAX];

/* -ENOTSUP, on all ranks of the slice or none, when this MPI cannot do it; err
 * then has the MPI's words. */
int canary_open(struct canary *c, enum canary_test test, struct world *w,
    struct err *err);
void canary_close(struct canary *c);
/* One operation with known data. The offset of the first wrong byte received,
 * or -1. */
long canary_check(struct canary *c);
/* Rounds until everyone who is to be measured has been, in each slice. */
int canary_turns(const struct canary *c);
/* Value of one operation in the unit of the test. */
double canary_value(const struct canary *c, double elapsed_s);
/* 1 for a bandwidth; and the quantile that is a test's headline: the bad tail
 * of its values. */
int canary_low_is_bad(enum canary_test test);
double canary_tail(enum canary_test test);

/* A window of bytes on every rank, under a shared lock of all; congestors have
 * one too. Collective: all ranks get 0, or all get -ENOTSUP and the MPI's
 * words. Debian's Open MPI has no one-sided component for TCP unless osc=pt2pt
 * is set: the tests that need a window then say so, and the run goes on. */
int canary_window_open(MPI_Comm comm, size_t bytes, char **ret_base,
    MPI_Win *ret, struct err *err);
void canary_window_close(MPI_Win *win); /* collective; frees the memory too */

/* ---- rounds.c: one round: one ring, a number of operations, the result at the
 * root of the canaries ----
 *
 * All canaries call these together. Samples are kept as they come in an array
 * of fixed size and counted after the last: nothing but two readings of the
 * clock stands between operations.
 */

#define ROUNDS_OPERATIONS_MAX 16384 /* unless a campaign asks for more */
#define ROUNDS_TARGET_NS      (50 * CLK_NS_PER_MS)

/* What a rank tells the root about its round. Plain doubles for MPI_Gather. */
struct rounds_rank {
	double n, sum, inverse, min, max;
	double p50;
	double node, left, right; /* nodes; left and right < 0: no ring */
	double way;               /* enum canary_way */
};
#define ROUNDS_RANK_DOUBLES (sizeof(struct rounds_rank) / sizeof(double))

struct rounds;

struct rounds *rounds_new(struct world *w, const struct settings *s);
void rounds_free(struct rounds *r); /* NULL is allowed */

struct rounds_ask {
	struct canary *canary; /* not opened where the rank is alone */
	int number;            /* of the ring */
	int iterations;
	int warmup;
};

struct rounds_result {
	int timed_out;
	long wrong_at;  /* calibration: first wrong byte of any rank, or -1 */
	int operations; /* done by every rank */
	uint64_t elapsed_ns; /* of the slowest rank */
	struct hist mine;    /* this rank's samples */
	double inverse;      /* sum of 1 / rate: this rank's, at the root all */
	struct cores cores;  /* what this rank had of a core in the round */
	/* at the root only: */
	struct hist all;
	struct rounds_rank *ranks; /* by group rank; belongs to the rounds */
};

/* Run and collect one round. */
void rounds_run(struct rounds *r, const struct rounds_ask *ask,
    struct rounds_result *ret);
/* Send known data and check it, then find the speed; nothing is counted. */
void rounds_calibrate(struct rounds *r, const struct rounds_ask *ask,
    struct rounds_result *ret);
/* Operations for a round of about ROUNDS_TARGET_NS at a known speed. */
int rounds_fit(uint64_t operations, uint64_t elapsed_ns);

/* ---- canary_loop.c: the canaries' work: every test in every visit, and what
 * it gave ----
 *
 * All canaries call these together. The root (group rank 0) keeps the tallies,
 * decides when a test has measured enough and tells the others; each rank
 * keeps one histogram of its own per test and phase.
 */

/* As GPCNeT counts with its loop counts: the value of a ring for a rank is that
 * of all its operations there; the least and the largest of them, the means
 * over rings of their mean and of their worst. */
struct canary_loop_rings {
	int n;
	double min, max;
	double sum_mean, sum_worst;
};

/* One test in one phase. */
struct canary_loop_cell {
	int iterations;      /* of a round; 0: not calibrated yet */
	uint64_t operations; /* in all rounds, and what they took */
	uint64_t elapsed_ns;
	int rounds; /* of all visits */
	struct hist mine;
	struct cores cores; /* of this rank, while it took its samples */
	/* By this rank in all rounds, as fabric_sent_bytes; and at least, for
	 * what is timed. */
	double sent_bytes, wanted_bytes;
	enum stop stopped_by;
	enum cause cause; /* CAUSE_NONE, or why the test ended early */
	/* at the root only: */
	struct tally tally;
	struct canary_loop_rings rings;
	struct pair_medians *pairs; /* NULL for collectives */
	/* With partners one-way, of each pair: from the node that comes first
	 * to the other, and back. */
	struct pair_medians *ways[2];
};

struct canary_loop_test {
	struct canary canary;
	struct err err; /* where the MPI cannot do it */
	int known;      /* its impacts, as precisely as asked for */
	struct canary_loop_cell cells[PHASE_MAX];
};

struct canary_loop {
	struct world *world;
	const struct settings *settings;
	struct rounds *rounds;
	struct canary_loop_test *tests; /* settings->test_count */
	uint64_t started_ns;
	uint64_t told_ns; /* last progress */
	int stretch;      /* of all visits to all phases */
};

struct canary_loop *canary_loop_new(struct world *w, const struct settings *s);
void canary_loop_free(struct canary_loop *m); /* collective; NULL is allowed */
/* Every test of the campaign in this visit; stretch counts visits of all
 * phases, for the progress shown. */
void canary_loop_visit(struct canary_loop *m, enum phase phase, int visit,
    int stretch);
/* The two sides of a test's impact. At the root. */
struct impact_ask canary_loop_impact(const struct canary_loop *m, int test);
/* After a visit to each phase; pairs: of visits so far. Returns how many tests
 * still have something to measure. Collective. */
int canary_loop_pair(struct canary_loop *m, int pairs);

/* ---- congestor.c: congestors at work: warm up, load the network, stop when
 * told ----
 *
 * Ranks of a slice work in batches of operations and agree, one batch behind,
 * whether to go on: all stop after the same batch, and the agreement never
 * holds up the traffic. A batch is sized to a few milliseconds under load, so
 * a stop takes a few times that.
 */

struct congestor_load {
	const struct world *world;
	const struct settings *settings;
	enum congestor kind;
	int opened; /* 0: idle, alone, or this MPI cannot */
	enum cause cause;
	struct err err;
	int batch; /* operations */
	/* Rates of this rank by batch, B/s; only PHASE_ISOLATED (alone) and
	 * PHASE_CONGESTED. */
	struct hist rates[PHASE_MAX];
	/* By this rank in all batches of a phase, as fabric_sent_bytes; and at
	 * least, for what its operations move. */
	double sent_bytes[PHASE_MAX], wanted_bytes[PHASE_MAX];

	MPI_Comm comm; /* the slice; its rank 0 is the root */
	int rank, size;
	size_t bytes; /* of a message */
	char *send;
	char *recv;
	MPI_Win win;
	MPI_Request *reqs; /* size of them */
};

struct congestor_load *congestor_new(const struct world *w,
    const struct settings *s);
/* Collective over the kind; NULL is allowed. */
void congestor_free(struct congestor_load *l);
/* One visit to the congested phase. Meets two barriers of the canaries on the
 * control communicator: when the load is warm, and when they are done. */
void congestor_run(struct congestor_load *l);
/* Run alone for span_ns, for the kind's own rate. */
void congestor_run_alone(struct congestor_load *l, uint64_t span_ns);

/* ---- report.c: results as records (schema/record.h), without run and number
 * ---- */

#define REPORT_NODES_MAX RECORD_ROWS_MAX /* of more, the worst */

json_t *report_begin(const struct world *w, const struct settings *s,
    const struct conf *c);
/* Every option that the file gave, as section.key. */
json_t *report_options(const struct conf *c, const struct conf_row *rows);
json_t *report_end(uint64_t records, enum cause cause, const char *text);

/* Collective over the canaries; the root relays canary and impact records. */
void report_canaries(struct canary_loop *m);
/* Collective over one kind of congestor; its root relays its records. */
void report_load(struct congestor_load *l);

#endif
