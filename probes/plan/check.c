/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.c - the proof, step by step.
 *
 * Within a step the order of the transfers does not matter once it is known
 * that none of them writes where another reads or writes; so each is applied
 * at once, by destination, and no second copy of the state is needed.
 */
#include "probes/plan/check.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "probes/plan/index.h"
#include "probes/plan/spanmap.h"
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

/* What a transfer or local operation is about to write. */
struct piece {
	uint64_t lo, hi;
	struct spanmap_item item;
};

struct proof {
	const struct plan *p;
	struct value_table *vt;
	struct spanmap *maps; /* [rank * bufs + buf] */
	uint64_t *promised;   /* bytes, likewise */
	struct index *by_src, *by_dst, *by_rank;
	struct accesses reads, writes;
	struct piece *pieces;
	size_t pieces_count, pieces_cap;
	struct spanmap_item *inputs;
	size_t inputs_cap;
	uint32_t step;
	struct check_fault fault;
};

static size_t
slot(const struct proof *pf, uint32_t rank, uint16_t buf)
{
	return (size_t)rank * pf->p->bufs_count + buf;
}

static struct spanmap *
map_of(const struct proof *pf, uint32_t rank, uint16_t buf)
{
	return &pf->maps[slot(pf, rank, buf)];
}

static int
lies_before(const struct check_fault *a, const struct check_fault *b)
{
	if (a->step != b->step)
		return a->step < b->step;
	if (a->rank != b->rank)
		return a->rank < b->rank;
	return a->buf != b->buf ? a->buf < b->buf : a->off < b->off;
}

/* Keep the fault if it lies before the one known so far. */
static void __attribute__((format(printf, 6, 7)))
offend(struct proof *pf, enum check_kind kind, uint32_t rank, uint16_t buf,
    uint64_t off, const char *fmt, ...)
{
	struct check_fault *f = &pf->fault;
	const char *name = buf < pf->p->bufs_count ? pf->p->bufs[buf].name
						   : "?";
	int n;
	va_list ap;

	if (f->kind != CHECK_OK &&
	    !lies_before(&(struct check_fault){ .step = pf->step,
			     .rank = rank,
			     .buf = buf,
			     .off = off },
		f))
		return;
	*f = (struct check_fault){ .kind = kind,
		.step = pf->step,
		.rank = rank,
		.buf = buf,
		.off = off };
	if (pf->step < pf->p->steps)
		n = snprintf(f->text, sizeof(f->text),
		    "step %u, rank %u, %s+%llu: ", pf->step, rank, name,
		    (unsigned long long)off);
	else
		n = snprintf(f->text, sizeof(f->text),
		    "end, rank %u, %s+%llu: ", rank, name,
		    (unsigned long long)off);
	va_start(ap, fmt);
	vsnprintf(f->text + n, sizeof(f->text) - (size_t)n, fmt, ap);
	va_end(ap);
}

/* 1 when the range exists on rank. */
static int
range_check(struct proof *pf, uint32_t rank, uint16_t buf, uint64_t off,
    uint64_t bytes, const char *what)
{
	const struct plan *p = pf->p;
	uint64_t have;

	if (rank >= p->ranks || buf >= p->bufs_count || bytes == 0) {
		offend(pf, CHECK_MALFORMED, rank, buf, off,
		    "%s of %llu bytes: no such rank or buffer, or no bytes",
		    what, (unsigned long long)bytes);
		return 0;
	}
	have = p->bufs[buf].bytes[rank];
	if (off <= have && bytes <= have - off)
		return 1;
	offend(pf, CHECK_BOUNDS, rank, buf, off,
	    "%s of %llu bytes leaves a buffer of %llu", what,
	    (unsigned long long)bytes, (unsigned long long)have);
	return 0;
}

