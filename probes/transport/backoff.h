/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backoff.h - waiting for MPI, streams and other ranks without spinning.
 *
 * A waiter polls for some microseconds, then yields its core after each poll,
 * and after a millisecond sleeps, ever longer: test machines often have more
 * ranks than cores, and a spinning rank takes the core of the rank that it
 * waits for. A sleep is a 64th of the wait so far, at most 200 us: shorter
 * sleeps wake up so often that they slow down the copying ranks.
 *
 * An MPI may yield the core itself in every poll without a result, as Open MPI
 * does if it knows of more ranks than cores. Yielding twice costs a turn of all
 * others: 8 ranks on 2 cores take 1.1 times as long for messages of 4 KiB, and
 * 1.15 times for those of 1 MiB.
 */
#ifndef PROBES_TRANSPORT_BACKOFF_H
#define PROBES_TRANSPORT_BACKOFF_H

#include <mpi.h>
#include <stdint.h>

/* A thread that copies or reduces polls its transfers, and yields, after this
 * many bytes. */
#define BACKOFF_WORK_BYTES (32ULL << 10)

struct backoff {
	int at_mpi;        /* every look is one at MPI */
	unsigned looks;    /* since something moved */
	uint64_t since_ns; /* 0: something has just moved */
	int awake;         /* never sleeps: no other process needs the core */
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
