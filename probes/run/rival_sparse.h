/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rival_sparse.h - MPI_Alltoallv for what a plan of the builder sparse does.
 *
 * Who sends how much to whom is read from the plan's promises, so that the
 * rival brings the same bytes whether the plan stripes them or not. Buffers
 * are its own, packed by rank, in memory of the host.
 */
#ifndef PROBES_RUN_RIVAL_SPARSE_H
#define PROBES_RUN_RIVAL_SPARSE_H

#include "probes/run/exec.h"

struct rival_sparse;

/* Collective. -ENOTSUP and why, the same on every rank: MPI counts with int,
 * or the buffers are out of the processor's reach. p is kept by reference. The
 * caller ends *ret with rival_sparse_close. */
int rival_sparse_open(struct exec *e, const struct plan *p,
    struct rival_sparse **ret, char *ret_why, size_t why_bytes);
void rival_sparse_close(struct rival_sparse *r); /* NULL is allowed */

/* Once; collective. */
void rival_sparse_run(struct rival_sparse *r);
/* With the sources of e, whose results have been proven: are they the same?
 * 0 or -EBADMSG, on every rank alike. */
int rival_sparse_prove(struct rival_sparse *r);

#endif
