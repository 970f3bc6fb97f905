/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.h - the MPI calls of a piece of code, counted through MPI's profiling
 * interface: calls.c has an MPI_X for every X below, which counts and calls
 * PMPI_X.
 *
 * Only calls on the watched communicator and on windows count, not those by
 * which the engine coordinates its ranks.
 */
#ifndef TESTS_BENCH_CALLS_H
#define TESTS_BENCH_CALLS_H

#include <mpi.h>

enum call {
	CALL_IRECV,
	CALL_ISEND,
	CALL_PUT,
	CALL_GET,
	CALL_FLUSH,
	CALL_BARRIER,
	CALL_ALLREDUCE,
	CALL_ALLTOALL,
	CALL_MAX
};
extern const char *const call_names[CALL_MAX];

struct calls {
	long count[CALL_MAX];
	long bytes[CALL_MAX]; /* to or from one peer */
};

/* Count into *into from now on; NULL: no longer. */
void calls_watch(struct calls *into, MPI_Comm comm);

#endif
