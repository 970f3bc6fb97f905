/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_spoil.c - a fake network that delivers wrong bytes, and slow memory:
 * preloaded into an engine.
 *
 * COALMINE_SPOIL="RANK NTH r OFFSET": when all messages of this rank are
 * complete for the NTH time, change a byte of its first receive, or with s of
 * its first send. COALMINE_LOSE="RANK NTH": the last message of the NTH
 * barrier to this rank is lost. COALMINE_STOP="RANK NTH CALL": this rank is
 * stopped before its NTH MPI_Startall (CALL is startall) or its NTH allreduce
 * of a double (CALL is double). COALMINE_STARTS=COUNT: rank 0 prints what its
 * first COUNT persistent requests are, in the order in which they start: r is
 * a receive, s a send, S a send of more than 64 KiB. COALMINE_SLOW=BYTES: a
 * copy of exactly this size takes 0.3 s longer.
 */
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SLOW_NS 300000000L

static char *memory[2]; /* first send's, first receive's */
static long completed;

/* Persistent requests. */
#define KNOWN 64
static struct known {
	MPI_Request req;
	char kind;
} known[KNOWN];
static int knows;

static void
know(int rc, MPI_Request req, char kind)
{
	int at = 0;

	/* MPI uses the handle of a freed request again. */
	while (at < knows && known[at].req != req)
		at++;
	if (rc != MPI_SUCCESS || at == KNOWN)
		return;
	known[at] = (struct known){ req, kind };
	knows += at == knows;
}

static void
print_starts(int count, const MPI_Request *reqs)
{
	const char *text = getenv("COALMINE_STARTS");
	long most = text == NULL ? 0 : strtol(text, NULL, 10);
	static char starts[KNOWN + 1];
	static long n;
	int mine;

	PMPI_Comm_rank(MPI_COMM_WORLD, &mine);
	for (int i = 0; mine == 0 && i < count; i++)
		for (int k = 0; k < knows && n < most && n < KNOWN; k++) {
			if (known[k].req != reqs[i])
				continue;
			starts[n++] = known[k].kind;
			if (n == most)
				fprintf(stderr, "starts: %s\n", starts);
		}
}

static void
remember(int receive, const void *at)
{
	if (memory[receive] == NULL)
		memory[receive] = (char *)(uintptr_t)at;
}

static void
count_and_spoil(void)
{
	const char *text = getenv("COALMINE_SPOIL");
	long rank, nth, off;
	char which;
	int mine;

	PMPI_Comm_rank(MPI_COMM_WORLD, &mine);
	if (text == NULL ||
	    sscanf(text, "%ld %ld %c %ld", &rank, &nth, &which, &off) != 4 ||
	    rank != mine || ++completed != nth)
		return;
	if (memory[which == 'r'] != NULL)
		memory[which == 'r'][off] ^= 0x10;
}

static void
count_and_stop(const char *call)
{
	const char *text = getenv("COALMINE_STOP");
	static long called;
	char which[16];
	long rank, nth;
	int mine;

	PMPI_Comm_rank(MPI_COMM_WORLD, &mine);
	if (text != NULL &&
	    sscanf(text, "%ld %ld %15s", &rank, &nth, which) == 3 &&
	    rank == mine && strcmp(which, call) == 0 && ++called == nth)
		raise(SIGSTOP);
}

int
MPI_Startall(int count, MPI_Request *reqs)
{
	count_and_stop("startall");
	print_starts(count, reqs);
	return PMPI_Startall(count, reqs);
}

int
MPI_Iallreduce(const void *from, void *to, int count, MPI_Datatype type,
    MPI_Op op, MPI_Comm comm, MPI_Request *req)
{
	if (type == MPI_DOUBLE)
		count_and_stop("double");
	return PMPI_Iallreduce(from, to, count, type, op, comm, req);
}

int
MPI_Recv_init(void *at, int count, MPI_Datatype type, int peer, int tag,
    MPI_Comm comm, MPI_Request *req)
{
	int rc = PMPI_Recv_init(at, count, type, peer, tag, comm, req);

	remember(1, at);
	know(rc, *req, 'r');
	return rc;
}

int
MPI_Send_init(const void *at, int count, MPI_Datatype type, int peer, int tag,
    MPI_Comm comm, MPI_Request *req)
{
	int rc = PMPI_Send_init(at, count, type, peer, tag, comm, req);

	remember(0, at);
	know(rc, *req, count > 65536 ? 'S' : 's');
	return rc;
}

int
MPI_Ibarrier(MPI_Comm comm, MPI_Request *req)
{
	const char *text = getenv("COALMINE_LOSE");
	static long met;
	static int nothing;
	long rank, nth;
	int mine, rc;

	PMPI_Comm_rank(MPI_COMM_WORLD, &mine);
	rc = PMPI_Ibarrier(comm, req);
	if (rc != MPI_SUCCESS || text == NULL ||
	    sscanf(text, "%ld %ld", &rank, &nth) != 2 || mine != rank ||
	    ++met != nth)
		return rc;
	PMPI_Wait(req, MPI_STATUS_IGNORE);
	return PMPI_Irecv(&nothing, 1, MPI_INT, 0, 1, MPI_COMM_SELF, req);
}

int
MPI_Testall(int count, MPI_Request *reqs, int *ret_done, MPI_Status *statuses)
{
	int rc = PMPI_Testall(count, reqs, ret_done, statuses);

	if (rc == MPI_SUCCESS && *ret_done)
		count_and_spoil();
	return rc;
}

int
MPI_Waitall(int count, MPI_Request *reqs, MPI_Status *statuses)
{
	int rc = PMPI_Waitall(count, reqs, statuses);

	if (rc == MPI_SUCCESS)
		count_and_spoil();
	return rc;
}

/* Built without builtins: the compiler's memmove might call this function. */
void *
memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
	static const struct timespec slow = { .tv_nsec = SLOW_NS };
	static long slow_bytes = -1;

	if (slow_bytes < 0) {
		const char *text = getenv("COALMINE_SLOW");

		slow_bytes = text == NULL ? 0 : strtol(text, NULL, 10);
	}
	if (slow_bytes > 0 && (size_t)slow_bytes == bytes)
		nanosleep(&slow, NULL);
	return memmove(to, from, bytes);
}
