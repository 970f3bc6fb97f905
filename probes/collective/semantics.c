/* SPDX-License-Identifier: Apache-2.0 */
/*
 * semantics.c - a block's value is one number: 0 nobody wrote it, then the
 * initial blocks in the order of buffer, rank and block, then sums: lists of
 * initial blocks.
 */
#include "probes/collective/semantics.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/xalloc.h"

#define CELLS_MAX   (64ULL << 20)
#define SOURCES_MAX (256ULL << 20) /* of all sums: 1 GiB */

struct sum {
	size_t first; /* in sources */
	uint32_t count;
};

struct touch {
	uint32_t epoch; /* in which it happened last, from 1 */
	uint8_t wrote;
};

struct semantics {
	struct plan *p;
	uint64_t block_bytes;
	enum plan_op op;
	enum plan_type type;
	uint32_t bufs;
	size_t *first;   /* cell of block 0 of rank 0, by buffer */
	uint64_t *depth; /* blocks of a rank, by buffer */
	size_t cells;
	uint32_t *value; /* by cell */
	struct touch *touch;
	uint32_t epoch;
	struct sum *sums;
	size_t sums_count, sums_cap;
	uint32_t *sources; /* initial blocks, by cell */
	size_t sources_count, sources_cap;
};

struct semantics *
semantics_new(struct plan *p, uint64_t block_bytes, enum plan_op op,
    enum plan_type type)
{
	struct semantics *m = xcalloc(1, sizeof(*m));
	uint64_t cells = 0;

	*m = (struct semantics){ .p = p,
		.block_bytes = block_bytes,
		.op = op,
		.type = type,
		.bufs = p->bufs_count,
		.epoch = 1 };
	m->first = xcalloc(m->bufs, sizeof(*m->first));
	m->depth = xcalloc(m->bufs, sizeof(*m->depth));
	for (uint32_t b = 0; b < m->bufs && cells <= CELLS_MAX; b++) {
		m->first[b] = cells;
		m->depth[b] = p->bufs[b].bytes[0] / block_bytes;
		cells += m->depth[b] > CELLS_MAX ? CELLS_MAX + 1
						 : m->depth[b] * p->ranks;
	}
	if (cells > CELLS_MAX) {
		semantics_free(m);
		return NULL;
	}
	m->cells = cells;
	m->value = xcalloc(cells, sizeof(*m->value));
	m->touch = xcalloc(cells, sizeof(*m->touch));
	for (uint32_t b = 0; b < m->bufs; b++)
		for (size_t i = 0;
		     i < m->depth[b] * p->ranks && p->bufs[b].role == PLAN_IN;
		     i++)
			m->value[m->first[b] + i] = (uint32_t)(m->first[b] + i +
			    1);
	return m;
}

void
semantics_free(struct semantics *m)
{
	if (m == NULL)
		return;
	free(m->first);
	free(m->depth);
	free(m->value);
	free(m->touch);
	free(m->sums);
	free(m->sources);
	free(m);
}

static size_t
cell(const struct semantics *m, struct semantics_place at, uint32_t rank)
{
	return m->first[at.buf] + m->depth[at.buf] * rank + at.block;
}

/* ---- what is at once ---- */

static int
clash(const struct semantics *m, struct semantics_place at, uint32_t rank,
    const char *what, struct err *err)
{
	return err_set(err, -EINVAL,
	    "%s[%llu] of rank %u %s: a fence is missing before this",
	    m->p->bufs[at.buf].name, (unsigned long long)at.block, rank, what);
}

static int
reads(struct semantics *m, struct semantics_place at, uint32_t rank,
    struct err *err)
{
	size_t i = cell(m, at, rank);
	struct touch *t = &m->touch[i];

	if (t->epoch == m->epoch && t->wrote)
		return clash(m, at, rank, "was only now written", err);
	if (m->value[i] == 0)
		return err_set(err, -EINVAL,
		    "%s[%llu] of rank %u is read, but nothing has written it",
		    m->p->bufs[at.buf].name, (unsigned long long)at.block,
		    rank);
	t->epoch = m->epoch;
	t->wrote = 0;
	return 0;
}

static int
writes(struct semantics *m, struct semantics_place at, uint32_t rank,
    uint32_t value, struct err *err)
{
	size_t i = cell(m, at, rank);
	struct touch *t = &m->touch[i];

	if (t->epoch == m->epoch)
		return clash(m, at, rank,
		    t->wrote ? "is written twice" : "was only now read", err);
	t->epoch = m->epoch;
	t->wrote = 1;
	m->value[i] = value;
	return 0;
}

/* ---- primitives ---- */

int
semantics_multicast(struct semantics *m, uint32_t root,
    struct semantics_place from, struct semantics_place to, uint64_t blocks,
    const uint32_t *leaves, uint32_t leaves_count, struct err *err)
{
	int rc = 0;

	for (uint64_t k = 0; k < blocks && rc == 0; k++) {
		struct semantics_place f = { from.buf, from.block + k };
		struct semantics_place t = { to.buf, to.block + k };
		uint32_t value;

		rc = reads(m, f, root, err);
		value = m->value[cell(m, f, root)];
		for (uint32_t i = 0; i < leaves_count && rc == 0; i++)
			if (cell(m, t, leaves[i]) != cell(m, f, root))
				rc = writes(m, t, leaves[i], value, err);
	}
	return rc;
}

static void
source_add(struct semantics *m, uint32_t initial)
{
	if (m->sources_count == m->sources_cap) {
		m->sources_cap = m->sources_cap > 0 ? m->sources_cap * 2 : 64;
		m->sources = xreallocarray(m->sources, m->sources_cap,
		    sizeof(*m->sources));
	}
	m->sources[m->sources_count++] = initial;
}

