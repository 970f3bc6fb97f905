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
	struct control_peers peers = { names_tests[c->test].name, c->comm,
		&c->left, 1, canary_stuck_limit_ns(c) };
	int n = (int)c->bytes, count = 0;

	for (int i = 0; i < 2 * c->window; i++)
		if (c->way == CANARY_SENDS)
			MPI_DO(MPI_Isend(c->send, n, MPI_BYTE, c->left,
			    TAG_TO_LEFT, c->comm, &c->reqs[count++]));
		else
			MPI_DO(MPI_Irecv(c->recv + c->bytes * (size_t)i, n,
			    MPI_BYTE, c->left, TAG_TO_LEFT, c->comm,
			    &c->reqs[count++]));
	control_exchange(c->world, &peers, c->reqs, count);
	if (c->way == CANARY_SENDS)
		MPI_DO(MPI_Irecv(NULL, 0, MPI_BYTE, c->left, TAG_TO_RIGHT,
		    c->comm, &c->reqs[0]));
	else
		MPI_DO(MPI_Isend(NULL, 0, MPI_BYTE, c->left, TAG_TO_RIGHT,
		    c->comm, &c->reqs[0]));
	control_exchange(c->world, &peers, c->reqs, 1);
}

/* Irecv, Isend with both neighbours, window messages each; all of them. */
static void
canary_op_exchange(struct canary *c)
{
	int sides[2] = { c->left, c->right };
	struct control_peers peers = { names_tests[c->test].name, c->comm,
		sides, 2, canary_stuck_limit_ns(c) };
	int n = (int)c->bytes, count = 0;
	char *from_left = c->recv;
	char *from_right = c->recv + c->bytes * (size_t)c->window;

	if (c->way != CANARY_BOTH_WAYS) {
		canary_op_one_way(c);
		return;
	}
	for (int i = 0; i < c->window; i++) {
		MPI_DO(MPI_Irecv(from_left + c->bytes * (size_t)i, n, MPI_BYTE,
		    c->left, TAG_TO_RIGHT, c->comm, &c->reqs[count++]));
		MPI_DO(MPI_Irecv(from_right + c->bytes * (size_t)i, n, MPI_BYTE,
		    c->right, TAG_TO_LEFT, c->comm, &c->reqs[count++]));
	}
	for (int i = 0; i < c->window; i++) {
		MPI_DO(MPI_Isend(c->send, n, MPI_BYTE, c->left, TAG_TO_LEFT,
		    c->comm, &c->reqs[count++]));
		MPI_DO(MPI_Isend(c->send + c->bytes, n, MPI_BYTE, c->right,
		    TAG_TO_RIGHT, c->comm, &c->reqs[count++]));
	}
	control_exchange(c->world, &peers, c->reqs, count);
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
	struct control_peers peers = { names_tests[c->test].name, c->comm,
		c->way == CANARY_RECEIVES ? c->senders : &c->left,
		c->way == CANARY_RECEIVES ? c->sender_count : 1,
		canary_stuck_limit_ns(c) };
	int n = (int)c->bytes, count = 0;

	for (int i = 0; i < c->window; i++)
		for (int k = 0; k < peers.count; k++, count++)
			if (c->way == CANARY_RECEIVES)
				MPI_DO(MPI_Irecv(c->recv +
					c->bytes * (size_t)count,
				    n, MPI_BYTE, c->senders[k], TAG_TO_LEFT,
				    c->comm, &c->reqs[count]));
			else
				MPI_DO(MPI_Isend(c->send, n, MPI_BYTE, c->left,
				    TAG_TO_LEFT, c->comm, &c->reqs[count]));
	control_exchange(c->world, &peers, c->reqs, count);
	for (int k = 0; k < peers.count; k++)
		if (c->way == CANARY_RECEIVES)
			MPI_DO(MPI_Isend(NULL, 0, MPI_BYTE, c->senders[k],
			    TAG_TO_RIGHT, c->comm, &c->reqs[k]));
		else
			MPI_DO(MPI_Irecv(NULL, 0, MPI_BYTE, c->left,
			    TAG_TO_RIGHT, c->comm, &c->reqs[k]));
	control_exchange(c->world, &peers, c->reqs, peers.count);
}

/* What the left neighbour has for its right, and the other way round. */
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

/* Into the neighbours' windows, behind what they have to send: as it came from
 * their right or their left. All messages of a side land in one place. */
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
	MPI_DO(
	    MPI_Allreduce(c->send, c->recv, 1, MPI_DOUBLE, MPI_SUM, c->comm));
}

