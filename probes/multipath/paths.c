/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths.c - the closed form of how paths share a message, and how it is cut
 * into chunks and rows.
 */
#include "probes/multipath/paths.h"
#include "probes/plan/order.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Bytes are whole: a smaller remainder of a share is a rounding error. */
#define NOTHING 0.5

static double
paths_rate(const struct conf *c, const char *section, const char *key)
{
	return conf_real(c, section, key) * 1e9;
}

static double
paths_span_s(const struct conf *c, const char *section, const char *key)
{
	return (double)conf_span_ns(c, section, key) / 1e9;
}

void
paths_read(const struct conf *c, const char *section, struct paths_links *ret)
{
	double chunk_s = paths_span_s(c, section, "chunk_setup");
	struct paths_staged host = { paths_span_s(c, section, "host_setup"),
		chunk_s, paths_rate(c, section, "host_in"),
		paths_rate(c, section, "host_out") };
	struct paths_staged relay = { paths_span_s(c, section, "relay_setup"),
		chunk_s, paths_rate(c, section, "relay_in"),
		paths_rate(c, section, "relay_out") };

	ret->direct.setup_s = paths_span_s(c, section, "direct_setup");
	ret->direct.bytes_per_s = paths_rate(c, section, "direct_rate");
	ret->host = (uint32_t)conf_bool(c, section, "host");
	ret->count = ret->host + (uint32_t)conf_int(c, section, "relays");
	for (uint32_t i = 0; i < ret->count; i++)
		ret->staged[i] = i < ret->host ? host : relay;
}

/* ---- the model ---- */

/* Time of a byte on the slower and on the faster stage. */
static double
paths_slow_s(const struct paths_staged *h)
{
	return 1 / fmin(h->in_per_s, h->out_per_s);
}

static double
paths_fast_s(const struct paths_staged *h)
{
	return 1 / fmax(h->in_per_s, h->out_per_s);
}

double
paths_direct_s(const struct paths_direct *d, double bytes)
{
	return bytes < NOTHING ? 0 : d->setup_s + bytes / d->bytes_per_s;
}

/* chunks >= 1. */
static double
paths_staged_s(const struct paths_staged *h, double bytes, uint32_t chunks)
{
	if (bytes < NOTHING)
		return 0;
	assert(chunks >= 1);
	return h->setup_s + (chunks + 1.0) * h->chunk_s +
	    bytes * paths_slow_s(h) + bytes * paths_fast_s(h) / chunks;
}

uint32_t
paths_chunks(const struct paths_staged *h, double bytes, uint32_t chunks_max)
{
	double c;

	assert(chunks_max >= 1);
	if (h->chunk_s <= 0)
		return chunks_max;
	c = floor(sqrt(fmax(bytes, 0) * paths_fast_s(h) / h->chunk_s) + 0.5);
	return c < 1 ? 1 : c > chunks_max ? chunks_max : (uint32_t)c;
}

double
paths_time_s(const struct paths_links *l, double bytes,
    const struct paths_split *s)
{
	double worst = paths_direct_s(&l->direct, (1 - s->share) * bytes);

	for (uint32_t i = 0; i < l->count; i++)
		if (s->chunks[i] > 0)
			worst = fmax(worst,
			    paths_staged_s(&l->staged[i], s->staged[i] * bytes,
				s->chunks[i]));
	return worst;
}

/* The time at which the first `active` paths of order end together. */
static double
paths_level_s(const struct paths_direct *lines, const uint32_t *order,
    uint32_t active, double bytes)
{
	double sum = bytes, rate = 0;

	for (uint32_t i = 0; i < active; i++) {
		sum += lines[order[i]].setup_s * lines[order[i]].bytes_per_s;
		rate += lines[order[i]].bytes_per_s;
	}
	return sum / rate;
}

