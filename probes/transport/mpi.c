/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi.c - two-sided messages through persistent requests.
 *
 * An end is one request, or several: an int counts the bytes of a message, so
 * longer ones are split. The pieces have one tag and are started in order, and
 * MPI keeps that order. If all start at once, no ordering is needed and the
 * calls are the same as in a plain loop. Short messages are then also sent as
 * in a plain loop: an MPI may have a faster path for them than its persistent
 * requests (Open MPI 4.1 takes 6 % longer for 8 B).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/xalloc.h"
#include "probes/transport/backoff.h"
#include "probes/transport/transport.h"

/* More than any link needs to be full: 25 GB/s for 5 us. */
#define WINDOW_BYTES (128ULL << 10)
/* A rank with at most this many bytes in an iteration does not sleep. */
#define SHORT_BYTES (128ULL << 10)

/* A message: an end, or a piece of one. */
struct piece {
	char *at;
	int bytes, peer, tag, receive;
};

struct transport {
	const struct transport_team *team;
	const struct transport_share *share;
	/* By piece, in their order (mpi_pass_of): persistent requests. */
	struct piece *pieces;
	MPI_Request *reqs;
	MPI_Request *all; /* the same, or of one iteration where that is short
			   */
	int count, is_short;
	int is_all; /* 1: the active requests are in all, and not in reqs */
	uint32_t *first, *parts; /* by end: its pieces */
	uint32_t *left;          /* by end: pieces under way */
	struct transport_requests active;
};

static const struct transport_ops *
mpi_instead(const struct transport_team *team)
{
	return team->ops->host_access || team->mpi_takes
	    ? NULL
	    : &transport_mpi_staged;
}

static void
mpi_release(struct transport *t)
{
	if (t == NULL)
		return;
	for (int i = 0; i < t->count; i++)
		if (t->reqs[i] != MPI_REQUEST_NULL)
			MPI_Request_free(&t->reqs[i]);
	transport_requests_close(&t->active);
	free(t->pieces);
	free(t->reqs);
	free(t->all);
	free(t->first);
	free(t->parts);
	free(t->left);
	free(t);
}

/* Sends that are offered, then receives, then other sends: a short message that
 * arrives before its receive is posted costs a copy. */
static int
mpi_pass_of(const struct transport_end *e, uint64_t most)
{
	if (e->receive)
		return 1;
	return transport_is_offered(e->bytes < most ? e->bytes : most) ? 0 : 2;
}

/* Which pieces each end has, and room for them. */
static void
mpi_place_pieces(struct transport *t)
{
	const struct transport_share *s = t->share;
	uint64_t most = transport_piece_bytes(s), bytes = 0;
	size_t n = s->ends_count + (size_t)1;

	t->first = xcalloc(n, sizeof(*t->first));
	t->parts = xcalloc(n, sizeof(*t->parts));
	t->left = xcalloc(n, sizeof(*t->left));
	for (int pass = 0; pass < 3; pass++)
		for (uint32_t i = 0; i < s->ends_count; i++) {
			const struct transport_end *e = &s->ends[i];

			if (mpi_pass_of(e, most) != pass)
				continue;
			t->first[i] = (uint32_t)t->count;
			t->parts[i] = (uint32_t)((e->bytes + most - 1) / most);
			t->count += (int)t->parts[i];
			bytes += e->bytes;
		}
	n = (size_t)t->count + 1;
	t->is_short = bytes <= SHORT_BYTES;
	t->pieces = xcalloc(n, sizeof(*t->pieces));
	t->reqs = xcalloc(n, sizeof(*t->reqs));
	t->all = xcalloc(n, sizeof(*t->all));
	transport_requests_open(&t->active, n);
	for (int i = 0; i < t->count; i++)
		t->reqs[i] = MPI_REQUEST_NULL;
}

static int
mpi_make_end(struct transport *t, uint32_t i)
{
	const struct transport_end *e = &t->share->ends[i];
	uint64_t most = transport_piece_bytes(t->share);
	MPI_Comm comm = t->team->comm;
	int rc = 0;

	for (uint32_t k = 0; rc == 0 && k < t->parts[i]; k++) {
		struct piece *p = &t->pieces[t->first[i] + k];
		MPI_Request *req = &t->reqs[t->first[i] + k];
		uint64_t rest = e->bytes - k * most;

		*p = (struct piece){ .at = transport_at(t->share, e) + k * most,
			.bytes = (int)(rest < most ? rest : most),
			.peer = (int)e->peer,
			.tag = t->share->tag_base + (int)e->tag,
			.receive = e->receive };
		if (p->receive)
			rc = MPI_Recv_init(p->at, p->bytes, MPI_BYTE, p->peer,
			    p->tag, comm, req);
		else
			rc = MPI_Send_init(p->at, p->bytes, MPI_BYTE, p->peer,
			    p->tag, comm, req);
		rc = transport_check(t->share, rc,
		    p->receive ? "MPI_Recv_init" : "MPI_Send_init");
	}
	return rc;
}

