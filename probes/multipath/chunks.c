/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/multipath/chunks.h"

uint64_t
chunks_share(double share)
{
	return (uint64_t)(share * (double)CHUNKS_SHARES + 0.5);
}

struct chunks_range
chunks_range(uint64_t bytes, uint64_t unit, const uint64_t *shares,
    uint32_t count, uint32_t i)
{
	struct chunks_range r;
	uint64_t acc = 0;

	for (uint32_t k = 0; k < i; k++)
		acc += shares[k];
	r.lo = plan_cut_share(bytes, unit, acc, CHUNKS_SHARES);
	r.hi = bytes;
	if (i < count)
		r.hi = plan_cut_share(bytes, unit, acc + shares[i],
		    CHUNKS_SHARES);
	return r;
}

struct chunks_range
chunks_chunk(struct chunks_range r, uint64_t unit, uint32_t chunks, uint32_t i)
{
	uint64_t bytes = r.hi - r.lo;

	return (struct chunks_range){
		r.lo + plan_cut_share(bytes, unit, i, chunks),
		r.lo + plan_cut_share(bytes, unit, i + 1, chunks),
	};
}

uint64_t
chunks_slot_bytes(struct chunks_range r, uint64_t unit, uint32_t chunks)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < chunks; i++) {
		struct chunks_range c = chunks_chunk(r, unit, chunks, i);

		if (c.hi - c.lo > most)
			most = c.hi - c.lo;
	}
	return most;
}

/* What way i of a message carries. */
static struct chunks_range
range_of(const struct chunks_message *m, const struct chunks_staged *ways,
    uint32_t count, uint32_t i)
{
	uint64_t shares[PATHS_STAGED_MAX];

	for (uint32_t k = 0; k < count; k++)
		shares[k] = ways[k].share;
	return chunks_range(m->bytes, m->unit, shares, count, i);
}

static uint32_t
slots_of(const struct chunks_staged *w)
{
	return w->slots < w->chunks ? w->slots : w->chunks;
}

uint64_t
chunks_memory(const struct chunks_message *m, const struct chunks_staged *ways,
    uint32_t count, uint32_t i)
{
	return slots_of(&ways[i]) *
	    chunks_slot_bytes(range_of(m, ways, count, i), m->unit,
		ways[i].chunks);
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
chunk_add(struct plan *p, struct order *o, const struct chunks_message *m,
    const struct chunks_staged *w, struct chunks_range c, uint32_t i,
    uint64_t slot)
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
staged_add(struct plan *p, struct order *o, const struct chunks_message *m,
    const struct chunks_staged *w, struct chunks_range r)
{
	uint64_t slot = chunks_slot_bytes(r, m->unit, w->chunks);

	plan_buf_need(p, w->buf, w->owner, w->off + slots_of(w) * slot);
	for (uint32_t i = 0; i < w->chunks; i++) {
		struct chunks_range c = chunks_chunk(r, m->unit, w->chunks, i);

		if (c.hi > c.lo)
			chunk_add(p, o, m, w, c, i, slot);
	}
}

void
chunks_add(struct plan *p, struct order *o, const struct chunks_message *m,
    uint16_t channel, const struct chunks_staged *ways, uint32_t count,
    uint64_t *ret_direct_bytes)
{
	struct chunks_range r = range_of(m, ways, count, count);
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
