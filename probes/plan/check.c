/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.c - the proof: each row separately, then every byte through every step,
 * then the final contents against the promises.
 *
 * Within a step the order of the transfers does not matter after the check that
 * none of them writes where another reads or writes. So they are applied in
 * place, by destination, without a second copy of the state.
 */
#include "probes/plan/check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "probes/plan/index.h"
#include "probes/plan/value.h"

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

/* item.mark of what needs no reader any more, and of what never did. */
#define WAS_READ 1

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

struct spot {
	uint32_t rank;
	uint16_t buf;
	uint64_t off;
};

/* One range that a rank reads or writes at one time. Only an access of the
 * same owner to the very same range may meet a write: a reduction in place. */
struct access {
	uint64_t lo, hi;
	uint32_t owner;
	uint16_t buf;
};

struct accesses {
	struct access *at;
	size_t count, cap;
};

/* A pending write of a transfer or local operation. */
struct piece {
	uint64_t lo, hi;
	struct spanmap_item item;
};

struct proof {
	const struct plan *p;
	struct value_table *vt;
	struct spanmap *maps; /* [rank * bufs + buf] */
	uint64_t *promised;   /* promised bytes, by buffer */
	struct index *by_src, *by_dst, *by_rank;
	struct accesses reads, writes;
	struct piece *pieces;
	size_t pieces_count, pieces_cap;
	struct spanmap_item *inputs;
	size_t inputs_cap;
	uint32_t step;
	struct check_fault fault;
};

/* Keep the fault if it lies before the one known so far. */
static void __attribute__((format(printf, 4, 5))) check_offend(struct proof *pf,
    enum check_kind kind, struct spot at, const char *fmt, ...)
{
	struct check_fault *f = &pf->fault;
	const char *name = at.buf < pf->p->bufs_count ? pf->p->bufs[at.buf].name
						      : "?";
	int before = pf->step != f->step ? pf->step < f->step
	    : at.rank != f->rank         ? at.rank < f->rank
	    : at.buf != f->buf           ? at.buf < f->buf
					 : at.off < f->off;
	int n = 0;
	va_list ap;

	if (f->kind != CHECK_OK && !before)
		return;
	*f = (struct check_fault){ .kind = kind,
		.step = pf->step,
		.rank = at.rank,
		.buf = at.buf,
		.off = at.off };
	if (pf->step < pf->p->steps)
		n = snprintf(f->text, sizeof(f->text), "step %u, ", pf->step);
	else
		n = snprintf(f->text, sizeof(f->text), "end, ");
	n += snprintf(f->text + n, sizeof(f->text) - (size_t)n,
	    "rank %u, %s+%llu: ", at.rank, name, (unsigned long long)at.off);
	va_start(ap, fmt);
	vsnprintf(f->text + n, sizeof(f->text) - (size_t)n, fmt, ap);
	va_end(ap);
}

/* The range must exist on its rank. */
static void
check_range(struct proof *pf, struct spot at, uint64_t bytes, const char *what)
{
	const struct plan *p = pf->p;
	uint64_t have;

	if (at.rank >= p->ranks || at.buf >= p->bufs_count || bytes == 0) {
		check_offend(pf, CHECK_MALFORMED, at,
		    "%s of %llu bytes: unknown rank or buffer, or 0 bytes",
		    what, (unsigned long long)bytes);
		return;
	}
	have = p->bufs[at.buf].bytes[at.rank];
	if (at.off > have || bytes > have - at.off)
		check_offend(pf, CHECK_BOUNDS, at,
		    "%s of %llu bytes leaves a buffer of %llu", what,
		    (unsigned long long)bytes, (unsigned long long)have);
}

