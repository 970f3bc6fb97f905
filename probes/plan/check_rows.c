/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_rows.c - each row by itself, and how a fault is kept.
 */
#include <stdarg.h>
#include <stdio.h>

#include "probes/plan/check_part.h"

static int
lies_before(const struct check_fault *a, const struct check_fault *b)
{
	if (a->step != b->step)
		return a->step < b->step;
	if (a->rank != b->rank)
		return a->rank < b->rank;
	return a->buf != b->buf ? a->buf < b->buf : a->off < b->off;
}

void
proof_offend(struct proof *pf, enum check_kind kind, uint32_t rank,
    uint16_t buf, uint64_t off, const char *fmt, ...)
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
		proof_offend(pf, CHECK_MALFORMED, rank, buf, off,
		    "%s of %llu bytes: no such rank or buffer, or no bytes",
		    what, (unsigned long long)bytes);
		return 0;
	}
	have = p->bufs[buf].bytes[rank];
	if (off <= have && bytes <= have - off)
		return 1;
	proof_offend(pf, CHECK_BOUNDS, rank, buf, off,
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
			proof_offend(pf, CHECK_MALFORMED, t->src, t->from,
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
			proof_offend(pf, CHECK_MALFORMED, l->rank, l->to,
			    l->to_off,
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

void
proof_rows(struct proof *pf)
{
	check_rows(pf);
	if (pf->fault.kind == CHECK_OK)
		check_promise_rows(pf);
}
