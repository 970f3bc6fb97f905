/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/multipath/copier.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "probes/multipath/chunks.h"

/* A staged way at work. */
struct flow {
	struct chunks_range range;
	uint64_t slot_bytes;
	uint32_t chunks, slots;
	uint32_t entered; /* chunks whose way in was started */
	uint32_t left;    /* whose way out is done */
	uint32_t first_id;
};

struct sending {
	struct copier *cp;
	char *to;
	const char *from;
	struct flow flows[TUNER_WAYS_MAX];
	uint32_t moves; /* under way */
	double start_s;
	struct tuner_seen *seen;
};

static int
start(struct sending *sd, const struct wires_move *mv)
{
	int rc = sd->cp->ops->start(sd->cp->wires, mv);

	if (rc == 0)
		sd->moves++;
	return rc;
}

static int
chunk_start(struct sending *sd, uint32_t way, uint32_t i, uint32_t stage)
{
	struct flow *f = &sd->flows[way];
	struct chunks_range c = chunks_chunk(f->range, sd->cp->unit, f->chunks,
	    i);
	uint32_t slot = i % f->slots;
	char *store = (char *)sd->cp->stores[way].base + slot * f->slot_bytes;
	struct wires_move mv = { .id = f->first_id + 2 * i + stage,
		.way = way,
		.stage = stage,
		.slot = slot,
		.first = i == 0 && stage == 0,
		.to = stage == 0 ? store : sd->to + c.lo,
		.from = stage == 0 ? sd->from + c.lo : store,
		.bytes = c.hi - c.lo };

	return start(sd, &mv);
}

/* Fill all slots that are empty. */
static int
enter(struct sending *sd, uint32_t way)
{
	struct flow *f = &sd->flows[way];
	int rc = 0;

	while (rc == 0 && f->entered < f->chunks &&
	    f->entered < f->left + f->slots) {
		rc = chunk_start(sd, way, f->entered, 0);
		f->entered++;
	}
	return rc;
}

/* Sizes of one way; no more chunks than there are units. */
static void
flow_make(struct sending *sd, uint32_t way, uint32_t chunks)
{
	struct copier_store *st = &sd->cp->stores[way];
	struct flow *f = &sd->flows[way];
	uint64_t bytes = f->range.hi - f->range.lo;
	uint64_t units = (bytes + sd->cp->unit - 1) / sd->cp->unit;

	f->chunks = chunks > units ? (uint32_t)units : chunks;
	f->slots = st->slots < f->chunks ? st->slots : f->chunks;
	f->slot_bytes = chunks_slot_bytes(f->range, sd->cp->unit, f->chunks);
	while (f->slots * f->slot_bytes > st->bytes && f->chunks < units) {
		f->chunks = 2 * f->chunks > units ? (uint32_t)units
						  : 2 * f->chunks;
		f->slots = st->slots < f->chunks ? st->slots : f->chunks;
		f->slot_bytes = chunks_slot_bytes(f->range, sd->cp->unit,
		    f->chunks);
	}
}

static int
direct_start(struct sending *sd, struct chunks_range r)
{
	struct wires_move mv = { .first = 1,
		.to = sd->to + r.lo,
		.from = sd->from + r.lo,
		.bytes = r.hi - r.lo };

	sd->seen->bytes[0] = mv.bytes;
	return mv.bytes > 0 ? start(sd, &mv) : 0;
}

/* Cut and start everything. */
static int
begin(struct sending *sd, uint64_t bytes, const struct tuner_choice *c,
    uint32_t *ret_way)
{
	uint32_t count = sd->cp->count, id = 1;
	uint64_t shares[TUNER_WAYS_MAX];
	int rc = 0;

	for (uint32_t i = 1; i <= count; i++)
		shares[i - 1] = c->chunks[i] > 0 ? chunks_share(c->share[i])
						 : 0;
	for (uint32_t i = 1; rc == 0 && i <= count; i++) {
		struct flow *f = &sd->flows[i];

		f->range = chunks_range(bytes, sd->cp->unit, shares, count,
		    i - 1);
		sd->seen->bytes[i] = f->range.hi - f->range.lo;
		if (sd->seen->bytes[i] == 0)
			continue;
		f->first_id = id;
		flow_make(sd, i, c->chunks[i]);
		id += 2 * f->chunks;
		*ret_way = i;
		rc = enter(sd, i);
	}
	if (rc < 0)
		return rc;
	*ret_way = 0;
	return direct_start(sd,
	    chunks_range(bytes, sd->cp->unit, shares, count, count));
}

static uint32_t
way_of(const struct sending *sd, uint32_t id)
{
	for (uint32_t i = 1; i <= sd->cp->count; i++)
		if (sd->flows[i].chunks > 0 && id >= sd->flows[i].first_id &&
		    id < sd->flows[i].first_id + 2 * sd->flows[i].chunks)
			return i;
	return 0;
}

/* A move has ended: what may follow it. */
static int
go_on(struct sending *sd, uint32_t id, double at_s, uint32_t *ret_way)
{
	uint32_t way = way_of(sd, id), i;
	struct flow *f = &sd->flows[way];

	*ret_way = way;
	sd->moves--;
	sd->seen->s[way] = at_s - sd->start_s;
	if (way == 0)
		return 0;
	i = (id - f->first_id) / 2;
	if ((id - f->first_id) % 2 == 0)
		return chunk_start(sd, way, i, 1);
	f->left++;
	return enter(sd, way);
}

int
copier_send(struct copier *cp, void *to, const void *from, uint64_t bytes,
    const struct tuner_choice *c, struct tuner_seen *ret, uint32_t *ret_way)
{
	struct sending sd = { .cp = cp,
		.to = to,
		.from = from,
		.seen = ret,
		.start_s = cp->ops->now_s(cp->wires) };
	uint32_t id;
	double at_s;
	int rc;

	memset(ret, 0, sizeof(*ret));
	rc = begin(&sd, bytes, c, ret_way);
	while (sd.moves > 0) {
		/* even when one failed: nothing may be left under way */
		int error = cp->ops->wait(cp->wires, &id, &at_s);

		if (error < 0)
			return error;
		if (rc == 0)
			rc = go_on(&sd, id, at_s, ret_way);
		else
			sd.moves--;
	}
	return rc;
}