static int
mpi_prepare(const struct transport_team *team,
    const struct transport_share *share, struct transport **ret,
    struct err *err)
{
	struct transport *t = xcalloc(1, sizeof(*t));
	int *limit = NULL, there = 0, rc = 0, all;

	t->team = team;
	t->share = share;
	err->text[0] = '\0';
	mpi_place_pieces(t);
	/* Tags of all plans that are alive have to fit below MPI_TAG_UB. */
	MPI_Comm_get_attr(team->comm, MPI_TAG_UB, &limit, &there);
	if (!there ||
	    (uint64_t)share->tag_base + share->tags > (uint64_t)*limit)
		rc = err_set(err, -ENOTSUP,
		    "mpi: %u messages between two ranks exceed the number of "
		    "MPI's tags",
		    share->tags);
	for (uint32_t i = 0; rc == 0 && i < share->ends_count; i++) {
		rc = mpi_make_end(t, i);
		if (rc < 0)
			err_say(err, "mpi: %s", share->err->text);
	}
	all = transport_agree(team, rc);
	if (all < 0) {
		mpi_release(t);
		return all;
	}
	memcpy(t->all, t->reqs, (size_t)t->count * sizeof(*t->all));
	*ret = t;
	return 0;
}

static int
mpi_start(struct transport *t, uint32_t batch)
{
	uint32_t first = t->first[batch], count = t->parts[batch];
	struct transport_requests *r = &t->active;
	int at = r->count;

	t->is_all = 0;
	t->left[batch] = count;
	memcpy(r->list + at, t->reqs + first, count * sizeof(*t->reqs));
	for (uint32_t i = 0; i < count; i++)
		r->ends[at + (int)i] = batch;
	r->count += (int)count;
	return transport_check(t->share, MPI_Startall((int)count, r->list + at),
	    "MPI_Startall");
}

static int
mpi_test(struct transport *t, uint32_t *ret_ends, uint32_t cap)
{
	const uint32_t *found;
	int n = transport_requests_test(&t->active, t->share, &found);
	int ends = 0;

	(void)cap; /* each end is complete once, and cap is their number */
	for (int i = 0; i < n; i++)
		if (--t->left[found[i]] == 0)
			ret_ends[ends++] = found[i];
	return n < 0 ? n : ends;
}

static int
mpi_is_pending(const struct transport *t, uint32_t end)
{
	const MPI_Request *reqs = t->is_all ? t->all : t->reqs;
	int done = 1;

	for (uint32_t k = 0; done && k < t->parts[end]; k++)
		if (reqs[t->first[end] + k] != MPI_REQUEST_NULL &&
		    MPI_Request_get_status(reqs[t->first[end] + k], &done,
			MPI_STATUS_IGNORE) != MPI_SUCCESS)
			return 0;
	return !done;
}

static int
mpi_start_all(struct transport *t)
{
	MPI_Comm comm = t->team->comm;
	int rc = 0;

	t->is_all = 1;
	if (!t->is_short)
		return transport_check(t->share, MPI_Startall(t->count, t->all),
		    "MPI_Startall");
	for (int i = 0; rc == 0 && i < t->count; i++) {
		const struct piece *p = &t->pieces[i];

		if (p->receive)
			rc = transport_check(t->share,
			    MPI_Irecv(p->at, p->bytes, MPI_BYTE, p->peer,
				p->tag, comm, &t->all[i]),
			    "MPI_Irecv");
		else
			rc = transport_check(t->share,
			    MPI_Isend(p->at, p->bytes, MPI_BYTE, p->peer,
				p->tag, comm, &t->all[i]),
			    "MPI_Isend");
	}
	return rc;
}

static int
mpi_test_all(struct transport *t)
{
	int done = 0, rc;

	rc = MPI_Testall(t->count, t->all, &done, MPI_STATUSES_IGNORE);
	return rc == MPI_SUCCESS ? done
				 : transport_check(t->share, rc, "MPI_Testall");
}

/* An MPI that spins would keep the core from the sender. */
static int
mpi_wait_all(struct transport *t)
{
	int rc;

	if (!t->is_short || !backoff_mpi_gives_way())
		return 0;
	rc = MPI_Waitall(t->count, t->all, MPI_STATUSES_IGNORE);
	return rc == MPI_SUCCESS ? 1
				 : transport_check(t->share, rc, "MPI_Waitall");
}

static int
mpi_usable(const struct transport_team *team,
    const struct transport_share *share, struct err *err)
{
	return transport_pieces_fit("mpi", team, share, err);
}

const struct transport_ops transport_mpi = {
	.name = "mpi",
	.at_mpi = 1,
	.window_bytes = WINDOW_BYTES,
	.instead = mpi_instead,
	.usable = mpi_usable,
	.prepare = mpi_prepare,
	.start = mpi_start,
	.test = mpi_test,
	.is_pending = mpi_is_pending,
	.start_all = mpi_start_all,
	.test_all = mpi_test_all,
	.wait_all = mpi_wait_all,
	.release = mpi_release,
};
