/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_promise.c - what is there after the last step: all that is promised,
 * and nothing else.
 */
#include <stdlib.h>

#include "common/xalloc.h"
#include "probes/plan/check_part.h"

static void
keep_promise(struct proof *pf, const struct plan_promise *m, uint32_t rank,
    struct spanmap_item want)
{
	const struct spanmap *map = proof_map(pf, rank, m->to);
	struct spanmap_item first = proof_initial(pf, rank, m->to);
	uint64_t at = m->to_off, end = m->to_off + m->bytes;

	for (uint32_t i = spanmap_find(map, at); at < end; i++) {
		struct spanmap_item got = spanmap_get(map, i)->item;
		char has[120], should[120];

		if (got.tag != want.tag || got.base != want.base) {
			value_format(pf->vt, pf->p, got, at, has, sizeof(has));
			value_format(pf->vt, pf->p, want, at, should,
			    sizeof(should));
			proof_offend(pf, CHECK_BROKEN, rank, m->to, at,
			    "holds %s, promised is %s", has, should);
			return;
		}
		at = spanmap_end(map, i);
	}
	if (first.tag != want.tag || first.base != want.base)
		pf->promised[proof_slot(pf, rank, m->to)] += m->bytes;
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

void
proof_promises(struct proof *pf)
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
	const struct spanmap *m = proof_map(pf, rank, buf);
	struct spanmap_item first = proof_initial(pf, rank, buf);

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
		proof_offend(pf, CHECK_UNPROMISED, rank, buf, at,
		    "written, but nothing is promised here");
		return;
	}
	proof_offend(pf, CHECK_MALFORMED, rank, buf, 0,
	    "one byte is promised more than once");
}

/* Bytes of a temporary place that were brought there for nobody. */
static void
check_unread(struct proof *pf, uint32_t rank, uint16_t buf)
{
	const struct spanmap *m = proof_map(pf, rank, buf);

	for (uint32_t i = 0; i < spanmap_count(m); i++) {
		const struct spanmap_range *r = spanmap_get(m, i);

		if (r->item.tag == VALUE_UNWRITTEN ||
		    r->item.mark == PROOF_WAS_READ)
			continue;
		proof_offend(pf, CHECK_UNREAD, rank, buf, r->lo,
		    "written, and never read");
		return;
	}
}

void
proof_unpromised(struct proof *pf)
{
	const struct plan *p = pf->p;

	for (uint32_t rank = 0; rank < p->ranks; rank++)
		for (uint32_t buf = 0; buf < p->bufs_count; buf++) {
			const struct spanmap *m = proof_map(pf, rank, buf);
			struct spanmap_item first = proof_initial(pf, rank,
			    buf);
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
			if (changed !=
			    pf->promised[proof_slot(pf, rank, buf)]) {
				blame_unpromised(pf, rank, buf);
				return;
			}
		}
}
