/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emulated_links.c - when a copy ends is decided as it is enqueued, from when
 * its link is free and what its stream waits for; its bytes are moved while
 * somebody naps. So nothing that is late makes anything else late.
 */
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/xalloc.h"
#include "probes/multipath/copier.h"

#define PS_PER_S    1e12
#define PS_PER_NS   1000
#define PIECE_BYTES (256 << 10) /* copied between two looks at the clock */

struct bytes_move {
	char *to;
	const char *from;
	uint64_t left;
};

struct device_stream {
	struct device *d;
	uint32_t link;
	uint64_t free_ps; /* what is enqueued has ended */
};

struct device_event {
	struct device *d;
	uint64_t end_ps;
	uint64_t moves; /* that must be done: struct device.enqueued */
};

struct device {
	const struct emulated_links *links;
	uint64_t now_ps; /* virtual time */
	struct device_stream streams[EMULATED_LINKS_MAX];
	uint32_t streams_count;
	/* bytes, in the order in which they were enqueued */
	struct bytes_move *moves;
	size_t moves_cap;
	uint64_t enqueued, moved;
};

struct device *
emulated_open(const struct emulated_links *links)
{
	struct device *d = xcalloc(1, sizeof(*d));

	d->links = links;
	return d;
}

void
emulated_state(struct emulated_links *links, const struct paths_links *f)
{
	links->links[0] = (struct emulated_link){ 0, f->direct.setup_s,
		f->direct.bytes_per_s };
	for (uint32_t i = 0; i < f->count; i++) {
		const struct paths_staged *h = &f->staged[i];

		links->links[2 * i + 1] = (struct emulated_link){ h->setup_s,
			h->chunk_s, h->in_per_s };
		links->links[2 * i + 2] = (struct emulated_link){ 0, h->chunk_s,
			h->out_per_s };
	}
}

static uint64_t
emulated_links_now_ps(const struct device *d)
{
	return d->links->real ? clk_ns() * PS_PER_NS : d->now_ps;
}

static double
emulated_now_s(struct device *d)
{
	return (double)emulated_links_now_ps(d) / PS_PER_S;
}

/* The next bytes, piece by piece, until so many moves are done or it is
 * until_ns. */
static void
emulated_links_move_bytes(struct device *d, uint64_t moves, uint64_t until_ns)
{
	while (
	    d->moved < moves && d->moved < d->enqueued && clk_ns() < until_ns) {
		struct bytes_move *mv = &d->moves[d->moved];
		uint64_t n = mv->left < PIECE_BYTES ? mv->left : PIECE_BYTES;

		memcpy(mv->to, mv->from, n);
		mv->to += n;
		mv->from += n;
		mv->left -= n;
		if (mv->left == 0)
			d->moved++;
	}
	if (d->moved == d->enqueued)
		d->moved = d->enqueued = 0;
}

