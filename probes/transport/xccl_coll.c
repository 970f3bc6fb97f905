/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/transport/xccl_coll.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/log.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "probes/transport/backoff.h"
#include "probes/transport/xccl_lib.h"

#define NAP_NS (50ULL * 1000)

struct xccl_coll {
	const struct transport_team *team;
	const struct xccl_lib *lib;
	const struct row *row;
	struct xccl_coll_ask ask;
	int type, op; /* the library's */
	void *comm, *native;
	struct device_stream *stream;
	char *send, *recv;
};

/* ncclDataType_t and ncclRedOp_t, -1 where there is none. */
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

/* ---- one call each ---- */

static int
broadcast(struct xccl_coll *c)
{
	return c->lib->broadcast(c->send, c->recv, c->ask.all, c->type,
	    c->ask.root, c->comm, c->native);
}

static int
reduce(struct xccl_coll *c)
{
	return c->lib->reduce(c->send, c->recv, c->ask.all, c->type, c->op,
	    c->ask.root, c->comm, c->native);
}

static int
allgather(struct xccl_coll *c)
{
	return c->lib->all_gather(c->send, c->recv, c->ask.count, c->type,
	    c->comm, c->native);
}

static int
reduce_scatter(struct xccl_coll *c)
{
	return c->lib->reduce_scatter(c->send, c->recv, c->ask.count, c->type,
	    c->op, c->comm, c->native);
}

static int
allreduce(struct xccl_coll *c)
{
	return c->lib->all_reduce(c->send, c->recv, c->ask.all, c->type, c->op,
	    c->comm, c->native);
}

/* ---- groups: sent and got are block numbers times peer ---- */

static int
exchange(struct xccl_coll *c, int peer, int sent, int got)
{
	uint64_t bytes = c->ask.count * plan_types[c->ask.type].bytes;
	int result = XCCL_SUCCESS;

	if (sent >= 0)
		result = c->lib->send(c->send + (uint64_t)sent * bytes, bytes,
		    XCCL_UINT8, peer, c->comm, c->native);
	if (got >= 0 && result == XCCL_SUCCESS)
		result = c->lib->recv(c->recv + (uint64_t)got * bytes, bytes,
		    XCCL_UINT8, peer, c->comm, c->native);
	return result;
}

static int
gather_one(struct xccl_coll *c, int peer)
{
	return exchange(c, peer, peer == c->ask.root ? 0 : -1,
	    c->team->rank == c->ask.root ? peer : -1);
}

static int
scatter_one(struct xccl_coll *c, int peer)
{
	return exchange(c, peer, c->team->rank == c->ask.root ? peer : -1,
	    peer == c->ask.root ? 0 : -1);
}

static int
alltoall_one(struct xccl_coll *c, int peer)
{
	return exchange(c, peer, peer, peer);
}

#define GROUP "ncclSend and ncclRecv"

static const struct row {
	const char *of, *name;
	int reduces;
	size_t call; /* of the library; it may be too old */
	int (*run)(struct xccl_coll *c);
	int (*each)(struct xccl_coll *c, int peer); /* in a group */
} rows[] = {
	{ "broadcast", "ncclBroadcast", 0, offsetof(struct xccl_lib, broadcast),
	    broadcast, NULL },
	{ "reduce", "ncclReduce", 1, offsetof(struct xccl_lib, reduce), reduce,
	    NULL },
	{ "gather", GROUP, 0, offsetof(struct xccl_lib, send), NULL,
	    gather_one },
	{ "scatter", GROUP, 0, offsetof(struct xccl_lib, send), NULL,
	    scatter_one },
	{ "allgather", "ncclAllGather", 0,
	    offsetof(struct xccl_lib, all_gather), allgather, NULL },
	{ "reduce-scatter", "ncclReduceScatter", 1,
	    offsetof(struct xccl_lib, reduce_scatter), reduce_scatter, NULL },
	{ "allreduce", "ncclAllReduce", 1,
	    offsetof(struct xccl_lib, all_reduce), allreduce, NULL },
	{ "alltoall", GROUP, 0, offsetof(struct xccl_lib, send), NULL,
	    alltoall_one },
};

static int
enqueue(struct xccl_coll *c)
{
	int result, end;

	if (c->row->run != NULL)
		return c->row->run(c);
	result = c->lib->group_start();
	for (int i = 0; result == XCCL_SUCCESS && i < c->team->ranks; i++)
		result = c->row->each(c, i);
	end = c->lib->group_end();
	return result == XCCL_SUCCESS ? end : result;
}

/* Until the library has enqueued it. */
static int
settle(struct xccl_coll *c, int result)
{
	while (result == XCCL_SUCCESS || result == XCCL_IN_PROGRESS) {
		int rc = c->lib->comm_get_async_error(c->comm, &result);

		if (rc != XCCL_SUCCESS)
			return rc;
		if (result == XCCL_SUCCESS)
			return result;
		if (result == XCCL_IN_PROGRESS)
			clk_sleep_ns(NAP_NS);
	}
	return result;
}

