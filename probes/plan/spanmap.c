/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spanmap.c - ranges of a buffer in an array with a gap, which moves to where
 * is written.
 */
#include "probes/plan/spanmap.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

/* A write adds at most two ranges: its own, and the rest of one it splits. */
#define ROOM 2

static int
spanmap_same(struct spanmap_item a, struct spanmap_item b)
{
	return a.tag == b.tag && a.base == b.base && a.mark == b.mark;
}

void
spanmap_init(struct spanmap *m, uint64_t bytes, struct spanmap_item item)
{
	memset(m, 0, sizeof(*m));
	m->bytes = bytes;
	if (bytes == 0)
		return;
	m->cap = m->gap_end = 4;
	m->ranges = xcalloc(m->cap, sizeof(*m->ranges));
	m->ranges[m->gap++] = (struct spanmap_range){ 0, item };
}

void
spanmap_clear(struct spanmap *m)
{
	free(m->ranges);
	memset(m, 0, sizeof(*m));
}

uint32_t
spanmap_count(const struct spanmap *m)
{
	return m->cap - (m->gap_end - m->gap);
}

const struct spanmap_range *
spanmap_get(const struct spanmap *m, uint32_t i)
{
	return &m->ranges[i < m->gap ? i : i - m->gap + m->gap_end];
}

uint64_t
spanmap_end(const struct spanmap *m, uint32_t i)
{
	return i + 1 < spanmap_count(m) ? spanmap_get(m, i + 1)->lo : m->bytes;
}

uint32_t
spanmap_find(const struct spanmap *m, uint64_t at)
{
	uint32_t lo = 0, hi = spanmap_count(m);

	assert(at < m->bytes);
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (spanmap_get(m, mid)->lo <= at)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

void
spanmap_set(struct spanmap *m, uint64_t lo, uint64_t hi,
    struct spanmap_item item)
{
	struct spanmap_item old = { 0 };
	int covered = 0;

	assert(lo < hi && hi <= m->bytes);
	if (m->gap_end - m->gap < ROOM) {
		uint32_t tail = m->cap - m->gap_end;
		uint32_t cap = m->cap + m->cap / 2 + 4;

		m->ranges = xreallocarray(m->ranges, cap, sizeof(*m->ranges));
		memmove(m->ranges + cap - tail, m->ranges + m->gap_end,
		    tail * sizeof(*m->ranges));
		m->gap_end = cap - tail;
		m->cap = cap;
	}
	/* the gap goes before the first range that starts at or above lo */
	while (m->gap > 0 && m->ranges[m->gap - 1].lo >= lo)
		m->ranges[--m->gap_end] = m->ranges[--m->gap];
	while (m->gap_end < m->cap && m->ranges[m->gap_end].lo < lo)
		m->ranges[m->gap++] = m->ranges[m->gap_end++];
	if (m->gap > 0) {
		old = m->ranges[m->gap - 1].item;
		covered = 1;
	}
	/* ranges that begin inside are removed; the last one may continue
	 * behind hi */
	while (m->gap_end < m->cap && m->ranges[m->gap_end].lo < hi) {
		old = m->ranges[m->gap_end++].item;
		covered = 1;
	}
	assert(covered);
	if (m->gap == 0 || !spanmap_same(m->ranges[m->gap - 1].item, item))
		m->ranges[m->gap++] = (struct spanmap_range){ lo, item };
	if (hi == m->bytes)
		return;
	if (m->gap_end == m->cap || m->ranges[m->gap_end].lo > hi) {
		if (!spanmap_same(old, item))
			m->ranges[--m->gap_end] = (struct spanmap_range){ hi,
				old };
	} else if (spanmap_same(m->ranges[m->gap_end].item, item)) {
		m->gap_end++; /* grows together with what follows */
	}
}
