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
/* Wait until all requests are complete. It polls without sleeping, since it
 * measures. If none completes within limit_ns, report the stuck peer to the
 * agent of the node and to the log, wait so that other ranks can report too,
 * and abort the job: active requests cannot be cancelled. */
void control_exchange(struct world *w, const struct control_peers *p,
    MPI_Request *reqs, int count);
/* The same without MPI requests: wait until done returns 1. After limit_ns this
 * rank is stuck with all of the peers. */
void control_until(struct world *w, const struct control_peers *p,
    int (*done)(void *arg), void *arg);
/* Return the maximum over all ranks of the role. It is a barrier and a
 * reduction that can report stuck peers, which MPI's own cannot. what: the name
 * of the test, for the report. */
double control_agree(struct world *w, const char *what, double mine);
/* Until the next call, a rank that is inside MPI for longer than a round may
 * take reports that it is stuck, with an unknown peer, and ends. what NULL:
 * stop watching. */
void control_watch(const struct world *w, const char *what);

#endif
