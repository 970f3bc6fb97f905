/* SPDX-License-Identifier: Apache-2.0 */
/*
 * baseline_sparse.h - MPI_Alltoallv for what a plan of the builder sparse does.
 *
 * Who sends how much to whom is read from the plan's promises, so that the
 * rival brings the same bytes whether the plan stripes them or not. Buffers
 * are its own, packed by rank, in memory of the host.
 */
#ifndef PROBES_COMPARE_BASELINE_SPARSE_H
#define PROBES_COMPARE_BASELINE_SPARSE_H

#include "common/err.h"
#include "probes/execute/exec.h"

struct baseline_sparse;

/* Collective. -ENOTSUP and why, the same on every rank: MPI counts with int,
 * or the buffers are out of the processor's reach. p is kept by reference. The
 * caller ends *ret with baseline_sparse_close. */
int baseline_sparse_open(struct exec *e, const struct plan *p,
    struct baseline_sparse **ret, struct err *err);
void baseline_sparse_close(struct baseline_sparse *r); /* NULL is allowed */

/* Once; collective. */
void baseline_sparse_run(struct baseline_sparse *r);
/* With the sources of e, whose results have been proven: are they the same?
 * 0 or -EBADMSG, on every rank alike. */
int baseline_sparse_prove(struct baseline_sparse *r);

#endif
