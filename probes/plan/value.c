/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value.c - equal reductions get one class, however they were made: their
 * inputs as sorted disjoint runs are looked up in a hash table.
 */
#include "probes/plan/value.h"

#include <assert.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "common/xalloc.h"

/* The buffer number of a run whose lo and hi are classes, not ranks: an
 * operation over results of another one. */
#define OF_CLASSES UINT32_MAX

struct run {
	int64_t delta;
	uint32_t buf;
	uint32_t lo, hi;
	uint32_t times;
};

struct set {
	size_t run; /* first in runs */
	uint32_t runs;
	uint32_t next; /* in its hash chain: set number + 1, or 0 */
	uint64_t hash;
	uint8_t op, type;
};

struct runlist {
	struct run *at;
	size_t count, cap;
};

struct value_table {
	uint32_t ranks, bufs;
	uint32_t first_set; /* class of sets[0] */
	struct set *sets;
	uint32_t sets_count, sets_cap;
	struct runlist runs; /* of all sets */
	struct runlist work, merged;
	uint32_t *chains;
	uint32_t chains_count; /* a power of two */
};

struct value_table *
value_table_new(uint32_t ranks, uint32_t bufs)
{
	struct value_table *vt = xcalloc(1, sizeof(*vt));

	assert((uint64_t)ranks * bufs < UINT32_MAX / 2);
	vt->ranks = ranks;
	vt->bufs = bufs;
	vt->first_set = 1 + ranks * bufs;
	vt->chains_count = 1024;
	vt->chains = xcalloc(vt->chains_count, sizeof(*vt->chains));
	return vt;
}

void
value_table_free(struct value_table *vt)
{
	if (vt == NULL)
		return;
	free(vt->sets);
	free(vt->runs.at);
	free(vt->work.at);
	free(vt->merged.at);
	free(vt->chains);
	free(vt);
}

uint32_t
value_initial(const struct value_table *vt, uint32_t rank, uint16_t buf)
{
	return 1 + rank * vt->bufs + buf;
}

static void
value_runlist_add(struct runlist *rl, struct run r)
{
	if (rl->count == rl->cap) {
		rl->cap = rl->cap * 2 + 16;
		rl->at = xreallocarray(rl->at, rl->cap, sizeof(*rl->at));
	}
	rl->at[rl->count++] = r;
}

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static int
value_run_compare_cb(const void *va, const void *vb)
{
	const struct run *a = va, *b = vb;

	if (a->buf != b->buf)
		return ORDER(a->buf, b->buf);
	if (a->delta != b->delta)
		return ORDER(a->delta, b->delta);
	if (a->lo != b->lo)
		return ORDER(a->lo, b->lo);
	return ORDER(a->hi, b->hi);
}

static int
value_run_kin(const struct run *a, const struct run *b)
{
	return a->buf == b->buf && a->delta == b->delta;
}

/* Sorted runs into disjoint ones; 0 where some overlap. */
static int
value_merge(struct value_table *vt)
{
	struct runlist *to = &vt->merged;

	to->count = 0;
	for (size_t i = 0; i < vt->work.count; i++) {
		struct run r = vt->work.at[i];
		struct run *last = to->count > 0 ? &to->at[to->count - 1]
						 : NULL;

		if (last == NULL || !value_run_kin(last, &r) ||
		    last->hi < r.lo ||
		    (last->hi == r.lo && last->times != r.times))
			value_runlist_add(to, r);
		else if (last->hi == r.lo)
			last->hi = r.hi;
		else
			return 0;
	}
	return 1;
}

/* The slow way, for runs that overlap, which is rare: one run a rank, so that
 * equal ones lie side by side, and neighbours put together again. */
static void
value_merge_singly(struct value_table *vt)
{
	struct runlist *work = &vt->work, *to = &vt->merged;
	size_t count = work->count, n = 0;

	for (size_t i = 0; i < count; i++) {
		struct run r = work->at[i];

		work->at[i].hi = r.lo + 1;
		for (uint32_t k = r.lo + 1; k < r.hi; k++) {
			struct run one = r;

			one.lo = k;
			one.hi = k + 1;
			value_runlist_add(work, one);
		}
	}
	qsort(work->at, work->count, sizeof(*work->at), value_run_compare_cb);
	to->count = 0;
	for (size_t i = 0; i < work->count; i++) {
		struct run *r = &work->at[i];
		struct run *last = to->count > 0 ? &to->at[to->count - 1]
						 : NULL;

		if (last != NULL && value_run_kin(last, r) && last->lo == r->lo)
			last->times += r->times;
		else
			value_runlist_add(to, *r);
	}
	for (size_t i = 1; i < to->count; i++) {
		struct run *last = &to->at[n], *r = &to->at[i];

		if (value_run_kin(last, r) && last->hi == r->lo &&
		    last->times == r->times)
			last->hi = r->hi;
		else
			to->at[++n] = *r;
	}
	to->count = n + 1;
}