static void
canary_op_alltoall(struct canary *c)
{
	MPI_DO(MPI_Alltoall(c->send, (int)c->bytes, MPI_BYTE, c->recv,
	    (int)c->bytes, MPI_BYTE, c->comm));
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

/* At the one that measures, who sends none: what the others send to it. */
static double
canary_incast_bytes(const struct canary *c)
{
	return (double)c->sender_count * c->window * (double)c->bytes;
}

const struct canary_ops canary_ops[CANARY_MAX] = {
	[CANARY_LAT] = { 1, 0, 1, 0, canary_op_exchange, canary_ring_bytes },
	[CANARY_GET_LAT] = { 1, 0, 1, 1, canary_op_get, canary_ring_bytes },
	[CANARY_BW] = { 1, 0, 0, 0, canary_op_exchange, canary_ring_bytes },
	[CANARY_PUT_BW] = { 1, 0, 0, 1, canary_op_put, canary_ring_bytes },
	[CANARY_BW_SYNC] = { 1, 0, 0, 0, canary_op_exchange_sync,
	    canary_ring_bytes },
	[CANARY_NATURAL_BW] = { 1, 1, 0, 0, canary_op_exchange,
	    canary_ring_bytes },
	[CANARY_ALLREDUCE] = { 0, 0, 0, 0, canary_op_allreduce,
	    canary_ring_bytes },
	[CANARY_ALLTOALL] = { 0, 0, 0, 0, canary_op_alltoall,
	    canary_alltoall_bytes },
	[CANARY_INCAST] = { 0, 0, 0, 0, canary_op_incast, canary_incast_bytes },
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
		return err_set(err, -ENOTSUP, "MPI_Win_allocate: %s", text);
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

/* Copy both buffers from the host to the device. */
static int
canary_to_device(const struct canary *c)
{
	const struct device_ops *ops = c->world->team->ops;
	int rc = ops->copy(c->stream, c->send, c->host_send, c->send_bytes);

	if (rc == 0)
		rc = ops->copy(c->stream, c->recv, c->host_recv, c->recv_bytes);
	return rc < 0 ? rc : ops->stream_sync(c->stream);
}

/* Copy the receive buffer from the device to the host. */
static int
canary_from_device(const struct canary *c)
{
	const struct device_ops *ops = c->world->team->ops;
	int rc = ops->copy(c->stream, c->host_recv, c->recv, c->recv_bytes);

	return rc < 0 ? rc : ops->stream_sync(c->stream);
}

static int
canary_device_open(struct canary *c, struct err *err)
{
	const struct transport_team *tm = c->world->team;
	const struct device_ops *ops = tm->ops;
	void *at[4] = { NULL };
	int rc;

	rc = ops->stream_new(tm->device, &c->stream);
	if (rc == 0)
		rc = ops->alloc(tm->device, c->send_bytes, &at[0]);
	if (rc == 0)
		rc = ops->alloc(tm->device, c->recv_bytes, &at[1]);
	if (rc == 0)
		rc = ops->host_alloc(tm->device, c->send_bytes, &at[2]);
	if (rc == 0)
		rc = ops->host_alloc(tm->device, c->recv_bytes, &at[3]);
	c->send = at[0];
	c->recv = at[1];
	c->host_send = at[2];
	c->host_recv = at[3];
	if (rc == 0) {
		memset(c->host_send, 0, c->send_bytes);
		memset(c->host_recv, 0, c->recv_bytes);
		rc = canary_to_device(c);
	}
	return rc == 0 ? 0
		       : err_set(err, -ENOTSUP, "%s: %.200s", ops->name,
			     ops->error(tm->device));
}

static void
canary_device_close(struct canary *c)
{
	const struct transport_team *tm = c->world->team;

	tm->ops->stream_free(c->stream);
	tm->ops->free(tm->device, c->send);
	tm->ops->free(tm->device, c->recv);
	tm->ops->host_free(tm->device, c->host_send);
	tm->ops->host_free(tm->device, c->host_recv);
	c->host_send = c->host_recv = NULL;
}

/* Run one operation on the data of the host buffers, and copy the result back.
 */
static void
canary_once_from_host(struct canary *c)
{
	const struct transport_team *tm = c->world->team;

	if (c->host_send == NULL) {
		canary_ops[c->test].once(c);
		return;
	}
	if (canary_to_device(c) < 0)
		fatalx("%s: %.200s", tm->ops->name, tm->ops->error(tm->device));
	canary_ops[c->test].once(c);
	if (canary_from_device(c) < 0)
		fatalx("%s: %.200s", tm->ops->name, tm->ops->error(tm->device));
}

/* Where known data is written and read. */
static char *
canary_host_send(const struct canary *c)
{
	return c->host_send != NULL ? c->host_send : c->send;
}

static char *
canary_host_recv(const struct canary *c)
{
	return c->host_recv != NULL ? c->host_recv : c->recv;
}

int
canary_open(struct canary *c, enum canary_test test, struct world *w,
    struct err *err)
{
	const struct canary_ops *ops = &canary_ops[test];
	size_t send, recv;
	int rc;

	memset(c, 0, sizeof(*c));
	c->test = test;
	c->world = w;
	c->comm = w->slice;
	c->win = MPI_WIN_NULL;
	c->bytes = names_tests[test].bytes;
	c->window = names_tests[test].window;
	assert((test == CANARY_INCAST ? RING_SENDERS_MAX : 4) * c->window <=
	    CONTROL_REQS_MAX);
	c->rank = w->slice_rank;
	c->size = w->slice_size;

	send = 2 * c->bytes;
	recv = send * (size_t)(ops->onesided ? 1 : c->window);
	if (test == CANARY_INCAST)
		recv = c->bytes * (size_t)(c->window * RING_SENDERS_MAX);
	else if (!ops->ring)
		send = recv = c->bytes * (size_t)c->size;
	if (ops->onesided) {
		rc = canary_window_open(w->slice, send + recv, &c->send,
		    &c->win, err);
		if (rc < 0)
			return rc;
		c->recv = c->send + send;
	} else if (w->team != NULL) {
		c->send_bytes = send;
		c->recv_bytes = recv;
		return canary_device_open(c, err);
	} else {
		MPI_DO(MPI_Alloc_mem((MPI_Aint)send, MPI_INFO_NULL, &c->send));
		MPI_DO(MPI_Alloc_mem((MPI_Aint)recv, MPI_INFO_NULL, &c->recv));
	}
	memset(c->send, 0, send);
	memset(c->recv, 0, recv);
	return 0;
}

void
canary_close(struct canary *c)
{
	if (c->win != MPI_WIN_NULL)
		canary_window_close(&c->win);
	else if (c->world->team != NULL)
		canary_device_close(c);
	else if (c->send != NULL) {
		MPI_DO(MPI_Free_mem(c->send));
		MPI_DO(MPI_Free_mem(c->recv));
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

/* Byte at an offset of what a rank sends to one of its sides or peers. */
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
	int messages = canary_ops[c->test].onesided ? 1 : c->window;
	long bad;

	canary_fill(canary_host_send(c), c->bytes, c->rank, TO_LEFT);
	canary_fill(canary_host_send(c) + c->bytes, c->bytes, c->rank,
	    TO_RIGHT);
	memset(canary_host_recv(c), 0, 2 * c->bytes * (size_t)messages);
	/* Without a barrier a late neighbour would be read or written before it
	 * has filled its buffer, or overwritten before it has read it. */
	MPI_DO(MPI_Barrier(c->comm));
	if (c->win != MPI_WIN_NULL)
		MPI_DO(MPI_Win_sync(c->win));
	canary_once_from_host(c);
	MPI_DO(MPI_Barrier(c->comm));
	if (c->win != MPI_WIN_NULL)
		MPI_DO(MPI_Win_sync(c->win));
	for (int i = 0; i < 2 * messages; i++) {
		int from_right = i >= messages;

		bad = canary_compare(canary_host_recv(c) + c->bytes * (size_t)i,
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
	double mine = c->rank + 1, sum = 0;
	double want = 0.5 * c->size * (c->size + 1.0);
	long bad;

	if (canary_ops[c->test].ring)
		return canary_check_ring(c);
	if (c->test == CANARY_ALLREDUCE) {
		memcpy(canary_host_send(c), &mine, sizeof(mine));
		canary_once_from_host(c);
		memcpy(&sum, canary_host_recv(c), sizeof(sum));
		return sum == want ? -1 : 0;
	}
	if (c->test == CANARY_INCAST) {
		canary_fill(canary_host_send(c), c->bytes, c->rank, c->left);
		memset(canary_host_recv(c), 0,
		    c->bytes * (size_t)(c->window * RING_SENDERS_MAX));
		canary_once_from_host(c);
		for (int i = 0; i < c->window * c->sender_count; i++) {
			bad = canary_compare(canary_host_recv(c) +
				c->bytes * (size_t)i,
			    c->bytes, c->senders[i % c->sender_count], c->rank);
			if (bad >= 0)
				return bad + (long)c->bytes * i;
		}
		return -1;
	}
	for (int i = 0; i < c->size; i++)
		canary_fill(canary_host_send(c) + c->bytes * (size_t)i,
		    c->bytes, c->rank, i);
	canary_once_from_host(c);
	for (int i = 0; i < c->size; i++) {
		bad = canary_compare(canary_host_recv(c) + c->bytes * (size_t)i,
		    c->bytes, i, c->rank);
		if (bad >= 0)
			return bad + (long)c->bytes * i;
	}
	return -1;
}
