/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rma.c - one-sided messages: the receiver fetches.
 *
 * The sender's token announces its data and the place; the receiver gets it,
 * and answers with a token. It uses get and not put because a get is complete
 * with its request, while a put has arrived only after a flush, which blocks,
 * and a rank that blocks inside MPI delays its other transfers too.
 *
 * Windows are in one lock_all epoch from beginning to end: no fence, no
 * collective synchronisation.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/err.h"
#include "common/xalloc.h"
#include "probes/transport/transport.h"

#define HINT "; Debian's Open MPI needs --mca osc ^ucx for one-sided operations"

/* A sender: its token is out, then the answer comes. A receiver: the token
 * comes, pieces are fetched, the answer goes out. */
enum stage { STAGE_TOKEN, STAGE_FETCH, STAGE_ANSWER };

struct work {
	uint64_t off; /* the token: in the sender's memory */
	MPI_Request token, answer;
	enum stage stage;
	uint32_t left; /* pieces */
};

struct transport {
	const struct transport_team *team;
	const struct transport_share *share;
	uint64_t piece_bytes;
	MPI_Comm comm; /* for tokens */
	MPI_Win win;
	int locked;
	struct work *works; /* by end */
	struct transport_requests active;
};

static uint32_t
rma_pieces(const struct transport *t, const struct transport_end *e)
{
	return (uint32_t)((e->bytes + t->piece_bytes - 1) / t->piece_bytes);
}

static int
rma_usable(const struct transport_team *team,
    const struct transport_share *share, struct err *err)
{
	if (team->ops->host_access)
		return transport_pieces_fit("rma", team, share, err);
	return err_set(err, -ENOTSUP,
	    "rma: supports host memory only, not %s memory", team->ops->name);
}

/* Two tags each: the answer of one transfer and the token of another may go
 * the same way. */
static int
rma_make_work(struct transport *t, uint32_t i)
{
	const struct transport_end *e = &t->share->ends[i];
	int tag = 2 * (int)e->tag, peer = (int)e->peer, rc;
	struct work *w = &t->works[i];

	w->off = e->off;
	if (e->receive)
		rc = MPI_Recv_init(&w->off, 1, MPI_UINT64_T, peer, tag, t->comm,
		    &w->token);
	else
		rc = MPI_Send_init(&w->off, 1, MPI_UINT64_T, peer, tag, t->comm,
		    &w->token);
	if (rc == MPI_SUCCESS && e->receive)
		rc = MPI_Send_init(NULL, 0, MPI_BYTE, peer, tag + 1, t->comm,
		    &w->answer);
	else if (rc == MPI_SUCCESS)
		rc = MPI_Recv_init(NULL, 0, MPI_BYTE, peer, tag + 1, t->comm,
		    &w->answer);
	return transport_check(t->share, rc, "MPI_Send_init");
}

static void
rma_release(struct transport *t)
{
	if (t == NULL)
		return;
	for (uint32_t i = 0; i < t->share->ends_count; i++) {
		if (t->works[i].token != MPI_REQUEST_NULL)
			MPI_Request_free(&t->works[i].token);
		if (t->works[i].answer != MPI_REQUEST_NULL)
			MPI_Request_free(&t->works[i].answer);
	}
	if (t->locked)
		MPI_Win_unlock_all(t->win);
	if (t->win != MPI_WIN_NULL)
		MPI_Win_free(&t->win);
	MPI_Comm_free(&t->comm);
	transport_requests_close(&t->active);
	free(t->works);
	free(t);
}

static int
rma_prepare(const struct transport_team *team,
    const struct transport_share *share, struct transport **ret,
    struct err *err)
{
	struct transport *t = xcalloc(1, sizeof(*t));
	size_t n = 0;
	int rc, all;

