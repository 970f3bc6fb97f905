/* SPDX-License-Identifier: Apache-2.0 */
/*
 * baseline.h - another implementation of a plan's operation, with which the
 * plan is compared: the installed MPI's own, a vendor's library, or plain
 * transfers of the same bytes.
 *
 * Each kind is a row. A baseline is derived from the promises of the plan, or
 * from its title, so that both do the same by construction on every rank. It
 * has its own buffers unless its row says otherwise.
 */
#ifndef PROBES_MEASURE_BASELINE_H
#define PROBES_MEASURE_BASELINE_H

#include <stddef.h>

#include "common/err.h"
#include "probes/execute/exec.h"
#include "probes/measure/ab_timing.h"
#include "probes/plan/plan.h"
#include "probes/transport/transport.h"

/* A baseline: the first member of the struct of each kind. */
struct baseline {
	const struct baseline_row *row;
	struct exec *exec;
	const struct transport_team *team; /* of exec */
	const struct plan *plan;
	const char *name; /* "MPI_Bcast" */
	const char *impl; /* "mpi", "nccl"; NULL: only one exists */
	double setup_s;   /* time to create the communicator, if it needs one */
};

/* A kind of baseline. */
struct baseline_row {
	const char *name; /* name, if it is known before open; otherwise NULL */
	size_t bytes;     /* size of its struct */
	/* Prepare the baseline. The members of struct baseline are set, all
	 * others are zero. Return 0, or -ENOTSUP with the same reason in err on
	 * every rank and nothing to close. Collective. */
	int (*open)(struct baseline *b, struct err *err);
	/* The plan has been proven and its results are still in its buffers.
	 * Return 0 if the baseline gives the same results, or -EBADMSG; the
	 * same on every rank. */
	int (*prove)(struct baseline *b);
	void (*run)(void *b); /* perform the operation once; collective */
	void (*close)(struct baseline *b);
};

extern const struct baseline_row baseline_collective; /* MPI_Bcast, NCCL ... */
extern const struct baseline_row baseline_neighbor; /* MPI_Neighbor_allgather */
extern const struct baseline_row baseline_alltoallv;
/* Baseline of stripe: the message in one piece. */
extern const struct baseline_row baseline_direct;
/* The measured plan itself, with barriers between steps. */
extern const struct baseline_row baseline_synchronous;
/* Baselines of the probe binding, for its parts asymmetric and both. */
extern const struct baseline_row baseline_scatter;
extern const struct baseline_row baseline_alltoall;

/* A plan and its baseline. */
struct beside {
	struct baseline *baseline; /* NULL: see rc and err */
	const char *name;          /* "" if unknown */
	int rc;
	struct err err;
	struct ab_timing turns; /* side 0 is the plan */
};

/* Open a baseline and prove it. exec has run p, and its results are in its
 * buffers. A baseline that gives other data is closed again. Collective. */
void baseline_open(const struct baseline_row *row, struct exec *e,
    const struct plan *p, struct beside *ret);
void baseline_close(struct beside *x); /* collective */

#endif
