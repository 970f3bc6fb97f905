/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rma.c - one-sided messages: the receiver fetches.
 *
 * The sender's token says where its data lies and that it is there; then the
 * receiver gets it, and answers with a token once it has it. Why get and not
 * put: the end of a get is the end of its request, while a put has arrived
 * only after a flush, which waits, and a rank that waits inside of MPI keeps
 * its other transfers waiting too.
 *
 * Windows are epochs of lock_all from beginning to end: no fence, nobody has
 * to meet anybody.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/xalloc.h"
#include "probes/transport/transport.h"

#define HINT                                                                   \
	"; Debian's Open MPI needs --mca osc pt2pt for one-sided operations"

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
	struct work *works;   /* by end */
	MPI_Request *active;  /* requests under way */
	uint32_t *active_end; /* whose */
	int *done;
	int active_count, active_cap;
	char error[TRANSPORT_WHY_BYTES];
};

static int
check(struct transport *t, int rc, const char *what)
{
	char text[MPI_MAX_ERROR_STRING] = "";
	int len;

	if (rc == MPI_SUCCESS)
		return 0;
	MPI_Error_string(rc, text, &len);
	snprintf(t->error, sizeof(t->error), "%s: %.160s%s", what, text,
	    strncmp(what, "MPI_Win", 7) == 0 ? HINT : "");
	return -EIO;
}

static uint32_t
pieces(const struct transport *t, const struct transport_end *e)
{
	return (uint32_t)((e->bytes + t->piece_bytes - 1) / t->piece_bytes);
}

static int
rma_usable(const struct transport_team *team,
    const struct transport_share *share, struct err *err)
{
	if (team->ops->host_access)
		return transport_pieces_fit(&transport_rma, team, share, err);
	return err_set(err, -ENOTSUP,
	    "rma: windows lie in memory of the host, and here it is that of %s",
	    team->ops->name);
}

/* Two tags each: the answer of one transfer and the token of another may go
 * the same way. */
static int
make_work(struct transport *t, uint32_t i)
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
	return check(t, rc, "MPI_Send_init");
}

static int
make_window(struct transport *t)
{
	int rc;

	rc = check(t,
	    MPI_Win_create(t->share->memory, (MPI_Aint)t->share->memory_bytes,
		1, MPI_INFO_NULL, t->comm, &t->win),
	    "MPI_Win_create");
	if (rc < 0) {
		t->win = MPI_WIN_NULL;
		return rc;
	}
	MPI_Win_set_errhandler(t->win, MPI_ERRORS_RETURN);
	rc = check(t, MPI_Win_lock_all(MPI_MODE_NOCHECK, t->win),
	    "MPI_Win_lock_all");
	t->locked = rc == 0;
	return rc;
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
	free(t->works);
	free(t->active);
	free(t->active_end);
	free(t->done);
	free(t);
}

static struct transport *new (const struct transport_team *team,
    const struct transport_share *share)
{
	struct transport *t = xcalloc(1, sizeof(*t));
	size_t n = 1;

	t->team = team;
	t->share = share;
	t->piece_bytes = transport_piece_bytes(share);
	t->win = MPI_WIN_NULL;
	t->works = xcalloc(share->ends_count + (size_t)1, sizeof(*t->works));
	for (uint32_t i = 0; i < share->ends_count; i++) {
		t->works[i].token = t->works[i].answer = MPI_REQUEST_NULL;
		n += pieces(t, &share->ends[i]) + 1;
	}
	t->active = xcalloc(n, sizeof(*t->active));
	t->active_end = xcalloc(n, sizeof(*t->active_end));
	t->done = xcalloc(n, sizeof(*t->done));
	return t;
}

static int
rma_prepare(const struct transport_team *team,
    const struct transport_share *share, struct transport **ret,
    struct err *err)
{
	struct transport *t = new (team, share);
	int rc = 0, all;

	err->text[0] = '\0';
	MPI_Comm_dup(team->comm, &t->comm);
	MPI_Comm_set_errhandler(t->comm, MPI_ERRORS_RETURN);
	rc = make_window(t);
	for (uint32_t i = 0; rc == 0 && i < share->ends_count; i++)
		rc = make_work(t, i);
	if (rc < 0)
		err_say(err, "rma: %s", t->error);
	all = transport_agree(team, rc);
	if (all < 0) {
		rma_release(t);
		return -ENOTSUP;
	}
	*ret = t;
	return 0;
}

