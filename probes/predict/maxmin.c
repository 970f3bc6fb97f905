/* SPDX-License-Identifier: Apache-2.0 */
/*
 * maxmin.c - progressive filling: when flows start or end, the flows connected
 * through shared resources are recomputed, limit by limit.
 */
#include "probes/predict/maxmin.h"
#include "probes/predict/predict_work.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "common/xalloc.h"

#define NONE     UINT32_MAX
#define PS_PER_S 1e12
#define SAME     1e-12 /* rates that differ by less are one */

struct pipe {
	double rate_max_per_s; /* 0: none */
	double rate_per_s, left_bytes;
	uint64_t since_ps, end_ps;
	uint32_t first; /* in hops */
	uint32_t count;
	uint32_t heap; /* place in the heap of ends, or NONE */
	uint32_t seen;
	uint8_t frozen;
};

/* Where a pipe passes a resource, and its place in the resource's list. */
struct hop {
	uint32_t resource, place;
};

struct resource {
	double capacity_per_s, bytes;
	double room_per_s; /* while filling */
	uint32_t open;     /* flows not yet frozen, while filling */
	uint32_t seen;
	uint32_t *hops; /* of the flows that pass, numbers in fair.hops */
	uint32_t count, cap;
	uint8_t dirty;
};

struct level {
	double share_per_s;
	uint32_t of; /* resource, or pipe */
};

struct list {
	uint32_t *at;
	uint32_t count, cap;
};

struct maxmin {
	struct resource *resources;
	uint32_t resources_count;
	struct pipe *pipes;
	uint32_t pipes_count;
	struct hop *hops;
	uint32_t *owner; /* of each hop: its pipe */
	uint32_t hops_count;
	struct list ends;    /* heap of pipes by end, then number */
	struct list dirty;   /* resources whose flows changed */
	struct list lone;    /* started pipes that pass nothing */
	struct list reached; /* resources of the part that is filled */
	struct list flows;   /* pipes of it */
	struct list capped;  /* those with a limit of their own */
	struct level *levels;
	uint32_t levels_count, levels_cap;
	struct level *limits;
	uint32_t limits_cap;
	double level_per_s; /* reached while filling */
	uint32_t round;
};

static void
maxmin_list_add(struct list *l, uint32_t item)
{
	if (l->count == l->cap) {
		l->cap = l->cap * 2 + 64;
		l->at = xreallocarray(l->at, l->cap, sizeof(*l->at));
	}
	l->at[l->count++] = item;
}

struct maxmin *
maxmin_new(const double *capacities_per_s, uint32_t resources)
{
	struct maxmin *f = xcalloc(1, sizeof(*f));

	f->resources = xcalloc(resources + (size_t)1, sizeof(*f->resources));
	f->resources_count = resources;
	for (uint32_t i = 0; i < resources; i++)
		f->resources[i].capacity_per_s = capacities_per_s[i];
	return f;
}

void
maxmin_free(struct maxmin *f)
{
	if (f == NULL)
		return;
	for (uint32_t i = 0; i < f->resources_count; i++)
		free(f->resources[i].hops);
	free(f->resources);
	free(f->pipes);
	free(f->hops);
	free(f->owner);
	free(f->ends.at);
	free(f->dirty.at);
	free(f->lone.at);
	free(f->reached.at);
	free(f->flows.at);
	free(f->capped.at);
	free(f->levels);
	free(f->limits);
	free(f);
}

uint32_t
maxmin_pipe_add(struct maxmin *f, const uint32_t *resources, uint32_t count,
    double rate_max_per_s)
{
	struct pipe *p;

	f->pipes = xmore(f->pipes, f->pipes_count, sizeof(*f->pipes));
	p = &f->pipes[f->pipes_count];
	*p = (struct pipe){ .rate_max_per_s = rate_max_per_s,
		.first = f->hops_count,
		.count = count,
		.heap = NONE };
	for (uint32_t i = 0; i < count; i++) {
		assert(resources[i] < f->resources_count);
		f->hops = xmore(f->hops, f->hops_count, sizeof(*f->hops));
		f->owner = xmore(f->owner, f->hops_count, sizeof(*f->owner));
		f->owner[f->hops_count] = f->pipes_count;
		f->hops[f->hops_count++] = (struct hop){ resources[i], NONE };
	}
	return f->pipes_count++;
}

