/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copier.c - the pipeline of chunks over streams: operations, their order and
 * their dependencies.
 */
#include "probes/multipath/copier.h"

#include <math.h>
#include <sched.h>
#include <string.h>

#include "common/clk.h"

#define FIT_SIZES  4 /* each a quarter of the next */
#define FIT_TIMES  3 /* the least of as many */
#define FIT_COPIES 9 /* in a row, for what one more costs */

/* Look again at once: a copy of 64 KiB takes less than a sleep would. */
static void
copier_real_nap(struct device *d)
{
	(void)d;
	sched_yield();
}

static double
copier_real_now_s(struct device *d)
{
	(void)d;
	return (double)clk_ns() / (double)CLK_NS_PER_S;
}

static const struct copier_clock real_clock = { copier_real_now_s,
	copier_real_nap };

int
copier_open(struct copier *cp)
{
	const struct device_ops *ops = cp->ops;
	int rc = 0;

	if (cp->clock == NULL)
		cp->clock = &real_clock;
	for (uint32_t i = 0; rc == 0 && i <= cp->count; i++) {
		struct copier_streams *s = &cp->streams[i];

		rc = ops->event_new(cp->device, &s->done);
		if (rc == 0)
			rc = ops->stream_new(cp->device, &s->in);
		if (rc == 0 && i > 0)
			rc = ops->stream_new(cp->device, &s->out);
		for (uint32_t k = 0; rc == 0 && k < cp->stores[i].slots; k++) {
			rc = ops->event_new(cp->device, &s->filled[k]);
			if (rc == 0)
				rc = ops->event_new(cp->device, &s->emptied[k]);
		}
	}
	return rc;
}

void
copier_close(struct copier *cp)
{
	for (uint32_t i = 0; i <= cp->count; i++) {
		struct copier_streams *s = &cp->streams[i];

		cp->ops->stream_free(s->in);
		cp->ops->stream_free(s->out);
		cp->ops->event_free(s->done);
		for (uint32_t k = 0; k < PATHS_SLOTS_MAX; k++) {
			cp->ops->event_free(s->filled[k]);
			cp->ops->event_free(s->emptied[k]);
		}
	}
	memset(cp->streams, 0, sizeof(cp->streams));
}

/* A staged path at work. */
struct flow {
	struct paths_range range;
	uint64_t slot_bytes;
	uint32_t chunks, slots;
};

/* Chunk i into its slot, once the one before has left it, and out of it. */
static int
copier_chunk_enqueue(const struct copier *cp, const struct copier_message *m,
    uint32_t path, const struct flow *f, uint32_t i)
{
	const struct device_ops *ops = cp->ops;
	const struct copier_streams *s = &cp->streams[path];
	struct paths_range c = paths_chunk(f->range, cp->unit, f->chunks, i);
	uint32_t slot = i % f->slots;
	char *store = (char *)cp->stores[path].base + slot * f->slot_bytes;
	int rc = 0;

	if (i >= f->slots)
		rc = ops->stream_wait(s->in, s->emptied[slot]);
	if (rc == 0)
		rc = ops->copy(s->in, store, (const char *)m->from + c.lo,
		    c.hi - c.lo);
	if (rc == 0)
		rc = ops->event_record(s->filled[slot], s->in);
	if (rc == 0)
		rc = ops->stream_wait(s->out, s->filled[slot]);
	if (rc == 0)
		rc = ops->copy(s->out, (char *)m->to + c.lo, store,
		    c.hi - c.lo);
	if (rc == 0)
		rc = ops->event_record(s->emptied[slot], s->out);
	if (rc == 0 && i + 1 == f->chunks)
		rc = ops->event_record(s->done, s->out);
	return rc;
}

/* Cut, and enqueue everything: the direct path first, which is one call, then
 * the chunks of all others in turns. */
static int
copier_enqueue(const struct copier *cp, const struct copier_message *m,
    const struct tuner_choice *c, uint64_t *ret_bytes, uint32_t *ret_path)
{
	uint64_t shares[TUNER_PATHS_MAX];
	struct flow flows[TUNER_PATHS_MAX] = { { .chunks = 0 } };
	struct paths_range r;
	uint64_t units;
	uint32_t most = 0;
	int rc = 0;

	for (uint32_t p = 1; p <= cp->count; p++)
		shares[p - 1] = c->chunks[p] > 0 ? paths_share_of(c->share[p])
						 : 0;
	for (uint32_t p = 1; p <= cp->count; p++) {
		const struct copier_store *st = &cp->stores[p];
		struct flow *f = &flows[p];

		r = paths_range(m->bytes, cp->unit, shares, cp->count, p - 1);
		ret_bytes[p] = r.hi - r.lo;
		if (ret_bytes[p] == 0)
			continue;
		/* No more chunks than there are units; as many more as the
		 * slots ask for. */
		f->range = r;
		units = (r.hi - r.lo + cp->unit - 1) / cp->unit;
		for (f->chunks = c->chunks[p];; f->chunks *= 2) {
			if (f->chunks > units)
				f->chunks = (uint32_t)units;
			f->slots = st->slots < f->chunks ? st->slots
							 : f->chunks;
			f->slot_bytes = paths_slot_bytes(r, cp->unit,
			    f->chunks);
			if (f->slots * f->slot_bytes <= st->bytes ||
			    f->chunks >= units)
				break;
		}
		if (f->chunks > most)
			most = f->chunks;
	}
	*ret_path = 0;
	r = paths_range(m->bytes, cp->unit, shares, cp->count, cp->count);
	ret_bytes[0] = r.hi - r.lo;
	if (ret_bytes[0] > 0) {
		rc = cp->ops->copy(cp->streams[0].in, (char *)m->to + r.lo,
		    (const char *)m->from + r.lo, ret_bytes[0]);
		if (rc == 0)
			rc = cp->ops->event_record(cp->streams[0].done,
			    cp->streams[0].in);
	}
	for (uint32_t i = 0; i < most; i++)
		for (uint32_t p = 1; rc == 0 && p <= cp->count; p++) {
			if (i >= flows[p].chunks)
				continue;
			*ret_path = p;
			rc = copier_chunk_enqueue(cp, m, p, &flows[p], i);
		}
	return rc;
}

