/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ipc.c - copies into and out of the memory of other processes on this node.
 *
 * One end of a transfer does the work: put is done by the sender, get by the
 * receiver. The other says when it may begin, and is told when it is over,
 * through two words on its own board: memory of the host that its neighbours
 * map. They count iterations, so nothing is ever reset. Events of a device do
 * not cross processes (device.h), so the worker asks for its own event and
 * then writes the word.
 *
 *   waiter   writes ready = n            ...            sees done = n
 *   worker         sees ready = n, copies, writes done = n
 *
 * A board also lists its ends with their places, which is all that a worker
 * has to know: making a plan ready takes one exchange of handles.
 */
#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "probes/transport/patience.h"
#include "probes/transport/transport.h"

#define STREAMS_MAX 4
#define LINE_BYTES  64

/* An end that waits. One cache line for each writer. */
struct slot {
	uint32_t peer, tag;
	uint64_t off, bytes;
	uint32_t receive;
	_Alignas(LINE_BYTES) atomic_uint ready; /* by its owner */
	_Alignas(LINE_BYTES) atomic_uint done;  /* by the worker */
};

struct board {
	uint32_t slots_count;
	_Alignas(LINE_BYTES) struct slot slots[]; /* by peer, receive, tag */
};

/* What everybody on the node tells everybody. */
struct card {
	struct device_ipc board, memory;
	char pci[16];
	int rank, device_index;
	int rc; /* whether there is anything to open */
};

struct peer {
	int rank;
	struct board *board;
	char *memory;
};

/* One end of this rank. */
struct work {
	struct slot *slot; /* on my board, or on the peer's */
	uint32_t count;    /* iterations started */
	int worker;
	char *theirs; /* of a worker: the other end */
	struct device_event *event;
};

struct transport {
	const struct transport_team *team;
	const struct transport_share *share;
	struct device *host; /* of boards */
	struct board *board;
	struct peer *peers;
	uint32_t peers_count;
	struct work *works; /* by end */
	struct device_stream *streams[STREAMS_MAX];
	uint32_t streams_count, turn;
	/* Ends: waiting for a peer, being copied, waiting for a worker. */
	uint32_t *blocked, *copying, *passive;
	uint32_t blocked_count, copying_count, passive_count;
	char error[TRANSPORT_WHY_BYTES];
};

static int
is_worker(const struct transport_end *e)
{
	return (e->via == PLAN_VIA_IPC_GET) == (e->receive != 0);
}

static int
ipc_usable(const struct transport_team *team,
    const struct transport_share *share, char *ret_why, size_t why_bytes)
{
	for (uint32_t i = 0; i < share->ends_count; i++) {
		uint32_t peer = share->ends[i].peer;

		if (team->nodes[peer] == team->nodes[team->rank])
			continue;
		snprintf(ret_why, why_bytes,
		    "ipc: rank %d and rank %u are on different nodes",
		    team->rank, peer);
		return -ENOTSUP;
	}
	return 0;
}

/* ---- boards ---- */

static int
compare_keys(const struct slot *a, const struct slot *b)
{
	if (a->peer != b->peer)
		return a->peer < b->peer ? -1 : 1;
	if (a->receive != b->receive)
		return a->receive < b->receive ? -1 : 1;
	return (a->tag > b->tag) - (a->tag < b->tag);
}

static int
compare_slots_cb(const void *a, const void *b)
{
	return compare_keys(a, b);
}

static struct slot *
slot_find(struct board *b, const struct slot *key)
{
	return bsearch(key, b->slots, b->slots_count, sizeof(*b->slots),
	    compare_slots_cb);
}

static struct slot
key_of(const struct transport_end *e)
{
	return (struct slot){ .peer = e->peer,
		.tag = e->tag,
		.receive = e->receive,
		.off = e->off,
		.bytes = e->bytes };
}

static int
board_make(struct transport *t)
{
	const struct transport_share *s = t->share;
	uint32_t n = 0;
	void *base;
	int rc;

	rc = device_host.alloc(t->host,
	    sizeof(struct board) + (s->ends_count + 1ULL) * sizeof(struct slot),
	    &base);
	if (rc < 0)
		return rc;
	t->board = base;
	for (uint32_t i = 0; i < s->ends_count; i++)
		if (!is_worker(&s->ends[i]))
			t->board->slots[n++] = key_of(&s->ends[i]);
	t->board->slots_count = n;
	qsort(t->board->slots, n, sizeof(struct slot), compare_slots_cb);
	return 0;
}

