/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/calls.h"

#include <stddef.h>

const char *const call_names[CALL_MAX] = { "Irecv", "Isend", "Put", "Get",
	"Win_flush", "Barrier", "Allreduce", "Alltoall" };

static struct calls *watched;
static MPI_Comm watched_comm = MPI_COMM_NULL;

void
calls_watch(struct calls *into, MPI_Comm comm)
{
	watched = into;
	watched_comm = comm;
}

static void
count(enum call what, MPI_Comm comm, int items, MPI_Datatype type)
{
	int bytes;

	if (watched == NULL || (comm != MPI_COMM_NULL && comm != watched_comm))
		return;
	PMPI_Type_size(type, &bytes);
	watched->count[what]++;
	watched->bytes[what] += (long)items * bytes;
}

int
MPI_Irecv(void *buf, int n, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
    MPI_Request *req)
{
	count(CALL_IRECV, comm, n, type);
	return PMPI_Irecv(buf, n, type, peer, tag, comm, req);
}

int
MPI_Isend(const void *buf, int n, MPI_Datatype type, int peer, int tag,
    MPI_Comm comm, MPI_Request *req)
{
	count(CALL_ISEND, comm, n, type);
	return PMPI_Isend(buf, n, type, peer, tag, comm, req);
}

int
MPI_Put(const void *from, int n, MPI_Datatype type, int peer, MPI_Aint at,
    int to_n, MPI_Datatype to_type, MPI_Win win)
{
	count(CALL_PUT, MPI_COMM_NULL, n, type);
	return PMPI_Put(from, n, type, peer, at, to_n, to_type, win);
}

int
MPI_Get(void *to, int n, MPI_Datatype type, int peer, MPI_Aint at, int from_n,
    MPI_Datatype from_type, MPI_Win win)
{
	count(CALL_GET, MPI_COMM_NULL, n, type);
	return PMPI_Get(to, n, type, peer, at, from_n, from_type, win);
}

int
MPI_Win_flush(int peer, MPI_Win win)
{
	count(CALL_FLUSH, MPI_COMM_NULL, 0, MPI_BYTE);
	return PMPI_Win_flush(peer, win);
}

int
MPI_Barrier(MPI_Comm comm)
{
	count(CALL_BARRIER, comm, 0, MPI_BYTE);
	return PMPI_Barrier(comm);
}

int
MPI_Allreduce(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op,
    MPI_Comm comm)
{
	count(CALL_ALLREDUCE, comm, n, type);
	return PMPI_Allreduce(from, to, n, type, op, comm);
}

int
MPI_Alltoall(const void *from, int n, MPI_Datatype type, void *to, int to_n,
    MPI_Datatype to_type, MPI_Comm comm)
{
	count(CALL_ALLTOALL, comm, n, type);
	return PMPI_Alltoall(from, n, type, to, to_n, to_type, comm);
}
