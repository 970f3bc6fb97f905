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
 * has to know: making a plan ready takes one exchange of handles. Where ranks
 * share cores, who has nothing else to wait for sleeps until a word is written.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "probes/transport/ipc_board.h"
#include "probes/transport/patience.h"

#define STREAMS_MAX 4
/* At words that nobody has written yet; then to sleep, where that pays. */
#define LOOKS 32

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
	struct board *board; /* mine, or the peer's */
	struct board_slot *slot;
	uint32_t count; /* iterations started */
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
	int sleeps;     /* ranks share cores */
	uint32_t looks; /* since one found something */
	char error[TRANSPORT_WHY_BYTES];
};

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

/* ---- cards ---- */

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
	    board_new(t->host, t->share, &t->board) < 0 ||
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
		if (board_is_worker(&t->share->ends[i]) &&
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
	t->sleeps = patience_cores_are_shared(team->mates);
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
	bell_ring(&w->board->ready);
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
		bell_ring(&w->board->done);
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
	if (rc != 0)
		t->looks = 0;
	return rc;
}

/* ---- sleep ---- */

/* The bell that all which is under way waits for; NULL: there are several. */
static struct bell *
only_bell(const struct transport *t)
{
	struct bell *only = NULL;

	if (t->passive_count > 0)
		return t->blocked_count == 0 ? &t->board->done : NULL;
	for (uint32_t i = 0; i < t->blocked_count; i++) {
		struct bell *b = &t->works[t->blocked[i]].board->ready;

		if (only != NULL && only != b)
			return NULL;
		only = b;
	}
	return only;
}

/* Has any of those words been written? */
static int
came(const struct transport *t)
{
	for (uint32_t i = 0; i < t->blocked_count; i++) {
		const struct work *w = &t->works[t->blocked[i]];

		if (atomic_load(&w->slot->ready) == w->count)
			return 1;
	}
	for (uint32_t i = 0; i < t->passive_count; i++) {
		const struct work *w = &t->works[t->passive[i]];

		if (atomic_load(&w->slot->done) == w->count)
			return 1;
	}
	return 0;
}

static int
sleep_until_bell(struct transport *t)
{
	struct bell *b = only_bell(t);
	unsigned int rings;

	if (b == NULL)
		return 0;
	rings = bell_rings(b);
	if (!came(t))
		bell_sleep(b, rings);
	return 1;
}

/* On the host a look takes the core from who copies: this rank's thread, or a
 * mate where cores are shared. A GPU needs no core, and is asked. */
static int
ipc_wait_some(struct transport *t)
{
	const struct device_ops *ops = t->team->ops;
	int rc;

	if (!ops->host_access)
		return 0;
	if (t->copying_count == 0)
		return t->sleeps && ++t->looks > LOOKS && sleep_until_bell(t);
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
	.copies_here = 1,
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
