/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.c - messages by MPI from the host, by MPI or NCCL from GPUs, or by MPI
 * with a copy before and after.
 */
#include "probes/congestion/link.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/xalloc.h"
#include "probes/transport/xccl.h"

/* ---- which way ---- */

int
link_choose(const struct transport_team *team, enum plan_via asked,
    enum plan_via *ret, struct err *err)
{
	const struct xccl_lib *lib;
	int rc = 0;

	*ret = asked == PLAN_VIA_AUTO ? team->across : asked;
	if (asked != PLAN_VIA_XCCL)
		return 0;
	rc = xccl_shares_gpu(team, err);
	if (rc == 0)
		rc = xccl_lib_open(team->ops->name, &lib, err);
	return transport_agree_why(team, rc, NULL, err);
}

void
link_describe(const struct world *w, json_t *o)
{
	const struct transport_team *tm = w->team;
	const struct xccl_lib *lib;
	struct err err;

	if (tm == NULL)
		return;
	json_object_set_new(o, "device", json_string(tm->ops->name));
	json_object_set_new(o, "via", json_string(plan_vias[w->via]));
	if (w->via != PLAN_VIA_XCCL && !tm->mpi_takes)
		json_object_set_new(o, "staging",
		    json_sprintf("mpi: this MPI does not accept %s pointers: "
				 "each operation is copied through host memory",
			tm->ops->name));
	if (w->via == PLAN_VIA_XCCL &&
	    xccl_lib_open(tm->ops->name, &lib, &err) == 0)
		json_object_set_new(o, "impl", json_string(lib->impl));
}

static int
link_fail(const struct link *l, int rc, struct err *err)
{
	const struct transport_team *tm = l->team;

	return err_set(err, rc, "%s: %.200s", tm->ops->name,
	    tm->ops->error(tm->device));
}

static void
link_device_do(const struct link *l, int rc)
{
	if (rc < 0)
		fatalx("%s: %.200s", l->team->ops->name,
		    l->team->ops->error(l->team->device));
}

static void
link_xccl_do(const struct link *l, int result, const char *what)
{
	if (result != XCCL_SUCCESS)
		fatalx("%s: %s: %s", l->xccl->lib->name, what,
		    l->xccl->lib->error_string(result));
}

int
link_open(struct link *l, struct world *w, MPI_Comm comm, int reqs_max,
    struct err *err)
{
	const struct transport_team *tm = w->team;
	int rc = 0;

	*l = (struct link){ .world = w,
		.comm = comm,
		.team = tm,
		.reqs_max = reqs_max };
	l->reqs = xcalloc((size_t)reqs_max, sizeof(*l->reqs));
	if (tm == NULL)
		return 0;
	l->staged = w->via != PLAN_VIA_XCCL && !tm->mpi_takes;
	rc = tm->ops->stream_new(tm->device, &l->stream);
	if (rc == 0)
		rc = tm->ops->event_new(tm->device, &l->done);
	if (rc == 0)
		rc = tm->ops->alloc(tm->device, 2, (void **)&l->empty);
	if (rc < 0)
		link_fail(l, rc, err);
	MPI_DO(MPI_Allreduce(MPI_IN_PLACE, &rc, 1, MPI_INT, MPI_MIN, comm));
	if (rc < 0 || w->via != PLAN_VIA_XCCL)
		return rc;
	return xccl_comm_of(tm, comm, &l->xccl, err);
}

void
link_close(struct link *l)
{
	const struct transport_team *tm = l->team;

	if (tm != NULL) {
		tm->ops->event_free(l->done);
		tm->ops->stream_free(l->stream);
		tm->ops->free(tm->device, l->empty);
		xccl_comm_end(l->xccl);
	}
	free(l->reqs);
	*l = (struct link){ 0 };
}

/* ---- memory ---- */

int
link_alloc(struct link *l, size_t bytes, struct link_memory *ret,
    struct err *err)
{
	const struct transport_team *tm = l->team;
	int rc;

	*ret = (struct link_memory){ .bytes = bytes };
	if (tm == NULL) {
		MPI_DO(MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &ret->at));
		ret->host = ret->at;
		memset(ret->at, 0, bytes);
		return 0;
	}
	rc = tm->ops->alloc(tm->device, bytes, &ret->device);
	if (rc == 0)
		rc = tm->ops->host_alloc(tm->device, bytes,
		    (void **)&ret->host);
	if (rc < 0)
		return link_fail(l, rc, err);
	ret->at = l->staged ? ret->host : ret->device;
	memset(ret->host, 0, bytes);
	link_put(l, ret);
	return 0;
}