double
paths_fill(const struct paths_direct *lines, uint32_t count, double bytes,
    double *ret_bytes)
{
	uint32_t order[PATHS_STAGED_MAX + 1] = { 0 }, active = 1;
	double t;

	assert(count >= 1 && count <= PATHS_STAGED_MAX + 1);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = i;

		for (;
		     at > 0 && lines[order[at - 1]].setup_s > lines[i].setup_s;
		     at--)
			order[at] = order[at - 1];
		order[at] = i;
		ret_bytes[i] = 0;
	}
	t = paths_level_s(lines, order, active, bytes);
	while (active < count && t > lines[order[active]].setup_s)
		t = paths_level_s(lines, order, ++active, bytes);
	for (uint32_t i = 0; i < active; i++)
		ret_bytes[order[i]] = lines[order[i]].bytes_per_s *
		    (t - lines[order[i]].setup_s);
	return t;
}

/* Bytes that a staged path with its best chunks passes on in time t: T = a_H +
 * a + x bmax + 2 sqrt(a x bmin), solved for sqrt(x). */
static double
paths_staged_bytes(const struct paths_staged *h, double t)
{
	double b = sqrt(h->chunk_s * paths_fast_s(h)), u;
	double left = t - h->setup_s - h->chunk_s;

	if (left <= 0)
		return 0;
	u = (-b + sqrt(b * b + paths_slow_s(h) * left)) / paths_slow_s(h);
	return u * u;
}

struct paths_direct
paths_line(const struct paths_staged *h, uint32_t chunks)
{
	return (struct paths_direct){
		.setup_s = h->setup_s + (chunks + 1.0) * h->chunk_s,
		.bytes_per_s = 1 / (paths_slow_s(h) + paths_fast_s(h) / chunks),
	};
}

void
paths_split(const struct paths_links *l, double bytes, uint32_t chunks_max,
    struct paths_split *ret)
{
	struct paths_direct lines[PATHS_STAGED_MAX + 1] = { l->direct };
	double carried[PATHS_STAGED_MAX + 1], direct_s, before = 0, t;

	assert(l->count <= PATHS_STAGED_MAX);
	memset(ret, 0, sizeof(*ret));
	direct_s = ret->direct_s = ret->time_s = paths_direct_s(&l->direct,
	    bytes);
	if (bytes <= 0)
		return;
	/* Bisect for the time at which all paths with their best chunks have
	 * carried all bytes, which grow with time. */
	t = direct_s;
	for (int k = 0; k < 100; k++) {
		double at = (before + t) / 2;
		double sum = fmax(0, at - l->direct.setup_s) *
		    l->direct.bytes_per_s;

		for (uint32_t i = 0; i < l->count; i++)
			sum += paths_staged_bytes(&l->staged[i], at);
		*(sum < bytes ? &before : &t) = at;
	}
	for (uint32_t i = 0; i < l->count; i++) {
		const struct paths_staged *h = &l->staged[i];

		ret->chunks[i] = paths_chunks(h,
		    fmin(paths_staged_bytes(h, t), bytes), chunks_max);
		lines[i + 1] = paths_line(h, ret->chunks[i]);
	}
	paths_fill(lines, l->count + 1, bytes, carried);
	for (uint32_t i = 0; i < l->count; i++) {
		ret->staged[i] = carried[i + 1] / bytes;
		if (ret->staged[i] <= 0)
			ret->chunks[i] = 0;
		ret->share += ret->staged[i];
	}
	ret->share = fmin(ret->share, 1);
	ret->time_s = paths_time_s(l, bytes, ret);
	if (ret->share > 0 && ret->time_s < direct_s)
		return;
	memset(ret, 0, sizeof(*ret)); /* all of it directly */
	ret->direct_s = ret->time_s = direct_s;
}

/* ---- cuts ---- */

uint64_t
paths_share_of(double share)
{
	return (uint64_t)(share * (double)PATHS_SHARES + 0.5);
}

struct paths_range
paths_range(uint64_t bytes, uint64_t unit, const uint64_t *shares,
    uint32_t count, uint32_t i)
{
	struct paths_range r;
	uint64_t acc = 0;

	for (uint32_t k = 0; k < i; k++)
		acc += shares[k];
	r.lo = plan_cut_share(bytes, unit, acc, PATHS_SHARES);
	r.hi = bytes;
	if (i < count)
		r.hi = plan_cut_share(bytes, unit, acc + shares[i],
		    PATHS_SHARES);
	return r;
}