/* Add the initial blocks that a value stands for. */
static void
value_add(struct semantics *m, uint32_t value)
{
	const struct sum *sum;

	if (value <= m->cells) {
		source_add(m, value - 1);
		return;
	}
	sum = &m->sums[value - m->cells - 1];
	for (uint32_t i = 0; i < sum->count; i++)
		source_add(m, m->sources[sum->first + i]);
}

static int
by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void
sum_add(struct semantics *m, struct sum sum)
{
	if (m->sums_count == m->sums_cap) {
		m->sums_cap = m->sums_cap > 0 ? m->sums_cap * 2 : 64;
		m->sums = xreallocarray(m->sums, m->sums_cap, sizeof(*m->sums));
	}
	m->sums[m->sums_count++] = sum;
}

/* The sources from first on as one value; the same as another sum's where all
 * roots reduce the same. */
static uint32_t
sum_close(struct semantics *m, size_t first)
{
	struct sum sum = { first, (uint32_t)(m->sources_count - first) };
	const struct sum *last = m->sums_count > 0 ? &m->sums[m->sums_count - 1]
						   : NULL;

	qsort(m->sources + first, sum.count, sizeof(*m->sources), by_number);
	if (sum.count == 1) {
		m->sources_count = first;
		return m->sources[first] + 1;
	}
	if (last != NULL && last->count == sum.count &&
	    memcmp(m->sources + last->first, m->sources + first,
		sum.count * sizeof(*m->sources)) == 0)
		m->sources_count = first;
	else
		sum_add(m, sum);
	return (uint32_t)(m->cells + m->sums_count);
}

/* One block. The root may be a leaf in place: it reads before it writes. */
static int
reduce_block(struct semantics *m, const uint32_t *leaves, uint32_t leaves_count,
    struct semantics_place from, uint32_t root, struct semantics_place to,
    struct err *err)
{
	size_t first = m->sources_count;
	int rc = 0, in_place = 0;
	uint32_t value;

	for (uint32_t i = 0; i < leaves_count && rc == 0; i++) {
		rc = reads(m, from, leaves[i], err);
		if (rc == 0)
			value_add(m, m->value[cell(m, from, leaves[i])]);
		in_place |= cell(m, from, leaves[i]) == cell(m, to, root);
	}
	if (rc == 0 && m->sources_count > SOURCES_MAX) {
		err_say(err, "the sums have more than %llu inputs",
		    (unsigned long long)SOURCES_MAX);
		rc = -EINVAL;
	}
	if (rc < 0)
		return rc;
	value = sum_close(m, first);
	if (in_place)
		m->touch[cell(m, to, root)].epoch = 0;
	return writes(m, to, root, value, err);
}

int
semantics_reduce(struct semantics *m, const uint32_t *leaves,
    uint32_t leaves_count, struct semantics_place from, uint32_t root,
    struct semantics_place to, uint64_t blocks, struct err *err)
{
	int rc = 0;

	for (uint64_t k = 0; k < blocks && rc == 0; k++)
		rc = reduce_block(m, leaves, leaves_count,
		    (struct semantics_place){ from.buf, from.block + k }, root,
		    (struct semantics_place){ to.buf, to.block + k }, err);
	return rc;
}

void
semantics_fence(struct semantics *m)
{
	m->epoch++;
}

/* ---- the end ---- */

static struct plan_source
source_of(const struct semantics *m, uint32_t initial)
{
	uint32_t b = 0;
	size_t in;

	while (b + 1 < m->bufs && m->first[b + 1] <= initial)
		b++;
	in = initial - m->first[b];
	return (struct plan_source){ .off = in % m->depth[b] * m->block_bytes,
		.lo = (uint32_t)(in / m->depth[b]),
		.hi = (uint32_t)(in / m->depth[b]) + 1,
		.buf = (uint16_t)b };
}

static void
promise(struct semantics *m, struct semantics_place at, uint32_t value,
    const struct plan_span *spans, uint32_t spans_count)
{
	const uint32_t one = value - 1, *from = &one;
	struct plan_source *sources;
	uint32_t n = 1;
	struct plan_promise p = { .to = at.buf,
		.to_off = at.block * m->block_bytes,
		.bytes = m->block_bytes,
		.type = (uint8_t)m->type };

	if (value > m->cells) {
		from = m->sources + m->sums[value - m->cells - 1].first;
		n = m->sums[value - m->cells - 1].count;
	}
	p.op = n == 1 ? PLAN_COPY : (uint8_t)m->op;
	sources = xcalloc(n, sizeof(*sources));
	for (uint32_t i = 0; i < n; i++)
		sources[i] = source_of(m, from[i]);
	plan_promise_add(m->p, &p, spans, spans_count, sources, n);
	free(sources);
}

/* Ranks in a row whose block has the same value share a promise. */
static void
promise_block(struct semantics *m, struct semantics_place at)
{
	uint32_t ranks = m->p->ranks, end;

	for (uint32_t r = 0; r < ranks; r = end) {
		size_t i = cell(m, at, r);
		uint32_t value = m->value[i];

		for (end = r + 1; end < ranks; end++)
			if (m->value[cell(m, at, end)] != value)
				break;
		if (value != 0 && value != i + 1) /* its own: unchanged */
			promise(m, at, value, &(struct plan_span){ r, end }, 1);
	}
}

void
semantics_promise(struct semantics *m)
{
	for (uint32_t b = 0; b < m->bufs; b++)
		for (uint64_t k = 0;
		     k < m->depth[b] && m->p->bufs[b].role != PLAN_TEMP; k++)
			promise_block(m,
			    (struct semantics_place){ (uint16_t)b, k });
}