void
link_free(struct link *l, struct link_memory *m)
{
	const struct transport_team *tm = l->team;

	if (tm != NULL) {
		tm->ops->free(tm->device, m->device);
		tm->ops->host_free(tm->device, m->host);
	} else if (m->at != NULL) {
		MPI_DO(MPI_Free_mem(m->at));
	}
	*m = (struct link_memory){ 0 };
}

static void
link_copy(struct link *l, void *to, const void *from, size_t bytes)
{
	link_device_do(l, l->team->ops->copy(l->stream, to, from, bytes));
	link_device_do(l, l->team->ops->stream_sync(l->stream));
}

void
link_put(struct link *l, const struct link_memory *m)
{
	if (m->device != NULL)
		link_copy(l, m->device, m->host, m->bytes);
}

void
link_get(struct link *l, const struct link_memory *m)
{
	if (m->device != NULL)
		link_copy(l, m->host, m->device, m->bytes);
}

/* ---- messages ---- */

void
link_begin(struct link *l)
{
	l->count = 0;
	if (l->xccl != NULL)
		link_xccl_do(l, l->xccl->lib->group_start(),
		    "cannot begin a group of messages");
}

void
link_send(struct link *l, const void *from, size_t bytes, int to, int tag)
{
	assert(l->count < l->reqs_max);
	if (l->xccl == NULL)
		MPI_DO(MPI_Isend(from, (int)bytes, MPI_BYTE, to, tag, l->comm,
		    &l->reqs[l->count++]));
	else
		link_xccl_do(l,
		    l->xccl->lib->send(bytes > 0 ? from : l->empty,
			bytes > 0 ? bytes : 1, XCCL_UINT8, to, l->xccl->native,
			l->team->ops->stream_native(l->stream)),
		    "a message failed");
}

void
link_recv(struct link *l, void *to, size_t bytes, int from, int tag)
{
	assert(l->count < l->reqs_max);
	if (l->xccl == NULL)
		MPI_DO(MPI_Irecv(to, (int)bytes, MPI_BYTE, from, tag, l->comm,
		    &l->reqs[l->count++]));
	else
		link_xccl_do(l,
		    l->xccl->lib->recv(bytes > 0 ? to : l->empty + 1,
			bytes > 0 ? bytes : 1, XCCL_UINT8, from,
			l->xccl->native,
			l->team->ops->stream_native(l->stream)),
		    "a message failed");
}

void
link_end(struct link *l)
{
	if (l->xccl != NULL)
		link_xccl_do(l, l->xccl->lib->group_end(),
		    "cannot start a group of messages");
	else
		MPI_DO(MPI_Waitall(l->count, l->reqs, MPI_STATUSES_IGNORE));
}

/* If a peer died, the event never completes, and the library reports an
 * asynchronous error. */
static int
link_is_done(void *arg)
{
	const struct link *l = arg;
	int done = l->team->ops->event_query(l->done), result = XCCL_SUCCESS;

	link_device_do(l, done);
	if (done == 0) {
		link_xccl_do(l,
		    l->xccl->lib->comm_get_async_error(l->xccl->native,
			&result),
		    "the communicator failed");
		link_xccl_do(l, result, "a message failed");
	}
	return done;
}

static void
link_mark(struct link *l)
{
	link_device_do(l, l->team->ops->event_record(l->done, l->stream));
}

void
link_drain(struct link *l)
{
	if (l->xccl == NULL)
		return;
	link_mark(l);
	link_device_do(l, l->team->ops->event_wait(l->done));
}

void
link_wait(struct link *l, const struct control_peers *p)
{
	if (l->xccl == NULL) {
		control_exchange(l->world, p, l->reqs, l->count);
		return;
	}
	link_end(l);
	link_mark(l);
	control_until(l->world, p, link_is_done, l);
}

void
link_wait_all(struct link *l, const char *what)
{
	struct control_peers none = { .what = what, .comm = l->comm };

	if (l->xccl == NULL)
		return;
	link_mark(l);
	control_until(l->world, &none, link_is_done, l);
}

void
link_allreduce(struct link *l, const void *from, void *to, int count)
{
	if (l->xccl == NULL)
		MPI_DO(MPI_Allreduce(from, to, count, MPI_DOUBLE, MPI_SUM,
		    l->comm));
	else
		link_xccl_do(l,
		    l->xccl->lib->all_reduce(from, to, (size_t)count,
			XCCL_FLOAT64, XCCL_SUM, l->xccl->native,
			l->team->ops->stream_native(l->stream)),
		    "an allreduce failed");
}
