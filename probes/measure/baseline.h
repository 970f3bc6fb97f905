/* SPDX-License-Identifier: Apache-2.0 */
/*
 * baseline.h - another implementation of a plan's operation: the installed
 * MPI's own, a vendor's library, or plain transfers of the same bytes.
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
extern const struct baseline_row baseline_alltoall;    /* same for all-to-all */

/* A plan and its baseline. */
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

#endif
