/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control.h - wait for other ranks without spinning.
 *
 * A rank that waits for its turn polls, and sleeps between polls: 1 ms at
 * first, later 5 ms. It thus leaves its core to the ranks that measure. During
 * waits, rank 0 does other work (it writes lines that others relay) in its idle
 * hook.
 */
#ifndef PROBES_JOB_CONTROL_H
#define PROBES_JOB_CONTROL_H

#include <mpi.h>
#include <stdint.h>

#include "probes/job/world.h"

/* Set the function that every wait of this rank calls about once per poll;
 * NULL: none. */
void control_set_idle(void (*hook)(void *arg), void *arg);

/* Wait until the request is complete. */
void control_wait(MPI_Request *req);
/* Wait for all ranks of comm. */
void control_barrier(MPI_Comm comm);
/* Return the maximum of `mine` over all ranks of comm. */
double control_max(MPI_Comm comm, double mine);
/* Return 1 if the request is complete, 0 if not; does not wait. */
int control_done(MPI_Request *req);

/* Wait until an operation is complete that all ranks begin at about the same
 * time. It polls without sleeping; after a while it lets other ranks have the
 * core, which MPI's blocking operations do not all do. */
void control_complete(MPI_Request *req);

/* MPI's barrier of all ranks of the role, waited for as control_complete does.
 * If only the last message to this rank is lost, the others continue, and wait
 * for this rank in exchanges of the slice: then it reports that it is stuck
 * with an unknown peer, and aborts the job. what: name of the test, for the
 * report.
 */
void control_meet(const struct world *w, const char *what);

/* Exchanges with several ranks at once. Requests belong to the ranks in turn:
 * to the first, the second and so on, and to the first again. There are at most
 * CONTROL_REQS_MAX requests. */
#define CONTROL_REQS_MAX 32
/* The peers of an exchange. */
struct control_peers {
	const char *what; /* name of the exchange, one word, for reports */
	MPI_Comm comm;    /* communicator of `ranks`, all of this role */
	const int *ranks;
	int count;
	uint64_t limit_ns; /* 0: no limit */
};
/* Wait until all requests are complete. It polls without sleeping, because the
 * wait is measured. If none completes within limit_ns, it reports the stuck
 * peer to the agent of the node and to the log, waits so that other ranks can
 * report too, and aborts the job: active requests cannot be cancelled. */
void control_exchange(struct world *w, const struct control_peers *p,
    MPI_Request *reqs, int count);
/* Wait as control_exchange does, but without MPI requests, until done(arg)
 * returns 1. After limit_ns this rank is stuck with all of the peers. */
void control_until(struct world *w, const struct control_peers *p,
    int (*done)(void *arg), void *arg);
/* Report that this rank waits for these ranks of w->control, as
 * control_exchange does, and abort the job. nodes: node of each rank; at:
 * number of the wait, see rank_watch.h. */
void control_stuck(const struct world *w, const char *what, const int *ranks,
    const int *nodes, int count, uint64_t at, uint64_t waited_ns)
    __attribute__((noreturn));
/* Return the maximum of `mine` over all ranks of the role. It is a barrier and
 * a reduction that can report stuck peers, which MPI's own functions cannot.
 * what: name of the test, for the report. */
double control_agree(struct world *w, const char *what, double mine);
/* Add up `count` values of all ranks of the role in `sum` of rank 0; `sum` of
 * the others is undefined afterwards. other: room for as many. All ranks begin
 * at about the same time. Like control_agree, it can report a stuck peer; MPI's
 * own reduction, which may use any path between two ranks, cannot. */
void control_sum(struct world *w, const char *what, uint64_t *sum,
    uint64_t *other, int count);
/* Watch this rank until the next call: if it is inside MPI for longer than a
 * round can take, it reports that it is stuck with an unknown peer, and exits.
 * what: name of the test, for the report; NULL: stop watching. */
void control_watch(const struct world *w, const char *what);
/* Watch this rank in the same way until control_watch, in a plan or its
 * baselines. Each wait begins with control_watch_again and may last limit_ns;
 * 0: do not watch. */
void control_watch_plan(const struct world *w, uint64_t limit_ns);
void control_watch_again(void);

#endif
