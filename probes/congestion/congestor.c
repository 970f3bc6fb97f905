/* SPDX-License-Identifier: Apache-2.0 */
/*
 * congestor.c - what each kind of congestor sends, as GPCNeT does, and the room
 * it needs.
 */
#include "probes/congestion/congestor.h"

#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/xalloc.h"
#include "probes/congestion/rma_window.h"
#include "probes/job/world.h"

#define TAG_LOAD 987

/* Pairwise exchange: with 2^n ranks the partner is rank ^ i, else the next
 * i'th to send to and the previous i'th to hear from. */
static void
load_alltoall(struct congestor_state *c)
{
	int n = (int)c->bytes, even = (c->size & (c->size - 1)) == 0;

	for (int i = 1; i < c->size; i++) {
		int to = (c->rank + i) % c->size;
		int from = (c->rank - i + c->size) % c->size;

		if (even)
			to = from = c->rank ^ i;
		MPI_DO(MPI_Sendrecv(c->send, n, MPI_BYTE, to, TAG_LOAD, c->recv,
		    n, MPI_BYTE, from, TAG_LOAD, c->comm, MPI_STATUS_IGNORE));
	}
}

static void
load_incast(struct congestor_state *c)
{
	int n = (int)c->bytes;

	if (c->rank != 0) {
		MPI_DO(MPI_Send(c->send, n, MPI_BYTE, 0, TAG_LOAD, c->comm));
		return;
	}
	for (int i = 1; i < c->size; i++)
		MPI_DO(MPI_Irecv(c->recv + c->bytes * (size_t)i, n, MPI_BYTE, i,
		    TAG_LOAD, c->comm, &c->reqs[i - 1]));
	MPI_DO(MPI_Waitall(c->size - 1, c->reqs, MPI_STATUSES_IGNORE));
}

static void
load_bcast(struct congestor_state *c)
{
	int n = (int)c->bytes;

	if (c->rank != 0) {
		MPI_DO(MPI_Recv(c->recv, n, MPI_BYTE, 0, TAG_LOAD, c->comm,
		    MPI_STATUS_IGNORE));
		return;
	}
	for (int i = 1; i < c->size; i++)
		MPI_DO(MPI_Isend(c->send, n, MPI_BYTE, i, TAG_LOAD, c->comm,
		    &c->reqs[i - 1]));
	MPI_DO(MPI_Waitall(c->size - 1, c->reqs, MPI_STATUSES_IGNORE));
}

/* Each rank has a place of its own in the root's window. */
static void
load_put_incast(struct congestor_state *c)
{
	int n = (int)c->bytes;

	if (c->rank == 0)
		return;
	MPI_DO(MPI_Put(c->send, n, MPI_BYTE, 0,
	    (MPI_Aint)(c->bytes * (size_t)c->rank), n, MPI_BYTE, c->win));
	MPI_DO(MPI_Win_flush(0, c->win));
}

static void
load_get_bcast(struct congestor_state *c)
{
	int n = (int)c->bytes;

	if (c->rank == 0)
		return;
	MPI_DO(MPI_Get(c->recv, n, MPI_BYTE, 0, 0, n, MPI_BYTE, c->win));
	MPI_DO(MPI_Win_flush(0, c->win));
}

static void
load_allreduce(struct congestor_state *c)
{
	MPI_DO(MPI_Allreduce(c->send, c->recv, (int)(c->bytes / 8), MPI_DOUBLE,
	    MPI_SUM, c->comm));
}

static size_t
one_message(const struct congestor_state *c)
{
	return c->bytes;
}

static size_t
one_of_each(const struct congestor_state *c)
{
	return c->rank == 0 ? c->bytes * (size_t)c->size : c->bytes;
}

static double
moved_one(const struct congestor_state *c)
{
	return (double)c->bytes;
}

static double
moved_to_all(const struct congestor_state *c)
{
	return (double)c->bytes * (c->size - 1);
}

const struct congestor_ops congestor_ops[CONGESTOR_MAX] = {
	[CONGESTOR_ALLTOALL] = { 0, 0, one_message, load_alltoall,
	    moved_to_all },
	[CONGESTOR_INCAST] = { 0, 1, one_of_each, load_incast, moved_one },
	[CONGESTOR_PUT_INCAST] = { 1, 1, one_of_each, load_put_incast,
	    moved_one },
	[CONGESTOR_GET_BCAST] = { 1, 1, one_message, load_get_bcast,
	    moved_one },
	[CONGESTOR_BCAST] = { 0, 1, one_message, load_bcast, moved_one },
	[CONGESTOR_ALLREDUCE] = { 0, 0, one_message, load_allreduce,
	    moved_one },
};

int
congestor_open(struct congestor_state *c, enum congestor kind, MPI_Comm slice,
    size_t bytes, struct err *err)
{
	const struct congestor_ops *ops = &congestor_ops[kind];
	size_t room;

	memset(c, 0, sizeof(*c));
	c->comm = slice;
	c->bytes = bytes;
	c->win = MPI_WIN_NULL;
	MPI_DO(MPI_Comm_rank(slice, &c->rank));
	MPI_DO(MPI_Comm_size(slice, &c->size));
	if (ops->once == NULL)
		return 0; /* idle */
	room = ops->recv_bytes(c);
	c->reqs = xcalloc((size_t)c->size, sizeof(*c->reqs));
	c->send = xcalloc(1, bytes);
	if (!ops->onesided) {
		c->recv = xcalloc(1, room);
		return 0;
	}
	return rma_window_open(slice, room, &c->recv, &c->win, err);
}

void
congestor_close(struct congestor_state *c)
{
	if (c->win != MPI_WIN_NULL)
		rma_window_close(&c->win);
	else
		free(c->recv);
	free(c->send);
	free(c->reqs);
	memset(c, 0, sizeof(*c));
	c->win = MPI_WIN_NULL;
}
