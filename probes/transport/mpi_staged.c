/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_staged.c - messages of a device's memory through memory of the host, for
 * an MPI that does not take its pointers.
 *
 * Each end has a place in one area that the device copies from and to at full
 * speed (pinned). A send is copied out, then given to transport_mpi; what that
 * has received is copied in, and reported when it is there. The two ways have
 * a stream each, so that neither waits for the other.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/err.h"
#include "common/xalloc.h"
#include "probes/transport/backoff.h"
#include "probes/transport/transport.h"

#define ALIGN_BYTES  256ULL
#define PINNED_SHARE 0.5

/* Ends whose copy is under way, in the order of their stream. */
struct copies {
	struct device_stream *stream;
	uint32_t *ends;
	uint32_t head, tail;
};

struct transport {
	const struct transport_team *team;
	const struct transport_share *share;
	struct transport_share inner_share; /* its ends, in the area */
	struct transport_end *inner_ends;
	struct transport *inner; /* of transport_mpi */
	char *area;
	struct device_event **events; /* by end */
	struct copies out, in;
	uint32_t *done; /* room for inner's test */
	char staging[160];
};

static int
mpi_staged_copies_open(struct transport *t, struct copies *c)
{
	c->ends = xcalloc(t->share->ends_count + (size_t)1, sizeof(*c->ends));
	return t->team->ops->stream_new(t->team->device, &c->stream);
}

/* The same ends, each in a separate place. */
static int
mpi_staged_stage_make(struct transport *t, struct err *err)
{
	const struct device_ops *ops = t->team->ops;
	const struct transport_share *s = t->share;
	uint32_t n = s->ends_count;
	uint64_t bytes = 0;
	void *area = NULL;
	int rc;

	t->inner_ends = xcalloc(n + (size_t)1, sizeof(*t->inner_ends));
	for (uint32_t i = 0; i < n; i++) {
		t->inner_ends[i] = s->ends[i];
		if (s->ends[i].on_host) /* and goes from where it is */
			continue;
		t->inner_ends[i].off = bytes;
		bytes += (s->ends[i].bytes + ALIGN_BYTES - 1) &
		    ~(ALIGN_BYTES - 1);
	}
	t->inner_share = *s;
	t->inner_share.ends = t->inner_ends;
	t->inner_share.memory_bytes = bytes;
	t->done = xcalloc(n + (size_t)1, sizeof(*t->done));
	t->events = xcalloc(n + (size_t)1, sizeof(struct device_event *));
	rc = ops->host_alloc(t->team->device, bytes + (bytes == 0), &area);
	t->area = area;
	t->inner_share.memory = area;
	if (rc == 0)
		rc = mpi_staged_copies_open(t, &t->out);
	if (rc == 0)
		rc = mpi_staged_copies_open(t, &t->in);
	for (uint32_t i = 0; rc == 0 && i < n; i++)
		rc = ops->event_new(t->team->device, &t->events[i]);
	if (rc < 0)
		err_say(err,
		    "mpi: cannot allocate %llu bytes to stage messages in host "
		    "memory: %s",
		    (unsigned long long)bytes, ops->error(t->team->device));
	return rc;
}

static void
mpi_staged_stage_free(struct transport *t)
{
	const struct device_ops *ops = t->team->ops;

	ops->stream_free(t->out.stream);
	ops->stream_free(t->in.stream);
	for (uint32_t i = 0; i < t->share->ends_count; i++)
		ops->event_free(t->events[i]);
	ops->host_free(t->team->device, t->area);
	free(t->events);
	free(t->done);
	free(t->out.ends);
	free(t->in.ends);
	free(t->inner_ends);
	free(t);
}

static int
mpi_staged_prepare(const struct transport_team *team,
    const struct transport_share *share, struct transport **ret,
    struct err *err)
{
	struct transport *t = xcalloc(1, sizeof(*t));
	int rc;

	t->team = team;
	t->share = share;
	err->text[0] = '\0';
	snprintf(t->staging, sizeof(t->staging),
	    "mpi: this MPI does not accept %s pointers: messages are copied "
	    "through pinned host memory",
	    team->ops->name);
	rc = transport_agree(team, mpi_staged_stage_make(t, err));
	if (rc == 0)
		rc = transport_mpi.prepare(team, &t->inner_share, &t->inner,
		    err);
	if (rc < 0) {
		mpi_staged_stage_free(t);
		return rc;
	}
	*ret = t; /* handed over */
	return 0;
}

static void
mpi_staged_release(struct transport *t)
{
	if (t == NULL)
		return;
	transport_mpi.release(t->inner);
	mpi_staged_stage_free(t);
}