/* Ranges, steps, transports and operations exist. */
static void
check_rows(struct proof *pf)
{
	const struct plan *p = pf->p;

	for (size_t i = 0; i < p->transfers_count; i++) {
		const struct plan_transfer *t = &p->transfers[i];
		struct spot from = { t->src, t->from, t->from_off };
		struct spot to = { t->dst, t->to, t->to_off };

		pf->step = t->step;
		check_range(pf, from, t->bytes, "send");
		check_range(pf, to, t->bytes, "receive");
		if (t->step >= p->steps || t->via >= PLAN_VIA_MAX)
			check_offend(pf, CHECK_MALFORMED, from,
			    "unknown step or transport");
	}
	for (size_t i = 0; i < p->locals_count; i++) {
		const struct plan_local *l = &p->locals[i];
		struct spot to = { l->rank, l->to, l->to_off };

		pf->step = l->step;
		check_range(pf, to, l->bytes, "result");
		for (uint32_t k = 0; k < l->inputs; k++) {
			const struct plan_place *in = &p->inputs[l->input + k];

			check_range(pf,
			    (struct spot){ l->rank, in->buf, in->off },
			    l->bytes, "input");
		}
		if (l->step >= p->steps || l->op >= PLAN_OP_MAX ||
		    l->type >= PLAN_TYPE_MAX ||
		    (l->op == PLAN_COPY) != (l->inputs == 1))
			check_offend(pf, CHECK_MALFORMED, to,
			    "unknown step, operation or type, or wrong number "
			    "of inputs");
	}
	if (pf->fault.kind != CHECK_OK)
		return;
	pf->step = p->steps;
	for (size_t i = 0; i < p->promises_count; i++) {
		const struct plan_promise *m = &p->promises[i];

		for (uint32_t k = 0; k < m->spans; k++)
			for (uint32_t r = p->spans[m->span + k].lo;
			     r < p->spans[m->span + k].hi; r++)
				check_range(pf,
				    (struct spot){ r, m->to, m->to_off },
				    m->bytes, "promise");
		for (uint32_t k = 0; k < m->sources; k++) {
			const struct plan_source *s =
			    &p->sources[m->source + k];

			check_range(pf, (struct spot){ s->lo, s->buf, s->off },
			    m->bytes, "source of a promise");
		}
	}
}

static void
check_access_add(struct accesses *list, struct plan_place place, uint64_t bytes,
    uint32_t owner)
{
	if (list->count == list->cap) {
		list->cap = list->cap * 2 + 64;
		list->at = xreallocarray(list->at, list->cap,
		    sizeof(*list->at));
	}
	list->at[list->count++] = (struct access){ .lo = place.off,
		.hi = place.off + bytes,
		.owner = owner,
		.buf = place.buf };
}

static int
check_access_compare_cb(const void *va, const void *vb)
{
	const struct access *a = va, *b = vb;

	return a->buf != b->buf ? ORDER(a->buf, b->buf) : ORDER(a->lo, b->lo);
}

/* The first overlap among the accesses of one rank at one time. Writes are
 * tested against each other first; once they are disjoint their ends are in
 * order too, and one pass finds the reads that meet one. */
static void
check_conflicts(struct proof *pf, uint32_t rank)
{
	struct accesses *w = &pf->writes, *r = &pf->reads;
	size_t next = 0;

	for (size_t i = 1; i < w->count; i++)
		if (w->at[i].buf == w->at[i - 1].buf &&
		    w->at[i].lo < w->at[i - 1].hi) {
			check_offend(pf, CHECK_UNORDERED,
			    (struct spot){ rank, w->at[i].buf, w->at[i].lo },
			    "two writes in one step");
			return;
		}
	for (size_t i = 0; i < r->count; i++) {
		const struct access *a = &r->at[i];

		while (next < w->count &&
		    (w->at[next].buf < a->buf ||
			(w->at[next].buf == a->buf && w->at[next].hi <= a->lo)))
			next++;
		for (size_t k = next; k < w->count; k++) {
			const struct access *b = &w->at[k];

			if (b->buf != a->buf || b->lo >= a->hi)
				break;
			if (a->owner == b->owner && a->lo == b->lo &&
			    a->hi == b->hi)
				continue;
			check_offend(pf, CHECK_UNORDERED,
			    (struct spot){ rank, a->buf,
				a->lo > b->lo ? a->lo : b->lo },
			    "read and written in one step");
			return;
		}
	}
}

/* No two transfers of a step may touch the same bytes of a rank, one of them
 * writing. */