	t->team = team;
	t->share = share;
	t->piece_bytes = transport_piece_bytes(share);
	t->works = xcalloc(share->ends_count + (size_t)1, sizeof(*t->works));
	for (uint32_t i = 0; i < share->ends_count; i++) {
		t->works[i].token = t->works[i].answer = MPI_REQUEST_NULL;
		n += rma_pieces(t, &share->ends[i]) + 1;
	}
	transport_requests_open(&t->active, n);
	err->text[0] = '\0';
	MPI_Comm_dup(team->comm, &t->comm);
	MPI_Comm_set_errhandler(t->comm, MPI_ERRORS_RETURN);
	rc = transport_check(share,
	    MPI_Win_create(share->memory, (MPI_Aint)share->memory_bytes, 1,
		MPI_INFO_NULL, t->comm, &t->win),
	    "MPI_Win_create");
	if (rc == 0) {
		MPI_Win_set_errhandler(t->win, MPI_ERRORS_RETURN);
		rc = transport_check(share,
		    MPI_Win_lock_all(MPI_MODE_NOCHECK, t->win),
		    "MPI_Win_lock_all");
		t->locked = rc == 0;
	} else {
		t->win = MPI_WIN_NULL;
	}
	for (uint32_t i = 0; rc == 0 && i < share->ends_count; i++)
		rc = rma_make_work(t, i);
	if (rc < 0)
		err_say(err, "rma: %s%s", share->err->text,
		    t->locked ? "" : HINT);
	all = transport_agree(team, rc);
	if (all < 0) {
		rma_release(t);
		return -ENOTSUP;
	}
	*ret = t;
	return 0;
}

/* ---- replay ---- */

static void
rma_watch(struct transport *t, MPI_Request req, uint32_t end)
{
	t->active.list[t->active.count] = req;
	t->active.ends[t->active.count++] = end;
}

static int
rma_start_request(struct transport *t, MPI_Request *req, uint32_t end)
{
	int rc = transport_check(t->share, MPI_Start(req), "MPI_Start");

	if (rc == 0)
		rma_watch(t, *req, end);
	return rc;
}

static int
rma_start(struct transport *t, uint32_t batch)
{
	struct work *w = &t->works[batch];

	w->stage = STAGE_TOKEN;
	return rma_start_request(t, &w->token, batch);
}

static int
rma_fetch(struct transport *t, uint32_t end)
{
	const struct transport_end *e = &t->share->ends[end];
	struct work *w = &t->works[end];
	char *to = (char *)t->share->memory + e->off;
	int rc = 0;

	w->stage = STAGE_FETCH;
	w->left = rma_pieces(t, e);
	for (uint64_t off = 0; rc == 0 && off < e->bytes;
	     off += t->piece_bytes) {
		uint64_t n = e->bytes - off;
		MPI_Request req;

		if (n > t->piece_bytes)
			n = t->piece_bytes;
		rc = transport_check(t->share,
		    MPI_Rget(to + off, (int)n, MPI_BYTE, (int)e->peer,
			(MPI_Aint)(w->off + off), (int)n, MPI_BYTE, t->win,
			&req),
		    "MPI_Rget");
		if (rc == 0)
			rma_watch(t, req, end);
	}
	return rc;
}

/* Each request that is complete moves its end on. */
static int
rma_test(struct transport *t, uint32_t *ret_ends, uint32_t cap)
{
	const uint32_t *found;
	int n = transport_requests_test(&t->active, t->share, &found);
	int ends = 0, rc = 0;

	(void)cap; /* each end is complete once, and cap is their number */
	for (int i = 0; rc == 0 && i < n; i++) {
		uint32_t end = found[i];
		struct work *w = &t->works[end];

		if (w->stage == STAGE_ANSWER) {
			ret_ends[ends++] = end;
		} else if (w->stage == STAGE_TOKEN &&
		    t->share->ends[end].receive) {
			rc = rma_fetch(t, end);
		} else if (w->stage == STAGE_TOKEN || --w->left == 0) {
			w->stage = STAGE_ANSWER;
			rc = rma_start_request(t, &w->answer, end);
		}
	}
	return n < 0 ? n : rc < 0 ? rc : ends;
}

const struct transport_ops transport_rma = {
	.name = "rma",
	.at_mpi = 1,
	.usable = rma_usable,
	.prepare = rma_prepare,
	.start = rma_start,
	.test = rma_test,
	.release = rma_release,
};
