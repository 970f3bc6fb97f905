/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fake/slow_links.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

#define PS_PER_S 1e12

struct device_stream {
	struct device *d;
	uint32_t link;
	uint64_t free_ps; /* when its last copy ends */
};

struct device_event {
	struct device *d;
	uint64_t end_ps;
};

struct device {
	const struct slow_links *links;
	uint64_t now_ps;
	struct device_stream streams[SLOW_LINKS_MAX];
	uint32_t streams_count;
};

struct device *
slow_links_open(const struct slow_links *links)
{
	struct device *d = xcalloc(1, sizeof(*d));

	d->links = links;
	return d;
}

void
slow_links_set(struct slow_links *links, const struct paths_links *f)
{
	links->links[0] = (struct slow_link){ 0, f->direct.setup_s,
		f->direct.bytes_per_s };
	for (uint32_t i = 0; i < f->count; i++) {
		const struct paths_staged *s = &f->staged[i];

		links->links[2 * i + 1] = (struct slow_link){ s->setup_s,
			s->chunk_s, s->in_per_s };
		links->links[2 * i + 2] = (struct slow_link){ 0, s->chunk_s,
			s->out_per_s };
	}
}

static double
slow_links_now_s(struct device *d)
{
	return (double)d->now_ps / PS_PER_S;
}

/* Advance to the time at which the next stream has finished. */
static void
slow_links_nap(struct device *d)
{
	uint64_t next = UINT64_MAX;

	for (uint32_t i = 0; i < d->streams_count; i++)
		if (d->streams[i].free_ps > d->now_ps &&
		    d->streams[i].free_ps < next)
			next = d->streams[i].free_ps;
	if (next != UINT64_MAX)
		d->now_ps = next;
}

const struct copier_clock slow_links_clock = { slow_links_now_s,
	slow_links_nap };

static void
slow_links_close(struct device *d)
{
	free(d);
}

static const char *
slow_links_error(const struct device *d)
{
	(void)d;
	return "broken";
}

static int
slow_links_stream_new(struct device *d, struct device_stream **ret)
{
	assert(d->streams_count < SLOW_LINKS_MAX);
	*ret = &d->streams[d->streams_count];
	**ret = (struct device_stream){ d, d->streams_count++, 0 };
	return 0;
}

static void
slow_links_stream_free(struct device_stream *s)
{
	if (s != NULL)
		s->d->streams_count--;
}

static int
slow_links_copy(struct device_stream *s, void *to, const void *from,
    uint64_t bytes)
{
	const struct slow_link *l = &s->d->links->links[s->link];
	double took_s;

	if (l->bytes_per_s <= 0)
		return -ENOLINK;
	took_s = l->overhead_s + (double)bytes / l->bytes_per_s;
	if (s->free_ps <= s->d->now_ps) {
		took_s += l->setup_s;
		s->free_ps = s->d->now_ps;
	}
	s->free_ps += (uint64_t)llround(took_s * PS_PER_S);
	if (s->d->links->moves)
		memcpy(to, from, bytes);
	return 0;
}

static int
slow_links_event_new(struct device *d, struct device_event **ret)
{
	*ret = xcalloc(1, sizeof(**ret));
	(*ret)->d = d;
	return 0;
}

static void
slow_links_event_free(struct device_event *e)
{
	free(e);
}

static int
slow_links_event_record(struct device_event *e, struct device_stream *s)
{
	e->end_ps = s->free_ps;
	return 0;
}

static int
slow_links_event_query(struct device_event *e)
{
	return e->d->now_ps >= e->end_ps;
}

static int
slow_links_stream_wait(struct device_stream *s, struct device_event *e)
{
	if (e->end_ps > s->free_ps)
		s->free_ps = e->end_ps;
	return 0;
}

static int
slow_links_stream_sync(struct device_stream *s)
{
	if (s->free_ps > s->d->now_ps)
		s->d->now_ps = s->free_ps;
	return 0;
}

static int
slow_links_fill(struct device_stream *s, void *to, int byte, uint64_t bytes)
{
	(void)s;
	memset(to, byte, bytes);
	return 0;
}

const struct device_ops slow_links_ops = {
	.abi = DEVICE_ABI,
	.ops_bytes = sizeof(struct device_ops),
	.name = "slow_links",
	.host_access = 1,
	.close = slow_links_close,
	.error = slow_links_error,
	.stream_new = slow_links_stream_new,
	.stream_free = slow_links_stream_free,
	.stream_sync = slow_links_stream_sync,
	.copy = slow_links_copy,
	.fill = slow_links_fill,
	.event_new = slow_links_event_new,
	.event_free = slow_links_event_free,
	.event_record = slow_links_event_record,
	.event_query = slow_links_event_query,
	.stream_wait = slow_links_stream_wait,
};
