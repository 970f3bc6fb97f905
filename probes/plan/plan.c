/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.c - the list itself: rows are added, and brought into the order of a
 * listing.
 */
#include "probes/plan/plan.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

const char *const plan_vias[PLAN_VIA_MAX] = {
	[PLAN_VIA_MPI] = "mpi",
	[PLAN_VIA_RMA] = "rma",
	[PLAN_VIA_IPC] = "ipc",
	[PLAN_VIA_IPC_PUT] = "ipc-put",
	[PLAN_VIA_IPC_GET] = "ipc-get",
	[PLAN_VIA_XCCL] = "xccl",
	[PLAN_VIA_AUTO] = "auto",
};

const struct plan_type_row plan_types[PLAN_TYPE_MAX] = {
	[PLAN_INT32] = { "int32", 4 },
	[PLAN_INT64] = { "int64", 8 },
	[PLAN_FLOAT] = { "float", 4 },
	[PLAN_DOUBLE] = { "double", 8 },
	[PLAN_HALF] = { "half", 2 },
	[PLAN_BFLOAT16] = { "bfloat16", 2 },
	[PLAN_BYTE] = { "byte", 1 },
};

const char *const plan_ops[PLAN_OP_MAX] = {
	[PLAN_COPY] = "copy",
	[PLAN_SUM] = "sum",
	[PLAN_PROD] = "prod",
	[PLAN_MIN] = "min",
	[PLAN_MAX] = "max",
	[PLAN_LAND] = "land",
	[PLAN_LOR] = "lor",
};

/* Room for more items behind count, in steps of half. */
static void *
plan_grow(void *old, size_t count, size_t more, size_t *cap, size_t item_bytes)
{
	if (count + more <= *cap)
		return old;
	*cap = count + more + count / 2 + 16;
	return xreallocarray(old, *cap, item_bytes);
}

