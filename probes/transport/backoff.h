/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backoff.h - wait for MPI, streams and other ranks without spinning.
 *
 * A waiter polls for some microseconds, then yields its core after each poll.
 * After a millisecond it sleeps between polls, for increasing times: test
 * machines often have more ranks than cores, and a spinning rank occupies the
 * core of the rank for which it waits. A sleep lasts a 64th of the wait so far,
 * at most 200 us: shorter sleeps wake up so often that they slow down the
 * copying ranks.
 *
 * An MPI may yield the core itself in every poll without a result, as Open MPI
 * does if it knows of more ranks than cores. Yielding twice costs a turn of all
 * other ranks: 8 ranks on 2 cores take 1.1 times as long for messages of 4 KiB,
 * and 1.15 times for messages of 1 MiB.
 */
#ifndef PROBES_TRANSPORT_BACKOFF_H
#define PROBES_TRANSPORT_BACKOFF_H

#include <mpi.h>
#include <stdint.h>

/* A thread that copies or reduces polls its transfers, and yields, after this
 * many bytes. */
#define BACKOFF_WORK_BYTES (32ULL << 10)

/* The state of a wait. Begins as all 0. */
struct backoff {
	int at_mpi;     /* 1: every poll is a poll of MPI */
	unsigned looks; /* polls since something last progressed */
	/* Time at which the wait began; 0: something has just progressed. */
	uint64_t since_ns;
	/* 1: do not sleep, because no other process needs the core. */
	int awake;
};

/* Begin the wait again; call this when something progressed. */
void backoff_reset(struct backoff *p);
/* Call after a poll without progress; may yield the core or sleep. */
void backoff_wait(struct backoff *p);

/* Return 1 if this MPI yields the core in a poll without a result, 0 if not. */
int backoff_mpi_gives_way(void);

/* Return 1 if node_comm, the ranks of this node, has more ranks than there are
 * cores, or if MPI itself yields its core because it assumes so; 0 if not. */
int backoff_cores_are_shared(MPI_Comm node_comm);

/* Wait until the request is complete. Return the MPI error class that MPI_Test
 * returned. */
int backoff_request(MPI_Request *req);

#endif