static void
check_rows(struct proof *pf)
{
	const struct plan *p = pf->p;

	for (size_t i = 0; i < p->transfers_count; i++) {
		const struct plan_transfer *t = &p->transfers[i];

		pf->step = t->step;
		range_check(pf, t->src, t->from, t->from_off, t->bytes, "send");
		range_check(pf, t->dst, t->to, t->to_off, t->bytes, "receive");
		if (t->step >= p->steps || t->via >= PLAN_VIA_MAX)
			offend(pf, CHECK_MALFORMED, t->src, t->from,
			    t->from_off, "no such step or transport");
	}
	for (size_t i = 0; i < p->locals_count; i++) {
		const struct plan_local *l = &p->locals[i];

		pf->step = l->step;
		range_check(pf, l->rank, l->to, l->to_off, l->bytes, "result");
		for (uint32_t k = 0; k < l->inputs; k++)
			range_check(pf, l->rank, p->inputs[l->input + k].buf,
			    p->inputs[l->input + k].off, l->bytes, "input");
		if (l->step >= p->steps || l->op >= PLAN_OP_MAX ||
		    l->type >= PLAN_TYPE_MAX ||
		    (l->op == PLAN_COPY) != (l->inputs == 1))
			offend(pf, CHECK_MALFORMED, l->rank, l->to, l->to_off,
			    "no such step, operation or type, or not its "
			    "number of inputs");
	}
}

static void
check_promise_rows(struct proof *pf)
{
	const struct plan *p = pf->p;

	pf->step = p->steps;
	for (size_t i = 0; i < p->promises_count; i++) {
		const struct plan_promise *m = &p->promises[i];

		for (uint32_t k = 0; k < m->spans; k++)
			for (uint32_t r = p->spans[m->span + k].lo;
			     r < p->spans[m->span + k].hi; r++)
				range_check(pf, r, m->to, m->to_off, m->bytes,
				    "promise");
		for (uint32_t k = 0; k < m->sources; k++)
			range_check(pf, p->sources[m->source + k].lo,
			    p->sources[m->source + k].buf,
			    p->sources[m->source + k].off, m->bytes,
			    "source of a promise");
	}
}

static void
access_add(struct accesses *list, uint16_t buf, uint64_t off, uint64_t bytes,
    uint32_t owner)
{
	if (list->count == list->cap) {
		list->cap = list->cap * 2 + 64;
		list->at = xreallocarray(list->at, list->cap,
		    sizeof(*list->at));
	}
	list->at[list->count++] = (struct access){ .lo = off,
		.hi = off + bytes,
		.owner = owner,
		.buf = buf };
}

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static int
access_compare_cb(const void *va, const void *vb)
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
			offend(pf, CHECK_UNORDERED, rank, w->at[i].buf,
			    w->at[i].lo, "two writes at one time");
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
			offend(pf, CHECK_UNORDERED, rank, a->buf,
			    a->lo > b->lo ? a->lo : b->lo,
			    "read and written at one time");
			return;
		}
	}
}

/* All transfers of the step, rank by rank. */
static void
check_transfer_conflicts(struct proof *pf)
{
	const struct plan *p = pf->p;

	for (uint32_t rank = 0; rank < p->ranks; rank++) {
		size_t lo, hi;

		pf->reads.count = pf->writes.count = 0;
		index_group(pf->by_src, pf->step, rank, &lo, &hi);
		for (size_t i = lo; i < hi; i++) {
			const struct plan_transfer *t =
			    &p->transfers[pf->by_src->order[i]];

			access_add(&pf->reads, t->from, t->from_off, t->bytes,
			    UINT32_MAX);
		}
		index_group(pf->by_dst, pf->step, rank, &lo, &hi);
		for (size_t i = lo; i < hi; i++) {
			const struct plan_transfer *t =
			    &p->transfers[pf->by_dst->order[i]];

			access_add(&pf->writes, t->to, t->to_off, t->bytes, 0);
		}
		check_conflicts(pf, rank);
	}
}

static void
check_local_conflicts(struct proof *pf)
{
	const struct plan *p = pf->p;

	for (uint32_t rank = 0; rank < p->ranks; rank++) {
		size_t lo, hi;

		index_group(pf->by_rank, pf->step, rank, &lo, &hi);
		pf->reads.count = pf->writes.count = 0;
		for (size_t i = lo; i < hi; i++) {
			uint32_t at = pf->by_rank->order[i];
			const struct plan_local *l = &p->locals[at];
			uint32_t owner = l->op == PLAN_COPY ? UINT32_MAX : at;

			access_add(&pf->writes, l->to, l->to_off, l->bytes, at);
			for (uint32_t k = 0; k < l->inputs; k++)
				access_add(&pf->reads,
				    p->inputs[l->input + k].buf,
				    p->inputs[l->input + k].off, l->bytes,
				    owner);
		}
		if (pf->reads.count > 1)
			qsort(pf->reads.at, pf->reads.count,
			    sizeof(*pf->reads.at), access_compare_cb);
		check_conflicts(pf, rank);
	}
}

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
	if (item.mark == WAS_READ)
		return;
	item.mark = WAS_READ;
	spanmap_set(m, lo, hi, item);
}