/* ---- replay ---- */

static int
rma_begin(struct transport *t)
{
	(void)t;
	return 0;
}

static void
watch(struct transport *t, MPI_Request req, uint32_t end)
{
	t->active[t->active_count] = req;
	t->active_end[t->active_count++] = end;
}

static int
start_request(struct transport *t, MPI_Request *req, uint32_t end)
{
	int rc = check(t, MPI_Start(req), "MPI_Start");

	if (rc == 0)
		watch(t, *req, end);
	return rc;
}

static int
rma_start(struct transport *t, uint32_t batch)
{
	struct work *w = &t->works[batch];

	w->stage = STAGE_TOKEN;
	return start_request(t, &w->token, batch);
}

static int
fetch(struct transport *t, uint32_t end)
{
	const struct transport_end *e = &t->share->ends[end];
	struct work *w = &t->works[end];
	char *to = (char *)t->share->memory + e->off;
	int rc = 0;

	w->stage = STAGE_FETCH;
	w->left = pieces(t, e);
	for (uint64_t off = 0; rc == 0 && off < e->bytes;
	     off += t->piece_bytes) {
		uint64_t n = e->bytes - off;
		MPI_Request req;

		if (n > t->piece_bytes)
			n = t->piece_bytes;
		rc = check(t,
		    MPI_Rget(to + off, (int)n, MPI_BYTE, (int)e->peer,
			(MPI_Aint)(w->off + off), (int)n, MPI_BYTE, t->win,
			&req),
		    "MPI_Rget");
		if (rc == 0)
			watch(t, req, end);
	}
	return rc;
}

static int
answer(struct transport *t, uint32_t end)
{
	t->works[end].stage = STAGE_ANSWER;
	return start_request(t, &t->works[end].answer, end);
}

/* A request of the end is complete: 1 when that was its last, 0 to go on. */
static int
advance(struct transport *t, uint32_t end)
{
	struct work *w = &t->works[end];

	switch (w->stage) {
	case STAGE_TOKEN:
		return t->share->ends[end].receive ? fetch(t, end)
						   : answer(t, end);
	case STAGE_FETCH:
		return --w->left > 0 ? 0 : answer(t, end);
	default:
		return 1;
	}
}

static int
compare_falling_cb(const void *a, const void *b)
{
	return *(const int *)b - *(const int *)a;
}

static int
rma_test(struct transport *t, uint32_t *ret_ends, uint32_t cap)
{
	int count = t->active_count < (int)cap ? t->active_count : (int)cap;
	int n = 0, ends = 0, rc;

	if (count == 0)
		return 0;
	rc = check(t,
	    MPI_Testsome(count, t->active, &n, t->done, MPI_STATUSES_IGNORE),
	    "MPI_Testsome");
	if (rc < 0 || n == MPI_UNDEFINED)
		return rc;
	/* From the back: what fills a gap is none of those still to go. */
	qsort(t->done, (size_t)n, sizeof(*t->done), compare_falling_cb);
	for (int i = 0; i < n; i++) {
		int at = t->done[i];
		uint32_t end = t->active_end[at];

		t->active_count--;
		t->active[at] = t->active[t->active_count];
		t->active_end[at] = t->active_end[t->active_count];
		t->done[i] = (int)end; /* which it was */
	}
	for (int i = 0; i < n; i++) {
		rc = advance(t, (uint32_t)t->done[i]);
		if (rc < 0)
			return rc;
		if (rc == 1)
			ret_ends[ends++] = (uint32_t)t->done[i];
	}
	return ends;
}

static const char *
rma_error(const struct transport *t)
{
	return t->error;
}

const struct transport_ops transport_rma = {
	.name = "rma",
	.by_step = 0,
	.at_mpi = 1,
	.usable = rma_usable,
	.prepare = rma_prepare,
	.begin = rma_begin,
	.start = rma_start,
	.test = rma_test,
	.error = rma_error,
	.staging = transport_staging_none,
	.release = rma_release,
};
