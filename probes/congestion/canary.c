/* SPDX-License-Identifier: Apache-2.0 */
/*
 * canary.c - which MPI calls an operation is. Buffers and one-sided windows are
 * laid out alike: to the left, to the right, from the left, from the right.
 */

#include "probes/congestion/canary.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "common/log.h"
#include "probes/job/control.h"
#include "probes/job/world.h"

/* A message that goes to the left arrives from the right. */
#define TAG_TO_LEFT  81
#define TAG_TO_RIGHT 82

/* No request completes while the first large message is under way, so a rank is
 * stuck only after the time that this takes at 100 Mbit/s. */
#define SLOWEST_NS_PER_BYTE 80

/* Memory of one rank for the messages of a collective, in each direction. */
#define COLLECTIVE_BYTES_MAX (256 << 20)

static uint64_t
canary_stuck_limit_ns(const struct canary *c)
{
	return c->world->stuck_ns == 0 ? 0
				       : c->world->stuck_ns +
		(uint64_t)c->bytes * (uint64_t)(2 * c->window) *
		    SLOWEST_NS_PER_BYTE;
}

/* Sends in one direction what an exchange of two would send in both, and an
 * empty message back when it has arrived: both ranks take the same time. */
static void
canary_op_one_way(struct canary *c)
{
	struct control_peers peers = { .what = names_tests[c->test].name,
		.comm = c->comm,
		.ranks = &c->left,
		.count = 1,
		.limit_ns = canary_stuck_limit_ns(c) };
	struct link *l = c->link;

	link_begin(l);
	for (int i = 0; i < 2 * c->window; i++)
		if (c->way == CANARY_SENDS)
			link_send(l, c->send, c->bytes, c->left, TAG_TO_LEFT);
		else
			link_recv(l, c->recv + c->bytes * (size_t)i, c->bytes,
			    c->left, TAG_TO_LEFT);
	link_wait(l, &peers);
	link_begin(l);
	if (c->way == CANARY_SENDS)
		link_recv(l, NULL, 0, c->left, TAG_TO_RIGHT);
	else
		link_send(l, NULL, 0, c->left, TAG_TO_RIGHT);
	link_wait(l, &peers);
}

/* Exchange window messages with both neighbours. If both are one rank, it first
 * receives the messages to its right, so they are sent first: link may match by
 * order. */
static void
canary_op_exchange(struct canary *c)
{
	static const int tags[2] = { TAG_TO_LEFT, TAG_TO_RIGHT };
	int sides[2] = { c->left, c->right }, right = c->left == c->right;
	struct control_peers peers = { .what = names_tests[c->test].name,
		.comm = c->comm,
		.ranks = sides,
		.count = 2,
		.limit_ns = canary_stuck_limit_ns(c) };
	char *from_left = c->recv;
	char *from_right = c->recv + c->bytes * (size_t)c->window;
	struct link *l = c->link;

	if (c->way != CANARY_BOTH_WAYS) {
		canary_op_one_way(c);
		return;
	}
	link_begin(l);
	for (int i = 0; i < c->window; i++) {
		link_recv(l, from_left + c->bytes * (size_t)i, c->bytes,
		    c->left, TAG_TO_RIGHT);
		link_recv(l, from_right + c->bytes * (size_t)i, c->bytes,
		    c->right, TAG_TO_LEFT);
	}
	for (int i = 0; i < c->window; i++)
		for (int k = 0, to = right; k < 2; k++, to = !to)
			link_send(l, c->send + c->bytes * (size_t)to, c->bytes,
			    sides[to], tags[to]);
	link_wait(l, &peers);
}

static void
canary_op_exchange_sync(struct canary *c)
{
	canary_op_exchange(c);
	MPI_DO(MPI_Barrier(c->comm));
}

/* The messages of all senders at once, and an empty one back to each when all
 * have arrived, so that no sender's next operation delays this one. */
static void
canary_op_incast(struct canary *c)
{
	int receives = c->way == CANARY_RECEIVES;
	struct control_peers peers = { .what = names_tests[c->test].name,
		.comm = c->comm,
		.ranks = receives ? c->senders : &c->left,
		.count = receives ? c->sender_count : 1,
		.limit_ns = canary_stuck_limit_ns(c) };
	struct link *l = c->link;
	size_t at = 0;

	link_begin(l);
	for (int i = 0; i < c->window; i++)
		for (int k = 0; k < peers.count; k++, at += c->bytes)
			if (c->way == CANARY_RECEIVES)
				link_recv(l, c->recv + at, c->bytes,
				    c->senders[k], TAG_TO_LEFT);
			else
				link_send(l, c->send, c->bytes, c->left,
				    TAG_TO_LEFT);
	link_wait(l, &peers);
	link_begin(l);
	for (int k = 0; k < peers.count; k++)
		if (c->way == CANARY_RECEIVES)
			link_send(l, NULL, 0, c->senders[k], TAG_TO_RIGHT);
		else
			link_recv(l, NULL, 0, c->left, TAG_TO_RIGHT);
	link_wait(l, &peers);
}