/* The heap of ends: earliest first, of equal ones the pipe added first. */
static int
maxmin_ends_before(const struct maxmin *f, uint32_t a, uint32_t b)
{
	const struct pipe *pa = &f->pipes[a], *pb = &f->pipes[b];

	return pa->end_ps < pb->end_ps || (pa->end_ps == pb->end_ps && a < b);
}

static void
maxmin_ends_put(struct maxmin *f, uint32_t at, uint32_t pipe)
{
	f->ends.at[at] = pipe;
	f->pipes[pipe].heap = at;
}

static void
maxmin_ends_up(struct maxmin *f, uint32_t at)
{
	uint32_t pipe = f->ends.at[at];

	while (
	    at > 0 && maxmin_ends_before(f, pipe, f->ends.at[(at - 1) / 2])) {
		maxmin_ends_put(f, at, f->ends.at[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	maxmin_ends_put(f, at, pipe);
}

static void
maxmin_ends_down(struct maxmin *f, uint32_t at)
{
	uint32_t pipe = f->ends.at[at];

	for (;;) {
		uint32_t next = 2 * at + 1;

		if (next >= f->ends.count)
			break;
		if (next + 1 < f->ends.count &&
		    maxmin_ends_before(f, f->ends.at[next + 1],
			f->ends.at[next]))
			next++;
		if (!maxmin_ends_before(f, f->ends.at[next], pipe))
			break;
		maxmin_ends_put(f, at, f->ends.at[next]);
		at = next;
	}
	maxmin_ends_put(f, at, pipe);
}

static void
maxmin_resource_touch(struct maxmin *f, uint32_t resource)
{
	if (f->resources[resource].dirty)
		return;
	f->resources[resource].dirty = 1;
	maxmin_list_add(&f->dirty, resource);
}

void
maxmin_start(struct maxmin *f, uint32_t pipe, double bytes, uint64_t now_ps)
{
	struct pipe *p = &f->pipes[pipe];

	assert(p->heap == NONE);
	p->left_bytes = bytes;
	p->since_ps = now_ps;
	p->rate_per_s = 0;
	p->end_ps = MAXMIN_NEVER;
	maxmin_list_add(&f->ends, pipe);
	p->heap = f->ends.count - 1;
	for (uint32_t i = p->first; i < p->first + p->count; i++) {
		struct resource *r = &f->resources[f->hops[i].resource];

		if (r->count == r->cap) {
			r->cap = r->cap * 2 + 8;
			r->hops = xreallocarray(r->hops, r->cap,
			    sizeof(*r->hops));
		}
		r->bytes += bytes;
		f->hops[i].place = r->count;
		r->hops[r->count++] = i;
		maxmin_resource_touch(f, f->hops[i].resource);
	}
	if (p->count == 0)
		maxmin_list_add(&f->lone, pipe);
}

int64_t
maxmin_end(struct maxmin *f, uint64_t now_ps)
{
	uint32_t pipe, last;
	struct pipe *p;

	if (f->ends.count == 0 || f->pipes[f->ends.at[0]].end_ps > now_ps)
		return -1;
	pipe = f->ends.at[0];
	last = f->ends.at[--f->ends.count];
	p = &f->pipes[pipe];
	p->heap = NONE;
	if (last != pipe) {
		maxmin_ends_put(f, 0, last);
		maxmin_ends_down(f, 0);
	}
	for (uint32_t i = p->first; i < p->first + p->count; i++) {
		struct resource *r = &f->resources[f->hops[i].resource];
		uint32_t moved = r->hops[--r->count];

		r->hops[f->hops[i].place] = moved;
		f->hops[moved].place = f->hops[i].place;
		f->hops[i].place = NONE;
		maxmin_resource_touch(f, f->hops[i].resource);
	}
	p->rate_per_s = 0;
	return pipe;
}

uint64_t
maxmin_next_ps(const struct maxmin *f)
{
	return f->ends.count == 0 ? MAXMIN_NEVER
				  : f->pipes[f->ends.at[0]].end_ps;
}

double
maxmin_bytes(const struct maxmin *f, uint32_t resource)
{
	return f->resources[resource].bytes;
}

static void
maxmin_reach_pipe(struct maxmin *f, uint32_t pipe)
{
	struct pipe *p = &f->pipes[pipe];

	if (p->seen == f->round)
		return;
	p->seen = f->round;
	p->frozen = 0;
	maxmin_list_add(&f->flows, pipe);
	if (p->rate_max_per_s > 0)
		maxmin_list_add(&f->capped, pipe);
	for (uint32_t i = 0; i < p->count; i++) {
		struct resource *r =
		    &f->resources[f->hops[p->first + i].resource];

		if (r->seen != f->round) {
			r->seen = f->round;
			maxmin_list_add(&f->reached,
			    f->hops[p->first + i].resource);
		}
	}
}

/* All that hangs together with the dirty resources. */
static void
maxmin_reach(struct maxmin *f)
{
	f->round++;
	f->reached.count = f->flows.count = f->capped.count = 0;
	for (uint32_t i = 0; i < f->dirty.count; i++) {
		struct resource *r = &f->resources[f->dirty.at[i]];

		r->dirty = 0;
		r->seen = f->round;
		maxmin_list_add(&f->reached, f->dirty.at[i]);
	}
	f->dirty.count = 0;
	for (uint32_t i = 0; i < f->lone.count; i++)
		maxmin_reach_pipe(f, f->lone.at[i]);
	f->lone.count = 0;
	for (uint32_t i = 0; i < f->reached.count; i++) {
		struct resource *r = &f->resources[f->reached.at[i]];

		for (uint32_t k = 0; k < r->count; k++)
			maxmin_reach_pipe(f, f->owner[r->hops[k]]);
	}
}

/* The heap of levels: the resource that fills first. */
static int
maxmin_levels_before(const struct level *a, const struct level *b)
{
	return a->share_per_s < b->share_per_s ||
	    (a->share_per_s == b->share_per_s && a->of < b->of);
}

static void
maxmin_levels_down(struct maxmin *f, uint32_t at)
{
	struct level l = f->levels[at];

	for (;;) {
		uint32_t next = 2 * at + 1;

		if (next >= f->levels_count)
			break;
		if (next + 1 < f->levels_count &&
		    maxmin_levels_before(&f->levels[next + 1],
			&f->levels[next]))
			next++;
		if (!maxmin_levels_before(&f->levels[next], &l))
			break;
		f->levels[at] = f->levels[next];
		at = next;
	}
	f->levels[at] = l;
}

static double
maxmin_share_of(const struct resource *r)
{
	double share = r->room_per_s / r->open;

	return share > 0 ? share : 0;
}

/* The lowest level, brought up to date: 0 when none is left. */
static int
maxmin_levels_first(struct maxmin *f)
{
	while (f->levels_count > 0) {
		struct level *l = &f->levels[0];
		struct resource *r = &f->resources[l->of];
		double share = r->open > 0 ? maxmin_share_of(r) : 0;

		if (r->open > 0 && share <= l->share_per_s)
			return 1;
		if (r->open > 0)
			l->share_per_s = share;
		else
			*l = f->levels[--f->levels_count];
		maxmin_levels_down(f, 0);
	}
	return 0;
}

/* Fix the rate of a flow, which is the maximum of its resources now. */
static void
maxmin_freeze(struct maxmin *f, uint32_t pipe, double rate_per_s,
    uint64_t now_ps)
{
	struct pipe *p = &f->pipes[pipe];
	double s = (double)(now_ps - p->since_ps) / PS_PER_S, ps;

	if (p->frozen)
		return;
	p->frozen = 1;
	for (uint32_t i = 0; i < p->count; i++) {
		struct resource *r =
		    &f->resources[f->hops[p->first + i].resource];

		r->room_per_s -= rate_per_s;
		r->open--;
	}
	if (p->end_ps != MAXMIN_NEVER &&
	    fabs(p->rate_per_s - rate_per_s) <= SAME * rate_per_s)
		return;
	p->left_bytes -= p->rate_per_s * s;
	if (p->left_bytes < 0)
		p->left_bytes = 0;
	p->since_ps = now_ps;
	p->rate_per_s = rate_per_s;
	ps = ceil(p->left_bytes / rate_per_s * PS_PER_S);
	p->end_ps = now_ps + (ps > 1e18 ? (uint64_t)1e18 : (uint64_t)ps);
	maxmin_ends_up(f, p->heap);
	maxmin_ends_down(f, p->heap);
}

static int
maxmin_limits_compare_cb(const void *va, const void *vb)
{
	const struct level *a = va, *b = vb;

	if (a->share_per_s != b->share_per_s)
		return a->share_per_s < b->share_per_s ? -1 : 1;
	return (a->of > b->of) - (a->of < b->of);
}

/* The levels of all reached resources as a heap, and the limits that flows have
 * of their own, lowest first. */
static void
maxmin_limits_make(struct maxmin *f)
{
	f->levels_count = 0;
	if (f->levels_cap < f->reached.count) {
		f->levels_cap = f->reached.count * 2;
		f->levels = xreallocarray(f->levels, f->levels_cap,
		    sizeof(*f->levels));
	}
	for (uint32_t i = 0; i < f->reached.count; i++) {
		struct resource *r = &f->resources[f->reached.at[i]];

		r->room_per_s = r->capacity_per_s;
		r->open = r->count;
		if (r->count > 0)
			f->levels[f->levels_count++] = (struct level){
				maxmin_share_of(r), f->reached.at[i]
			};
	}
	for (uint32_t i = f->levels_count / 2; i-- > 0;)
		maxmin_levels_down(f, i);
	if (f->limits_cap < f->capped.count) {
		f->limits_cap = f->capped.count * 2;
		f->limits = xreallocarray(f->limits, f->limits_cap,
		    sizeof(*f->limits));
	}
	for (uint32_t i = 0; i < f->capped.count; i++)
		f->limits[i] = (struct level){
			f->pipes[f->capped.at[i]].rate_max_per_s,
			f->capped.at[i]
		};
	if (f->capped.count > 1)
		qsort(f->limits, f->capped.count, sizeof(*f->limits),
		    maxmin_limits_compare_cb);
}

/* Let rates grow together from 0, limit by limit. */
void
maxmin_settle(struct maxmin *f, uint64_t now_ps)
{
	uint32_t next = 0;

	if (f->dirty.count == 0 && f->lone.count == 0)
		return;
	maxmin_reach(f);
	maxmin_limits_make(f);
	f->level_per_s = 0;
	for (;;) {
		int more = maxmin_levels_first(f);
		struct level l = { 0 }, *limit;
		const struct resource *r;

		if (more)
			l = f->levels[0];
		limit = next < f->capped.count ? &f->limits[next] : NULL;
		if (limit != NULL &&
		    (!more || limit->share_per_s <= l.share_per_s)) {
			maxmin_freeze(f, limit->of, limit->share_per_s, now_ps);
			next++;
			continue;
		}
		if (!more)
			break;
		/* the flows of the fullest resource get their share of it;
		 * sums of many rates are not exact, and levels never fall */
		r = &f->resources[l.of];
		if (l.share_per_s > f->level_per_s)
			f->level_per_s = l.share_per_s;
		for (uint32_t k = 0; k < r->count; k++)
			maxmin_freeze(f, f->owner[r->hops[k]], f->level_per_s,
			    now_ps);
	}
	for (uint32_t i = 0; i < f->flows.count; i++)
		if (!f->pipes[f->flows.at[i]].frozen)
			maxmin_freeze(f, f->flows.at[i], HUGE_VAL, now_ps);
}
