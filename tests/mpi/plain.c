/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain.c - an MPI program that stores nothing: the memory of an MPI for the
 * traffic of the engine's default campaign. Prints the peak of its resident
 * memory, by rank. PLAIN_ALONE=N: instead, print the nanoseconds of an
 * all-reduce of one rank, which waits for no other; the fastest of turns of N.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES  131072
#define WINDOW 8
#define TIMES  50

static char out[2 * BYTES], in[2 * WINDOW * BYTES];

static void
exchange(int left, int right)
{
	MPI_Request reqs[4 * WINDOW];
	int n = 0;

	for (int i = 0; i < WINDOW; i++) {
		MPI_Irecv(in + 2 * i * BYTES, BYTES, MPI_BYTE, left, 1,
		    MPI_COMM_WORLD, &reqs[n++]);
		MPI_Irecv(in + (2 * i + 1) * BYTES, BYTES, MPI_BYTE, right, 2,
		    MPI_COMM_WORLD, &reqs[n++]);
	}
	for (int i = 0; i < WINDOW; i++) {
		MPI_Isend(out, BYTES, MPI_BYTE, left, 2, MPI_COMM_WORLD,
		    &reqs[n++]);
		MPI_Isend(out + BYTES, BYTES, MPI_BYTE, right, 1,
		    MPI_COMM_WORLD, &reqs[n++]);
	}
	MPI_Waitall(n, reqs, MPI_STATUSES_IGNORE);
}

static void
onesided(int size)
{
	char *base;
	MPI_Win win;

	MPI_Win_allocate(4096 * size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base,
	    &win);
	MPI_Win_lock_all(0, win);
	for (int i = 0; i < TIMES; i++) {
		MPI_Put(out, 4096, MPI_BYTE, 0, 0, 4096, MPI_BYTE, win);
		MPI_Win_flush(0, win);
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
}

static void
print_peak(int rank)
{
	FILE *fp = fopen("/proc/self/status", "re");
	char line[256];

	while (fp != NULL && fgets(line, sizeof(line), fp) != NULL)
		if (strncmp(line, "VmHWM:", 6) == 0)
			printf("rank %d %s", rank, line);
	fflush(stdout);
}

static int
alone(int times)
{
	double x = 1, sum, best_s = 1e9, start_s;

	for (int turn = 0; turn < 50; turn++) {
		start_s = MPI_Wtime();
		for (int i = 0; i < times; i++)
			MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM,
			    MPI_COMM_SELF);
		start_s = MPI_Wtime() - start_s;
		best_s = start_s < best_s ? start_s : best_s;
	}
	printf("%.1f\n", best_s / times * 1e9);
	MPI_Finalize();
	return 0;
}

int
main(int argc, char **argv)
{
	int rank, size;
	double x = 1, sum;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (getenv("PLAIN_ALONE") != NULL)
		return alone(atoi(getenv("PLAIN_ALONE")));
	for (int step = 1; step < size; step++)
		exchange((rank + size - step) % size, (rank + step) % size);
	for (int i = 0; i < TIMES; i++)
		MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	onesided(size);
	print_peak(rank);
	MPI_Barrier(MPI_COMM_WORLD);
	/* MPICH over TCP can hang in MPI_Finalize. */
	if (getenv("PLAIN_FINALIZE") != NULL)
		MPI_Finalize();
	_Exit(0);
}
