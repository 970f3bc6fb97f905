/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain_loop.h - the canaries' operations as GPCNeT's paper gives them
 * (section 3.1), written by hand: the loop that the engine is compared with.
 *
 * Nothing of the engine's operations is used here, so that both would have to
 * be wrong in the same way to agree. Collective over comm; open before the
 * first turn, close after the last.
 */
#ifndef TESTS_BENCH_PLAIN_LOOP_H
#define TESTS_BENCH_PLAIN_LOOP_H

#include <mpi.h>

#include "schema/names_probe.h"

struct plain_loop {
	MPI_Comm comm;
	MPI_Win win; /* one-sided tests, else MPI_WIN_NULL */
	char *base;  /* of the window */
	int size;
	int left, right; /* set by the caller */
};

/* -1: this MPI has no windows here. */
int plain_open(struct plain_loop *p, enum canary_test test, MPI_Comm comm);
void plain_close(struct plain_loop *p);
/* warmup operations, then count timed ones, after a barrier. The mean of an
 * operation in seconds, over all ranks. */
double plain_turn(struct plain_loop *p, enum canary_test test, int warmup,
    int count);

#endif
