/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compose_cast.c - multicasts: stripe, ring, tree.
 */
#include <stdlib.h>

#include "common/xalloc.h"
#include "probes/collective/compose_part.h"

/* Leaves that have not got theirs. */
static uint32_t
remaining(const struct cast *c)
{
	return c->leaves_count -
	    (!c->self && leaves_have(c->leaves, c->leaves_count, c->holder));
}

/* Hand a cast on to rank: into its final place if it is a leaf, which it is
 * if within its leaves, else into a temporary one. */
static struct cast
hand_on(struct build *b, const struct cast *c, uint32_t rank,
    const uint32_t *leaves, uint32_t leaves_count, uint8_t via)
{
	struct cast next = { .leaves = leaves,
		.leaves_count = leaves_count,
		.holder = rank,
		.to = c->to,
		.count = c->count };

	next.from = leaves_have(leaves, leaves_count, rank)
	    ? c->to
	    : build_temp(b, rank, c->count);
	build_send(b, c->holder, c->from, rank, next.from, c->count, via);
	return next;
}

/* The leaves of a cast within ranks [lo, hi). */
static const uint32_t *
slice(const struct cast *c, uint32_t lo, uint32_t hi, uint32_t *ret_count)
{
	uint32_t from = leaves_find(c->leaves, c->leaves_count, lo);

	*ret_count = leaves_find(c->leaves, c->leaves_count, hi) - from;
	return c->leaves + from;
}

/* Cut a cast over the ranks of its root's group of stripe ranks. */
static void
stripe_one(struct build *b, const struct cast *c, struct casts *to)
{
	uint32_t s = b->shape->stripe, first = c->holder / s * s;
	uint8_t via = b->shape->vias[b->shape->levels - 1];

	for (uint32_t t = 0; t < s; t++) {
		uint64_t lo = plan_cut(c->count, s, t);
		struct cast part = *c;

		part.count = plan_cut(c->count, s, t + 1u) - lo;
		if (part.count == 0)
			return;
		part.from.off += lo * b->element;
		part.to.off += lo * b->element;
		if (first + t != c->holder)
			part = hand_on(b, &part, first + t, c->leaves,
			    c->leaves_count, via);
		if (remaining(&part) > 0)
			casts_add(to, part);
	}
}

static void
cast_stripe(struct build *b, struct casts *list)
{
	struct casts to = { 0 };
	uint32_t s = b->shape->stripe, inside;

	if (s == 1)
		return;
	for (int near = 1; near >= 0; near--)
		for (size_t i = 0; i < list->count; i++) {
			const struct cast *c = &list->at[i];
			uint32_t first = c->holder / s * s;

			slice(c, first, first + s, &inside);
			if ((inside == c->leaves_count) != near)
				continue;
			if (near)
				casts_add(&to, *c);
			else
				stripe_one(b, c, &to);
		}
	build_stage_end(b);
	free(list->at);
	*list = to;
}

/* One hop of one cast. What it leaves in the holder's node goes to aside; 1
 * and *c is what goes on from the next node, while leaves remain. */
static int
ring_hop(struct build *b, struct cast *c, uint32_t *left, struct casts *aside)
{
	uint32_t g = b->p->ranks / b->shape->ring;
	uint32_t node = c->holder / g;
	uint32_t next = (node + b->ring_step) % b->shape->ring;
	uint32_t to = next * g + c->holder % g, count;
	struct cast here = *c, on;

	here.leaves = slice(c, node * g, (node + 1) * g, &here.leaves_count);
	if (remaining(&here) > 0)
		casts_add(aside, here);
	*left -= here.leaves_count;
	if (*left == 0)
		return 0;
	slice(c, next * g, (next + 1) * g, &count);
	on = hand_on(b, c, to, c->leaves, c->leaves_count, b->shape->vias[0]);
	*c = on;
	/* the last leaf of all may just have got its own */
	if (*left == count && count == 1 &&
	    leaves_have(c->leaves, c->leaves_count, to))
		return 0;
	return 1;
}

/* Round the ring, one hop a stage; then only leaves in the nodes remain. */
static void
cast_ring(struct build *b, struct casts *list)
{
	struct casts aside = { 0 };
	uint32_t *left = xcalloc(list->count + 1, sizeof(*left));
	size_t going = list->count;

	if (b->shape->ring == 1) {
		free(left);
		return;
	}
	for (size_t i = 0; i < list->count; i++)
		left[i] = list->at[i].leaves_count;
	while (going > 0) {
		size_t kept = 0;

		for (size_t i = 0; i < going; i++) {
			struct cast c = list->at[i];
			uint32_t n = left[i];

			if (!ring_hop(b, &c, &n, &aside))
				continue;
			list->at[kept] = c;
			left[kept++] = n;
		}
		going = kept;
		build_stage_end(b);
	}
	free(left);
	free(list->at);
	*list = aside;
}

/* Level of groups of size ranks: hand each cast on to one rank of every other
 * group with leaves. */
static void
tree_level(struct build *b, struct casts *list, uint32_t size, uint8_t via)
{
	struct casts to = { 0 };

	for (size_t i = 0; i < list->count; i++) {
		const struct cast *c = &list->at[i];
		uint32_t own = c->holder / size, lo = 0;

		while (lo < c->leaves_count) {
			uint32_t group = c->leaves[lo] / size, count;
			const uint32_t *leaves = slice(c, group * size,
			    (group + 1) * size, &count);
			struct cast part = *c;

			part.leaves = leaves;
			part.leaves_count = count;
			if (group != own)
				part = hand_on(b, c,
				    group * size + c->holder % size, leaves,
				    count, via);
			if (remaining(&part) > 0)
				casts_add(&to, part);
			lo += count;
		}
	}
	build_stage_end(b);
	free(list->at);
	*list = to;
}

void
cast_tree(struct build *b, struct casts *list)
{
	const struct compose_shape *shape = b->shape;

	for (uint32_t l = 1; l < shape->levels; l++)
		tree_level(b, list, b->sizes[l], shape->vias[l - 1]);
	for (size_t i = 0; i < list->count; i++) {
		const struct cast *c = &list->at[i];

		for (uint32_t k = 0; k < c->leaves_count; k++)
			if (c->leaves[k] != c->holder || c->self)
				build_send(b, c->holder, c->from, c->leaves[k],
				    c->to, c->count,
				    shape->vias[shape->levels - 1]);
	}
	build_stage_end(b);
	list->count = 0;
}

void
cast_all(struct build *b, struct casts *list)
{
	if (list->count == 0)
		return;
	cast_stripe(b, list);
	cast_ring(b, list);
	cast_tree(b, list);
}
