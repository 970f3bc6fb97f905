/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_order.c - what happens at one time on a rank must not meet.
 */
#include <stdlib.h>

#include "common/xalloc.h"
#include "probes/plan/check_part.h"

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
			proof_offend(pf, CHECK_UNORDERED, rank, w->at[i].buf,
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
			proof_offend(pf, CHECK_UNORDERED, rank, a->buf,
			    a->lo > b->lo ? a->lo : b->lo,
			    "read and written at one time");
			return;
		}
	}
}

/* All transfers of the step, rank by rank. */
void
proof_order_transfers(struct proof *pf)
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

void
proof_order_locals(struct proof *pf)
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
