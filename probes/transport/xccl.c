/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xccl.c - NCCL and RCCL: all sends and receives of a rank in a step are one
 * group, on one stream.
 *
 * Two ranks match their messages by the order in which they post them, so both
 * post in the order of tags. The communicator holds only ranks that take part.
 * A group waits for peers that it has to connect first, so all are connected
 * when the plan is prepared: otherwise a rank that enters a group before its
 * peer could deadlock with a transfer that the peer expects from it by another
 * transport.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/xalloc.h"
#include "probes/transport/backoff.h"
#include "probes/transport/transport.h"
#include "probes/transport/xccl.h"
#include "probes/transport/xccl_comm.h"

struct transport {
	const struct transport_team *team;
	const struct transport_share *share;
	const struct xccl_lib *lib;
	struct xccl_comm *in;
	void *comm; /* native */
	struct device_stream *stream;
	struct device_event **done; /* by batch: behind its group */
	uint32_t *order;            /* ends by batch, then tag */
	uint32_t *first;            /* by batch, of order; and the count */
	int *numbers;               /* by rank of the plan, in comm */
	uint32_t started, reported; /* batches of this iteration */
	uint32_t told;              /* ends of the one being reported */
	int begun; /* the first batch of this iteration is known */
	int broken;
};

static int
xccl_fail(struct transport *t, int result, const char *what)
{
	const char *more = t->lib->last_error != NULL && t->comm != NULL
	    ? t->lib->last_error(t->comm)
	    : NULL;

	t->broken = 1;
	return err_set(t->share->err, -EIO, "xccl: %s: %s%s%.120s", what,
	    t->lib->error_string(result),
	    more != NULL && more[0] != '\0' ? ": " : "",
	    more != NULL ? more : "");
}

static int
xccl_fail_device(struct transport *t, int rc)
{
	t->broken = 1;
	return err_set(t->share->err, rc, "xccl: %.200s",
	    t->team->ops->error(t->team->device));
}

int
xccl_shares_gpu(const struct transport_team *team, struct err *err)
{
	struct device_facts facts = { 0 };

	if (team->gpu_ranks < 2 || getenv("NCCL_HOSTID") != NULL ||
	    getenv("NCCL_MULTI_RANK_GPU_ENABLE") != NULL)
		return 0;
	team->ops->facts(team->device, &facts);
	return err_set(err, -ENOTSUP,
	    "xccl: ranks of one node share GPU %s: start one rank per GPU, or "
	    "set a different NCCL_HOSTID for each rank",
	    facts.pci);
}

static int
xccl_usable(const struct transport_team *team,
    const struct transport_share *share, struct err *err)
{
	const struct xccl_lib *lib;
	int rc;

	if (share->ends_count == 0)
		return 0;
	rc = xccl_shares_gpu(team, err);
	return rc < 0 ? rc : xccl_lib_open(team->ops->name, &lib, err);
}

/* ---- prepare ---- */

static int
xccl_compare_cb(const void *a, const void *b, void *arg)
{
	const struct transport_end *ends = arg;
	const struct transport_end *x = &ends[*(const uint32_t *)a];
	const struct transport_end *y = &ends[*(const uint32_t *)b];

	if (x->batch != y->batch)
		return x->batch < y->batch ? -1 : 1;
	if (x->tag != y->tag)
		return x->tag < y->tag ? -1 : 1;
	return x->receive - y->receive;
}

static void
xccl_make_order(struct transport *t)
{
	const struct transport_share *s = t->share;

	t->order = xcalloc(s->ends_count + (size_t)1, sizeof(*t->order));
	t->first = xcalloc(s->batches_count + (size_t)1, sizeof(*t->first));
	for (uint32_t i = 0; i < s->ends_count; i++)
		t->order[i] = i;
	qsort_r(t->order, s->ends_count, sizeof(*t->order), xccl_compare_cb,
	    (void *)s->ends);
	for (uint32_t i = 0, b = 0; b <= s->batches_count; b++) {
		while (i < s->ends_count && s->ends[t->order[i]].batch < b)
			i++;
		t->first[b] = i;
	}
}

/* A byte between each two that the plan has, each way. */
static int
xccl_connect_call(void *arg)
{
	struct transport *t = arg;
	void *stream = t->team->ops->stream_native(t->stream);
	size_t n = (size_t)t->team->ranks;
	char *met[2] = { xcalloc(n, 1), xcalloc(n, 1) };
	int result = t->lib->group_start(), end;

	for (uint32_t i = 0; result == XCCL_SUCCESS && i < t->share->ends_count;
	     i++) {
		const struct transport_end *e = &t->share->ends[i];
		char *at = transport_at(t->share, e);
		int peer = t->numbers[e->peer];

		if (met[e->receive][e->peer]++ > 0)
			continue;
		result = e->receive
		    ? t->lib->recv(at, 1, XCCL_UINT8, peer, t->comm, stream)
		    : t->lib->send(at, 1, XCCL_UINT8, peer, t->comm, stream);
		met[e->receive][e->peer] = 1;
	}
	end = t->lib->group_end();
	free(met[0]);
	free(met[1]);
	return result == XCCL_SUCCESS ? end : result;
}

static int
xccl_connect_peers(struct transport *t)
{
	const struct device_ops *ops = t->team->ops;
	struct backoff b = { 0 };
	int result, rc;

	rc = xccl_within(t->team, xccl_connect_call, t, &result, t->share->err);
	if (rc < 0) {
		t->broken = 1;
		return rc;
	}
	if (result != XCCL_SUCCESS)
		return xccl_fail(t, result, "cannot connect to a rank");
	rc = ops->event_record(t->done[0], t->stream);
	while (rc == 0 && (rc = ops->event_query(t->done[0])) == 0) {
		rc = t->lib->comm_get_async_error(t->comm, &result);
		if (rc == XCCL_SUCCESS)
			rc = result;
		if (rc != XCCL_SUCCESS)
			return xccl_fail(t, rc, "cannot connect to a rank");
		backoff_wait(&b);
	}
	return rc < 0 ? xccl_fail_device(t, rc) : 0;
}

