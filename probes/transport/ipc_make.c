/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ipc_make.c - prepare a plan for ipc: boards, the memory of the other ranks of
 * the node, and the worker of each transfer.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/xalloc.h"
#include "probes/transport/ipc_part.h"
#include "probes/transport/backoff.h"

/* The data that every rank sends to all others of its node. */
struct card {
	struct device_ipc board, memory, host_memory;
	char pci[16], part[33];
	int rank;
	uint64_t host_bytes;
	int rc; /* whether there is anything to open */
};

/* ---- boards ---- */

/* Who copies: put is done by the sender, get by the receiver. */
static int
ipc_make_is_worker(const struct transport_end *e)
{
	return (e->via == PLAN_VIA_IPC_GET) == (e->receive != 0);
}

static int
ipc_make_compare_slots_cb(const void *va, const void *vb)
{
	const struct board_slot *a = va, *b = vb;

	if (a->peer != b->peer)
		return a->peer < b->peer ? -1 : 1;
	if (a->receive != b->receive)
		return a->receive < b->receive ? -1 : 1;
	return (a->tag > b->tag) - (a->tag < b->tag);
}

static struct board_slot
ipc_make_slot_of(const struct transport_end *e)
{
	return (struct board_slot){ .peer = e->peer,
		.tag = e->tag,
		.receive = e->receive,
		.on_host = e->on_host,
		.off = e->off,
		.bytes = e->bytes };
}

/* Of these ends those that wait, in memory of this device of the host; freed by
 * its free. */
static int
ipc_make_board_new(struct device *host, const struct transport_share *share,
    struct board **ret)
{
	uint64_t slots = share->ends_count + 1ULL;
	struct board *b;
	uint32_t n = 0;
	void *base;
	int rc;

	rc = device_host.alloc(host,
	    sizeof(*b) + slots * sizeof(struct board_slot), &base);
	if (rc < 0)
		return rc;
	b = base;
	for (uint32_t i = 0; i < share->ends_count; i++)
		if (!ipc_make_is_worker(&share->ends[i]))
			b->slots[n++] = ipc_make_slot_of(&share->ends[i]);
	b->slots_count = n;
	qsort(b->slots, n, sizeof(*b->slots), ipc_make_compare_slots_cb);
	*ret = b;
	return 0;
}

/* Return the slot of an end on its owner's board, or NULL. */
static struct board_slot *
ipc_make_board_find(struct board *b, const struct transport_end *e)
{
	struct board_slot key = ipc_make_slot_of(e);

	return bsearch(&key, b->slots, b->slots_count, sizeof(*b->slots),
	    ipc_make_compare_slots_cb);
}

/* ---- cards ---- */

static int
ipc_make_card_make(struct transport *t, struct card *ret, struct err *err)
{
	const struct transport_team *tm = t->team;
	struct err host_err;
	struct device_facts facts;
	int rc;

	memset(ret, 0, sizeof(*ret));
	ret->rank = tm->rank;
	if (device_host.open(0, &t->host, &host_err) < 0 ||
	    ipc_make_board_new(t->host, t->share, &t->board) < 0 ||
	    device_host.ipc_export(t->host, t->board, &ret->board) < 0)
		return err_set(err, -ENOMEM,
		    "ipc: the host has no shared memory");
	ret->host_bytes = t->share->host_bytes;
	if (ret->host_bytes > 0 &&
	    device_host.ipc_export(t->share->host, t->share->host_memory,
		&ret->host_memory) < 0)
		return err_set(err, -ENOMEM, "ipc: cannot share host memory");
	rc = tm->ops->facts(tm->device, &facts);
	if (rc == 0)
		rc = tm->ops->ipc_export(tm->device, t->share->memory,
		    &ret->memory);
	if (rc < 0) {
		err_say(err, "ipc: cannot share %s memory: %s", tm->ops->name,
		    tm->ops->error(tm->device));
		return rc;
	}
	memcpy(ret->pci, facts.pci, sizeof(ret->pci));
	memcpy(ret->part, facts.part, sizeof(ret->part));
	return 0;
}

/* ---- peers ---- */

static int
ipc_make_peer_open(struct transport *t, const struct card *c, struct err *err)
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
	rc = tm->ops->ipc_usable(tm->device, c->pci, c->part, &device_err);
	if (rc == 0) {
		rc = tm->ops->ipc_open(tm->device, &c->memory, &base);
		err_say(&device_err, "%.200s",
		    rc < 0 ? tm->ops->error(tm->device) : "");
	}
	if (rc < 0) {
		err_say(err,
		    "ipc: rank %d cannot access the %s memory of rank %d: "
		    "%.160s",
		    tm->rank, tm->ops->name, c->rank, device_err.text);
		return rc;
	}
	p->memory = base;
	if (c->host_bytes == 0)
		return 0;
	if (device_host.ipc_open(t->host, &c->host_memory, &base) < 0)
		return err_set(err, -ENOTSUP,
		    "ipc: rank %d cannot map memory of rank %d: %.160s",
		    tm->rank, c->rank, device_host.error(t->host));
	rc = tm->ops->host_pin(tm->device, base, c->host_bytes);
	if (rc < 0) {
		device_host.ipc_close(t->host, base);
		return err_set(err, rc, "ipc: cannot pin shared memory: %.200s",
		    tm->ops->error(tm->device));
	}
	p->host_memory = base;
	return 0;
}