static void
check_order_of_transfers(struct proof *pf)
{
	const struct plan *p = pf->p;
	size_t lo, hi;

	for (uint32_t rank = 0; rank < p->ranks; rank++) {
		pf->reads.count = pf->writes.count = 0;
		index_group(pf->by_src, pf->step, rank, &lo, &hi);
		for (size_t i = lo; i < hi; i++) {
			const struct plan_transfer *t =
			    &p->transfers[pf->by_src->order[i]];

			check_access_add(&pf->reads,
			    (struct plan_place){ t->from_off, t->from },
			    t->bytes, UINT32_MAX);
		}
		index_group(pf->by_dst, pf->step, rank, &lo, &hi);
		for (size_t i = lo; i < hi; i++) {
			const struct plan_transfer *t =
			    &p->transfers[pf->by_dst->order[i]];

			check_access_add(&pf->writes,
			    (struct plan_place){ t->to_off, t->to }, t->bytes,
			    0);
		}
		check_conflicts(pf, rank);
	}
}

/* The same for what its local operations touch. */
static void
check_order_of_locals(struct proof *pf)
{
	const struct plan *p = pf->p;
	size_t lo, hi;

	for (uint32_t rank = 0; rank < p->ranks; rank++) {
		index_group(pf->by_rank, pf->step, rank, &lo, &hi);
		pf->reads.count = pf->writes.count = 0;
		for (size_t i = lo; i < hi; i++) {
			uint32_t at = pf->by_rank->order[i];
			const struct plan_local *l = &p->locals[at];
			uint32_t owner = l->op == PLAN_COPY ? UINT32_MAX : at;

			check_access_add(&pf->writes,
			    (struct plan_place){ l->to_off, l->to }, l->bytes,
			    at);
			for (uint32_t k = 0; k < l->inputs; k++)
				check_access_add(&pf->reads,
				    p->inputs[l->input + k], l->bytes, owner);
		}
		if (pf->reads.count > 1)
			qsort(pf->reads.at, pf->reads.count,
			    sizeof(*pf->reads.at), check_access_compare_cb);
		check_conflicts(pf, rank);
	}
}

static size_t
check_slot_of(const struct proof *pf, uint32_t rank, uint16_t buf)
{
	return (size_t)rank * pf->p->bufs_count + buf;
}

static struct spanmap *
check_map_of(const struct proof *pf, uint32_t rank, uint16_t buf)
{
	return &pf->maps[check_slot_of(pf, rank, buf)];
}

static void
check_piece_add(struct proof *pf, uint64_t lo, uint64_t hi,
    struct spanmap_item item)
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
check_mark_read(struct spanmap *m, uint64_t lo, uint64_t hi,
    struct spanmap_item item)
{
	if (item.mark == WAS_READ)
		return;
	item.mark = WAS_READ;
	spanmap_set(m, lo, hi, item);
}

/* What bytes at a spot are, as pieces at to_off. */
static void
check_read_range(struct proof *pf, struct spot from, uint64_t bytes,
    uint64_t to_off)
{
	struct spanmap *m = check_map_of(pf, from.rank, from.buf);
	uint64_t off = from.off, end = off + bytes;

	for (uint64_t at = off, hi; at < end; at = hi) {
		uint32_t i = spanmap_find(m, at);
		struct spanmap_item item = spanmap_get(m, i)->item;

		hi = spanmap_end(m, i);
		if (hi > end)
			hi = end;
		if (item.tag == VALUE_UNWRITTEN) {
			from.off = at;
			check_offend(pf, CHECK_UNWRITTEN, from,
			    "read before it is written");
			return;
		}
		check_mark_read(m, at, hi, item);
		item.base += (int64_t)(off - to_off);
		check_piece_add(pf, to_off + (at - off), to_off + (hi - off),
		    item);
	}
}

/* Write the pieces. Reject a write of data that is already there, or over data
 * that was never read. */
static void
check_write_pieces(struct proof *pf, uint32_t rank, uint16_t buf)
{
	struct spanmap *m = check_map_of(pf, rank, buf);

	for (size_t n = 0; n < pf->pieces_count; n++) {
		struct piece *piece = &pf->pieces[n];
		uint64_t at = piece->lo;

		for (uint32_t i = spanmap_find(m, at); at < piece->hi; i++) {
			struct spanmap_item was = spanmap_get(m, i)->item;
			struct spot spot = { rank, buf, at };

			if (was.tag == piece->item.tag &&
			    was.base == piece->item.base)
				check_offend(pf, CHECK_TWICE, spot,
				    "written with the data that it already "
				    "holds");
			else if (was.tag != VALUE_UNWRITTEN &&
			    was.mark != WAS_READ)
				check_offend(pf, CHECK_UNREAD, spot,
				    "overwritten before it is read");
			at = spanmap_end(m, i);
		}
		piece->item.mark = 0;
		spanmap_set(m, piece->lo, piece->hi, piece->item);
	}
	pf->pieces_count = 0;
}

