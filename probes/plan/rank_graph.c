/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_graph.c - for every byte of one rank: who wrote it last, who read it
 * since.
 *
 * Readers form a list that only ever grows at its head, so a range that is
 * split shares the list with its other half.
 */
#include "probes/plan/rank_graph.h"

#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "probes/plan/spanmap.h"

struct reader {
	uint32_t event;
	uint32_t next; /* number + 1, or 0 */
};

struct finder {
	const struct plan *p;
	struct rank_graph *v;
	/* item.tag: last writer's event + 1; item.base: head of readers */
	struct spanmap *maps; /* by buffer */
	struct reader *readers;
	uint32_t readers_count;
	uint32_t *seen; /* by event: the last one that waits for it, + 1 */
};

static void
rank_graph_wait_add(struct finder *f, uint32_t event, uint32_t for_event)
{
	struct rank_graph *v = f->v;

	if (event == for_event || f->seen[for_event] == event + 1)
		return;
	f->seen[for_event] = event + 1;
	v->waits = xmore(v->waits, v->waits_count, sizeof(*v->waits));
	v->waits[v->waits_count++] = for_event;
	v->events[event].waits++;
}

static void
rank_graph_find_read(struct finder *f, uint32_t event, uint16_t buf,
    uint64_t lo, uint64_t bytes)
{
	struct spanmap *m = &f->maps[buf];
	uint64_t end = lo + bytes;

	while (lo < end) {
		uint32_t i = spanmap_find(m, lo);
		uint64_t hi = spanmap_end(m, i);
		struct spanmap_item item = spanmap_get(m, i)->item;

		if (hi > end)
			hi = end;
		if (item.tag > 0)
			rank_graph_wait_add(f, event, item.tag - 1);
		f->readers = xmore(f->readers, f->readers_count,
		    sizeof(*f->readers));
		f->readers[f->readers_count++] = (struct reader){ event,
			(uint32_t)item.base };
		item.base = f->readers_count;
		spanmap_set(m, lo, hi, item);
		lo = hi;
	}
}

static void
rank_graph_find_write(struct finder *f, uint32_t event, uint16_t buf,
    uint64_t lo, uint64_t bytes)
{
	struct spanmap *m = &f->maps[buf];
	uint64_t end = lo + bytes;

	for (uint32_t i = spanmap_find(m, lo);
	     i < spanmap_count(m) && spanmap_get(m, i)->lo < end; i++) {
		struct spanmap_item item = spanmap_get(m, i)->item;

		if (item.tag > 0)
			rank_graph_wait_add(f, event, item.tag - 1);
		for (uint32_t k = (uint32_t)item.base; k != 0;
		     k = f->readers[k - 1].next)
			rank_graph_wait_add(f, event, f->readers[k - 1].event);
	}
	spanmap_set(m, lo, end,
	    (struct spanmap_item){ .base = 0, .tag = event + 1 });
}

static int
rank_graph_event_compare_cb(const void *va, const void *vb)
{
	const struct rank_graph_event *a = va, *b = vb;
	int a_local = a->kind == RANK_GRAPH_LOCAL,
	    b_local = b->kind == RANK_GRAPH_LOCAL;

	if (a->step != b->step)
		return (a->step > b->step) - (a->step < b->step);
	if (a_local != b_local)
		return a_local - b_local;
	return (a->row > b->row) - (a->row < b->row);
}

/* All events of the rank, in their order. */
static void
rank_graph_collect(const struct plan *p, struct rank_graph *v)
{
	uint32_t *to = xcalloc(p->ranks, sizeof(*to)); /* next tag, by peer */
	uint32_t *from = xcalloc(p->ranks, sizeof(*from));
	uint32_t rank = v->rank;
	size_t count = 1;

	for (size_t i = 0; i < p->transfers_count; i++)
		count += p->transfers[i].src == rank ||
		    p->transfers[i].dst == rank;
	for (size_t i = 0; i < p->locals_count; i++)
		count += p->locals[i].rank == rank;
	v->events = xcalloc(count, sizeof(*v->events));
	for (size_t i = 0; i < p->transfers_count; i++) {
		const struct plan_transfer *t = &p->transfers[i];
		struct rank_graph_event *e = &v->events[v->events_count];

		if (t->src != rank && t->dst != rank)
			continue;
		*e = (struct rank_graph_event){ .step = t->step,
			.row = (uint32_t)i };
		e->kind = t->src != rank ? RANK_GRAPH_RECV
		    : t->dst != rank     ? RANK_GRAPH_SEND
					 : RANK_GRAPH_SELF;
		e->tag = t->src == rank ? to[t->dst]++ : from[t->src]++;
		v->events_count++;
	}
	for (size_t i = 0; i < p->locals_count; i++)
		if (p->locals[i].rank == rank)
			v->events[v->events_count++] =
			    (struct rank_graph_event){ .kind = RANK_GRAPH_LOCAL,
				    .step = p->locals[i].step,
				    .row = (uint32_t)i };
	qsort(v->events, v->events_count, sizeof(*v->events),
	    rank_graph_event_compare_cb);
	free(to);
	free(from);
}

void
rank_graph_make(const struct plan *p, uint32_t rank, struct rank_graph *ret)
{
	struct finder f = { .p = p, .v = ret };

	memset(ret, 0, sizeof(*ret));
	ret->rank = rank;
	rank_graph_collect(p, ret);
	f.seen = xcalloc(ret->events_count + 1u, sizeof(*f.seen));
	f.maps = xcalloc(p->bufs_count + 1u, sizeof(*f.maps));
	for (uint32_t b = 0; b < p->bufs_count; b++)
		spanmap_init(&f.maps[b], p->bufs[b].bytes[rank],
		    (struct spanmap_item){ 0 });
	for (uint32_t i = 0; i < ret->events_count; i++) {
		struct rank_graph_event *e = &ret->events[i];
		const struct plan_transfer *t;
		const struct plan_local *l;

		e->wait = (uint32_t)ret->waits_count;
		if (e->kind == RANK_GRAPH_LOCAL) {
			l = &p->locals[e->row];
			for (uint32_t k = 0; k < l->inputs; k++)
				rank_graph_find_read(&f, i,
				    p->inputs[l->input + k].buf,
				    p->inputs[l->input + k].off, l->bytes);
			rank_graph_find_write(&f, i, l->to, l->to_off,
			    l->bytes);
			continue;
		}
		t = &p->transfers[e->row];
		if (e->kind != RANK_GRAPH_RECV)
			rank_graph_find_read(&f, i, t->from, t->from_off,
			    t->bytes);
		if (e->kind != RANK_GRAPH_SEND)
			rank_graph_find_write(&f, i, t->to, t->to_off,
			    t->bytes);
	}
	for (uint32_t b = 0; b < p->bufs_count; b++)
		spanmap_clear(&f.maps[b]);
	free(f.maps);
	free(f.readers);
	free(f.seen);
}

void
rank_graph_clear(struct rank_graph *v)
{
	free(v->events);
	free(v->waits);
	memset(v, 0, sizeof(*v));
}