void
xccl_coll_run(struct xccl_coll *c)
{
	const struct device_ops *dev = c->team->ops;
	int result = settle(c, enqueue(c));

	if (result != XCCL_SUCCESS)
		fatalx("xccl: %s: %s", c->row->name,
		    c->lib->error_string(result));
	if (dev->stream_sync(c->stream) < 0)
		fatalx("xccl: %s: %s", c->row->name,
		    dev->error(c->team->device));
}

/* Of the device to memory of the host that it copies to. */
static int
same(struct xccl_coll *c, const void *want)
{
	const struct device_ops *dev = c->team->ops;
	uint64_t bytes = c->ask.recv_bytes;
	void *host = NULL;
	int rc = -EBADMSG;

	if (bytes == 0)
		return 0;
	if (dev->host_alloc(c->team->device, 2 * bytes, &host) == 0 &&
	    dev->copy(c->stream, host, c->recv, bytes) == 0 &&
	    dev->copy(c->stream, (char *)host + bytes, want, bytes) == 0 &&
	    dev->stream_sync(c->stream) == 0 &&
	    memcmp(host, (char *)host + bytes, bytes) == 0)
		rc = 0;
	dev->host_free(c->team->device, host);
	return rc;
}

int
xccl_coll_prove(struct xccl_coll *c, const void *send, const void *want)
{
	const struct device_ops *dev = c->team->ops;
	int rc = dev->copy(c->stream, c->send, send, c->ask.send_bytes);

	if (rc == 0)
		rc = dev->fill(c->stream, c->recv, 0, c->ask.recv_bytes);
	if (rc == 0)
		rc = dev->stream_sync(c->stream);
	if (rc < 0)
		fatalx("xccl: %s: %s", c->row->name,
		    dev->error(c->team->device));
	xccl_coll_run(c);
	return same(c, want);
}

/* ---- making it ---- */

static int __attribute__((format(printf, 2, 3)))
refuse(struct err *err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err_vsay(err, fmt, ap);
	va_end(ap);
	return -ENOTSUP;
}

/* What to do, and whether the library can. */
static int
choose(struct xccl_coll *c, struct err *err)
{
	void *call;
	int rc = xccl_lib_open(c->team->ops->name, &c->lib, err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strcmp(rows[i].of, c->ask.of) == 0)
			c->row = &rows[i];
	if (c->row == NULL)
		return refuse(err, "%s has no such collective", c->lib->name);
	memcpy(&call, (const char *)c->lib + c->row->call, sizeof(call));
	if (call == NULL)
		return refuse(err, "%s has no %s", c->lib->name, c->row->name);
	c->type = types[c->ask.type];
	c->op = ops[c->ask.op];
	if (c->row->reduces && c->op < 0)
		return refuse(err, "%s reduces sum, prod, min and max only",
		    c->lib->name);
	return 0;
}

/* One of rank 0's to all; blocking: all are on their way here. */
static int
join(struct xccl_coll *c, struct err *err)
{
	const struct transport_team *team = c->team;
	struct {
		int result;
		struct xccl_id id;
	} news = { 0 };
	MPI_Request req;

	if (team->rank == 0)
		news.result = c->lib->get_unique_id(&news.id);
	MPI_Ibcast(&news, sizeof(news), MPI_BYTE, 0, team->comm, &req);
	backoff_request(&req);
	if (news.result == XCCL_SUCCESS)
		news.result = c->lib->comm_init_rank(&c->comm, team->ranks,
		    news.id, team->rank);
	if (news.result == XCCL_SUCCESS)
		return 0;
	return refuse(err, "%s: joining: %s", c->lib->name,
	    c->lib->error_string(news.result));
}

static int
buffers_open(struct xccl_coll *c, struct err *err)
{
	const struct device_ops *dev = c->team->ops;
	struct device *d = c->team->device;
	void *send = NULL, *recv = NULL;
	int rc = dev->stream_new(d, &c->stream);

	if (rc == 0)
		rc = dev->alloc(d, c->ask.send_bytes + 1, &send);
	if (rc == 0)
		rc = dev->alloc(d, c->ask.recv_bytes + 1, &recv);
	c->send = send;
	c->recv = recv;
	if (rc < 0)
		err_say(err, "%s: %.200s", dev->name, dev->error(d));
	else
		c->native = dev->stream_native(c->stream);
	return rc;
}

int
xccl_coll_open(const struct transport_team *team,
    const struct xccl_coll_ask *ask, struct xccl_coll **ret, struct err *err)
{
	struct xccl_coll *c = xcalloc(1, sizeof(*c));
	int rc;

	c->team = team;
	c->ask = *ask;
	rc = choose(c, err);
	if (rc == 0) /* this makes the device current too */
		rc = buffers_open(c, err);
	rc = transport_agree_why(team, rc, NULL, err);
	if (rc == 0) {
		rc = join(c, err);
		rc = transport_agree_why(team, rc, NULL, err);
	}
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
	if (c->comm != NULL)
		c->lib->comm_destroy(c->comm);
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
	return strcmp(c->lib->name, "RCCL") == 0 ? "rccl" : "nccl";
}