/* The other end's slot has the roles turned round. */
static int
ipc_make_work_make(struct transport *t, uint32_t i, struct err *err)
{
	const struct transport_end *e = &t->share->ends[i];
	struct transport_end other = *e;
	struct work *w = &t->works[i];
	struct peer *p = t->peers;
	int rc;

	w->worker = ipc_make_is_worker(e);
	if (!w->worker) {
		w->board = t->board;
		w->slot = ipc_make_board_find(t->board, e);
		return 0;
	}
	other.peer = (uint32_t)t->team->rank;
	other.receive = !e->receive;
	while (p < t->peers + t->peers_count && p->rank != (int)e->peer)
		p++;
	if (p < t->peers + t->peers_count) {
		w->board = p->board;
		w->slot = ipc_make_board_find(p->board, &other);
	}
	if (w->slot == NULL || w->slot->bytes != e->bytes)
		return err_set(err, -EPROTO,
		    "ipc: ranks have different plans: rank %u has no transfer "
		    "%u with rank %d",
		    e->peer, e->tag, t->team->rank);
	w->theirs = (w->slot->on_host ? p->host_memory : p->memory) +
	    w->slot->off;
	/* One stream for each peer, so that a slow peer delays no other. */
	w->stream = (uint32_t)(p - t->peers) % t->streams_count;
	rc = t->team->ops->event_new(t->team->device, &w->event);
	if (rc < 0)
		err_say(err, "ipc: cannot create an event: %s",
		    t->team->ops->error(t->team->device));
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
	for (uint32_t i = 0; i < t->share->ends_count; i++)
		ops->event_free(t->works[i].event);
	for (uint32_t i = 0; i < t->peers_count; i++) {
		device_host.ipc_close(t->host, t->peers[i].board);
		if (t->peers[i].host_memory != NULL) {
			ops->host_unpin(t->team->device,
			    t->peers[i].host_memory);
			device_host.ipc_close(t->host, t->peers[i].host_memory);
		}
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

int
ipc_prepare(const struct transport_team *team,
    const struct transport_share *share, struct transport **ret,
    struct err *err)
{
	struct transport *t = xcalloc(1, sizeof(*t));
	const struct device_ops *ops = team->ops;
	/* A GPU copies to several peers at once; on the host more threads
	 * would only fight for cores. */
	uint32_t streams = 1;
	size_t n = share->ends_count + (size_t)1;
	struct card mine, *cards;
	int count, rc, all;
	MPI_Request req;
	char *needed; /* by rank: its memory */

	t->team = team;
	t->share = share;
	t->works = xcalloc(n, sizeof(*t->works));
	t->blocked = xcalloc(n, sizeof(*t->blocked));
	t->copying = xcalloc(n, sizeof(*t->copying));
	t->passive = xcalloc(n, sizeof(*t->passive));
	t->sleeps = backoff_cores_are_shared(team->node_comm);
	err->text[0] = '\0';
	rc = ipc_make_card_make(t, &mine, err);
	mine.rc = rc;
	MPI_Comm_size(team->node_comm, &count);
	cards = xcalloc((size_t)count, sizeof(*cards));
	MPI_Iallgather(&mine, sizeof(mine), MPI_CHAR, cards, sizeof(mine),
	    MPI_CHAR, team->node_comm, &req);
	backoff_request(&req);
	needed = xcalloc((size_t)team->ranks, 1);
	for (uint32_t i = 0; i < share->ends_count; i++)
		needed[share->ends[i].peer] |= (char)ipc_make_is_worker(
		    &share->ends[i]);
	t->peers = xcalloc((size_t)count, sizeof(*t->peers));
	for (int i = 0; rc == 0 && i < count; i++)
		if (cards[i].rc == 0 && needed[cards[i].rank])
			rc = ipc_make_peer_open(t, &cards[i], err);
	if (!ops->host_access && t->peers_count > 1)
		streams = t->peers_count < IPC_STREAMS_MAX ? t->peers_count
							   : IPC_STREAMS_MAX;
	for (; rc == 0 && t->streams_count < streams;
	     t->streams_count += rc == 0)
		rc = ops->stream_new(team->device,
		    &t->streams[t->streams_count]);
	for (uint32_t i = 0; rc == 0 && i < share->ends_count; i++)
		rc = ipc_make_work_make(t, i, err);
	free(needed);
	free(cards);
	all = transport_agree(team, rc);
	if (all < 0) {
		ipc_release(t);
		return all;
	}
	*ret = t;
	return 0;
}
