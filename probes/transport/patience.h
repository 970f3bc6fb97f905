/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patience.h - waiting for MPI, streams and other ranks without spinning.
 *
 * Who polls goes on for some microseconds, for what is almost there, then
 * gives up its core after each look, and after a millisecond sleeps, ever
 * longer: more ranks than cores is the common case on a test machine, and a
 * rank that spins there takes the core of the one that it waits for. Longest
 * nap: 100 us, little against what lasts that long.
 */
#ifndef PROBES_TRANSPORT_PATIENCE_H
#define PROBES_TRANSPORT_PATIENCE_H

#include <mpi.h>
#include <stdint.h>

struct patience {
	uint64_t since_ns; /* 0: something has just moved */
	uint64_t nap_ns;
};

/* Zero it, or call this when something moved. */
void patience_reset(struct patience *p);
/* Call after a poll that moved nothing. */
void patience_wait(struct patience *p);

/* Until the request is complete; the MPI error class, as from MPI_Test. */
int patience_request(MPI_Request *req);

#endif
