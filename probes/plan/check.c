/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.c - the proof, step by step.
 *
 * Within a step the order of the transfers does not matter once it is known
 * that none of them writes where another reads or writes; so each is applied
 * at once, by destination, and no second copy of the state is needed.
 */
#include "probes/plan/check.h"

#include <errno.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "probes/plan/check_part.h"

const char *const check_kinds[CHECK_KIND_MAX] = {
	[CHECK_OK] = "ok",
	[CHECK_MALFORMED] = "malformed",
	[CHECK_BOUNDS] = "out of bounds",
	[CHECK_UNORDERED] = "unordered",
	[CHECK_UNWRITTEN] = "unwritten",
	[CHECK_ELEMENTS] = "broken elements",
	[CHECK_TWICE] = "delivered twice",
	[CHECK_UNREAD] = "useless",
	[CHECK_BROKEN] = "promise broken",
	[CHECK_UNPROMISED] = "unpromised",
};

static void
piece_add(struct proof *pf, uint64_t lo, uint64_t hi, struct spanmap_item item)
{
	if (pf->pieces_count == pf->pieces_cap) {
		pf->pieces_cap = pf->pieces_cap * 2 + 64;
		pf->pieces = xreallocarray(pf->pieces, pf->pieces_cap,
		    sizeof(*pf->pieces));
	}
	pf->pieces[pf->pieces_count++] = (struct piece){ lo, hi, item };
}

/* Note that [lo, hi), all in one range, has been read. */
static void
mark_read(struct spanmap *m, uint64_t lo, uint64_t hi, struct spanmap_item item)
{
	if (item.mark == PROOF_WAS_READ)
		return;
	item.mark = PROOF_WAS_READ;
	spanmap_set(m, lo, hi, item);
}

/* What bytes from off on of a buffer are, as pieces at to_off. */
static void
read_range(struct proof *pf, uint32_t rank, uint16_t buf, uint64_t off,
    uint64_t bytes, uint64_t to_off)
{
	struct spanmap *m = proof_map(pf, rank, buf);
	uint64_t end = off + bytes, at = off;

	while (at < end) {
		uint32_t i = spanmap_find(m, at);
		struct spanmap_item item = spanmap_get(m, i)->item;
		uint64_t hi = spanmap_end(m, i);

		if (hi > end)
			hi = end;
		if (item.tag == VALUE_UNWRITTEN) {
			proof_offend(pf, CHECK_UNWRITTEN, rank, buf, at,
			    "read, but nobody wrote it");
			return;
		}
		mark_read(m, at, hi, item);
		item.base += (int64_t)(off - to_off);
		piece_add(pf, to_off + (at - off), to_off + (hi - off), item);
		at = hi;
	}
}

/* Refuse a piece that finds itself at home already, or ends something that
 * nobody has read. */
static void
check_useless(struct proof *pf, uint32_t rank, uint16_t buf,
    const struct piece *piece)
{
	const struct spanmap *m = proof_map(pf, rank, buf);
	uint64_t at = piece->lo;

	for (uint32_t i = spanmap_find(m, at); at < piece->hi; i++) {
		const struct spanmap_range *r = spanmap_get(m, i);

		if (r->item.tag == piece->item.tag &&
		    r->item.base == piece->item.base)
			proof_offend(pf, CHECK_TWICE, rank, buf, at,
			    "written with what it holds already");
		else if (r->item.tag != VALUE_UNWRITTEN &&
		    r->item.mark != PROOF_WAS_READ)
			proof_offend(pf, CHECK_UNREAD, rank, buf, at,
			    "written again before anyone read it");
		at = spanmap_end(m, i);
	}
}

static void
write_pieces(struct proof *pf, uint32_t rank, uint16_t buf)
{
	struct spanmap *m = proof_map(pf, rank, buf);

	for (size_t i = 0; i < pf->pieces_count; i++) {
		struct piece *piece = &pf->pieces[i];

		check_useless(pf, rank, buf, piece);
		piece->item.mark = 0;
		spanmap_set(m, piece->lo, piece->hi, piece->item);
	}
	pf->pieces_count = 0;
}

static void
apply_transfers(struct proof *pf)
{
	const struct plan *p = pf->p;
	size_t lo, hi;

	index_step(pf->by_dst, pf->step, &lo, &hi);
	for (size_t i = lo; i < hi; i++) {
		const struct plan_transfer *t =
		    &p->transfers[pf->by_dst->order[i]];

		read_range(pf, t->src, t->from, t->from_off, t->bytes,
		    t->to_off);
		write_pieces(pf, t->dst, t->to);
	}
}

/* The inputs' values at pos bytes into l, as seen from its result, and where
 * the first of them changes. 0 when a value is unfit. */