/* The inputs' values at pos bytes into l, as seen from its result, and where
 * the first of them changes. 0 when a value is unfit. */
static int
check_reduce_inputs(struct proof *pf, const struct plan_local *l, uint64_t pos,
    uint64_t *ret_end)
{
	unsigned size = plan_types[l->type].bytes;
	uint64_t end = l->bytes;

	for (uint32_t k = 0; k < l->inputs; k++) {
		const struct plan_place *in = &pf->p->inputs[l->input + k];
		struct spot spot = { l->rank, in->buf, in->off + pos };
		struct spanmap *m = check_map_of(pf, l->rank, in->buf);
		uint32_t i = spanmap_find(m, in->off + pos);
		uint64_t hi = spanmap_end(m, i) - in->off;
		struct spanmap_item item = spanmap_get(m, i)->item;

		if (hi > l->bytes)
			hi = l->bytes;
		if (item.tag == VALUE_UNWRITTEN) {
			check_offend(pf, CHECK_UNWRITTEN, spot,
			    "reduced before it is written");
			return 0;
		}
		check_mark_read(m, in->off + pos, in->off + hi, item);
		item.base += (int64_t)(in->off - l->to_off);
		if (item.base % (int64_t)size != 0) {
			check_offend(pf, CHECK_ELEMENTS, spot,
			    "parts of two elements of type %s are combined",
			    plan_types[l->type].name);
			return 0;
		}
		pf->inputs[k] = item;
		if (hi < end)
			end = hi;
	}
	*ret_end = end;
	return 1;
}

static void
check_apply_reduce(struct proof *pf, const struct plan_local *l)
{
	unsigned size = plan_types[l->type].bytes;

	if (pf->inputs_cap < l->inputs) {
		pf->inputs_cap = l->inputs;
		pf->inputs = xreallocarray(pf->inputs, l->inputs,
		    sizeof(*pf->inputs));
	}
	for (uint64_t pos = 0, end; pos < l->bytes; pos = end) {
		if ((l->to_off + pos) % size != 0 || l->bytes % size != 0) {
			check_offend(pf, CHECK_ELEMENTS,
			    (struct spot){ l->rank, l->to, l->to_off + pos },
			    "not aligned to an element of type %s",
			    plan_types[l->type].name);
			return;
		}
		if (!check_reduce_inputs(pf, l, pos, &end))
			return;
		check_piece_add(pf, l->to_off + pos, l->to_off + end,
		    value_reduce(pf->vt, l->op, l->type, pf->inputs,
			l->inputs));
	}
}

/* One step: its transfers, then its local operations, each after the proof
 * that none of them meet. */
static void
check_run_step(struct proof *pf)
{
	const struct plan *p = pf->p;
	size_t lo, hi;

	check_order_of_transfers(pf);
	if (pf->fault.kind != CHECK_OK)
		return;
	index_step(pf->by_dst, pf->step, &lo, &hi);
	for (size_t i = lo; i < hi; i++) {
		const struct plan_transfer *t =
		    &p->transfers[pf->by_dst->order[i]];

		check_read_range(pf,
		    (struct spot){ t->src, t->from, t->from_off }, t->bytes,
		    t->to_off);
		check_write_pieces(pf, t->dst, t->to);
	}
	if (pf->fault.kind == CHECK_OK)
		check_order_of_locals(pf);
	if (pf->fault.kind != CHECK_OK)
		return;
	index_step(pf->by_rank, pf->step, &lo, &hi);
	for (size_t i = lo; i < hi; i++) {
		const struct plan_local *l = &p->locals[pf->by_rank->order[i]];
		const struct plan_place *in = &p->inputs[l->input];

		if (l->op == PLAN_COPY)
			check_read_range(pf,
			    (struct spot){ l->rank, in->buf, in->off },
			    l->bytes, l->to_off);
		else
			check_apply_reduce(pf, l);
		check_write_pieces(pf, l->rank, l->to);
	}
}

