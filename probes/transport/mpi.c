/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi.c - two-sided messages through persistent requests.
 *
 * An end is one request, or several: an int counts the bytes of a message, so
 * what is longer is cut. The pieces have one tag and are started in order, and
 * MPI keeps that order. Requests that are under way stand together in an array
 * of their own, so that a look at them costs nothing for all the others.
 * Where all go at once there is nothing to sort: a plain loop's calls remain.
 * Short ones are then sent as a plain loop sends them, too: an MPI may have a
 * faster way for those than its persistent requests (Open MPI 4.1 takes 6 %
 * longer for 8 B).
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/xalloc.h"
#include "probes/transport/backoff.h"
#include "probes/transport/transport.h"

/* More than any link needs to be full: 25 GB/s for 5 us. */
#define WINDOW_BYTES (128ULL << 10)
/* So much of a rank's own is over before a nap would pay. */
#define SHORT_BYTES (128ULL << 10)

/* A message: an end, or a piece of one. */
struct piece {
	char *at;
	int bytes, peer, tag, receive;
};

struct transport {
	const struct transport_team *team;
	const struct transport_share *share;
	MPI_Request *reqs;
	MPI_Request *all;     /* the same, receives first; or of pieces */
	struct piece *pieces; /* likewise, where all are short; NULL */
	uint32_t *first;      /* by end, of reqs; and the count */
	uint32_t *left;       /* by end: pieces under way */
	MPI_Request *active;
	uint32_t *active_end;
	int *done; /* indices of active, for MPI_Testsome */
	int active_count;
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
	snprintf(t->error, sizeof(t->error), "%s: %.200s", what, text);
	return -EIO;
}

static int
mpi_usable(const struct transport_team *team,
    const struct transport_share *share, struct err *err)
{
	return transport_pieces_fit(&transport_mpi, team, share, err);
}

static const struct transport_ops *
mpi_instead(const struct transport_team *team)
{
	if (team->ops->host_access || device_taken_by_mpi(team->ops->name))
		return NULL;
	return &transport_mpi_staged;
}

/* Tags of all plans that are alive have to fit below MPI_TAG_UB. */
static int
tags_fit(const struct transport_team *team, const struct transport_share *share,
    struct err *err)
{
	int *limit = NULL, there = 0;

	MPI_Comm_get_attr(team->comm, MPI_TAG_UB, &limit, &there);
	if (there &&
	    (uint64_t)share->tag_base + share->tags <= (uint64_t)*limit)
		return 0;
	return err_set(err, -ENOTSUP,
	    "mpi: %u messages between two ranks are more than MPI has tags",
	    share->tags);
}

static struct piece
piece_of(const struct transport *t, uint32_t end, uint64_t off)
{
	const struct transport_end *e = &t->share->ends[end];
	uint64_t rest = e->bytes - off, most = transport_piece_bytes(t->share);

	return (struct piece){ .at = (char *)t->share->memory + e->off + off,
		.bytes = (int)(rest < most ? rest : most),
		.peer = (int)e->peer,
		.tag = t->share->tag_base + (int)e->tag,
		.receive = e->receive };
}

static int
make_end(struct transport *t, uint32_t i, MPI_Request *reqs)
{
	uint64_t piece = transport_piece_bytes(t->share);
	int rc = 0;

	for (uint64_t off = 0; rc == 0 && off < t->share->ends[i].bytes;
	     off += piece, reqs++) {
		struct piece p = piece_of(t, i, off);

		if (p.receive)
			rc = check(t,
			    MPI_Recv_init(p.at, p.bytes, MPI_BYTE, p.peer,
				p.tag, t->team->comm, reqs),
			    "MPI_Recv_init");
		else
			rc = check(t,
			    MPI_Send_init(p.at, p.bytes, MPI_BYTE, p.peer,
				p.tag, t->team->comm, reqs),
			    "MPI_Send_init");
	}
	return rc;
}

static void
count_pieces(struct transport *t)
{
	const struct transport_share *s = t->share;
	uint64_t piece = transport_piece_bytes(s);
	uint32_t count = 0;

	t->first = xcalloc(s->ends_count + (size_t)1, sizeof(*t->first));
	for (uint32_t i = 0; i < s->ends_count; i++) {
		t->first[i] = count;
		count += (uint32_t)((s->ends[i].bytes + piece - 1) / piece);
	}
	t->first[s->ends_count] = count;
	t->left = xcalloc(s->ends_count + (size_t)1, sizeof(*t->left));
	t->reqs = xcalloc(count + (size_t)1, sizeof(*t->reqs));
	t->active = xcalloc(count + (size_t)1, sizeof(*t->active));
	t->active_end = xcalloc(count + (size_t)1, sizeof(*t->active_end));
	t->done = xcalloc(count + (size_t)1, sizeof(*t->done));
	for (uint32_t i = 0; i < count; i++)
		t->reqs[i] = MPI_REQUEST_NULL;
}

static int
all_short(const struct transport_share *s)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < s->ends_count; i++)
		bytes += s->ends[i].bytes;
	return bytes <= SHORT_BYTES;
}

static void
order_all(struct transport *t)
{
	const struct transport_share *s = t->share;
	uint32_t count = t->first[s->ends_count], n = 0;

	t->all = xcalloc(count + (size_t)1, sizeof(*t->all));
	if (all_short(s))
		t->pieces = xcalloc(count + (size_t)1, sizeof(*t->pieces));
	for (int receive = 1; receive >= 0; receive--)
		for (uint32_t i = 0; i < s->ends_count; i++)
			for (uint32_t k = t->first[i];
			     s->ends[i].receive == receive &&
			     k < t->first[i + 1];
			     k++, n++) {
				t->all[n] = t->reqs[k];
				if (t->pieces != NULL)
					t->pieces[n] = piece_of(t, i,
					    (k - t->first[i]) *
						transport_piece_bytes(s));
			}
}

