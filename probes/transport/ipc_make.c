/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ipc_make.c - what a plan takes of ipc: boards, the memory of neighbours, and
 * who does what at which end.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/xalloc.h"
#include "probes/transport/ipc_part.h"
#include "probes/transport/backoff.h"

/* What everybody on the node tells everybody. */
struct card {
	struct device_ipc board, memory;
	char pci[16];
	int rank, device_index;
	int rc; /* whether there is anything to open */
};

/* ---- cards ---- */

static int
card_make(struct transport *t, struct card *ret, struct err *err)
{
	const struct transport_team *tm = t->team;
	struct err host_err;
	struct device_facts facts;
	int rc;

	memset(ret, 0, sizeof(*ret));
	ret->rank = tm->rank;
	ret->device_index = tm->device_index;
	if (device_host.open(0, &t->host, &host_err) < 0 ||
	    board_new(t->host, t->share, &t->board) < 0 ||
	    device_host.ipc_export(t->host, t->board, &ret->board) < 0)
		return err_set(err, -ENOMEM,
		    "ipc: no shared memory on the host");
	rc = tm->ops->facts(tm->device, &facts);
	if (rc == 0)
		rc = tm->ops->ipc_export(tm->device, t->share->memory,
		    &ret->memory);
	if (rc < 0) {
		err_say(err, "ipc: %s: %s", tm->ops->name,
		    tm->ops->error(tm->device));
		return rc;
	}
	memcpy(ret->pci, facts.pci, sizeof(ret->pci));
	return 0;
}

/* ---- peers ---- */

static int
peer_needed(const struct transport *t, int rank)
{
	for (uint32_t i = 0; i < t->share->ends_count; i++)
		if (board_is_worker(&t->share->ends[i]) &&
		    t->share->ends[i].peer == (uint32_t)rank)
			return 1;
	return 0;
}

static int
peer_open(struct transport *t, const struct card *c, struct err *err)
{
	const struct transport_team *tm = t->team;
	struct peer *p = &t->peers[t->peers_count];
	struct err device_err = { 0 };
	void *base;
	int rc;

	if (device_host.ipc_open(t->host, &c->board, &base) < 0)
		return err_set(err, -ENOTSUP,
		    "ipc: rank %d cannot map memory of rank %d: %.160s",
		    tm->rank, c->rank, device_host.error(t->host));
	*p = (struct peer){ .rank = c->rank, .board = base };
	t->peers_count++;
	rc = tm->ops->ipc_usable(tm->device, c->device_index, c->pci,
	    &device_err);
	if (rc == 0) {
		rc = tm->ops->ipc_open(tm->device, &c->memory, &base);
		err_say(&device_err, "%.200s",
		    rc < 0 ? tm->ops->error(tm->device) : "");
	}
	if (rc < 0) {
		err_say(err,
		    "ipc: rank %d cannot reach the %s memory of rank %d: "
		    "%.160s",
		    tm->rank, tm->ops->name, c->rank, device_err.text);
		return rc;
	}
	p->memory = base;
	return 0;
}

static struct peer *
peer_find(struct transport *t, uint32_t rank)
{
	for (uint32_t i = 0; i < t->peers_count; i++)
		if (t->peers[i].rank == (int)rank)
			return &t->peers[i];
	return NULL;
}

static int
peers_open(struct transport *t, const struct card *cards, int count,
    struct err *err)
{
	int rc = 0;

	t->peers = xcalloc((size_t)count + 1, sizeof(*t->peers));
	for (int i = 0; rc == 0 && i < count; i++)
		if (cards[i].rc == 0 && peer_needed(t, cards[i].rank))
			rc = peer_open(t, &cards[i], err);
	return rc;
}

