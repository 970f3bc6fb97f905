/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/pattern/ways.h"

/* Bytes [lo, hi) of the message. */
struct range {
	uint64_t lo, hi;
};

uint64_t
ways_share(double share)
{
	return (uint64_t)(share * (double)WAYS_SHARES + 0.5);
}

/* What staged way i carries; i == count: the direct one. */
static struct range
range_of(const struct ways_message *m, const struct ways_staged *ways,
    uint32_t count, uint32_t i)
{
	uint64_t acc = 0;
	struct range r;

	for (uint32_t k = 0; k < i; k++)
		acc += ways[k].share;
	r.lo = plan_cut_share(m->bytes, m->unit, acc, WAYS_SHARES);
	r.hi = m->bytes;
	if (i < count)
		r.hi = plan_cut_share(m->bytes, m->unit, acc + ways[i].share,
		    WAYS_SHARES);
	return r;
}

static struct range
chunk_of(const struct ways_message *m, const struct ways_staged *w,
    struct range r, uint32_t i)
{
	uint64_t bytes = r.hi - r.lo;

	return (struct range){
		r.lo + plan_cut_share(bytes, m->unit, i, w->chunks),
		r.lo + plan_cut_share(bytes, m->unit, i + 1, w->chunks),
	};
}

/* The longest chunk: what a slot must hold. */
static uint64_t
slot_bytes(const struct ways_message *m, const struct ways_staged *w,
    struct range r)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < w->chunks; i++) {
		struct range c = chunk_of(m, w, r, i);

		if (c.hi - c.lo > most)
			most = c.hi - c.lo;
	}
	return most;
}

static uint32_t
slots_of(const struct ways_staged *w)
{
	return w->slots < w->chunks ? w->slots : w->chunks;
}

uint64_t
ways_memory(const struct ways_message *m, const struct ways_staged *ways,
    uint32_t count, uint32_t i)
{
	return slots_of(&ways[i]) *
	    slot_bytes(m, &ways[i], range_of(m, ways, count, i));
}

static uint32_t
add(struct plan *p, struct order *o, struct plan_transfer *t)
{
	if (o != NULL)
		order_transfer(o, t);
	plan_transfer_add(p, t);
	return t->step;
}

/* Chunk c into its slot, and out of it. */
static void
chunk_add(struct plan *p, struct order *o, const struct ways_message *m,
    const struct ways_staged *w, struct range c, uint32_t i, uint64_t slot)
{
	uint32_t slots = slots_of(w);
	struct plan_transfer t = { .src = m->src,
		.dst = w->owner,
		.from = m->from,
		.from_off = m->from_off + c.lo,
		.to = w->buf,
		.to_off = w->off + i % slots * slot,
		.bytes = c.hi - c.lo,
		.channel = (uint16_t)(w->channel + i % slots),
		.via = m->vias[1] };

	/* the only slot is empty again a step later */
	t.step = m->step + (slots == 1 ? 2 * i : i);
	t.step = add(p, o, &t) + 1;
	t.src = w->owner;
	t.dst = m->dst;
	t.from = w->buf;
	t.from_off = t.to_off;
	t.to = m->to;
	t.to_off = m->to_off + c.lo;
	t.via = m->vias[2];
	add(p, o, &t);
}

static void
staged_add(struct plan *p, struct order *o, const struct ways_message *m,
    const struct ways_staged *w, struct range r)
{
	uint64_t slot = slot_bytes(m, w, r);

	plan_buf_need(p, w->buf, w->owner, w->off + slots_of(w) * slot);
	for (uint32_t i = 0; i < w->chunks; i++) {
		struct range c = chunk_of(m, w, r, i);

		if (c.hi > c.lo)
			chunk_add(p, o, m, w, c, i, slot);
	}
}

void
ways_add(struct plan *p, struct order *o, const struct ways_message *m,
    uint16_t channel, const struct ways_staged *ways, uint32_t count,
    uint64_t *ret_direct_bytes)
{
	struct range r = range_of(m, ways, count, count);
	struct plan_transfer t = { .src = m->src,
		.dst = m->dst,
		.from = m->from,
		.from_off = m->from_off + r.lo,
		.to = m->to,
		.to_off = m->to_off + r.lo,
		.bytes = r.hi - r.lo,
		.step = m->step,
		.channel = channel,
		.via = m->vias[0] };

	*ret_direct_bytes = t.bytes;
	for (uint32_t i = 0; i < count; i++)
		staged_add(p, o, m, &ways[i], range_of(m, ways, count, i));
	if (t.bytes > 0)
		add(p, o, &t);
}