int
copier_send(struct copier *cp, const struct copier_message *m,
    const struct tuner_choice *c, struct tuner_seen *ret, uint32_t *ret_path)
{
	double start_s = cp->clock->now_s(cp->device);
	uint32_t left = 0;
	int waits[TUNER_PATHS_MAX] = { 0 }, rc;

	memset(ret, 0, sizeof(*ret));
	rc = copier_enqueue(cp, m, c, ret->bytes, ret_path);
	if (rc < 0) { /* nothing may be left under way */
		for (uint32_t p = 0; p <= cp->count; p++) {
			(void)cp->ops->stream_sync(cp->streams[p].in);
			if (p > 0)
				(void)cp->ops->stream_sync(cp->streams[p].out);
		}
		return rc;
	}
	for (uint32_t p = 0; p <= cp->count; p++) {
		waits[p] = ret->bytes[p] > 0;
		left += ret->bytes[p] > 0;
	}
	while (left > 0) {
		uint32_t before = left;

		for (uint32_t p = 0; p <= cp->count; p++) {
			int done = waits[p]
			    ? cp->ops->event_query(cp->streams[p].done)
			    : 0;

			if (done == 0)
				continue;
			waits[p] = 0;
			left--;
			ret->s[p] = cp->clock->now_s(cp->device) - start_s;
			if (done < 0 && rc == 0) {
				rc = done;
				*ret_path = p;
			}
		}
		if (left == before)
			cp->clock->nap(cp->device);
	}
	return rc;
}

/* ---- fits ---- */

/* So many copies of a message alone on one stream; the least of some times. */
static int
copier_alone(struct copier *cp, struct device_stream *s,
    const struct copier_message *m, uint32_t copies, double *ret_s)
{
	struct device_event *done = cp->streams[0].done;

	*ret_s = INFINITY;
	for (int i = 0; i < FIT_TIMES; i++) {
		double start_s = cp->clock->now_s(cp->device);
		int rc = 0;

		for (uint32_t k = 0; rc == 0 && k < copies; k++)
			rc = cp->ops->copy(s, m->to, m->from, m->bytes);
		if (rc == 0)
			rc = cp->ops->event_record(done, s);
		if (rc < 0)
			return rc;
		while ((rc = cp->ops->event_query(done)) == 0)
			cp->clock->nap(cp->device);
		if (rc < 0)
			return rc;
		*ret_s = fmin(*ret_s, cp->clock->now_s(cp->device) - start_s);
	}
	return 0;
}

/* The line of one stream, and what each of many copies in a row costs. */
static int
copier_stream_fit(struct copier *cp, struct device_stream *s,
    const struct copier_message *like, struct paths_direct *ret,
    double *ret_copy_s)
{
	double x[FIT_SIZES], y[FIT_SIZES], one_s, many_s;
	struct copier_message m = *like;
	int rc = 0;

	for (int i = 0; rc == 0 && i < FIT_SIZES; i++) {
		rc = copier_alone(cp, s, &m, 1, &y[i]);
		x[i] = (double)m.bytes;
		m.bytes = m.bytes / 4 + 1;
	}
	m.bytes = 1;
	if (rc == 0)
		rc = copier_alone(cp, s, &m, 1, &one_s);
	if (rc == 0)
		rc = copier_alone(cp, s, &m, FIT_COPIES, &many_s);
	if (rc < 0)
		return rc;
	*ret_copy_s = fmax(0, (many_s - one_s) / (FIT_COPIES - 1));
	return tuner_fit(x, y, FIT_SIZES, ret);
}

int
copier_fits(struct copier *cp, const struct copier_message *m,
    struct paths_links *ret)
{
	double in_s, out_s;
	int rc = copier_stream_fit(cp, cp->streams[0].in, m, &ret->direct,
	    &in_s);

	ret->count = cp->count;
	for (uint32_t i = 1; rc == 0 && i <= cp->count; i++) {
		const struct copier_store *st = &cp->stores[i];
		uint64_t bytes = m->bytes < st->bytes ? m->bytes : st->bytes;
		struct copier_message in = { st->base, m->from, bytes };
		struct copier_message out = { m->to, st->base, bytes };
		struct paths_direct a, b;

		rc = copier_stream_fit(cp, cp->streams[i].in, &in, &a, &in_s);
		if (rc == 0)
			rc = copier_stream_fit(cp, cp->streams[i].out, &out, &b,
			    &out_s);
		if (rc == 0) /* beyond a chunk's own cost: starting the path */
			ret->staged[i - 1] = (struct paths_staged){
				fmax(0, a.setup_s - in_s), (in_s + out_s) / 2,
				a.bytes_per_s, b.bytes_per_s
			};
	}
	return rc;
}
