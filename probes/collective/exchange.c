/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange.c - the rows of exchanges in pairs: transfers and local operations
 * over blocks that lie side by side.
 */
#include "probes/collective/exchange.h"

struct plan_place
exchange_at(const struct exchange *x, uint16_t buf, uint32_t block)
{
	return (struct plan_place){ block * x->block, buf };
}

struct plan_place
exchange_room(struct exchange *x, uint32_t rank, uint64_t bytes)
{
	uint64_t off = x->p->bufs[x->temp].bytes[rank];

	plan_buf_need(x->p, x->temp, rank, off + bytes);
	return (struct plan_place){ off, x->temp };
}

/* The transport of the outermost level that has the two in different groups. */
static uint8_t
exchange_via(const struct exchange *x, uint32_t a, uint32_t b)
{
	const struct compose_shape *s = x->shape;
	uint32_t size = x->p->ranks, level = 0;

	for (; level + 1 < s->levels; level++) {
		size /= s->factors[level];
		if (a / size != b / size)
			break;
	}
	return s->vias[level];
}

void
exchange_end(struct exchange *x, struct exchange_row *r)
{
	struct plan_place in[] = { r->from, r->with };

	if (r->bytes == 0)
		return;
	if (r->to.buf == x->work)
		plan_buf_need(x->p, x->work, r->dst, r->to.off + r->bytes);
	if (r->src != r->dst)
		plan_transfer_add(x->p,
		    &(struct plan_transfer){ .src = r->src,
			.dst = r->dst,
			.from = r->from.buf,
			.from_off = r->from.off,
			.to = r->to.buf,
			.to_off = r->to.off,
			.bytes = r->bytes,
			.step = r->step,
			.via = exchange_via(x, r->src, r->dst) });
	else
		plan_local_add(x->p,
		    &(struct plan_local){ .rank = r->dst,
			.to = r->to.buf,
			.to_off = r->to.off,
			.bytes = r->bytes,
			.step = r->step,
			.op = r->inputs > 1 ? (uint8_t)x->shape->op : PLAN_COPY,
			.type = (uint8_t)x->shape->type },
		    in, r->inputs);
	r->bytes = 0;
}

static int
exchange_continues(struct plan_place a, struct plan_place b, uint64_t bytes)
{
	return a.buf == b.buf && a.off + bytes == b.off;
}

void
exchange_put(struct exchange *x, struct exchange_row *r,
    const struct exchange_row *piece)
{
	if (r->bytes > 0 && r->src == piece->src && r->dst == piece->dst &&
	    r->step == piece->step && r->inputs == piece->inputs &&
	    exchange_continues(r->from, piece->from, r->bytes) &&
	    exchange_continues(r->to, piece->to, r->bytes) &&
	    (r->inputs < 2 ||
		exchange_continues(r->with, piece->with, r->bytes))) {
		r->bytes += piece->bytes;
		return;
	}
	exchange_end(x, r);
	*r = *piece;
}

void
exchange_send(struct exchange *x, uint32_t step, uint32_t src,
    struct plan_place from, uint32_t dst, struct plan_place to, uint64_t bytes)
{
	exchange_end(x,
	    &(struct exchange_row){ .src = src,
		.dst = dst,
		.step = step,
		.from = from,
		.to = to,
		.bytes = bytes });
}

void
exchange_copy(struct exchange *x, uint32_t step, uint32_t rank,
    struct plan_place from, struct plan_place to, uint64_t bytes)
{
	exchange_end(x,
	    &(struct exchange_row){ .src = rank,
		.dst = rank,
		.step = step,
		.inputs = 1,
		.from = from,
		.to = to,
		.bytes = bytes });
}

void
exchange_fold(struct exchange *x, uint32_t step, uint32_t rank,
    struct plan_place own, struct plan_place received, struct plan_place to,
    uint64_t bytes)
{
	exchange_end(x,
	    &(struct exchange_row){ .src = rank,
		.dst = rank,
		.step = step,
		.inputs = 2,
		.from = own,
		.with = received,
		.to = to,
		.bytes = bytes });
}