#define GROW(p, list, more)                                                    \
	((p)->list = plan_grow((p)->list, (p)->list##_count, more,             \
	     &(p)->list##_cap, sizeof(*(p)->list)))

struct plan *
plan_new(uint32_t ranks, const char *title)
{
	struct plan *p = xcalloc(1, sizeof(*p));

	assert(ranks >= 1 && ranks <= PLAN_RANKS_MAX);
	p->title = xstrdup(title);
	p->ranks = ranks;
	return p;
}

void
plan_free(struct plan *p)
{
	if (p == NULL)
		return;
	for (uint32_t i = 0; i < p->bufs_count; i++) {
		free(p->bufs[i].name);
		free(p->bufs[i].bytes);
	}
	free(p->bufs);
	free(p->transfers);
	free(p->locals);
	free(p->inputs);
	free(p->promises);
	free(p->spans);
	free(p->sources);
	for (size_t i = 0; i < p->notes_count; i++)
		free(p->notes[i].name);
	free(p->notes);
	free(p->title);
	free(p->remark);
	free(p);
}

uint16_t
plan_buf_add(struct plan *p, const char *name, enum plan_role role)
{
	struct plan_buf *b;

	assert(p->bufs_count < UINT16_MAX);
	p->bufs = xreallocarray(p->bufs, p->bufs_count + 1, sizeof(*p->bufs));
	b = &p->bufs[p->bufs_count];
	b->name = xstrdup(name);
	b->role = role;
	b->on_host = 0;
	b->bytes = xcalloc(p->ranks, sizeof(*b->bytes));
	return (uint16_t)p->bufs_count++;
}

void
plan_buf_on_host(struct plan *p, uint16_t buf)
{
	p->bufs[buf].on_host = 1;
}

void
plan_buf_need(struct plan *p, uint16_t buf, uint32_t rank, uint64_t bytes)
{
	assert(buf < p->bufs_count && rank < p->ranks);
	assert(bytes <= PLAN_BYTES_MAX);
	if (p->bufs[buf].bytes[rank] < bytes)
		p->bufs[buf].bytes[rank] = bytes;
}

void
plan_transfer_add(struct plan *p, const struct plan_transfer *t)
{
	if (t->bytes == 0)
		return;
	GROW(p, transfers, 1);
	p->transfers[p->transfers_count++] = *t;
	if (t->step >= p->steps)
		p->steps = t->step + 1;
}

void
plan_choose_vias(struct plan *p, const int *nodes, enum plan_via within,
    enum plan_via across)
{
	for (size_t i = 0; i < p->transfers_count; i++) {
		struct plan_transfer *t = &p->transfers[i];
		int is_near = t->src == t->dst ||
		    (nodes != NULL && nodes[t->src] == nodes[t->dst]);

		if (t->via == PLAN_VIA_AUTO)
			t->via = (uint8_t)(is_near ? within : across);
	}
}

void
plan_local_add(struct plan *p, const struct plan_local *l,
    const struct plan_place *inputs, uint32_t inputs_count)
{
	struct plan_local *to;

	if (l->bytes == 0)
		return;
	assert(inputs_count >= 1);
	GROW(p, locals, 1);
	GROW(p, inputs, inputs_count);
	to = &p->locals[p->locals_count++];
	*to = *l;
	to->input = p->inputs_count;
	to->inputs = inputs_count;
	memcpy(p->inputs + p->inputs_count, inputs,
	    inputs_count * sizeof(*inputs));
	p->inputs_count += inputs_count;
	if (l->step >= p->steps)
		p->steps = l->step + 1;
}

void
plan_promise_add(struct plan *p, const struct plan_promise *m,
    const struct plan_span *spans, uint32_t spans_count,
    const struct plan_source *sources, uint32_t sources_count)
{
	struct plan_promise *to;

	if (m->bytes == 0 || spans_count == 0)
		return;
	assert(sources_count >= 1);
	GROW(p, promises, 1);
	GROW(p, spans, spans_count);
	GROW(p, sources, sources_count);
	to = &p->promises[p->promises_count++];
	*to = *m;
	to->span = p->spans_count;
	to->spans = spans_count;
	to->source = p->sources_count;
	to->sources = sources_count;
	memcpy(p->spans + p->spans_count, spans, spans_count * sizeof(*spans));
	p->spans_count += spans_count;
	memcpy(p->sources + p->sources_count, sources,
	    sources_count * sizeof(*sources));
	p->sources_count += sources_count;
}

void
plan_promise_copy(struct plan *p, const struct plan_transfer *t)
{
	plan_promise_add(p,
	    &(struct plan_promise){ .to = t->to,
		.to_off = t->to_off,
		.bytes = t->bytes,
		.op = PLAN_COPY,
		.type = PLAN_BYTE },
	    &(struct plan_span){ t->dst, t->dst + 1 }, 1,
	    &(struct plan_source){ .lo = t->src,
		.hi = t->src + 1,
		.buf = t->from,
		.off = t->from_off },
	    1);
}

void
plan_note_add(struct plan *p, const char *name, const char *unit,
    uint64_t value)
{
	GROW(p, notes, 1);
	p->notes[p->notes_count++] = (struct plan_note){ .name = xstrdup(name),
		.unit = unit,
		.value = value };
}

void
plan_note_real(struct plan *p, const char *name, const char *unit, double value)
{
	GROW(p, notes, 1);
	p->notes[p->notes_count++] = (struct plan_note){ .name = xstrdup(name),
		.unit = unit,
		.real = value,
		.is_real = 1 };
}

void
plan_remark(struct plan *p, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	free(p->remark);
	p->remark = xstrdup(text);
}

uint64_t
plan_volume(const struct plan *p)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->transfers_count; i++)
		sum += p->transfers[i].bytes;
	return sum;
}

uint64_t
plan_cut(uint64_t count, uint64_t parts, uint64_t i)
{
	uint64_t rest = count % parts;

	return count / parts * i + (i < rest ? i : rest);
}

uint64_t
plan_cut_share(uint64_t bytes, uint64_t unit, uint64_t acc, uint64_t sum)
{
	uint64_t units = bytes / unit + (bytes % unit != 0), at;

	if (acc == sum)
		return bytes;
	at = (uint64_t)((unsigned __int128)units * acc / sum) * unit;
	return at < bytes ? at : bytes;
}

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static int
plan_place_compare(const struct plan *p, uint16_t a, uint64_t a_off, uint16_t b,
    uint64_t b_off)
{
	if (a != b)
		return strcmp(p->bufs[a].name, p->bufs[b].name);
	return ORDER(a_off, b_off);
}

