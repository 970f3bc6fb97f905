/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xccl_coll.c - the library's call for a collective, and the group of sends and
 * receives for a collective that it lacks.
 */
#include "probes/transport/xccl_coll.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/log.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "probes/transport/backoff.h"
#include "probes/transport/xccl.h"
#include "probes/transport/xccl_comm.h"

#define BLOCK_BYTES (4ULL << 20) /* to compare at a time */

struct xccl_coll {
	const struct transport_team *team;
	const struct xccl_lib *lib;
	const struct row *row;
	struct xccl_coll_ask ask;
	int type, op; /* the library's */
	struct xccl_comm *in;
	void *comm, *native;
	struct device_stream *stream;
	struct device_event *end; /* of the operations in the stream */
	void *send, *recv;
};

/* ncclDataType_t and ncclRedOp_t, -1: unsupported. */
static const int types[PLAN_TYPE_MAX] = {
	[PLAN_INT32] = XCCL_INT32,
	[PLAN_INT64] = XCCL_INT64,
	[PLAN_FLOAT] = XCCL_FLOAT32,
	[PLAN_DOUBLE] = XCCL_FLOAT64,
	[PLAN_HALF] = XCCL_FLOAT16,
	[PLAN_BFLOAT16] = XCCL_BFLOAT16,
	[PLAN_BYTE] = XCCL_UINT8,
};
static const int ops[PLAN_OP_MAX] = {
	[PLAN_COPY] = -1,
	[PLAN_SUM] = XCCL_SUM,
	[PLAN_PROD] = XCCL_PROD,
	[PLAN_MIN] = XCCL_MIN,
	[PLAN_MAX] = XCCL_MAX,
	[PLAN_LAND] = -1,
	[PLAN_LOR] = -1,
};

enum kind {
	BROADCAST,
	REDUCE,
	GATHER,
	SCATTER,
	ALLGATHER,
	REDUCE_SCATTER,
	ALLREDUCE,
	ALLTOALL
};

#define LIB(member) offsetof(struct xccl_lib, member)
#define GROUP       "ncclSend and ncclRecv"

static const struct row {
	const char *of, *name;
	int reduces;
	size_t call; /* of the library; it may be too old */
} rows[] = {
	[BROADCAST] = { "broadcast", "ncclBroadcast", 0, LIB(broadcast) },
	[REDUCE] = { "reduce", "ncclReduce", 1, LIB(reduce) },
	[GATHER] = { "gather", GROUP, 0, LIB(send) },
	[SCATTER] = { "scatter", GROUP, 0, LIB(send) },
	[ALLGATHER] = { "allgather", "ncclAllGather", 0, LIB(all_gather) },
	[REDUCE_SCATTER] = { "reduce-scatter", "ncclReduceScatter", 1,
	    LIB(reduce_scatter) },
	[ALLREDUCE] = { "allreduce", "ncclAllReduce", 1, LIB(all_reduce) },
	[ALLTOALL] = { "alltoall", GROUP, 0, LIB(send) },
};

/* Blocks to and from each peer: -1, none. */
static int
xccl_coll_run_group(struct xccl_coll *c, enum kind kind)
{
	uint64_t bytes = c->ask.count * plan_types[c->ask.type].bytes;
	int me = c->team->rank, root = c->ask.root;
	int result = c->lib->group_start(), end;

	for (int i = 0; result == XCCL_SUCCESS && i < c->team->ranks; i++) {
		int sent = i, got = i;

		if (kind == GATHER) {
			sent = i == root ? 0 : -1;
			got = me == root ? i : -1;
		} else if (kind == SCATTER) {
			sent = me == root ? i : -1;
			got = i == root ? 0 : -1;
		}
		if (sent >= 0)
			result = c->lib->send((char *)c->send +
				(uint64_t)sent * bytes,
			    bytes, XCCL_UINT8, i, c->comm, c->native);
		if (got >= 0 && result == XCCL_SUCCESS)
			result = c->lib->recv((char *)c->recv +
				(uint64_t)got * bytes,
			    bytes, XCCL_UINT8, i, c->comm, c->native);
	}
	end = c->lib->group_end();
	return result == XCCL_SUCCESS ? end : result;
}

static int
xccl_coll_enqueue(struct xccl_coll *c)
{
	const struct xccl_coll_ask *a = &c->ask;
	enum kind kind = (enum kind)(c->row - rows);

	switch (kind) {
	case BROADCAST:
		return c->lib->broadcast(c->send, c->recv, a->all, c->type,
		    a->root, c->comm, c->native);
	case REDUCE:
		return c->lib->reduce(c->send, c->recv, a->all, c->type, c->op,
		    a->root, c->comm, c->native);
	case ALLGATHER:
		return c->lib->all_gather(c->send, c->recv, a->count, c->type,
		    c->comm, c->native);
	case REDUCE_SCATTER:
		return c->lib->reduce_scatter(c->send, c->recv, a->count,
		    c->type, c->op, c->comm, c->native);
	case ALLREDUCE:
		return c->lib->all_reduce(c->send, c->recv, a->all, c->type,
		    c->op, c->comm, c->native);
	default:
		return xccl_coll_run_group(c, kind);
	}
}