/* Get the left neighbour's data for its right, and the right neighbour's for
 * its left. */
static void
canary_op_get(struct canary *c)
{
	int n = (int)c->bytes;

	MPI_DO(MPI_Get(c->recv, n, MPI_BYTE, c->left, (MPI_Aint)c->bytes, n,
	    MPI_BYTE, c->win));
	MPI_DO(MPI_Get(c->recv + c->bytes, n, MPI_BYTE, c->right, 0, n,
	    MPI_BYTE, c->win));
	MPI_DO(MPI_Win_flush(c->left, c->win));
	MPI_DO(MPI_Win_flush(c->right, c->win));
}

/* Put into the neighbours' windows, after their send data, the data received
 * from their other side. All messages of a side have the same destination. */
static void
canary_op_put(struct canary *c)
{
	int n = (int)c->bytes;

	for (int i = 0; i < c->window; i++) {
		MPI_DO(MPI_Put(c->send, n, MPI_BYTE, c->left,
		    (MPI_Aint)(3 * c->bytes), n, MPI_BYTE, c->win));
		MPI_DO(MPI_Put(c->send + c->bytes, n, MPI_BYTE, c->right,
		    (MPI_Aint)(2 * c->bytes), n, MPI_BYTE, c->win));
	}
	MPI_DO(MPI_Win_flush(c->left, c->win));
	MPI_DO(MPI_Win_flush(c->right, c->win));
}

static void
canary_op_allreduce(struct canary *c)
{
	link_allreduce(c->link, c->send, c->recv,
	    (int)(c->bytes / sizeof(double)));
	link_wait_all(c->link, names_tests[c->test].name);
}

static void
canary_op_alltoall(struct canary *c)
{
	struct link *l = c->link;

	if (l->xccl == NULL) {
		MPI_DO(MPI_Alltoall(c->send, (int)c->bytes, MPI_BYTE, c->recv,
		    (int)c->bytes, MPI_BYTE, c->comm));
		return;
	}
	link_begin(l);
	for (int i = 0; i < c->size; i++) {
		link_send(l, c->send + c->bytes * (size_t)i, c->bytes, i, 0);
		link_recv(l, c->recv + c->bytes * (size_t)i, c->bytes, i, 0);
	}
	link_end(l);
	link_wait_all(l, names_tests[c->test].name);
}

static double
canary_ring_bytes(const struct canary *c)
{
	return 2.0 * c->window * (double)c->bytes;
}

static double
canary_alltoall_bytes(const struct canary *c)
{
	return (double)c->bytes * (c->size - 1);
}

/* Return the bytes that the others send to the measuring rank, which sends
 * none. */
static double
canary_incast_bytes(const struct canary *c)
{
	return (double)c->sender_count * c->window * (double)c->bytes;
}

const struct canary_ops canary_ops[CANARY_MAX] = {
	[CANARY_LAT] = { 1, 0, 1, canary_op_exchange, canary_ring_bytes },
	[CANARY_GET_LAT] = { 1, 0, 1, canary_op_get, canary_ring_bytes },
	[CANARY_BW] = { 1, 0, 0, canary_op_exchange, canary_ring_bytes },
	[CANARY_PUT_BW] = { 1, 0, 0, canary_op_put, canary_ring_bytes },
	[CANARY_BW_SYNC] = { 1, 0, 0, canary_op_exchange_sync,
	    canary_ring_bytes },
	[CANARY_NATURAL_BW] = { 1, 1, 0, canary_op_exchange,
	    canary_ring_bytes },
	[CANARY_ALLREDUCE] = { 0, 0, 0, canary_op_allreduce,
	    canary_ring_bytes },
	[CANARY_ALLTOALL] = { 0, 0, 0, canary_op_alltoall,
	    canary_alltoall_bytes },
	[CANARY_INCAST] = { 0, 0, 0, canary_op_incast, canary_incast_bytes },
};