/* Until the next stream has done all that it holds. */
static void
emulated_nap(struct device *d)
{
	uint64_t now = emulated_links_now_ps(d), next = UINT64_MAX, ns;
	struct timespec at;

	for (uint32_t i = 0; i < d->streams_count; i++)
		if (d->streams[i].free_ps > now && d->streams[i].free_ps < next)
			next = d->streams[i].free_ps;
	if (next == UINT64_MAX)
		return;
	if (!d->links->real) {
		d->now_ps = next;
		return;
	}
	ns = next / PS_PER_NS + 1;
	emulated_links_move_bytes(d, d->enqueued, ns);
	at.tv_sec = (time_t)(ns / CLK_NS_PER_S);
	at.tv_nsec = (long)(ns % CLK_NS_PER_S);
	while (
	    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		continue;
}

const struct copier_clock emulated_clock = { emulated_now_s, emulated_nap };

/* ---- the device's calls ---- */

static int
emulated_probe(int *ret_count, struct err *err)
{
	(void)err;
	*ret_count = 1;
	return 0;
}

static void
emulated_close(struct device *d)
{
	if (d != NULL)
		free(d->moves);
	free(d);
}

static const char *
emulated_error(const struct device *d)
{
	(void)d;
	return "an emulated link is broken";
}

static int
emulated_alloc(struct device *d, uint64_t bytes, void **ret_base)
{
	(void)d;
	*ret_base = xcalloc(bytes, 1);
	return 0;
}

static void
emulated_free(struct device *d, void *base)
{
	(void)d;
	free(base);
}

static int
emulated_stream_new(struct device *d, struct device_stream **ret)
{
	assert(d->streams_count < EMULATED_LINKS_MAX);
	*ret = &d->streams[d->streams_count];
	(*ret)->d = d;
	(*ret)->link = d->streams_count++;
	return 0;
}

static void
emulated_stream_free(struct device_stream *s)
{
	if (s != NULL)
		s->d->streams_count--;
}

static int
emulated_copy(struct device_stream *s, void *to, const void *from,
    uint64_t bytes)
{
	struct device *d = s->d;
	const struct emulated_link *l = &d->links->links[s->link];
	uint64_t now = emulated_links_now_ps(d);
	double took_s;

	if (l->bytes_per_s <= 0)
		return -ENOLINK;
	took_s = l->overhead_s + (double)bytes / l->bytes_per_s;
	if (s->free_ps <= now) {
		took_s += l->setup_s;
		s->free_ps = now;
	}
	s->free_ps += (uint64_t)llround(took_s * PS_PER_S);
	if (!d->links->real || to == NULL || bytes == 0)
		return 0;
	if (d->enqueued == d->moves_cap) {
		d->moves_cap = d->moves_cap == 0 ? 256 : 2 * d->moves_cap;
		d->moves = xreallocarray(d->moves, d->moves_cap,
		    sizeof(*d->moves));
	}
	d->moves[d->enqueued++] = (struct bytes_move){ to, from, bytes };
	return 0;
}

static int
emulated_event_new(struct device *d, struct device_event **ret)
{
	*ret = xcalloc(1, sizeof(**ret));
	(*ret)->d = d;
	return 0;
}

static void
emulated_event_free(struct device_event *e)
{
	free(e);
}

static int
emulated_event_record(struct device_event *e, struct device_stream *s)
{
	e->end_ps = s->free_ps;
	e->moves = s->d->enqueued;
	return 0;
}

/* Late or not, its bytes are there once it is done. */
static int
emulated_event_query(struct device_event *e)
{
	struct device *d = e->d;

	if (emulated_links_now_ps(d) < e->end_ps)
		return 0;
	if (d->enqueued > 0)
		emulated_links_move_bytes(d, e->moves, UINT64_MAX);
	return 1;
}

static int
emulated_event_wait(struct device_event *e)
{
	while (!emulated_event_query(e))
		emulated_nap(e->d);
	return 0;
}

static int
emulated_stream_wait(struct device_stream *s, struct device_event *e)
{
	if (e->end_ps > s->free_ps)
		s->free_ps = e->end_ps;
	return 0;
}

static int
emulated_stream_sync(struct device_stream *s)
{
	struct device_event e = { .d = s->d };

	emulated_event_record(&e, s);
	return emulated_event_wait(&e);
}

/* At once: no link is in between. */
static int
emulated_fill(struct device_stream *s, void *to, int byte, uint64_t bytes)
{
	emulated_stream_sync(s);
	memset(to, byte, bytes);
	return 0;
}

const struct device_ops emulated_ops = {
	.abi = DEVICE_ABI,
	.ops_bytes = sizeof(struct device_ops),
	.name = "emulated",
	.host_access = 1,
	.probe = emulated_probe,
	.close = emulated_close,
	.error = emulated_error,
	.alloc = emulated_alloc,
	.free = emulated_free,
	.host_alloc = emulated_alloc,
	.host_free = emulated_free,
	.stream_new = emulated_stream_new,
	.stream_free = emulated_stream_free,
	.stream_sync = emulated_stream_sync,
	.copy = emulated_copy,
	.fill = emulated_fill,
	.event_new = emulated_event_new,
	.event_free = emulated_event_free,
	.event_record = emulated_event_record,
	.event_query = emulated_event_query,
	.event_wait = emulated_event_wait,
	.stream_wait = emulated_stream_wait,
};