/* Return the contents of a buffer before the first step. */
static struct spanmap_item
check_initial_of(const struct proof *pf, uint32_t rank, uint16_t buf)
{
	if (pf->p->bufs[buf].role != PLAN_IN)
		return (struct spanmap_item){ .tag = VALUE_UNWRITTEN };
	return (struct spanmap_item){ .tag = value_initial(pf->vt, rank, buf),
		.mark = WAS_READ };
}

static void
check_keep_promise(struct proof *pf, const struct plan_promise *m,
    uint32_t rank, struct spanmap_item want)
{
	const struct spanmap *map = check_map_of(pf, rank, m->to);
	struct spanmap_item first = check_initial_of(pf, rank, m->to);
	uint64_t at = m->to_off, end = m->to_off + m->bytes;

	for (uint32_t i = spanmap_find(map, at); at < end; i++) {
		struct spanmap_item got = spanmap_get(map, i)->item;
		char has[120], should[120];

		if (got.tag != want.tag || got.base != want.base) {
			got.base += (int64_t)at;
			want.base += (int64_t)at;
			value_format(pf->vt, pf->p, got, has, sizeof(has));
			value_format(pf->vt, pf->p, want, should,
			    sizeof(should));
			check_offend(pf, CHECK_BROKEN,
			    (struct spot){ rank, m->to, at },
			    "holds %s, but the plan promises %s", has, should);
			return;
		}
		at = spanmap_end(map, i);
	}
	if (first.tag != want.tag || first.base != want.base)
		pf->promised[check_slot_of(pf, rank, m->to)] += m->bytes;
}

/* Every promise is kept. They are taken by rank, since one rank's ranges then
 * stay in the cache: rank r's are order[starts[r]..starts[r + 1]). */
static void
check_promises(struct proof *pf)
{
	const struct plan *p = pf->p;
	struct spanmap_item *want = xcalloc(p->promises_count + 1,
	    sizeof(*want));
	size_t *starts = xcalloc((size_t)p->ranks + 2, sizeof(*starts));
	uint32_t *order;

	for (size_t i = 0; i < p->spans_count; i++)
		for (uint32_t r = p->spans[i].lo; r < p->spans[i].hi; r++)
			starts[r + 2]++;
	for (uint32_t r = 0; r < p->ranks; r++)
		starts[r + 2] += starts[r + 1];
	order = xcalloc(starts[p->ranks + 1] + 1, sizeof(*order));
	for (size_t i = 0; i < p->promises_count; i++) {
		const struct plan_promise *m = &p->promises[i];

		for (uint32_t k = 0; k < m->spans; k++)
			for (uint32_t r = p->spans[m->span + k].lo;
			     r < p->spans[m->span + k].hi; r++)
				order[starts[r + 1]++] = (uint32_t)i;
		want[i] = value_promised(pf->vt, m, p->sources + m->source);
	}
	for (uint32_t r = 0; r < p->ranks; r++)
		for (size_t i = starts[r]; i < starts[r + 1]; i++)
			check_keep_promise(pf, &p->promises[order[i]], r,
			    want[order[i]]);
	free(want);
	free(order);
	free(starts);
}

/* Where the promises that cover a byte end; at itself when none does. */
static uint64_t
check_promised_until(const struct plan *p, struct spot at)
{
	for (size_t i = 0; i < p->promises_count; i++) {
		const struct plan_promise *m = &p->promises[i];

		if (m->to != at.buf || at.off < m->to_off ||
		    at.off - m->to_off >= m->bytes)
			continue;
		for (uint32_t k = 0; k < m->spans; k++)
			if (at.rank >= p->spans[m->span + k].lo &&
			    at.rank < p->spans[m->span + k].hi)
				return m->to_off + m->bytes;
	}
	return at.off;
}

/* The byte counts differ: find the first changed byte that no promise covers.
 * Slow, and only ever run once. */
