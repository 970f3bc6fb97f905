/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/plain_loop.h"

#include <string.h>
#include <time.h>

#define SMALL_BYTES  8
#define LARGE_BYTES  131072
#define PEER_BYTES   4096
#define WINDOW       8
#define RANKS_MAX    64
#define WINDOW_BYTES ((MPI_Aint)4 * LARGE_BYTES)

static char out[RANKS_MAX * PEER_BYTES], in[2 * WINDOW * LARGE_BYTES];

static void
exchange(const struct plain_loop *p, int bytes, int window)
{
	MPI_Request reqs[4 * WINDOW];
	int n = 0;

	for (int i = 0; i < window; i++) {
		MPI_Irecv(in + i * bytes, bytes, MPI_BYTE, p->left, 1, p->comm,
		    &reqs[n++]);
		MPI_Irecv(in + (window + i) * bytes, bytes, MPI_BYTE, p->right,
		    2, p->comm, &reqs[n++]);
	}
	for (int i = 0; i < window; i++) {
		MPI_Isend(out, bytes, MPI_BYTE, p->left, 2, p->comm,
		    &reqs[n++]);
		MPI_Isend(out + bytes, bytes, MPI_BYTE, p->right, 1, p->comm,
		    &reqs[n++]);
	}
	MPI_Waitall(n, reqs, MPI_STATUSES_IGNORE);
}

static void
latency(const struct plain_loop *p)
{
	exchange(p, SMALL_BYTES, 1);
}

static void
bandwidth(const struct plain_loop *p)
{
	exchange(p, LARGE_BYTES, WINDOW);
}

static void
bandwidth_sync(const struct plain_loop *p)
{
	bandwidth(p);
	MPI_Barrier(p->comm);
}

static void
get_latency(const struct plain_loop *p)
{
	MPI_Get(in, SMALL_BYTES, MPI_BYTE, p->left, SMALL_BYTES, SMALL_BYTES,
	    MPI_BYTE, p->win);
	MPI_Get(in + SMALL_BYTES, SMALL_BYTES, MPI_BYTE, p->right, 0,
	    SMALL_BYTES, MPI_BYTE, p->win);
	MPI_Win_flush(p->left, p->win);
	MPI_Win_flush(p->right, p->win);
}

static void
put_bandwidth(const struct plain_loop *p)
{
	for (int i = 0; i < WINDOW; i++) {
		MPI_Put(out, LARGE_BYTES, MPI_BYTE, p->left, 0, LARGE_BYTES,
		    MPI_BYTE, p->win);
		MPI_Put(out + LARGE_BYTES, LARGE_BYTES, MPI_BYTE, p->right,
		    LARGE_BYTES, LARGE_BYTES, MPI_BYTE, p->win);
	}
	MPI_Win_flush(p->left, p->win);
	MPI_Win_flush(p->right, p->win);
}

static void
allreduce(const struct plain_loop *p)
{
	double mine = 1, sum;

	MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, p->comm);
}

static void
alltoall(const struct plain_loop *p)
{
	MPI_Alltoall(out, PEER_BYTES, MPI_BYTE, in, PEER_BYTES, MPI_BYTE,
	    p->comm);
}

static void (*const once[CANARY_INCAST])(const struct plain_loop *) = {
	[CANARY_LAT] = latency,
	[CANARY_GET_LAT] = get_latency,
	[CANARY_BW] = bandwidth,
	[CANARY_PUT_BW] = put_bandwidth,
	[CANARY_BW_SYNC] = bandwidth_sync,
	[CANARY_NATURAL_BW] = bandwidth,
	[CANARY_ALLREDUCE] = allreduce,
	[CANARY_ALLTOALL] = alltoall,
};

int
plain_open(struct plain_loop *p, enum canary_test test, MPI_Comm comm)
{
	memset(p, 0, sizeof(*p));
	p->comm = comm;
	p->win = MPI_WIN_NULL;
	MPI_Comm_size(comm, &p->size);
	if (p->size > RANKS_MAX)
		return -1;
	if (test != CANARY_GET_LAT && test != CANARY_PUT_BW)
		return 0;
	if (MPI_Win_allocate(WINDOW_BYTES, 1, MPI_INFO_NULL, comm, &p->base,
		&p->win) != MPI_SUCCESS)
		return -1;
	memset(p->base, 0, (size_t)WINDOW_BYTES);
	MPI_Win_lock_all(MPI_MODE_NOCHECK, p->win);
	return 0;
}

void
plain_close(struct plain_loop *p)
{
	if (p->win == MPI_WIN_NULL)
		return;
	MPI_Win_unlock_all(p->win);
	MPI_Win_free(&p->win);
}

static double
now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

double
plain_turn(struct plain_loop *p, enum canary_test test, int warmup, int count)
{
	double sum_s = 0, all_s;

	PMPI_Barrier(p->comm);
	for (int i = 0; i < warmup; i++)
		once[test](p);
	for (int i = 0; i < count; i++) {
		double start_s = now_s();

		once[test](p);
		sum_s += now_s() - start_s;
	}
	PMPI_Allreduce(&sum_s, &all_s, 1, MPI_DOUBLE, MPI_SUM, p->comm);
	return all_s / ((double)count * p->size);
}