struct paths_range
paths_chunk(struct paths_range r, uint64_t unit, uint32_t chunks, uint32_t i)
{
	uint64_t bytes = r.hi - r.lo;

	return (struct paths_range){
		r.lo + plan_cut_share(bytes, unit, i, chunks),
		r.lo + plan_cut_share(bytes, unit, i + 1, chunks),
	};
}

uint64_t
paths_slot_bytes(struct paths_range r, uint64_t unit, uint32_t chunks)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < chunks; i++) {
		struct paths_range c = paths_chunk(r, unit, chunks, i);

		if (c.hi - c.lo > most)
			most = c.hi - c.lo;
	}
	return most;
}

/* ---- rows of a plan ---- */

/* What staged path i carries; the direct one after the last. */
static struct paths_range
paths_range_of(const struct paths_message *m, uint32_t i)
{
	uint64_t shares[PATHS_STAGED_MAX];

	for (uint32_t k = 0; k < m->stages_count; k++)
		shares[k] = m->stages[k].share;
	return paths_range(m->bytes, m->unit, shares, m->stages_count, i);
}

static uint32_t
paths_slots_of(const struct paths_stage *s)
{
	return s->slots < s->chunks ? s->slots : s->chunks;
}

uint64_t
paths_memory(const struct paths_message *m, uint32_t i)
{
	return paths_slots_of(&m->stages[i]) *
	    paths_slot_bytes(paths_range_of(m, i), m->unit,
		m->stages[i].chunks);
}

static uint32_t
paths_row_add(struct plan *p, struct order *o, struct plan_transfer *t)
{
	if (o != NULL)
		order_transfer(o, t);
	plan_transfer_add(p, t);
	return t->step;
}

/* Every chunk into its slot, and out of it. */
static void
paths_stage_add(struct plan *p, struct order *o, const struct paths_message *m,
    uint32_t k)
{
	const struct paths_stage *s = &m->stages[k];
	struct paths_range r = paths_range_of(m, k);
	uint64_t slot_bytes = paths_slot_bytes(r, m->unit, s->chunks);
	uint32_t slots = paths_slots_of(s);

	plan_buf_need(p, s->buf, s->owner, s->off + slots * slot_bytes);
	for (uint32_t i = 0; i < s->chunks; i++) {
		struct paths_range c = paths_chunk(r, m->unit, s->chunks, i);
		struct plan_transfer t = { .src = m->src,
			.dst = s->owner,
			.from = m->from,
			.from_off = m->from_off + c.lo,
			.to = s->buf,
			.to_off = s->off + i % slots * slot_bytes,
			.bytes = c.hi - c.lo,
			.channel = (uint16_t)(s->channel + i % slots),
			.via = m->vias[1] };

		if (t.bytes == 0)
			continue;
		/* the only slot is empty again a step later */
		t.step = m->step + (slots == 1 ? 2 * i : i);
		t.step = paths_row_add(p, o, &t) + 1;
		t.src = s->owner;
		t.dst = m->dst;
		t.from = s->buf;
		t.from_off = t.to_off;
		t.to = m->to;
		t.to_off = m->to_off + c.lo;
		t.via = m->vias[2];
		paths_row_add(p, o, &t);
	}
}

uint64_t
paths_add(struct plan *p, struct order *o, const struct paths_message *m)
{
	struct paths_range r = paths_range_of(m, m->stages_count);
	struct plan_transfer t = { .src = m->src,
		.dst = m->dst,
		.from = m->from,
		.from_off = m->from_off + r.lo,
		.to = m->to,
		.to_off = m->to_off + r.lo,
		.bytes = r.hi - r.lo,
		.step = m->step,
		.channel = m->channel,
		.via = m->vias[0] };

	for (uint32_t i = 0; i < m->stages_count; i++)
		paths_stage_add(p, o, m, i);
	if (t.bytes > 0)
		paths_row_add(p, o, &t);
	return r.hi - r.lo;
}