void
xccl_coll_run(struct xccl_coll *c)
{
	const struct device_ops *dev = c->team->ops;
	int result = xccl_coll_enqueue(c);
	struct backoff p = { 0 };

	if (result != XCCL_SUCCESS)
		fatalx("xccl: %s failed: %s", c->row->name,
		    c->lib->error_string(result));
	/* Waits by polling, as the plan that it is compared with does: a
	 * sleeping rank would wake up late. */
	result = dev->event_record(c->end, c->stream);
	while (result == 0 && (result = dev->event_query(c->end)) == 0)
		backoff_wait(&p);
	if (result < 0)
		fatalx("xccl: %s failed: %s", c->row->name,
		    dev->error(c->team->device));
}

/* Compare block by block, in host memory that the device copies to. An error of
 * the copy does not count as a difference. */
static int
xccl_coll_same(struct xccl_coll *c, const void *want)
{
	const struct device_ops *dev = c->team->ops;
	struct device *d = c->team->device;
	uint64_t left = c->ask.recv_bytes;
	void *host = NULL;
	int rc = dev->host_alloc(d, 2 * (size_t)BLOCK_BYTES, &host),
	    differs = 0;

	for (uint64_t at = 0, n; rc == 0 && !differs && left > 0;
	     at += n, left -= n) {
		n = left < BLOCK_BYTES ? left : BLOCK_BYTES;
		rc = dev->copy(c->stream, host, (char *)c->recv + at, n);
		if (rc == 0)
			rc = dev->copy(c->stream, (char *)host + BLOCK_BYTES,
			    (const char *)want + at, n);
		if (rc == 0)
			rc = dev->stream_sync(c->stream);
		differs = rc == 0 &&
		    memcmp(host, (char *)host + BLOCK_BYTES, n) != 0;
	}
	if (rc < 0)
		fatalx("xccl: cannot compare the data of %s: %s", c->row->name,
		    dev->error(d));
	dev->host_free(d, host);
	return differs ? -EBADMSG : 0;
}

int
xccl_coll_prove(struct xccl_coll *c, const void *send, const void *want)
{
	const struct device_ops *dev = c->team->ops;
	uint64_t bytes = c->ask.recv_bytes;
	int rc = dev->copy(c->stream, c->send, send, c->ask.send_bytes);

	if (rc == 0)
		rc = dev->fill(c->stream, c->recv, 0, bytes);
	if (rc == 0)
		rc = dev->stream_sync(c->stream);
	if (rc < 0)
		fatalx("xccl: %s failed: %s", c->row->name,
		    dev->error(c->team->device));
	xccl_coll_run(c);
	return xccl_coll_same(c, want);
}

/* ---- making it ---- */

/* What to do, and whether the library can. */
static int
xccl_coll_choose(struct xccl_coll *c, struct err *err)
{
	void *call;
	int rc = xccl_lib_open(c->team->ops->name, &c->lib, err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strcmp(rows[i].of, c->ask.of) == 0)
			c->row = &rows[i];
	if (c->row == NULL)
		return err_set(err, -ENOTSUP,
		    "%s does not have this collective", c->lib->name);
	memcpy(&call, (const char *)c->lib + c->row->call, sizeof(call));
	if (call == NULL)
		return err_set(err, -ENOTSUP,
		    "this %s library does not have %s", c->lib->name,
		    c->row->name);
	c->type = types[c->ask.type];
	c->op = ops[c->ask.op];
	if (c->row->reduces && c->op < 0)
		return err_set(err, -ENOTSUP,
		    "%s reduces sum, prod, min and max only", c->lib->name);
	return 0;
}

int
xccl_coll_open(const struct transport_team *team,
    const struct xccl_coll_ask *ask, struct xccl_coll **ret, struct err *err)
{
	struct xccl_coll *c = xcalloc(1, sizeof(*c));
	const struct device_ops *dev = team->ops;
	struct device *d = team->device;
	int *numbers, rc;

	c->team = team;
	c->ask = *ask;
	rc = xccl_coll_choose(c, err);
	if (rc == 0)
		rc = xccl_shares_gpu(team, err);
	if (rc == 0) { /* this makes the device current too */
		rc = dev->stream_new(d, &c->stream);
		if (rc == 0)
			rc = dev->event_new(d, &c->end);
		if (rc == 0)
			rc = dev->alloc(d, ask->send_bytes + 1, &c->send);
		if (rc == 0)
			rc = dev->alloc(d, ask->recv_bytes + 1, &c->recv);
		if (rc < 0)
			err_say(err, "%s: %.200s", dev->name, dev->error(d));
		else
			c->native = dev->stream_native(c->stream);
	}
	rc = transport_agree_why(team, rc, NULL, err);
	if (rc == 0) {
		numbers = xcalloc((size_t)team->ranks, sizeof(*numbers));
		for (int r = 0; r < team->ranks; r++)
			numbers[r] = r;
		rc = xccl_comm_take(team, c->lib, numbers, &c->in, err);
		free(numbers);
	}
	if (rc == 0)
		c->comm = c->in->native;
	if (rc < 0) {
		xccl_coll_close(c);
		return rc;
	}
	*ret = c; /* handed over */
	return 0;
}

void
xccl_coll_close(struct xccl_coll *c)
{
	const struct device_ops *dev;

	if (c == NULL)
		return;
	dev = c->team->ops;
	xccl_comm_give(c->in, 0);
	dev->event_free(c->end);
	dev->stream_free(c->stream);
	dev->free(c->team->device, c->send);
	dev->free(c->team->device, c->recv);
	free(c);
}

const char *
xccl_coll_name(const struct xccl_coll *c)
{
	return c->row->name;
}

const char *
xccl_coll_impl(const struct xccl_coll *c)
{
	return c->lib->impl;
}