/* The class of vt->merged, made on first sight; found by FNV-1a of words. */
static uint32_t
value_intern(struct value_table *vt, enum plan_op op, enum plan_type type)
{
	const struct runlist *rl = &vt->merged;
	uint64_t h = 0xcbf29ce484222325ULL ^ (uint64_t)op << 8 ^ type;
	uint32_t *head;
	struct set *s;

	for (size_t i = 0; i < rl->count; i++) {
		const struct run *r = &rl->at[i];

		h = (h ^ (uint64_t)r->delta) * 0x100000001b3ULL;
		h = (h ^ ((uint64_t)r->buf << 32 | r->times)) *
		    0x100000001b3ULL;
		h = (h ^ ((uint64_t)r->lo << 32 | r->hi)) * 0x100000001b3ULL;
		h ^= h >> 29;
	}
	head = &vt->chains[h & (vt->chains_count - 1)];
	for (uint32_t i = *head; i != 0; i = vt->sets[i - 1].next) {
		s = &vt->sets[i - 1];
		if (s->hash == h && s->op == op && s->type == type &&
		    s->runs == rl->count &&
		    memcmp(vt->runs.at + s->run, rl->at,
			s->runs * sizeof(struct run)) == 0)
			return vt->first_set + i - 1;
	}
	if (vt->sets_count == vt->sets_cap) {
		vt->sets_cap = vt->sets_cap * 2 + 64;
		vt->sets = xreallocarray(vt->sets, vt->sets_cap,
		    sizeof(*vt->sets));
	}
	s = &vt->sets[vt->sets_count++];
	*s = (struct set){ .run = vt->runs.count,
		.runs = (uint32_t)rl->count,
		.next = *head,
		.hash = h,
		.op = (uint8_t)op,
		.type = (uint8_t)type };
	*head = vt->sets_count;
	for (size_t i = 0; i < rl->count; i++)
		value_runlist_add(&vt->runs, rl->at[i]);
	if (vt->sets_count <= vt->chains_count)
		return vt->first_set + vt->sets_count - 1;
	/* Twice as many chains. */
	vt->chains_count *= 2;
	free(vt->chains);
	vt->chains = xcalloc(vt->chains_count, sizeof(*vt->chains));
	for (uint32_t i = 0; i < vt->sets_count; i++) {
		s = &vt->sets[i];
		head = &vt->chains[s->hash & (vt->chains_count - 1)];
		s->next = *head;
		*head = i + 1;
	}
	return vt->first_set + vt->sets_count - 1;
}

struct spanmap_item
value_reduce(struct value_table *vt, enum plan_op op, enum plan_type type,
    const struct spanmap_item *inputs, size_t count)
{
	int64_t base;

	if (count == 1)
		return inputs[0];
	vt->work.count = 0;
	for (size_t i = 0; i < count; i++) {
		struct spanmap_item item = inputs[i];
		uint32_t single = item.tag - 1;
		struct run r = { .delta = item.base, .times = 1 };
		const struct set *s = NULL;

		assert(item.tag != VALUE_UNWRITTEN);
		if (item.tag >= vt->first_set)
			s = &vt->sets[item.tag - vt->first_set];
		if (s != NULL && s->op == op && s->type == type) {
			for (uint32_t k = 0; k < s->runs; k++) {
				r = vt->runs.at[s->run + k];
				r.delta += item.base;
				value_runlist_add(&vt->work, r);
			}
			continue;
		}
		r.buf = s != NULL ? OF_CLASSES : single % vt->bufs;
		r.lo = s != NULL ? item.tag : single / vt->bufs;
		r.hi = r.lo + 1;
		value_runlist_add(&vt->work, r);
	}
	qsort(vt->work.at, vt->work.count, sizeof(*vt->work.at),
	    value_run_compare_cb);
	if (!value_merge(vt))
		value_merge_singly(vt);
	base = vt->merged.at[0].delta;
	for (size_t i = 0; i < vt->merged.count; i++)
		vt->merged.at[i].delta -= base;
	return (struct spanmap_item){ .base = base,
		.tag = value_intern(vt, op, type) };
}

struct spanmap_item
value_promised(struct value_table *vt, const struct plan_promise *m,
    const struct plan_source *sources)
{
	struct spanmap_item *inputs, ret;
	size_t count = 0, n = 0;

	for (uint32_t i = 0; i < m->sources; i++)
		count += sources[i].hi - sources[i].lo;
	assert(count >= 1);
	inputs = xreallocarray(NULL, count, sizeof(*inputs));
	for (uint32_t i = 0; i < m->sources; i++)
		for (uint32_t r = sources[i].lo; r < sources[i].hi; r++)
			inputs[n++] = (struct spanmap_item){
				.base = (int64_t)(sources[i].off - m->to_off),
				.tag = value_initial(vt, r, sources[i].buf)
			};
	ret = value_reduce(vt, m->op, m->type, inputs, count);
	free(inputs);
	return ret;
}

void
value_format(const struct value_table *vt, const struct plan *p,
    struct spanmap_item item, char *ret, size_t cap_bytes)
{
	uint32_t single = item.tag - 1;
	const struct set *s;
	uint64_t inputs = 0;
	size_t len;

	if (item.tag == VALUE_UNWRITTEN) {
		snprintf(ret, cap_bytes, "nothing");
		return;
	}
	if (item.tag < vt->first_set) {
		snprintf(ret, cap_bytes, "%s+%lld of rank %u",
		    p->bufs[single % vt->bufs].name, (long long)item.base,
		    single / vt->bufs);
		return;
	}
	s = &vt->sets[item.tag - vt->first_set];
	for (uint32_t i = 0; i < s->runs; i++) {
		const struct run *r = &vt->runs.at[s->run + i];

		inputs += (uint64_t)(r->hi - r->lo) * r->times;
	}
	len = (size_t)snprintf(ret, cap_bytes, "%s of %llu inputs, ranks",
	    plan_ops[s->op], (unsigned long long)inputs);
	for (uint32_t i = 0; i < s->runs && i < 4 && len < cap_bytes; i++) {
		const struct run *r = &vt->runs.at[s->run + i];

		len += (size_t)snprintf(ret + len, cap_bytes - len,
		    r->hi - r->lo > 1 ? " %u-%u" : " %u", r->lo, r->hi - 1);
		if (r->times > 1 && len < cap_bytes)
			len += (size_t)snprintf(ret + len, cap_bytes - len,
			    " %u times", r->times);
	}
	if (s->runs > 4 && len < cap_bytes)
		snprintf(ret + len, cap_bytes - len, " ...");
}
