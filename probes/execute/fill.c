/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fill.c - contents are computed from rank, buffer, offset and iteration, in
 * blocks, so that any part can be checked without the whole.
 */
#include "probes/execute/fill.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

#define BLOCK_WORDS 64
#define BLOCK_BYTES (BLOCK_WORDS * sizeof(uint64_t))
#define ADDERS      16 /* that add something at one place, at most */

/* The finalizer of splitmix64 (Steele, Lea, Flood 2014): every bit of the
 * result depends on every bit of x. */
static uint64_t
fill_mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

/* Whether no more than ADDERS of a result's inputs have the same turn. */
static int
fill_is_spread(const struct plan *p, const struct plan_promise *m,
    uint32_t turns)
{
	uint32_t *counts = xcalloc(turns, sizeof(*counts)), all = 0, most = 0;

	for (uint32_t k = 0; k < m->sources; k++) {
		const struct plan_source *s = &p->sources[m->source + k];
		uint32_t ranks = s->hi - s->lo;
		uint64_t first = s->off / plan_types[m->type].bytes + s->lo;

		all += ranks / turns;
		for (uint32_t i = 0; i < ranks % turns; i++)
			counts[(first + i) % turns]++;
	}
	for (uint32_t i = 0; i < turns; i++)
		most = counts[i] > most ? counts[i] : most;
	free(counts);
	return all + most <= ADDERS;
}

/* The least number of turns that spreads the inputs of every result. */
static uint32_t
fill_turns_of(const struct plan *p, uint32_t inputs)
{
	uint32_t least = (inputs + ADDERS - 1) / ADDERS, turns = least;
	size_t good = 0; /* promises in a row */

	for (size_t i = 0; good < p->promises_count;
	     i = (i + 1) % p->promises_count) {
		const struct plan_promise *m = &p->promises[i];

		if (m->op == PLAN_COPY || fill_is_spread(p, m, turns)) {
			good++;
			continue;
		}
		good = 0;
		if (++turns > 2 * inputs)
			return least; /* one rank alone has too many */
	}
	return turns;
}

int
fill_of_plan(const struct plan *p, struct fill *ret)
{
	struct fill f = { PLAN_COPY, PLAN_BYTE, 1, 1 };

	for (size_t i = 0; i < p->promises_count; i++) {
		const struct plan_promise *m = &p->promises[i];
		uint32_t inputs = 0;

		if (m->op == PLAN_COPY)
			continue;
		if (f.op != PLAN_COPY && (f.op != m->op || f.type != m->type))
			return -ENOTSUP;
		f.op = (enum plan_op)m->op;
		f.type = (enum plan_type)m->type;
		for (uint32_t k = 0; k < m->sources; k++) {
			const struct plan_source *s = &p->sources[m->source];

			inputs += s[k].hi - s[k].lo;
		}
		if (inputs > f.inputs)
			f.inputs = inputs;
	}
	if (f.inputs > ADDERS && (f.op == PLAN_SUM || f.op == PLAN_PROD))
		f.turns = fill_turns_of(p, f.inputs);
	*ret = f;
	return 0;
}

/* A small number for element i: sums of ADDERS of them stay below 256, where
 * even bfloat16 is exact, and products below 2^15. */
static int
fill_small(const struct fill *f, uint32_t rank, uint64_t i, uint64_t noise)
{
	int mine = (i + rank) % f->turns == 0;
	int sign = noise & 1 ? -1 : 1;

	switch (f->op) {
	case PLAN_SUM:
		return mine ? (int)(noise >> 8 & 15) : 0;
	case PLAN_PROD:
		return mine && (noise >> 8 & 7) == 0 ? 2 * sign : sign;
	case PLAN_LAND:
		return (noise >> 8) % (2 * (uint64_t)f->inputs) != 0;
	case PLAN_LOR:
		return (noise >> 8) % (2 * (uint64_t)f->inputs) == 0;
	default:
		return (int)(noise >> 8 & 127) - 64;
	}
}

static void
fill_element(const struct fill *f, uint32_t rank, uint64_t i, uint64_t noise,
    char *to)
{
	int logical = f->op == PLAN_LAND || f->op == PLAN_LOR;
	int x = fill_small(f, rank, i, noise);
	/* Even factors would soon make every product 0. */
	uint64_t whole = f->op == PLAN_PROD ? noise | 1 : noise;
	int32_t i32 = logical ? x : (int32_t)whole;
	int64_t i64 = logical ? x : (int64_t)whole;
	float f32 = (float)x;
	double f64 = x;
	unsigned size = (unsigned)(x < 0 ? -x : x), exp = 0;
	uint16_t f16 = 0;

	switch (f->type) {
	case PLAN_INT32:
		memcpy(to, &i32, sizeof(i32));
		break;
	case PLAN_INT64:
		memcpy(to, &i64, sizeof(i64));
		break;
	case PLAN_FLOAT:
		memcpy(to, &f32, sizeof(f32));
		break;
	case PLAN_DOUBLE:
		memcpy(to, &f64, sizeof(f64));
		break;
	default:
		/* A small whole number has few enough bits to need no rounding.
		 */
		while (size >> exp > 1)
			exp++;
		if (size > 0 && f->type == PLAN_HALF)
			f16 = (uint16_t)((exp + 15) << 10 |
			    (size << 10 >> exp & 0x3ff));
		else if (size > 0)
			f16 = (uint16_t)((exp + 127) << 7 |
			    (size << 7 >> exp & 0x7f));
		f16 |= x < 0 ? 0x8000 : 0;
		memcpy(to, &f16, sizeof(f16));
	}
}

void
fill_make(const struct fill *f, uint64_t iteration, uint32_t rank, uint16_t buf,
    uint64_t off, void *to, size_t bytes)
{
	uint64_t seed = fill_mix(fill_mix(iteration << 16 | buf) + rank);
	uint64_t words[BLOCK_WORDS];
	unsigned size = f->op == PLAN_COPY ? sizeof(*words)
					   : plan_types[f->type].bytes;
	char *at = to;

	while (bytes > 0) {
		uint64_t skip = off % BLOCK_BYTES;
		uint64_t first = (off - skip) / size; /* of this block */
		size_t n = BLOCK_BYTES - skip;

		if (n > bytes)
			n = bytes;
		if (f->op == PLAN_COPY)
			for (uint64_t i = 0; i < BLOCK_WORDS; i++)
				words[i] = fill_mix(seed + first + i);
		else
			for (uint64_t i = 0; i < BLOCK_BYTES / size; i++)
				fill_element(f, rank, first + i,
				    fill_mix(seed + first + i),
				    (char *)words + i * size);
		memcpy(at, (char *)words + skip, n);
		at += n;
		off += n;
		bytes -= n;
	}
}