int
canary_window_open(MPI_Comm comm, size_t bytes, char **ret_base, MPI_Win *ret,
    struct err *err)
{
	char text[MPI_MAX_ERROR_STRING] = "another rank failed";
	MPI_Win win = MPI_WIN_NULL;
	char *base = NULL;
	int rc, failed, len;

	rc = MPI_Win_allocate((MPI_Aint)bytes, 1, MPI_INFO_NULL, comm, &base,
	    &win);
	failed = rc != MPI_SUCCESS;
	MPI_DO(MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, comm));
	if (failed) {
		/* Freeing is collective, so a window that only some ranks have
		 * must not remain. */
		if (rc != MPI_SUCCESS)
			MPI_Error_string(rc, text, &len);
		return err_set(err, -ENOTSUP, "MPI_Win_allocate failed: %s",
		    text);
	}
	MPI_DO(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
	memset(base, 0, bytes);
	MPI_DO(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
	MPI_DO(MPI_Barrier(comm));
	*ret_base = base;
	*ret = win;
	return 0;
}

void
canary_window_close(MPI_Win *win)
{
	MPI_DO(MPI_Win_unlock_all(*win));
	MPI_DO(MPI_Win_free(win));
}

/* ---- buffers ---- */

void
canary_once(struct canary *c)
{
	int staged = c->link->staged;

	if (staged)
		link_get(c->link, &c->send_memory);
	canary_ops[c->test].once(c);
	if (staged)
		link_put(c->link, &c->recv_memory);
}

/* Run one operation on the data that the host has put into the buffers. */
static void
canary_once_known(struct canary *c)
{
	link_put(c->link, &c->send_memory);
	link_put(c->link, &c->recv_memory);
	canary_once(c);
	link_get(c->link, &c->recv_memory);
}

int
canary_open(struct canary *c, enum canary_test test, size_t bytes,
    struct world *w, struct link *l, struct err *err)
{
	const struct canary_ops *ops = &canary_ops[test];
	size_t send, recv;
	int rc;

	memset(c, 0, sizeof(*c));
	c->test = test;
	c->world = w;
	c->comm = w->slice;
	c->link = l;
	c->win = MPI_WIN_NULL;
	c->bytes = bytes > 0 ? bytes : names_tests[test].bytes;
	c->window = names_tests[test].window;
	assert((test == CANARY_INCAST ? RING_SENDERS_MAX : 4) * c->window <=
	    CONTROL_REQS_MAX);
	c->rank = w->slice_rank;
	c->size = w->slice_size;

	send = 2 * c->bytes;
	recv = send * (size_t)(names_tests[test].onesided ? 1 : c->window);
	if (test == CANARY_INCAST)
		recv = c->bytes * (size_t)(c->window * RING_SENDERS_MAX);
	else if (!ops->ring)
		send = recv = c->bytes * (size_t)c->size;
	if (!ops->ring && recv > COLLECTIVE_BYTES_MAX)
		return err_set(err, -ENOTSUP,
		    "%zu bytes for each of %d ranks: expected at most %d MiB "
		    "together",
		    c->bytes, c->size, COLLECTIVE_BYTES_MAX >> 20);
	if (names_tests[test].onesided) {
		if (l->team != NULL)
			return err_set(err, -ENOTSUP,
			    "one-sided tests support host memory only");
		rc = canary_window_open(w->slice, send + recv, &c->send,
		    &c->win, err);
		if (rc < 0)
			return rc;
		c->recv = c->send + send;
		c->send_memory.host = c->send;
		c->recv_memory.host = c->recv;
		return 0;
	}
	rc = link_alloc(l, send, &c->send_memory, err);
	if (rc == 0)
		rc = link_alloc(l, recv, &c->recv_memory, err);
	c->send = c->send_memory.at;
	c->recv = c->recv_memory.at;
	return rc;
}

void
canary_close(struct canary *c)
{
	if (c->link == NULL)
		return;
	if (c->win != MPI_WIN_NULL) {
		canary_window_close(&c->win);
	} else {
		link_free(c->link, &c->send_memory);
		link_free(c->link, &c->recv_memory);
	}
	c->send = c->recv = NULL;
}

int
canary_turns(const struct canary *c)
{
	return c->test == CANARY_INCAST && c->size > 0
	    ? roles_ring_turns(c->size)
	    : 1;
}

int
canary_low_is_bad(enum canary_test test)
{
	return names_tests[test].unit[0] != 's';
}

double
canary_tail(enum canary_test test)
{
	return canary_low_is_bad(test) ? 0.01 : 0.99;
}

double
canary_value(const struct canary *c, double elapsed_s)
{
	const struct canary_ops *ops = &canary_ops[c->test];

	if (elapsed_s <= 0) /* below the clock's step */
		elapsed_s = 1e-9;
	if (!canary_low_is_bad(c->test))
		return ops->halved ? elapsed_s / 2 : elapsed_s;
	return ops->sent_bytes(c) / elapsed_s;
}

/* ---- known data ---- */

/* Return the byte at an offset of the data that a rank sends to one of its
 * sides or peers. */
static char
canary_pattern(int rank, int to, size_t offset)
{
	uint64_t x = (uint64_t)rank * 131 + (uint64_t)to * 31 + offset;

	return (char)(x * 0x9e3779b97f4a7c15 >> 56);
}

static void
canary_fill(char *at, size_t bytes, int rank, int to)
{
	for (size_t i = 0; i < bytes; i++)
		at[i] = canary_pattern(rank, to, i);
}

/* First offset that differs, or -1. */
static long
canary_compare(const char *at, size_t bytes, int rank, int to)
{
	for (size_t i = 0; i < bytes; i++)
		if (at[i] != canary_pattern(rank, to, i))
			return (long)i;
	return -1;
}

enum { TO_LEFT, TO_RIGHT };

static long
canary_check_ring(struct canary *c)
{
	int messages = names_tests[c->test].onesided ? 1 : c->window;
	long bad;

	canary_fill(c->send_memory.host, c->bytes, c->rank, TO_LEFT);
	canary_fill(c->send_memory.host + c->bytes, c->bytes, c->rank,
	    TO_RIGHT);
	memset(c->recv_memory.host, 0, 2 * c->bytes * (size_t)messages);
	/* Without a barrier a late neighbour would be read or written before it
	 * has filled its buffer, or overwritten before it has read it. */
	MPI_DO(MPI_Barrier(c->comm));
	if (c->win != MPI_WIN_NULL)
		MPI_DO(MPI_Win_sync(c->win));
	canary_once_known(c);
	MPI_DO(MPI_Barrier(c->comm));
	if (c->win != MPI_WIN_NULL)
		MPI_DO(MPI_Win_sync(c->win));
	for (int i = 0; i < 2 * messages; i++) {
		int from_right = i >= messages;

		bad = canary_compare(c->recv_memory.host + c->bytes * (size_t)i,
		    c->bytes, from_right ? c->right : c->left,
		    from_right ? TO_LEFT : TO_RIGHT);
		if (bad >= 0)
			return bad + (long)c->bytes * i;
	}
	return -1;
}

long
canary_check(struct canary *c)
{
	size_t numbers = c->bytes / sizeof(double);
	double *mine = (double *)(void *)c->send_memory.host;
	const double *sums = (const double *)(void *)c->recv_memory.host;
	double want = 0.5 * c->size * (c->size + 1.0);
	long bad;

	if (canary_ops[c->test].ring)
		return canary_check_ring(c);
	if (c->test == CANARY_ALLREDUCE) {
		for (size_t i = 0; i < numbers; i++)
			mine[i] = c->rank + 1;
		memset(c->recv_memory.host, 0, c->bytes);
		canary_once_known(c);
		for (size_t i = 0; i < numbers; i++)
			if (sums[i] != want)
				return (long)(i * sizeof(double));
		return -1;
	}
	if (c->test == CANARY_INCAST) {
		canary_fill(c->send_memory.host, c->bytes, c->rank, c->left);
		memset(c->recv_memory.host, 0,
		    c->bytes * (size_t)(c->window * RING_SENDERS_MAX));
		canary_once_known(c);
		for (int i = 0; i < c->window * c->sender_count; i++) {
			bad = canary_compare(c->recv_memory.host +
				c->bytes * (size_t)i,
			    c->bytes, c->senders[i % c->sender_count], c->rank);
			if (bad >= 0)
				return bad + (long)c->bytes * i;
		}
		return -1;
	}
	for (int i = 0; i < c->size; i++)
		canary_fill(c->send_memory.host + c->bytes * (size_t)i,
		    c->bytes, c->rank, i);
	canary_once_known(c);
	for (int i = 0; i < c->size; i++) {
		bad = canary_compare(c->recv_memory.host + c->bytes * (size_t)i,
		    c->bytes, i, c->rank);
		if (bad >= 0)
			return bad + (long)c->bytes * i;
	}
	return -1;
}
