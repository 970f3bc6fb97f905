/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rma_window.h - a window that may be missing.
 *
 * Debian's Open MPI has no one-sided component for TCP unless osc=pt2pt is
 * set; the allocation then fails, and the tests that need it say so instead
 * of ending the run.
 */
#ifndef PROBES_CONGESTION_RMA_WINDOW_H
#define PROBES_CONGESTION_RMA_WINDOW_H

#include <mpi.h>
#include <stddef.h>

#include "common/err.h"

/* Collective: all ranks get 0 and a window under a shared lock of all, or all
 * get -ENOTSUP and the MPI's words in why. */
int rma_window_open(MPI_Comm comm, size_t bytes, char **ret_base, MPI_Win *ret,
    struct err *err);
void rma_window_close(MPI_Win *win); /* collective; frees the memory too */

#endif
