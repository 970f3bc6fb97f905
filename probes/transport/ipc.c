/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ipc.c - copies into and out of the memory of other processes on this node.
 *
 * One end of a transfer does the work: put is done by the sender, get by the
 * receiver. The other end (the waiter) signals when it may begin, and learns
 * when it is complete, through two words on its own board: host memory that the
 * other ranks of the node map. They count iterations, so nothing is ever reset.
 * Events of a device do not cross processes (device.h), so the worker polls its
 * own event and then writes the word.
 *
 *   waiter   writes ready = n            ...            sees done = n
 *   worker         sees ready = n, copies, writes done = n
 *
 * A board also lists its ends with their places, which is all that a worker
 * needs: preparing a plan takes one exchange of handles. If ranks share cores,
 * a rank without anything else to wait for sleeps until a word is written.
 */
#include <errno.h>
#include <sched.h>

#include "common/err.h"
#include "probes/transport/backoff.h"
#include "probes/transport/doorbell.h"
#include "probes/transport/ipc_part.h"

/* Polls of unwritten words before the rank sleeps, where sleeping pays. */
#define LOOKS 32

static int
ipc_usable(const struct transport_team *team,
    const struct transport_share *share, struct err *err)
{
	for (uint32_t i = 0; i < share->ends_count; i++) {
		uint32_t peer = share->ends[i].peer;

		if (team->nodes[peer] == team->nodes[team->rank])
			continue;
		return err_set(err, -ENOTSUP,
		    "ipc: rank %d and rank %u are on different nodes",
		    team->rank, peer);
	}
	return 0;
}

/* ---- replay ---- */

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
	doorbell_ring(&w->board->ready);
	return 0;
}

/* Test workers whose peer is ready, always in the order of their start: pieces
 * of a pipeline that overtake each other delay it. A copy that is complete as
 * soon as it is started was made by this thread. */
static int
ipc_test_blocked(struct transport *t)
{
	const struct device_ops *ops = t->team->ops;
	uint64_t own_bytes = 0;
	uint32_t left = 0;
	int rc = 0;

	for (uint32_t i = 0; i < t->blocked_count; i++) {
		uint32_t end = t->blocked[i];
		const struct transport_end *e = &t->share->ends[end];
		struct work *w = &t->works[end];
		struct device_stream *s;
		char *mine;

		if (rc < 0 || own_bytes >= BACKOFF_WORK_BYTES ||
		    atomic_load_explicit(&w->slot->ready,
			memory_order_acquire) != w->count) {
			t->blocked[left++] = end;
			continue;
		}
		s = t->streams[w->stream];
		mine = transport_at(t->share, e);
		if (e->receive)
			rc = ops->copy(s, mine, w->theirs, e->bytes);
		else
			rc = ops->copy(s, w->theirs, mine, e->bytes);
		if (rc == 0)
			rc = ops->event_record(w->event, s);
		t->copying[t->copying_count++] = end;
		if (rc == 0 && ops->host_access &&
		    ops->event_query(w->event) == 1)
			own_bytes += e->bytes;
	}
	t->blocked_count = left;
	if (own_bytes > 0)
		sched_yield();
	return rc < 0 ? transport_fail(t->team, t->share, rc) : 0;
}

static int
ipc_test_copying(struct transport *t, uint32_t *ret_ends, uint32_t cap,
    int ends)
{
	char behind[IPC_STREAMS_MAX] = { 0 };
	uint32_t left = 0;

	/* The list is in order: behind an end that is not done none is done. */
	for (uint32_t i = 0; i < t->copying_count; i++) {
		uint32_t end = t->copying[i];
		struct work *w = &t->works[end];
		int rc = ends < (int)cap && !behind[w->stream]
		    ? t->team->ops->event_query(w->event)
		    : 0;

		if (rc < 0)
			return transport_fail(t->team, t->share, rc);
		if (rc == 0) {
			behind[w->stream] = 1;
			t->copying[left++] = end;
			continue;
		}
		atomic_store_explicit(&w->slot->done, w->count,
		    memory_order_release);
		doorbell_ring(&w->board->done);
		ret_ends[ends++] = end;
	}
	t->copying_count = left;
	return ends;
}

/* As many as there are; none is done without a ring after it. */
static int
ipc_test_passive(struct transport *t, uint32_t *ret_ends, uint32_t cap,
    int ends)
{
	unsigned int rings = doorbell_rings(&t->board->done);
	uint32_t left = 0;

	if (rings == t->rings)
		return ends;
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
	if (ends < (int)cap)
		t->rings = rings;
	return ends;
}

static int
ipc_test(struct transport *t, uint32_t *ret_ends, uint32_t cap)
{
	int rc = ipc_test_blocked(t);

	if (rc == 0)
		rc = ipc_test_copying(t, ret_ends, cap, 0);
	if (rc >= 0)
		rc = ipc_test_passive(t, ret_ends, cap, rc);
	if (rc != 0)
		t->looks = 0;
	return rc;
}

/* ---- sleep ---- */

/* Where all workers wait for the same doorbell: 1. */
static int
ipc_sleep_until_ready(struct transport *t)
{
	struct doorbell *only = &t->works[t->blocked[0]].board->ready;
	unsigned int rings = doorbell_rings(only);

	for (uint32_t i = 0; i < t->blocked_count; i++)
		if (&t->works[t->blocked[i]].board->ready != only)
			return 0;
	for (uint32_t i = 0; i < t->blocked_count; i++) {
		const struct work *w = &t->works[t->blocked[i]];

		if (atomic_load(&w->slot->ready) == w->count)
			return 1;
	}
	doorbell_sleep(only, rings);
	return 1;
}

/* Sleep until enough ends are done for progress: all of them if nothing waits
 * for any. Every end rings once, so that an early ring only costs another
 * look. */
static int
ipc_sleep_until_done(struct transport *t)
{
	unsigned int rings = doorbell_rings(&t->board->done), open = 0;
	int all_terminal = 1;

	for (uint32_t i = 0; i < t->passive_count; i++) {
		uint32_t end = t->passive[i];
		const struct work *w = &t->works[end];
		int terminal = t->share->ends[end].terminal;
		int done = atomic_load(&w->slot->done) == w->count;

		if (done && !terminal)
			return 1;
		all_terminal &= terminal;
		open += !done;
	}
	if (open > 0)
		doorbell_sleep_many(&t->board->done, rings,
		    all_terminal ? open : 1);
	return 1;
}

/* On the host polling takes the core from the copying thread or, where cores
 * are shared, from another rank. A GPU needs no core, so its event is
 * polled. */
static int
ipc_wait_some(struct transport *t)
{
	const struct device_ops *ops = t->team->ops;
	int rc;

	if (!ops->host_access)
		return 0;
	if (t->copying_count > 0) {
		rc = ops->event_wait(t->works[t->copying[0]].event);
		return rc < 0 ? transport_fail(t->team, t->share, rc) : 1;
	}
	if (!t->sleeps || ++t->looks <= LOOKS)
		return 0;
	if (t->blocked_count == 0)
		return ipc_sleep_until_done(t);
	return t->passive_count == 0 && ipc_sleep_until_ready(t);
}

const struct transport_ops transport_ipc = {
	.name = "ipc",
	.copies_here = 1,
	.usable = ipc_usable,
	.prepare = ipc_prepare,
	.start = ipc_start,
	.test = ipc_test,
	.wait_some = ipc_wait_some,
	.release = ipc_release,
};