static int
card_make(struct transport *t, struct card *ret, char *why, size_t why_bytes)
{
	const struct transport_team *tm = t->team;
	char host_why[DEVICE_WHY_BYTES];
	struct device_facts facts;
	int rc;

	memset(ret, 0, sizeof(*ret));
	ret->rank = tm->rank;
	ret->device_index = tm->device_index;
	if (device_host.open(0, &t->host, host_why, sizeof(host_why)) < 0 ||
	    board_make(t) < 0 ||
	    device_host.ipc_export(t->host, t->board, &ret->board) < 0) {
		snprintf(why, why_bytes, "ipc: no shared memory on the host");
		return -ENOMEM;
	}
	rc = tm->ops->facts(tm->device, &facts);
	if (rc == 0)
		rc = tm->ops->ipc_export(tm->device, t->share->memory,
		    &ret->memory);
	if (rc < 0) {
		snprintf(why, why_bytes, "ipc: %s: %s", tm->ops->name,
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
		if (is_worker(&t->share->ends[i]) &&
		    t->share->ends[i].peer == (uint32_t)rank)
			return 1;
	return 0;
}

static int
peer_open(struct transport *t, const struct card *c, char *why,
    size_t why_bytes)
{
	const struct transport_team *tm = t->team;
	struct peer *p = &t->peers[t->peers_count];
	char device_why[DEVICE_WHY_BYTES] = "";
	void *base;
	int rc;

	if (device_host.ipc_open(t->host, &c->board, &base) < 0) {
		snprintf(why, why_bytes,
		    "ipc: rank %d cannot map memory of rank %d: %.160s",
		    tm->rank, c->rank, device_host.error(t->host));
		return -ENOTSUP;
	}
	*p = (struct peer){ .rank = c->rank, .board = base };
	t->peers_count++;
	rc = tm->ops->ipc_usable(tm->device, c->device_index, c->pci,
	    device_why, sizeof(device_why));
	if (rc == 0) {
		rc = tm->ops->ipc_open(tm->device, &c->memory, &base);
		snprintf(device_why, sizeof(device_why), "%.200s",
		    rc < 0 ? tm->ops->error(tm->device) : "");
	}
	if (rc < 0) {
		snprintf(why, why_bytes,
		    "ipc: rank %d cannot reach the %s memory of rank %d: "
		    "%.160s",
		    tm->rank, tm->ops->name, c->rank, device_why);
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
peers_open(struct transport *t, const struct card *cards, int count, char *why,
    size_t why_bytes)
{
	int rc = 0;

	t->peers = xcalloc((size_t)count + 1, sizeof(*t->peers));
	for (int i = 0; rc == 0 && i < count; i++)
		if (cards[i].rc == 0 && peer_needed(t, cards[i].rank))
			rc = peer_open(t, &cards[i], why, why_bytes);
	return rc;
}

/* The other end's slot has the roles turned round. */
static int
work_make(struct transport *t, uint32_t i, char *why, size_t why_bytes)
{
	const struct transport_end *e = &t->share->ends[i];
	struct work *w = &t->works[i];
	struct slot key = key_of(e);
	struct peer *p;
	int rc;

	w->worker = is_worker(e);
	if (!w->worker) {
		w->slot = slot_find(t->board, &key);
		return 0;
	}
	key.peer = (uint32_t)t->team->rank;
	key.receive = !e->receive;
	p = peer_find(t, e->peer);
	w->slot = p == NULL ? NULL : slot_find(p->board, &key);
	if (w->slot == NULL || w->slot->bytes != e->bytes) {
		snprintf(why, why_bytes,
		    "ipc: rank %u does not know of transfer %u with rank %d",
		    e->peer, e->tag, t->team->rank);
		return -EPROTO;
	}
	w->theirs = p->memory + w->slot->off;
	rc = t->team->ops->event_new(t->team->device, &w->event);
	if (rc < 0)
		snprintf(why, why_bytes, "ipc: %s",
		    t->team->ops->error(t->team->device));
	return rc;
}

static int
works_make(struct transport *t, char *why, size_t why_bytes)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < t->share->ends_count; i++)
		rc = work_make(t, i, why, why_bytes);
	return rc;
}

/* A GPU copies to several peers at once; on the host more threads would only
 * fight for cores. */
static int
streams_make(struct transport *t)
{
	const struct device_ops *ops = t->team->ops;
	uint32_t want = ops->host_access ? 1 : STREAMS_MAX;
	int rc = 0;

	while (rc == 0 && t->streams_count < want) {
		rc = ops->stream_new(t->team->device,
		    &t->streams[t->streams_count]);
		t->streams_count += rc == 0;
	}
	return rc;
}

static void
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

/* Cards of all mates. */
static struct card *
exchange(const struct transport_team *team, struct card *mine, int *ret_count)
{
	struct card *cards;
	MPI_Request req;

	MPI_Comm_size(team->mates, ret_count);
	cards = xcalloc((size_t)*ret_count, sizeof(*cards));
	MPI_Iallgather(mine, sizeof(*mine), MPI_CHAR, cards, sizeof(*mine),
	    MPI_CHAR, team->mates, &req);
	patience_request(&req);
	return cards;
}

static int
ipc_prepare(const struct transport_team *team,
    const struct transport_share *share, struct transport **ret, char *ret_why,
    size_t why_bytes)
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
	ret_why[0] = '\0';
	rc = card_make(t, &mine, ret_why, why_bytes);
	mine.rc = rc;
	cards = exchange(team, &mine, &count);
	if (rc == 0)
		rc = peers_open(t, cards, count, ret_why, why_bytes);
	if (rc == 0)
		rc = streams_make(t);
	if (rc == 0)
		rc = works_make(t, ret_why, why_bytes);
	free(cards);
	all = transport_agree(team, rc);
	if (all < 0) {
		ipc_release(t);
		return all;
	}
	*ret = t;
	return 0;
}

/* ---- replay ---- */

static int
ipc_begin(struct transport *t)
{
	(void)t;
	return 0;
}

static int
fail(struct transport *t, int rc)
{
	snprintf(t->error, sizeof(t->error), "%.300s",
	    t->team->ops->error(t->team->device));
	return rc;
}

static int
copy(struct transport *t, uint32_t end)
{
	const struct transport_end *e = &t->share->ends[end];
	const struct device_ops *ops = t->team->ops;
	struct work *w = &t->works[end];
	struct device_stream *s = t->streams[t->turn++ % t->streams_count];
	char *mine = (char *)t->share->memory + e->off;
	int rc;

	if (e->receive)
		rc = ops->copy(s, mine, w->theirs, e->bytes);
	else
		rc = ops->copy(s, w->theirs, mine, e->bytes);
	if (rc == 0)
		rc = ops->event_record(w->event, s);
	return rc < 0 ? fail(t, rc) : 0;
}

static int
ipc_start(struct transport *t, uint32_t batch)
{
	struct work *w = &t->works[batch];

	w->count++;
	if (w->worker) {
		t->blocked[t->blocked_count++] = batch;
		return 0;
	}
	t->passive[t->passive_count++] = batch;
	atomic_store_explicit(&w->slot->ready, w->count, memory_order_release);
	return 0;
}

/* Workers whose peer is ready. Here and below what was started first is looked
 * at first, always: pieces of a pipeline that overtake each other hold it up.
 * What is over as soon as it was started was copied by this thread. */
static int
test_blocked(struct transport *t)
{
	uint64_t own_bytes = 0;
	uint32_t left = 0;
	int rc = 0;

	for (uint32_t i = 0; i < t->blocked_count; i++) {
		uint32_t end = t->blocked[i];
		struct work *w = &t->works[end];

		if (rc < 0 || own_bytes >= PATIENCE_WORK_BYTES ||
		    atomic_load_explicit(&w->slot->ready,
			memory_order_acquire) != w->count) {
			t->blocked[left++] = end;
			continue;
		}
		rc = copy(t, end);
		t->copying[t->copying_count++] = end;
		if (rc == 0 && t->team->ops->event_query(w->event) == 1)
			own_bytes += t->share->ends[end].bytes;
	}
	t->blocked_count = left;
	if (own_bytes > 0)
		patience_give_way();
	return rc;
}

static int
test_copying(struct transport *t, uint32_t *ret_ends, uint32_t cap, int ends)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < t->copying_count; i++) {
		uint32_t end = t->copying[i];
		struct work *w = &t->works[end];
		int rc = ends < (int)cap ? t->team->ops->event_query(w->event)
					 : 0;

		if (rc < 0)
			return fail(t, rc);
		if (rc == 0) {
			t->copying[left++] = end;
			continue;
		}
		atomic_store_explicit(&w->slot->done, w->count,
		    memory_order_release);
		ret_ends[ends++] = end;
	}
	t->copying_count = left;
	return ends;
}