static int
mpi_staged_begin(struct transport *t)
{
	t->out.head = t->out.tail = t->in.head = t->in.tail = 0;
	return 0;
}

/* Behind what its stream holds. */
static int
mpi_staged_copy_start(struct transport *t, struct copies *c, uint32_t end)
{
	const struct device_ops *ops = t->team->ops;
	char *there = transport_at(t->share, &t->share->ends[end]);
	char *here = t->area + t->inner_ends[end].off;
	uint64_t bytes = t->share->ends[end].bytes;
	int rc;

	if (t->share->ends[end].receive)
		rc = ops->copy(c->stream, there, here, bytes);
	else
		rc = ops->copy(c->stream, here, there, bytes);
	if (rc == 0)
		rc = ops->event_record(t->events[end], c->stream);
	if (rc < 0)
		return transport_fail(t->team, t->share, rc);
	c->ends[c->tail++] = end;
	return 0;
}

static int
mpi_staged_start(struct transport *t, uint32_t batch)
{
	if (t->share->ends[batch].receive || t->share->ends[batch].on_host)
		return transport_mpi.start(t->inner, batch);
	return mpi_staged_copy_start(t, &t->out, batch);
}

/* 1: *ret_end is the next one whose copy is done. */
static int
mpi_staged_copy_done(struct transport *t, struct copies *c, uint32_t *ret_end)
{
	int rc;

	if (c->head == c->tail)
		return 0;
	rc = t->team->ops->event_query(t->events[c->ends[c->head]]);
	if (rc < 0)
		return transport_fail(t->team, t->share, rc);
	if (rc > 0)
		*ret_end = c->ends[c->head++];
	return rc;
}

static int
mpi_staged_test(struct transport *t, uint32_t *ret_ends, uint32_t cap)
{
	uint32_t end = 0, ends = 0;
	int rc, n;

	while ((rc = mpi_staged_copy_done(t, &t->out, &end)) > 0)
		if ((rc = transport_mpi.start(t->inner, end)) < 0)
			return rc;
	if (rc < 0)
		return rc;
	n = transport_mpi.test(t->inner, t->done, cap);
	if (n < 0)
		return n;
	for (int i = 0; i < n; i++) {
		if (!t->share->ends[t->done[i]].receive ||
		    t->share->ends[t->done[i]].on_host)
			ret_ends[ends++] = t->done[i];
		else if ((rc = mpi_staged_copy_start(t, &t->in, t->done[i])) <
		    0)
			return rc;
	}
	while (ends < cap && (rc = mpi_staged_copy_done(t, &t->in, &end)) > 0)
		ret_ends[ends++] = end;
	return rc < 0 ? rc : (int)ends;
}

static const char *
mpi_staged_staging(const struct transport *t)
{
	return t->staging;
}

/* Pinned memory is never swapped out: what does not fit takes the node with
 * it. All ranks of the node take theirs. */
static int
mpi_staged_usable(const struct transport_team *team,
    const struct transport_share *share, struct err *err)
{
	struct device_facts facts = { 0 };
	struct device *host = NULL;
	double need = 0;
	MPI_Request req;

	for (uint32_t i = 0; i < share->ends_count; i++)
		need += share->ends[i].on_host ? 0
					       : (double)share->ends[i].bytes;
	MPI_Iallreduce(MPI_IN_PLACE, &need, 1, MPI_DOUBLE, MPI_SUM,
	    team->node_comm, &req);
	backoff_request(&req);
	if (device_host.open(0, &host, err) < 0 ||
	    device_host.facts(host, &facts) < 0)
		facts.free_bytes = UINT64_MAX; /* unknown */
	device_host.close(host);
	if (need > PINNED_SHARE * (double)facts.free_bytes)
		return err_set(err, -ENOMEM,
		    "mpi: staging needs %.3g GiB of pinned memory on the node "
		    "of rank %d, which has %.3g GiB free: expected at most "
		    "half of that",
		    need / (1 << 30), team->rank,
		    (double)facts.free_bytes / (1 << 30));
	return transport_pieces_fit("mpi", team, share, err);
}

const struct transport_ops transport_mpi_staged = {
	.name = "mpi",
	.at_mpi = 1,
	.usable = mpi_staged_usable,
	.prepare = mpi_staged_prepare,
	.begin = mpi_staged_begin,
	.start = mpi_staged_start,
	.test = mpi_staged_test,
	.staging = mpi_staged_staging,
	.release = mpi_staged_release,
};
