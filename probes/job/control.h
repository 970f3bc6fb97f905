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
#include <stdint.h>

#include "probes/job/world.h"

/* Called about once a poll by every wait of this rank; NULL for none. */
void control_set_idle(void (*hook)(void *arg), void *arg);

/* Until the request is complete. */
void control_wait(MPI_Request *req);
void control_barrier(MPI_Comm comm);
/* The largest value of all. */
double control_max(MPI_Comm comm, double mine);
/* 1 once complete; does not wait. */
int control_done(MPI_Request *req);

/* An exchange with others at once: requests are with the first, the second and
 * so on, and from the first again; at most CONTROL_REQS_MAX. */
#define CONTROL_REQS_MAX 32
struct control_peers {
	const char *what; /* a word */
	MPI_Comm comm;    /* of ranks of the role */
	const int *ranks;
	int count;
	uint64_t limit_ns; /* 0: none */
};
/* Until all are complete, at once: it does not sleep, it measures. Where none
 * of them is for limit_ns, the agent of the node and the log are told with
 * whom this rank is stuck, and after a pause in which others can say so too the
 * job ends, for requests that are under way cannot be given up. */
void control_exchange(struct world *w, const struct control_peers *p,
    MPI_Request *reqs, int count);
/* The same without MPI requests: wait until done returns 1. After limit_ns this
 * rank is stuck with all of the peers. */
void control_until(struct world *w, const struct control_peers *p,
    int (*done)(void *arg), void *arg);
/* The largest of all ranks of the role, each of which has told it by the time
 * that the first returns. A barrier and a reduction whose waits have names,
 * which MPI's own do not. what: the test. */
double control_agree(struct world *w, const char *what, double mine);
/* From now on, until the next call: a rank that is in MPI for longer than a
 * round may take says that it is stuck, with whom nobody knows, and ends. what
 * NULL: no more. */
void control_watch(const struct world *w, const char *what);

#endif