static void
mpi_release(struct transport *t)
{
	if (t == NULL)
		return;
	for (uint32_t i = 0; i < t->first[t->share->ends_count]; i++)
		if (t->reqs[i] != MPI_REQUEST_NULL)
			MPI_Request_free(&t->reqs[i]);
	free(t->first);
	free(t->left);
	free(t->reqs);
	free(t->all);
	free(t->pieces);
	free(t->active);
	free(t->active_end);
	free(t->done);
	free(t);
}

static int
mpi_prepare(const struct transport_team *team,
    const struct transport_share *share, struct transport **ret,
    struct err *err)
{
	struct transport *t = xcalloc(1, sizeof(*t));
	int rc, all;

	t->team = team;
	t->share = share;
	err->text[0] = '\0';
	count_pieces(t);
	rc = tags_fit(team, share, err);
	for (uint32_t i = 0; rc == 0 && i < share->ends_count; i++) {
		rc = make_end(t, i, t->reqs + t->first[i]);
		if (rc < 0)
			err_say(err, "mpi: %s", t->error);
	}
	all = transport_agree(team, rc);
	if (all < 0) {
		mpi_release(t);
		return all;
	}
	order_all(t);
	*ret = t;
	return 0;
}

static int
mpi_begin(struct transport *t)
{
	(void)t;
	return 0;
}

static int
mpi_start(struct transport *t, uint32_t batch)
{
	uint32_t first = t->first[batch], count = t->first[batch + 1] - first;
	int at = t->active_count;

	t->left[batch] = count;
	memcpy(t->active + at, t->reqs + first, count * sizeof(*t->reqs));
	for (uint32_t i = 0; i < count; i++)
		t->active_end[at + (int)i] = batch;
	t->active_count += (int)count;
	return check(t, MPI_Startall((int)count, t->active + at),
	    "MPI_Startall");
}

static int
compare_falling_cb(const void *a, const void *b)
{
	return *(const int *)b - *(const int *)a;
}

static int
mpi_test(struct transport *t, uint32_t *ret_ends, uint32_t cap)
{
	int count = t->active_count < (int)cap ? t->active_count : (int)cap;
	int n = 0, ends = 0, rc;

	if (count == 0)
		return 0;
	rc = check(t,
	    MPI_Testsome(count, t->active, &n, t->done, MPI_STATUSES_IGNORE),
	    "MPI_Testsome");
	if (rc < 0)
		return rc;
	if (n == MPI_UNDEFINED)
		return 0;
	/* From the back, so that the last one, which fills the gap, is none
	 * of those still to be taken out. */
	qsort(t->done, (size_t)n, sizeof(*t->done), compare_falling_cb);
	for (int i = 0; i < n; i++) {
		uint32_t end = t->active_end[t->done[i]];

		t->active_count--;
		t->active[t->done[i]] = t->active[t->active_count];
		t->active_end[t->done[i]] = t->active_end[t->active_count];
		if (--t->left[end] == 0)
			ret_ends[ends++] = end;
	}
	return ends;
}

static int
start_piece(struct transport *t, const struct piece *p, MPI_Request *ret)
{
	if (p->receive)
		return check(t,
		    MPI_Irecv(p->at, p->bytes, MPI_BYTE, p->peer, p->tag,
			t->team->comm, ret),
		    "MPI_Irecv");
	return check(t,
	    MPI_Isend(p->at, p->bytes, MPI_BYTE, p->peer, p->tag, t->team->comm,
		ret),
	    "MPI_Isend");
}

static int
mpi_start_all(struct transport *t)
{
	uint32_t count = t->first[t->share->ends_count];
	int rc = 0;

	if (t->pieces == NULL)
		return check(t, MPI_Startall((int)count, t->all),
		    "MPI_Startall");
	for (uint32_t i = 0; rc == 0 && i < count; i++)
		rc = start_piece(t, &t->pieces[i], &t->all[i]);
	return rc;
}

static int
mpi_test_all(struct transport *t)
{
	int done = 0, rc;

	rc = check(t,
	    MPI_Testall((int)t->first[t->share->ends_count], t->all, &done,
		MPI_STATUSES_IGNORE),
	    "MPI_Testall");
	return rc < 0 ? rc : done;
}

/* An MPI that keeps the core would keep it from who sends. */
static int
mpi_wait_all(struct transport *t)
{
	int rc;

	if (t->pieces == NULL || !backoff_mpi_gives_way())
		return 0;
	rc = check(t,
	    MPI_Waitall((int)t->first[t->share->ends_count], t->all,
		MPI_STATUSES_IGNORE),
	    "MPI_Waitall");
	return rc < 0 ? rc : 1;
}

static const char *
mpi_error(const struct transport *t)
{
	return t->error;
}

const struct transport_ops transport_mpi = {
	.name = "mpi",
	.by_step = 0,
	.at_mpi = 1,
	.window_bytes = WINDOW_BYTES,
	.instead = mpi_instead,
	.usable = mpi_usable,
	.prepare = mpi_prepare,
	.begin = mpi_begin,
	.start = mpi_start,
	.test = mpi_test,
	.start_all = mpi_start_all,
	.test_all = mpi_test_all,
	.wait_all = mpi_wait_all,
	.error = mpi_error,
	.staging = transport_staging_none,
	.release = mpi_release,
};
