/* SPDX-License-Identifier: Apache-2.0 */
/*
 * baseline.h - another way to do what a plan does: the installed MPI's own, a
 * vendor's library, or the same bytes moved plainly.
 *
 * Each kind is a row. What a baseline does is read from what the plan
 * promises, or from its title, so both do the same by construction and every
 * rank knows it. Its buffers are its own unless its row says otherwise.
 */
#ifndef PROBES_COMPARE_BASELINE_H
#define PROBES_COMPARE_BASELINE_H

#include "common/err.h"
#include "probes/execute/exec.h"
#include "probes/job/nic.h"

/* The head of each kind's own struct. */
struct baseline {
	const struct baseline_row *row;
	struct exec *exec;
	const struct transport_team *team; /* of exec */
	const struct plan *plan;
	const char *name; /* "MPI_Bcast" */
	const char *impl; /* "mpi", "nccl"; NULL: there is only one */
	double setup_s;   /* of the communicator, where it needs one */
};

struct baseline_row {
	const char *name; /* known before it is open; or NULL */
	size_t bytes;     /* of its struct */
	/* Collective, with the head filled in, the rest zero. -ENOTSUP and the
	 * same reason on every rank, and nothing is left to close. */
	int (*open)(struct baseline *b, struct err *err);
	/* The plan has been proven and its results are still there: does this
	 * bring the same? 0 or -EBADMSG, on every rank alike. */
	int (*prove)(struct baseline *b);
	void (*run)(void *b); /* once; collective */
	void (*close)(struct baseline *b);
};

extern const struct baseline_row baseline_collective; /* MPI_Bcast, NCCL ... */
extern const struct baseline_row baseline_neighbor; /* MPI_Neighbor_allgather */
extern const struct baseline_row baseline_alltoallv;
extern const struct baseline_row baseline_direct; /* a stripe's, in one piece */
extern const struct baseline_row baseline_synchronous; /* barriers in between */
extern const struct baseline_row baseline_scatter;     /* of a binding */
extern const struct baseline_row baseline_alltoall;    /* likewise */

/* ---- two ways to do the same thing, turn by turn: ab_timing.c ----
 *
 * Turns go A B B A A B B A, so that what drifts, drifts for both. Each turn
 * follows a barrier, and the slowest rank's time counts. What the node's
 * network carried in a turn is read outside of its time. */
#define AB_TIMING_SIDES 2

struct ab_timing_side {
	void (*run)(void *arg); /* this rank's part, once */
	void *arg;
	struct trial trial;
	struct nic_bytes wire; /* of all turns */
};

struct ab_timing {
	int sides; /* 1: nothing to compare with */
	struct ab_timing_side side[AB_TIMING_SIDES];
	int wire_rc; /* 0, or why wire holds nothing */
};

/* Collective; as many turns of one as of the other. The stop rule holds when
 * it does for both. */
void ab_timing_time(const struct transport_team *team,
    const struct trial_ask *ask, struct ab_timing *v);
void ab_timing_clear(struct ab_timing *v); /* frees */

/* Of the turns, pair by pair: time of side 1 over time of side 0. */
int ab_timing_ratio(const struct ab_timing *v, struct timing *ret);
/* Of one side; NAN: it was not measured. */
double ab_timing_median_s(const struct ab_timing *v, int side);

/* A plan beside a baseline. */
struct beside {
	struct baseline *baseline; /* NULL: rc and err */
	const char *name;          /* "" while unknown */
	int rc;
	struct err err;
	struct ab_timing turns; /* side 0 is the plan */
};

/* Collective; exec has run p, and its results are there. A baseline that gives
 * other data is closed again. */
void baseline_open(const struct baseline_row *row, struct exec *e,
    const struct plan *p, struct beside *ret);
void baseline_close(struct beside *x); /* collective */

/* Of baseline_neighbor: what this rank gives, and the first block that src
 * gave it; NULL: none. */
void *baseline_neighbor_send(struct baseline *b);
void *baseline_neighbor_block(struct baseline *b, uint32_t src);

#endif