static void
xccl_release(struct transport *t)
{
	const struct device_ops *ops;

	if (t == NULL)
		return;
	ops = t->team->ops;
	if (t->broken) /* or its stream would wait for it */
		xccl_comm_give(t->in, 1);
	for (uint32_t b = 0; b < t->share->batches_count; b++)
		ops->event_free(t->done[b]);
	ops->stream_free(t->stream);
	if (!t->broken)
		xccl_comm_give(t->in, 0);
	free(t->done);
	free(t->order);
	free(t->first);
	free(t->numbers);
	free(t);
}

static int
xccl_prepare(const struct transport_team *team,
    const struct transport_share *share, struct transport **ret,
    struct err *err)
{
	const struct device_ops *ops = team->ops;
	struct transport *t = xcalloc(1, sizeof(*t));
	int mine = share->ends_count > 0, members = 0, rc = 0, all;
	MPI_Request req;

	t->team = team;
	t->share = share;
	err->text[0] = '\0';
	xccl_make_order(t);
	/* Who takes part, and the communicator's number of each. */
	t->numbers = xcalloc((size_t)team->ranks, sizeof(*t->numbers));
	MPI_Iallgather(&mine, 1, MPI_INT, t->numbers, 1, MPI_INT, team->comm,
	    &req);
	backoff_request(&req);
	for (int r = 0; r < team->ranks; r++)
		t->numbers[r] = t->numbers[r] != 0 ? members++ : -1;
	t->done = xcalloc(share->batches_count + (size_t)1, sizeof(*t->done));
	if (mine)
		rc = xccl_lib_open(ops->name, &t->lib, err);
	if (rc == 0 && mine) {
		rc = ops->stream_new(team->device, &t->stream);
		for (uint32_t b = 0; rc == 0 && b < share->batches_count; b++)
			rc = ops->event_new(team->device, &t->done[b]);
		if (rc < 0)
			xccl_fail_device(t, rc);
	}
	all = transport_agree(team, rc);
	if (all == 0 && members > 0)
		all = rc = xccl_comm_take(team, t->lib, t->numbers, &t->in,
		    err);
	if (all == 0 && members > 0) {
		t->comm = t->in->native;
		if (mine)
			rc = xccl_connect_peers(t);
		all = transport_agree(team, rc);
	}
	if (all < 0) {
		if (err->text[0] == '\0')
			err_say(err, "%s", share->err->text);
		t->broken = 1; /* no common failure with the others */
		xccl_release(t);
		return all;
	}
	*ret = t;
	return 0;
}

/* ---- an iteration ---- */

static int
xccl_post(struct transport *t, uint32_t batch)
{
	const struct xccl_lib *lib = t->lib;
	void *stream = t->team->ops->stream_native(t->stream);
	int result = lib->group_start(), end, rc;

	for (uint32_t i = t->first[batch];
	     result == XCCL_SUCCESS && i < t->first[batch + 1]; i++) {
		const struct transport_end *e = &t->share->ends[t->order[i]];
		char *at = transport_at(t->share, e);
		int peer = t->numbers[e->peer];

		result = e->receive
		    ? lib->recv(at, e->bytes, XCCL_UINT8, peer, t->comm, stream)
		    : lib->send(at, e->bytes, XCCL_UINT8, peer, t->comm,
			  stream);
	}
	end = lib->group_end();
	if (result == XCCL_SUCCESS)
		result = end;
	if (result != XCCL_SUCCESS)
		return xccl_fail(t, result, "a group of transfers failed");
	rc = t->team->ops->event_record(t->done[batch], t->stream);
	return rc < 0 ? xccl_fail_device(t, rc) : 0;
}

static int
xccl_begin(struct transport *t)
{
	t->told = 0;
	t->begun = 0;
	return 0;
}

static int
xccl_start(struct transport *t, uint32_t batch)
{
	/* Some steps by themselves begin later. */
	if (!t->begun)
		t->started = t->reported = batch;
	t->begun = 1;
	assert(batch == t->started);
	t->started++;
	return xccl_post(t, batch);
}

static int
xccl_test(struct transport *t, uint32_t *ret_ends, uint32_t cap)
{
	uint32_t n = 0;
	int rc, result;

	while (n < cap && t->reported < t->started) {
		uint32_t first = t->first[t->reported];
		uint32_t ends = t->first[t->reported + 1] - first;
		int done = t->team->ops->event_query(t->done[t->reported]);

		if (done < 0)
			return xccl_fail_device(t, done);
		if (done == 0) {
			/* Asynchronous errors show a peer that died; the event
			 * would never complete. */
			rc = t->lib->comm_get_async_error(t->comm, &result);
			if (rc == XCCL_SUCCESS)
				rc = result;
			return rc == XCCL_SUCCESS
			    ? (int)n
			    : xccl_fail(t, rc, "a transfer failed");
		}
		while (n < cap && t->told < ends)
			ret_ends[n++] = t->order[first + t->told++];
		if (t->told == ends) {
			t->reported++;
			t->told = 0;
		}
	}
	return (int)n;
}

const struct transport_ops transport_xccl = {
	.name = "xccl",
	.by_step = 1,
	.usable = xccl_usable,
	.prepare = xccl_prepare,
	.begin = xccl_begin,
	.start = xccl_start,
	.test = xccl_test,
	.release = xccl_release,
};