/* What bytes from off on of a buffer are, as pieces at to_off. */
static void
read_range(struct proof *pf, uint32_t rank, uint16_t buf, uint64_t off,
    uint64_t bytes, uint64_t to_off)
{
	struct spanmap *m = map_of(pf, rank, buf);
	uint64_t end = off + bytes, at = off;

	while (at < end) {
		uint32_t i = spanmap_find(m, at);
		struct spanmap_item item = spanmap_get(m, i)->item;
		uint64_t hi = spanmap_end(m, i);

		if (hi > end)
			hi = end;
		if (item.tag == VALUE_UNWRITTEN) {
			offend(pf, CHECK_UNWRITTEN, rank, buf, at,
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
	const struct spanmap *m = map_of(pf, rank, buf);
	uint64_t at = piece->lo;

	for (uint32_t i = spanmap_find(m, at); at < piece->hi; i++) {
		const struct spanmap_range *r = spanmap_get(m, i);

		if (r->item.tag == piece->item.tag &&
		    r->item.base == piece->item.base)
			offend(pf, CHECK_TWICE, rank, buf, at,
			    "written with what it holds already");
		else if (r->item.tag != VALUE_UNWRITTEN &&
		    r->item.mark != WAS_READ)
			offend(pf, CHECK_UNREAD, rank, buf, at,
			    "written again before anyone read it");
		at = spanmap_end(m, i);
	}
}

static void
write_pieces(struct proof *pf, uint32_t rank, uint16_t buf)
{
	struct spanmap *m = map_of(pf, rank, buf);

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
		struct spanmap *m = map_of(pf, l->rank, in->buf);
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
			offend(pf, CHECK_UNWRITTEN, l->rank, in->buf,
			    in->off + pos, "reduced, but nobody wrote it");
			return 0;
		}
		if (pf->inputs[k].base % (int64_t)size != 0) {
			offend(pf, CHECK_ELEMENTS, l->rank, in->buf,
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
			offend(pf, CHECK_ELEMENTS, l->rank, l->to,
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
		check_transfer_conflicts(pf);
		if (pf->fault.kind == CHECK_OK)
			apply_transfers(pf);
		if (pf->fault.kind == CHECK_OK)
			check_local_conflicts(pf);
		if (pf->fault.kind == CHECK_OK)
			apply_locals(pf);
		if (pf->fault.kind != CHECK_OK)
			return;
	}
}

static struct spanmap_item
initial_item(const struct proof *pf, uint32_t rank, uint16_t buf)
{
	if (pf->p->bufs[buf].role != PLAN_IN)
		return (struct spanmap_item){ .tag = VALUE_UNWRITTEN };
	return (struct spanmap_item){ .tag = value_initial(pf->vt, rank, buf),
		.mark = WAS_READ };
}

static void
keep_promise(struct proof *pf, const struct plan_promise *m, uint32_t rank,
    struct spanmap_item want)
{
	const struct spanmap *map = map_of(pf, rank, m->to);
	struct spanmap_item first = initial_item(pf, rank, m->to);
	uint64_t at = m->to_off, end = m->to_off + m->bytes;

	for (uint32_t i = spanmap_find(map, at); at < end; i++) {
		struct spanmap_item got = spanmap_get(map, i)->item;
		char has[120], should[120];

		if (got.tag != want.tag || got.base != want.base) {
			value_format(pf->vt, pf->p, got, at, has, sizeof(has));
			value_format(pf->vt, pf->p, want, at, should,
			    sizeof(should));
			offend(pf, CHECK_BROKEN, rank, m->to, at,
			    "holds %s, promised is %s", has, should);
			return;
		}
		at = spanmap_end(map, i);
	}
	if (first.tag != want.tag || first.base != want.base)
		pf->promised[slot(pf, rank, m->to)] += m->bytes;
}

/* Promises by rank, since one rank's ranges then stay in the cache: rank r's
 * are order[starts[r]..starts[r + 1]). */
static size_t *
promises_of_ranks(const struct plan *p, uint32_t **ret_order)
{
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
	}
	*ret_order = order;
	return starts;
}

static void
keep_promises(struct proof *pf)
{
	const struct plan *p = pf->p;
	struct spanmap_item *want = xcalloc(p->promises_count + 1,
	    sizeof(*want));
	uint32_t *order;
	size_t *starts = promises_of_ranks(p, &order);

	for (size_t i = 0; i < p->promises_count; i++)
		want[i] = value_promised(pf->vt, &p->promises[i],
		    p->sources + p->promises[i].source);
	for (uint32_t r = 0; r < p->ranks; r++)
		for (size_t i = starts[r]; i < starts[r + 1]; i++)
			keep_promise(pf, &p->promises[order[i]], r,
			    want[order[i]]);
	free(want);
	free(order);
	free(starts);
}

static int
promise_covers(const struct plan *p, const struct plan_promise *m,
    uint32_t rank, uint16_t buf, uint64_t at)
{
	if (m->to != buf || at < m->to_off || at - m->to_off >= m->bytes)
		return 0;
	for (uint32_t k = 0; k < m->spans; k++)
		if (rank >= p->spans[m->span + k].lo &&
		    rank < p->spans[m->span + k].hi)
			return 1;
	return 0;
}

/* The byte counts differ: find the first changed byte that no promise covers.
 * Slow, and only ever run once. */
static void
blame_unpromised(struct proof *pf, uint32_t rank, uint16_t buf)
{
	const struct plan *p = pf->p;
	const struct spanmap *m = map_of(pf, rank, buf);
	struct spanmap_item first = initial_item(pf, rank, buf);

	for (uint32_t i = 0; i < spanmap_count(m); i++) {
		const struct spanmap_range *r = spanmap_get(m, i);
		uint64_t at = r->lo;

		if (r->item.tag == first.tag && r->item.base == first.base)
			continue;
		for (size_t k = 0; k < p->promises_count; k++)
			if (promise_covers(p, &p->promises[k], rank, buf, at)) {
				at = p->promises[k].to_off +
				    p->promises[k].bytes;
				k = (size_t)-1; /* from the start, for at */
				if (at >= spanmap_end(m, i))
					break;
			}
		if (at >= spanmap_end(m, i))
			continue;
		offend(pf, CHECK_UNPROMISED, rank, buf, at,
		    "written, but nothing is promised here");
		return;
	}
	offend(pf, CHECK_MALFORMED, rank, buf, 0,
	    "one byte is promised more than once");
}

/* Bytes of a temporary place that were brought there for nobody. */
static void
check_unread(struct proof *pf, uint32_t rank, uint16_t buf)
{
	const struct spanmap *m = map_of(pf, rank, buf);

	for (uint32_t i = 0; i < spanmap_count(m); i++) {
		const struct spanmap_range *r = spanmap_get(m, i);

		if (r->item.tag == VALUE_UNWRITTEN || r->item.mark == WAS_READ)
			continue;
		offend(pf, CHECK_UNREAD, rank, buf, r->lo,
		    "written, and never read");
		return;
	}
}

static void
check_unpromised(struct proof *pf)
{
	const struct plan *p = pf->p;

	for (uint32_t rank = 0; rank < p->ranks; rank++)
		for (uint32_t buf = 0; buf < p->bufs_count; buf++) {
			const struct spanmap *m = map_of(pf, rank, buf);
			struct spanmap_item first = initial_item(pf, rank, buf);
			uint64_t changed = 0;

			if (p->bufs[buf].role == PLAN_TEMP)
				check_unread(pf, rank, (uint16_t)buf);
			if (p->bufs[buf].role == PLAN_TEMP || m->bytes == 0)
				continue;
			for (uint32_t i = 0; i < spanmap_count(m); i++) {
				const struct spanmap_range *r = spanmap_get(m,
				    i);

				if (r->item.tag != first.tag ||
				    r->item.base != first.base)
					changed += spanmap_end(m, i) - r->lo;
			}
			if (changed != pf->promised[slot(pf, rank, buf)]) {
				blame_unpromised(pf, rank, buf);
				return;
			}
		}
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
			spanmap_init(map_of(pf, rank, buf),
			    p->bufs[buf].bytes[rank],
			    initial_item(pf, rank, buf));
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

	check_rows(&pf);
	if (pf.fault.kind == CHECK_OK)
		check_promise_rows(&pf);
	if (pf.fault.kind == CHECK_OK) {
		proof_start(&pf, p);
		run_steps(&pf);
	}
	if (pf.fault.kind == CHECK_OK)
		keep_promises(&pf);
	if (pf.fault.kind == CHECK_OK)
		check_unpromised(&pf);
	proof_end(&pf);
	*ret_fault = pf.fault;
	return pf.fault.kind == CHECK_OK ? 0 : -EPROTO;
}