static int
test_passive(struct transport *t, uint32_t *ret_ends, uint32_t cap, int ends)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < t->passive_count; i++) {
		uint32_t end = t->passive[i];
		struct work *w = &t->works[end];

		if (ends == (int)cap ||
		    atomic_load_explicit(&w->slot->done,
			memory_order_acquire) != w->count)
			t->passive[left++] = end;
		else
			ret_ends[ends++] = end;
	}
	t->passive_count = left;
	return ends;
}

static int
ipc_test(struct transport *t, uint32_t *ret_ends, uint32_t cap)
{
	int rc = test_blocked(t);

	if (rc == 0)
		rc = test_copying(t, ret_ends, cap, 0);
	if (rc >= 0)
		rc = test_passive(t, ret_ends, cap, rc);
	return rc;
}

/* On the host a look takes the core from the thread that copies. A GPU needs
 * no core, and is asked. */
static int
ipc_wait_some(struct transport *t)
{
	const struct device_ops *ops = t->team->ops;
	int rc;

	if (!ops->host_access || t->copying_count == 0)
		return 0;
	rc = ops->event_wait(t->works[t->copying[0]].event);
	return rc < 0 ? fail(t, rc) : 1;
}

static const char *
ipc_error(const struct transport *t)
{
	return t->error;
}

const struct transport_ops transport_ipc = {
	.name = "ipc",
	.by_step = 0,
	.usable = ipc_usable,
	.prepare = ipc_prepare,
	.begin = ipc_begin,
	.start = ipc_start,
	.test = ipc_test,
	.wait_some = ipc_wait_some,
	.error = ipc_error,
	.staging = transport_staging_none,
	.release = ipc_release,
};
