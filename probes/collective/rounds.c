/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rounds.c - partners of recursive halving and doubling, of Swing and of Bine
 * trees, for any number of ranks.
 */
#include "probes/collective/rounds.h"

const char *const rounds_kinds[ROUNDS_KINDS] = { "none", "recursive", "swing",
	"bine" };

struct rounds
rounds_make(enum rounds_kind kind, enum rounds_use use, uint32_t ranks)
{
	struct rounds r = { .kind = kind, .ranks = ranks };
	uint32_t power = 1;

	while (power <= ranks / 2)
		power *= 2;
	if (use == ROUNDS_WHOLE ||
	    (use == ROUNDS_GATHER && kind == ROUNDS_RECURSIVE))
		r.active = power;
	else if (kind == ROUNDS_RECURSIVE || ranks == 1)
		r.active = ranks; /* a tree needs no partner for everyone */
	else
		r.active = ranks - ranks % 2;
	while ((uint64_t)1 << r.count < r.active)
		r.count++;
	r.farthest_first = use == ROUNDS_TREE ||
	    (use == ROUNDS_GATHER && kind == ROUNDS_SWING);
	return r;
}

uint32_t
rounds_partner(const struct rounds *r, uint32_t place, uint32_t round)
{
	uint32_t distance = r->farthest_first ? r->count - 1 - round : round;
	int64_t d = 0, power = 1;

	if (r->kind == ROUNDS_RECURSIVE) {
		uint32_t to = place ^ 1u << distance;

		return to < r->active ? to : ROUNDS_NONE;
	}
	for (uint32_t k = 0; k <= distance; k++, power *= -2)
		d += power;
	d = (int64_t)place + (place % 2 == 0 ? d : -d);
	d %= (int64_t)r->active;
	return (uint32_t)(d < 0 ? d + (int64_t)r->active : d);
}

uint32_t
rounds_rank(const struct rounds *r, uint32_t place)
{
	uint32_t folded = r->ranks - r->active;

	return place < folded ? 2 * place : place + folded;
}

uint32_t
rounds_folded(const struct rounds *r, uint32_t place)
{
	return place < r->ranks - r->active ? 2 * place + 1 : ROUNDS_NONE;
}
