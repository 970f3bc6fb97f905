/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rival_coll.h - the installed MPI's own collective for what a plan of the
 * builders collective or allreduce does: MPI_Bcast, MPI_Reduce, ... as their
 * rows say. On memory of a GPU that of its vendor's library (xccl_coll.h).
 *
 * What to do is read from the plan's title, the options as they were given, so
 * that every rank knows it. Buffers are its own, in memory of the device.
 */
#ifndef PROBES_RUN_RIVAL_COLL_H
#define PROBES_RUN_RIVAL_COLL_H

#include "probes/run/exec.h"

struct rival_coll;

/* Collective. -ENOTSUP and why, the same on every rank: MPI has no type of
 * this kind, counts with int, there is no NCCL for the device, or ranks stay
 * idle.
 * The caller ends *ret with rival_coll_close. */
int rival_coll_open(struct exec *e, const struct plan *p,
    struct rival_coll **ret, char *ret_why, size_t why_bytes);
void rival_coll_close(struct rival_coll *r); /* NULL is allowed */

const char *rival_coll_name(const struct rival_coll *r); /* "MPI_Bcast" */
const char *rival_coll_impl(const struct rival_coll *r); /* "mpi", "nccl" */

/* Once; collective. */
void rival_coll_run(struct rival_coll *r);
/* With the sources of e, whose results have been proven: are they the same?
 * 0 or -EBADMSG, on every rank alike. */
int rival_coll_prove(struct rival_coll *r);

#endif
