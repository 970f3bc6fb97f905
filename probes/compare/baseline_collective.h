/* SPDX-License-Identifier: Apache-2.0 */
/*
 * baseline_collective.h - the installed MPI's own collective for what a plan of
 * the builders collective or allreduce does: MPI_Bcast, MPI_Reduce, ... as
 * their rows say. On memory of a GPU that of its vendor's library
 * (xccl_coll.h).
 *
 * What to do is read from the plan's title, the options as they were given, so
 * that every rank knows it. Buffers are its own, in memory of the device.
 */
#ifndef PROBES_COMPARE_BASELINE_COLLECTIVE_H
#define PROBES_COMPARE_BASELINE_COLLECTIVE_H

#include "common/err.h"
#include "probes/execute/exec.h"

struct baseline_collective;

/* Collective. -ENOTSUP and why, the same on every rank: MPI has no type of
 * this kind, counts with int, there is no NCCL for the device, or ranks stay
 * idle.
 * The caller ends *ret with baseline_collective_close. */
int baseline_collective_open(struct exec *e, const struct plan *p,
    struct baseline_collective **ret, struct err *err);
void baseline_collective_close(
    struct baseline_collective *r); /* NULL is allowed */

const char *baseline_collective_name(
    const struct baseline_collective *r); /* "MPI_Bcast" */
const char *baseline_collective_impl(
    const struct baseline_collective *r); /* "mpi", "nccl" */

/* Once; collective. */
void baseline_collective_run(struct baseline_collective *r);
/* With the sources of e, whose results have been proven: are they the same?
 * 0 or -EBADMSG, on every rank alike. */
int baseline_collective_prove(struct baseline_collective *r);

#endif
