/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control.h - waiting without spinning.
 *
 * A rank that waits for its turn polls and sleeps in between, 1 ms at first
 * and 5 ms later, so that it leaves its core to those that measure. What rank
 * 0 has to do meanwhile (write lines that others relay) is its idle hook.
 */
#ifndef PROBES_JOB_CONTROL_H
#define PROBES_JOB_CONTROL_H

#include <mpi.h>

/* Called about once a poll by every wait of this rank; NULL for none. */
void control_set_idle(void (*hook)(void *arg), void *arg);

/* Until the request is complete. */
void control_wait(MPI_Request *req);
void control_barrier(MPI_Comm comm);
/* The largest value of all. */
double control_max(MPI_Comm comm, double mine);
/* 1 once complete; does not wait. */
int control_done(MPI_Request *req);

#endif
