/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backoff.h - waiting for MPI, streams and other ranks without spinning.
 *
 * Who polls goes on for some microseconds, for what is almost there, then
 * gives up its core after each look, and after a millisecond sleeps, ever
 * longer: more ranks than cores is the common case on a test machine, and a
 * rank that spins there takes the core of the one that it waits for. A nap is
 * a 64th of the wait so far, and 200 us at most: who naps for less wakes up so
 * often that it slows down those that copy.
 *
 * An MPI may give up the core by itself in every look that finds nothing, as
 * Open MPI does where it was told of more ranks than cores. To do so twice
 * costs a turn of all others: 8 ranks on 2 cores take 1.1 times as long for
 * messages of 4 KiB, and 1.15 times for those of 1 MiB.
 */
#ifndef PROBES_TRANSPORT_BACKOFF_H
#define PROBES_TRANSPORT_BACKOFF_H

#include <mpi.h>
#include <stdint.h>

/* A thread that copies or reduces itself polls its transfers, and yields, after
 * so much of it. */
#define BACKOFF_WORK_BYTES (32ULL << 10)

struct backoff {
	int at_mpi;        /* every look is one at MPI */
	unsigned looks;    /* since something moved */
	uint64_t since_ns; /* 0: something has just moved */
	int awake;         /* never naps: nobody wants the core */
};

/* Zero it, or call this when something moved. */
void backoff_reset(struct backoff *p);
/* Call after a poll that moved nothing. */
void backoff_wait(struct backoff *p);

/* Does the MPI itself give up the core in a look that finds nothing? */
int backoff_mpi_gives_way(void);

/* Are there more ranks in node_comm, those of this node, than cores, or
 * was the MPI told so? */
int backoff_cores_are_shared(MPI_Comm node_comm);

/* Until the request is complete; the MPI error class, as from MPI_Test. */
int backoff_request(MPI_Request *req);

#endif
