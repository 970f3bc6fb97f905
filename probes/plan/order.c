/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.c - for every byte, when it was last written and last read.
 *
 * Time counts two ticks a step, since local operations follow the transfers
 * of their step: a transfer of step s happens at 2s + 1, a local operation at
 * 2s + 2, and 0 is before everything.
 */
#include "probes/plan/order.h"
#include "probes/plan/plan.h"

#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "probes/plan/spanmap.h"

/* item.tag: time of the last write; item.base: time of the last read. */
struct order {
	const struct plan *p;
	struct spanmap *maps; /* [buf * ranks + rank] */
	uint32_t bufs;
};

struct order *
order_new(const struct plan *p)
{
	struct order *o = xcalloc(1, sizeof(*o));

	o->p = p;
	return o;
}

void
order_free(struct order *o)
{
	if (o == NULL)
		return;
	for (size_t i = 0; i < (size_t)o->bufs * o->p->ranks; i++)
		spanmap_clear(&o->maps[i]);
	free(o->maps);
	free(o);
}

/* The map of a buffer, made and lengthened as needed. */
static struct spanmap *
order_map_of(struct order *o, uint32_t rank, uint16_t buf)
{
	size_t ranks = o->p->ranks;
	uint64_t bytes = o->p->bufs[buf].bytes[rank];
	struct spanmap *m;

	if (buf >= o->bufs) {
		o->maps = xreallocarray(o->maps, (buf + (size_t)1) * ranks,
		    sizeof(*o->maps));
		memset(o->maps + o->bufs * ranks, 0,
		    (buf + (size_t)1 - o->bufs) * ranks * sizeof(*o->maps));
		o->bufs = buf + 1u;
	}
	m = &o->maps[buf * ranks + rank];
	if (m->bytes == 0) {
		spanmap_init(m, bytes, (struct spanmap_item){ 0 });
	} else if (m->bytes < bytes) {
		uint64_t old = m->bytes;

		m->bytes = bytes; /* the last range is longer now */
		spanmap_set(m, old, bytes, (struct spanmap_item){ 0 });
	}
	return m;
}

/* The latest time that an access to the range must follow. */
static uint32_t
order_latest(struct order *o, uint32_t rank, const struct plan_place *at,
    uint64_t bytes, int writes)
{
	struct spanmap *m = order_map_of(o, rank, at->buf);
	uint64_t end = at->off + bytes;
	uint32_t time = 0;

	for (uint32_t i = spanmap_find(m, at->off);
	     i < spanmap_count(m) && spanmap_get(m, i)->lo < end; i++) {
		struct spanmap_item item = spanmap_get(m, i)->item;

		if (item.tag > time)
			time = item.tag;
		if (writes && item.base > (int64_t)time)
			time = (uint32_t)item.base;
	}
	return time;
}

static void
order_note_write(struct order *o, uint32_t rank, const struct plan_place *at,
    uint64_t bytes, uint32_t time)
{
	spanmap_set(order_map_of(o, rank, at->buf), at->off, at->off + bytes,
	    (struct spanmap_item){ .tag = time });
}

static void
order_note_read(struct order *o, uint32_t rank, const struct plan_place *at,
    uint64_t bytes, uint32_t time)
{
	struct spanmap *m = order_map_of(o, rank, at->buf);
	uint64_t lo = at->off, end = at->off + bytes;

	while (lo < end) {
		uint32_t i = spanmap_find(m, lo);
		uint64_t hi = spanmap_end(m, i);
		struct spanmap_item item = spanmap_get(m, i)->item;

		if (hi > end)
			hi = end;
		if (item.base < (int64_t)time) {
			item.base = time;
			spanmap_set(m, lo, hi, item);
		}
		lo = hi;
	}
}

void
order_transfer(struct order *o, struct plan_transfer *t)
{
	struct plan_place from = { t->from_off, t->from };
	struct plan_place to = { t->to_off, t->to };
	uint32_t time, other;

	if (t->bytes == 0)
		return;
	time = order_latest(o, t->src, &from, t->bytes, 0);
	other = order_latest(o, t->dst, &to, t->bytes, 1);
	if (other > time)
		time = other;
	/* the first s with 2s + 1 > time */
	if (t->step < (time + 1) / 2)
		t->step = (time + 1) / 2;
	order_note_read(o, t->src, &from, t->bytes, 2 * t->step + 1);
	order_note_write(o, t->dst, &to, t->bytes, 2 * t->step + 1);
}

void
order_local(struct order *o, struct plan_local *l,
    const struct plan_place *inputs, uint32_t inputs_count)
{
	struct plan_place to = { l->to_off, l->to };
	uint32_t time;

	if (l->bytes == 0)
		return;
	time = order_latest(o, l->rank, &to, l->bytes, 1);
	for (uint32_t i = 0; i < inputs_count; i++) {
		uint32_t other = order_latest(o, l->rank, &inputs[i], l->bytes,
		    0);

		if (other > time)
			time = other;
	}
	/* the first s with 2s + 2 > time */
	if (l->step < time / 2)
		l->step = time / 2;
	for (uint32_t i = 0; i < inputs_count; i++)
		order_note_read(o, l->rank, &inputs[i], l->bytes,
		    2 * l->step + 2);
	order_note_write(o, l->rank, &to, l->bytes, 2 * l->step + 2);
}