/* The other end's slot has the roles turned round. */
static int
work_make(struct transport *t, uint32_t i, struct err *err)
{
	const struct transport_end *e = &t->share->ends[i];
	struct transport_end other = *e;
	struct work *w = &t->works[i];
	struct peer *p;
	int rc;

	w->worker = board_is_worker(e);
	if (!w->worker) {
		w->board = t->board;
		w->slot = board_find(t->board, e);
		return 0;
	}
	other.peer = (uint32_t)t->team->rank;
	other.receive = !e->receive;
	p = peer_find(t, e->peer);
	w->board = p == NULL ? NULL : p->board;
	w->slot = p == NULL ? NULL : board_find(p->board, &other);
	if (w->slot == NULL || w->slot->bytes != e->bytes)
		return err_set(err, -EPROTO,
		    "ipc: rank %u does not know of transfer %u with rank %d",
		    e->peer, e->tag, t->team->rank);
	w->theirs = p->memory + w->slot->off;
	rc = t->team->ops->event_new(t->team->device, &w->event);
	if (rc < 0)
		err_say(err, "ipc: %s", t->team->ops->error(t->team->device));
	return rc;
}

static int
works_make(struct transport *t, struct err *err)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < t->share->ends_count; i++)
		rc = work_make(t, i, err);
	return rc;
}

/* A GPU copies to several peers at once; on the host more threads would only
 * fight for cores. */
static int
streams_make(struct transport *t)
{
	const struct device_ops *ops = t->team->ops;
	uint32_t want = ops->host_access ? 1 : IPC_STREAMS_MAX;
	int rc = 0;

	while (rc == 0 && t->streams_count < want) {
		rc = ops->stream_new(t->team->device,
		    &t->streams[t->streams_count]);
		t->streams_count += rc == 0;
	}
	return rc;
}

void
ipc_release(struct transport *t)
{
	const struct device_ops *ops;

	if (t == NULL)
		return;
	ops = t->team->ops;
	for (uint32_t i = 0; i < t->streams_count; i++)
		ops->stream_free(t->streams[i]);
	for (uint32_t i = 0; t->works != NULL && i < t->share->ends_count; i++)
		ops->event_free(t->works[i].event);
	for (uint32_t i = 0; i < t->peers_count; i++) {
		device_host.ipc_close(t->host, t->peers[i].board);
		if (t->peers[i].memory != NULL)
			ops->ipc_close(t->team->device, t->peers[i].memory);
	}
	/* What others have opened must not be freed before they close it. */
	transport_agree(t->team, 0);
	if (t->board != NULL)
		device_host.free(t->host, t->board);
	device_host.close(t->host);
	free(t->peers);
	free(t->works);
	free(t->blocked);
	free(t->copying);
	free(t->passive);
	free(t);
}

/* Cards of all ranks of the node. */
static struct card *
exchange(const struct transport_team *team, struct card *mine, int *ret_count)
{
	struct card *cards;
	MPI_Request req;

	MPI_Comm_size(team->node_comm, ret_count);
	cards = xcalloc((size_t)*ret_count, sizeof(*cards));
	MPI_Iallgather(mine, sizeof(*mine), MPI_CHAR, cards, sizeof(*mine),
	    MPI_CHAR, team->node_comm, &req);
	backoff_request(&req);
	return cards;
}

int
ipc_prepare(const struct transport_team *team,
    const struct transport_share *share, struct transport **ret,
    struct err *err)
{
	struct transport *t = xcalloc(1, sizeof(*t));
	size_t n = share->ends_count + (size_t)1;
	struct card mine, *cards;
	int count, rc, all;

	t->team = team;
	t->share = share;
	t->works = xcalloc(n, sizeof(*t->works));
	t->blocked = xcalloc(n, sizeof(*t->blocked));
	t->copying = xcalloc(n, sizeof(*t->copying));
	t->passive = xcalloc(n, sizeof(*t->passive));
	t->sleeps = backoff_cores_are_shared(team->node_comm);
	err->text[0] = '\0';
	rc = card_make(t, &mine, err);
	mine.rc = rc;
	cards = exchange(team, &mine, &count);
	if (rc == 0)
		rc = peers_open(t, cards, count, err);
	if (rc == 0)
		rc = streams_make(t);
	if (rc == 0)
		rc = works_make(t, err);
	free(cards);
	all = transport_agree(team, rc);
	if (all < 0) {
		ipc_release(t);
		return all;
	}
	*ret = t;
	return 0;
}