static void
check_blame_unpromised(struct proof *pf, uint32_t rank, uint16_t buf)
{
	const struct spanmap *m = check_map_of(pf, rank, buf);
	struct spanmap_item first = check_initial_of(pf, rank, buf);
	struct spot at = { rank, buf, 0 };

	for (uint32_t i = 0; i < spanmap_count(m); i++) {
		const struct spanmap_range *r = spanmap_get(m, i);
		uint64_t next = r->lo;

		if (r->item.tag == first.tag && r->item.base == first.base)
			continue;
		do {
			at.off = next;
			next = check_promised_until(pf->p, at);
		} while (next > at.off && next < spanmap_end(m, i));
		if (next > at.off)
			continue;
		check_offend(pf, CHECK_UNPROMISED, at,
		    "written, but the plan promises nothing here");
		return;
	}
	check_offend(pf, CHECK_MALFORMED, (struct spot){ rank, buf, 0 },
	    "one byte is promised more than once");
}

/* Check that nothing but the promises is left: the changed bytes of the user's
 * buffers are the promised ones, and every byte delivered to a temporary buffer
 * was read. */
static void
check_unpromised(struct proof *pf)
{
	const struct plan *p = pf->p;
	size_t slots = (size_t)p->ranks * p->bufs_count;

	for (size_t slot = 0; slot < slots; slot++) {
		uint32_t rank = (uint32_t)(slot / p->bufs_count);
		uint16_t buf = (uint16_t)(slot % p->bufs_count);
		const struct spanmap *m = &pf->maps[slot];
		struct spanmap_item first = check_initial_of(pf, rank, buf);
		int is_temp = p->bufs[buf].role == PLAN_TEMP;
		uint64_t changed = 0;

		for (uint32_t i = 0; i < spanmap_count(m); i++) {
			const struct spanmap_range *r = spanmap_get(m, i);

			if (!is_temp &&
			    (r->item.tag != first.tag ||
				r->item.base != first.base))
				changed += spanmap_end(m, i) - r->lo;
			if (!is_temp || r->item.tag == VALUE_UNWRITTEN ||
			    r->item.mark == WAS_READ)
				continue;
			check_offend(pf, CHECK_UNREAD,
			    (struct spot){ rank, buf, r->lo },
			    "written, and never read");
			break;
		}
		if (!is_temp && changed != pf->promised[slot]) {
			check_blame_unpromised(pf, rank, buf);
			return;
		}
	}
}

int
check_plan(const struct plan *p, struct check_fault *ret_fault)
{
	struct proof pf = { .p = p };
	size_t slots = (size_t)p->ranks * p->bufs_count;

	check_rows(&pf);
	if (pf.fault.kind != CHECK_OK) {
		*ret_fault = pf.fault;
		return -EPROTO;
	}
	pf.vt = value_table_new(p->ranks, p->bufs_count);
	pf.maps = xcalloc(slots + 1, sizeof(*pf.maps));
	pf.promised = xcalloc(slots + 1, sizeof(*pf.promised));
	for (uint32_t rank = 0; rank < p->ranks; rank++)
		for (uint32_t i = 0; i < p->bufs_count; i++) {
			uint16_t buf = (uint16_t)i;

			spanmap_init(check_map_of(&pf, rank, buf),
			    p->bufs[buf].bytes[rank],
			    check_initial_of(&pf, rank, buf));
		}
	pf.by_src = index_new(p, INDEX_SRC);
	pf.by_dst = index_new(p, INDEX_DST);
	pf.by_rank = index_new(p, INDEX_LOCAL);
	/* a symbolic execution, up to the first step with a fault */
	for (pf.step = 0; pf.step < p->steps; pf.step++) {
		check_run_step(&pf);
		if (pf.fault.kind != CHECK_OK)
			break;
	}
	if (pf.fault.kind == CHECK_OK)
		check_promises(&pf);
	if (pf.fault.kind == CHECK_OK)
		check_unpromised(&pf);
	for (size_t i = 0; i < slots; i++)
		spanmap_clear(&pf.maps[i]);
	free(pf.maps);
	free(pf.promised);
	index_free(pf.by_src);
	index_free(pf.by_dst);
	index_free(pf.by_rank);
	free(pf.reads.at);
	free(pf.writes.at);
	free(pf.pieces);
	free(pf.inputs);
	value_table_free(pf.vt);
	*ret_fault = pf.fault;
	return pf.fault.kind == CHECK_OK ? 0 : -EPROTO;
}