static int
local_inputs(struct proof *pf, const struct plan_local *l, uint64_t pos,
    uint64_t *ret_end)
{
	unsigned size = plan_types[l->type].bytes;
	uint64_t end = l->bytes;

	for (uint32_t k = 0; k < l->inputs; k++) {
		const struct plan_place *in = &pf->p->inputs[l->input + k];
		struct spanmap *m = proof_map(pf, l->rank, in->buf);
		uint32_t i = spanmap_find(m, in->off + pos);
		uint64_t hi = spanmap_end(m, i) - in->off;

		if (hi > l->bytes)
			hi = l->bytes;
		pf->inputs[k] = spanmap_get(m, i)->item;
		if (pf->inputs[k].tag != VALUE_UNWRITTEN)
			mark_read(m, in->off + pos, in->off + hi,
			    pf->inputs[k]);
		pf->inputs[k].base += (int64_t)(in->off - l->to_off);
		if (pf->inputs[k].tag == VALUE_UNWRITTEN) {
			proof_offend(pf, CHECK_UNWRITTEN, l->rank, in->buf,
			    in->off + pos, "reduced, but nobody wrote it");
			return 0;
		}
		if (pf->inputs[k].base % (int64_t)size != 0) {
			proof_offend(pf, CHECK_ELEMENTS, l->rank, in->buf,
			    in->off + pos, "parts of two %s are taken for one",
			    plan_types[l->type].name);
			return 0;
		}
		if (hi < end)
			end = hi;
	}
	*ret_end = end;
	return 1;
}

static void
apply_reduce(struct proof *pf, const struct plan_local *l)
{
	unsigned size = plan_types[l->type].bytes;
	uint64_t pos = 0, end;

	if (pf->inputs_cap < l->inputs) {
		pf->inputs_cap = l->inputs;
		pf->inputs = xreallocarray(pf->inputs, l->inputs,
		    sizeof(*pf->inputs));
	}
	while (pos < l->bytes) {
		if ((l->to_off + pos) % size != 0 || l->bytes % size != 0) {
			proof_offend(pf, CHECK_ELEMENTS, l->rank, l->to,
			    l->to_off + pos, "no whole %s here",
			    plan_types[l->type].name);
			return;
		}
		if (!local_inputs(pf, l, pos, &end))
			return;
		piece_add(pf, l->to_off + pos, l->to_off + end,
		    value_reduce(pf->vt, l->op, l->type, pf->inputs,
			l->inputs));
		pos = end;
	}
}

static void
apply_locals(struct proof *pf)
{
	const struct plan *p = pf->p;
	size_t lo, hi;

	index_step(pf->by_rank, pf->step, &lo, &hi);
	for (size_t i = lo; i < hi; i++) {
		const struct plan_local *l = &p->locals[pf->by_rank->order[i]];
		const struct plan_place *in = &p->inputs[l->input];

		if (l->op == PLAN_COPY)
			read_range(pf, l->rank, in->buf, in->off, l->bytes,
			    l->to_off);
		else
			apply_reduce(pf, l);
		write_pieces(pf, l->rank, l->to);
	}
}

/* A symbolic execution of all steps, up to the first with a fault. */
static void
run_steps(struct proof *pf)
{
	for (pf->step = 0; pf->step < pf->p->steps; pf->step++) {
		proof_order_transfers(pf);
		if (pf->fault.kind == CHECK_OK)
			apply_transfers(pf);
		if (pf->fault.kind == CHECK_OK)
			proof_order_locals(pf);
		if (pf->fault.kind == CHECK_OK)
			apply_locals(pf);
		if (pf->fault.kind != CHECK_OK)
			return;
	}
}

struct spanmap_item
proof_initial(const struct proof *pf, uint32_t rank, uint16_t buf)
{
	if (pf->p->bufs[buf].role != PLAN_IN)
		return (struct spanmap_item){ .tag = VALUE_UNWRITTEN };
	return (struct spanmap_item){ .tag = value_initial(pf->vt, rank, buf),
		.mark = PROOF_WAS_READ };
}

static void
proof_start(struct proof *pf, const struct plan *p)
{
	size_t slots = (size_t)p->ranks * p->bufs_count;

	pf->vt = value_table_new(p->ranks, p->bufs_count);
	pf->maps = xcalloc(slots + 1, sizeof(*pf->maps));
	pf->promised = xcalloc(slots + 1, sizeof(*pf->promised));
	for (uint32_t rank = 0; rank < p->ranks; rank++)
		for (uint32_t buf = 0; buf < p->bufs_count; buf++)
			spanmap_init(proof_map(pf, rank, buf),
			    p->bufs[buf].bytes[rank],
			    proof_initial(pf, rank, buf));
	pf->by_src = index_new(p, INDEX_SRC);
	pf->by_dst = index_new(p, INDEX_DST);
	pf->by_rank = index_new(p, INDEX_LOCAL);
}

static void
proof_end(struct proof *pf)
{
	size_t slots = (size_t)pf->p->ranks * pf->p->bufs_count;

	for (size_t i = 0; pf->maps != NULL && i < slots; i++)
		spanmap_clear(&pf->maps[i]);
	free(pf->maps);
	free(pf->promised);
	index_free(pf->by_src);
	index_free(pf->by_dst);
	index_free(pf->by_rank);
	free(pf->reads.at);
	free(pf->writes.at);
	free(pf->pieces);
	free(pf->inputs);
	value_table_free(pf->vt);
}

int
check_plan(const struct plan *p, struct check_fault *ret_fault)
{
	struct proof pf = { .p = p };

	proof_rows(&pf);
	if (pf.fault.kind == CHECK_OK) {
		proof_start(&pf, p);
		run_steps(&pf);
	}
	if (pf.fault.kind == CHECK_OK)
		proof_promises(&pf);
	if (pf.fault.kind == CHECK_OK)
		proof_unpromised(&pf);
	proof_end(&pf);
	*ret_fault = pf.fault;
	return pf.fault.kind == CHECK_OK ? 0 : -EPROTO;
}