static int
plan_transfer_compare_cb(const void *va, const void *vb, void *arg)
{
	const struct plan_transfer *a = va, *b = vb;

	if (a->step != b->step)
		return ORDER(a->step, b->step);
	if (a->src != b->src)
		return ORDER(a->src, b->src);
	if (a->dst != b->dst)
		return ORDER(a->dst, b->dst);
	return plan_place_compare(arg, a->to, a->to_off, b->to, b->to_off);
}

static int
plan_local_compare_cb(const void *va, const void *vb, void *arg)
{
	const struct plan_local *a = va, *b = vb;

	if (a->step != b->step)
		return ORDER(a->step, b->step);
	if (a->rank != b->rank)
		return ORDER(a->rank, b->rank);
	return plan_place_compare(arg, a->to, a->to_off, b->to, b->to_off);
}

enum sort_key { KEY_DST, KEY_SRC, KEY_STEP };

static uint32_t
plan_sort_key_of(const struct plan_transfer *t, enum sort_key key)
{
	return key == KEY_DST ? t->dst : key == KEY_SRC ? t->src : t->step;
}

/* One stable pass of counting over all rows; from and to are row numbers. */
static void
plan_count_pass(const struct plan *p, enum sort_key key, const uint32_t *from,
    uint32_t *to)
{
	uint32_t values = key == KEY_STEP ? p->steps : p->ranks;
	size_t *at = xcalloc((size_t)values + 1, sizeof(*at));

	for (size_t i = 0; i < p->transfers_count; i++)
		at[plan_sort_key_of(&p->transfers[i], key) + 1]++;
	for (uint32_t v = 0; v < values; v++)
		at[v + 1] += at[v];
	for (size_t i = 0; i < p->transfers_count; i++)
		to[at[plan_sort_key_of(&p->transfers[from[i]], key)]++] =
		    from[i];
	free(at);
}

/* Millions of rows: three passes of counting (receiver, sender, step) bring the
 * rows of one pair in one step together; those few are then sorted by place. */
void
plan_sort(struct plan *p)
{
	struct plan_transfer *t = p->transfers;
	size_t n = p->transfers_count, sorted = 1;
	uint32_t *a, *from;

	if (p->locals_count > 0)
		qsort_r(p->locals, p->locals_count, sizeof(*p->locals),
		    plan_local_compare_cb, p);
	while (sorted < n &&
	    plan_transfer_compare_cb(&t[sorted - 1], &t[sorted], p) <= 0)
		sorted++;
	if (sorted >= n)
		return;
	a = xcalloc(n, sizeof(*a));
	from = xcalloc(n, sizeof(*from));
	for (size_t i = 0; i < n; i++)
		a[i] = (uint32_t)i;
	plan_count_pass(p, KEY_DST, a, from);
	plan_count_pass(p, KEY_SRC, from, a);
	plan_count_pass(p, KEY_STEP, a, from);
	free(a);
	/* row i becomes what row from[i] was, without a second list: round by
	 * round, each row moves once, and from is used up */
	for (size_t i = 0; i < n; i++) {
		struct plan_transfer first = t[i];
		size_t at = i;

		while (from[at] != i) {
			size_t next = from[at];

			t[at] = t[next];
			from[at] = (uint32_t)at;
			at = next;
		}
		t[at] = first;
		from[at] = (uint32_t)at;
	}
	free(from);
	for (size_t lo = 0, hi; lo < n; lo = hi) {
		for (hi = lo + 1; hi < n; hi++)
			if (t[hi].step != t[lo].step ||
			    t[hi].src != t[lo].src || t[hi].dst != t[lo].dst)
				break;
		if (hi - lo > 1)
			qsort_r(t + lo, hi - lo, sizeof(*t),
			    plan_transfer_compare_cb, p);
	}
}
