/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compose_fold.c - reductions: stripe, ring, tree. Inputs are combined in
 * ascending order of rank; a ring adds (received, own).
 */
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "probes/collective/compose_part.h"

static struct input
input_get(const struct fold *f, uint32_t i)
{
	if (f->inputs != NULL)
		return f->inputs[i];
	return (struct input){ f->leaves[i], f->from };
}

static struct plan_place
out_place(struct build *b, struct fold *f)
{
	if (!f->has_out)
		f->out = build_temp(b, f->root, f->count);
	f->has_out = 1;
	return f->out;
}

/* Bring inputs [lo, hi), all of one group, together at combiner. */
static struct plan_place
combine(struct build *b, struct fold *f, uint32_t lo, uint32_t hi,
    uint32_t combiner, uint32_t level)
{
	struct plan_place *in = xcalloc(hi - lo, sizeof(*in)), to;
	struct input only = input_get(f, lo);
	uint8_t via = b->shape->vias[level];
	int leaf_level = level + 1 == b->shape->levels;

	if (hi - lo == 1 && only.rank == combiner &&
	    (f->lone || b->shape->lean || !leaf_level)) {
		free(in);
		return only.at;
	}
	to = combiner == f->root ? out_place(b, f)
				 : build_temp(b, combiner, f->count);
	for (uint32_t i = lo; i < hi; i++) {
		struct input x = input_get(f, i);

		in[i - lo] = x.at;
		if (x.rank == combiner && hi - lo > 1)
			continue;
		if (hi - lo > 1)
			in[i - lo] = build_temp(b, combiner, f->count);
		else if (x.at.buf == to.buf && x.at.off == to.off &&
		    x.rank == combiner)
			break; /* it lies there already */
		build_send(b, x.rank, x.at, combiner,
		    hi - lo > 1 ? in[i - lo] : to, f->count, via);
	}
	if (hi - lo > 1)
		build_reduce(b, combiner, in, hi - lo, to, f->count);
	free(in);
	return to;
}

static void
fold_level(struct build *b, struct fold *f, uint32_t level)
{
	uint32_t size = b->sizes[level], groups = 0, n = 0;
	struct input *to;

	for (uint32_t i = 0; i < f->inputs_count; i++)
		groups += i == 0 ||
		    input_get(f, i).rank / size !=
			input_get(f, i - 1).rank / size;
	to = xcalloc(groups, sizeof(*to));
	for (uint32_t lo = 0, hi; lo < f->inputs_count; lo = hi) {
		uint32_t group = input_get(f, lo).rank / size;
		uint32_t combiner = group * size + f->root % size;

		for (hi = lo + 1; hi < f->inputs_count; hi++)
			if (input_get(f, hi).rank / size != group)
				break;
		to[n].at = combine(b, f, lo, hi, combiner, level);
		to[n++].rank = combiner;
	}
	free(f->inputs);
	f->inputs = to;
	f->inputs_count = groups;
}

/* Each fold to one result at its root. */
static void
fold_tree(struct build *b, struct folds *list)
{
	for (uint32_t l = b->shape->levels; l-- > 0;) {
		for (size_t i = 0; i < list->count; i++)
			fold_level(b, &list->at[i], l);
		build_stage_end(b);
	}
	for (size_t i = 0; i < list->count; i++) {
		struct fold *f = &list->at[i];

		f->result = f->inputs[0].at;
		free(f->inputs);
		f->inputs = NULL;
		if (f->alias ||
		    (f->result.buf == f->out.buf &&
			f->result.off == f->out.off))
			continue;
		build_copy(b, f->root, f->result, f->out, f->count);
		f->result = f->out;
	}
	build_stage_end(b);
}

/* The nodes of a fold's ring, from the root's own outwards. */
struct chain {
	const struct fold *whole;
	uint32_t depth;       /* of the farthest node with leaves */
	size_t *own;          /* by distance: fold in trees + 1, or 0 */
	struct plan_place at; /* what has been gathered, where it is now */
};

static uint32_t
chain_rank(const struct build *b, const struct chain *ch, uint32_t distance)
{
	uint32_t g = b->p->ranks / b->shape->ring, root = ch->whole->root;

	return (root / g + distance) % b->shape->ring * g + root % g;
}

/* One tree fold for each node with leaves. */
static void
chain_start(struct build *b, struct chain *ch, struct folds *trees)
{
	const struct fold *f = ch->whole;
	uint32_t g = b->p->ranks / b->shape->ring;

	ch->own = xcalloc(b->shape->ring, sizeof(*ch->own));
	for (uint32_t d = 0; d < b->shape->ring; d++) {
		uint32_t rank = chain_rank(b, ch, d), node = rank / g;
		uint32_t lo = leaves_find(f->leaves, f->inputs_count, node * g);
		uint32_t hi = leaves_find(f->leaves, f->inputs_count,
		    (node + 1) * g);
		struct fold part = *f;

		if (lo == hi)
			continue;
		part.leaves = f->leaves + lo;
		part.inputs_count = hi - lo;
		part.root = rank;
		part.has_out = 0;
		part.alias = 1;
		part.lone = d > 0 && hi - lo == 1 && f->leaves[lo] == rank;
		ch->depth = d;
		folds_add(trees, part);
		ch->own[d] = trees->count;
	}
	if (ch->depth > 0 || ch->own[0] == 0)
		return;
	/* no ring for this one: straight to where it belongs */
	trees->at[ch->own[0] - 1].out = f->out;
	trees->at[ch->own[0] - 1].has_out = 1;
	trees->at[ch->own[0] - 1].alias = 0;
}

/* From distance d to d - 1; the last hop ends in the final place. */
static void
chain_hop(struct build *b, struct chain *ch, const struct folds *trees,
    uint32_t d)
{
	const struct fold *f = ch->whole;
	uint32_t src = chain_rank(b, ch, d), dst = chain_rank(b, ch, d - 1);
	struct plan_place to, in[2];

	if (d == ch->depth)
		ch->at = trees->at[ch->own[d] - 1].result;
	to = ch->own[d - 1] == 0 && d == 1 ? f->out
					   : build_temp(b, dst, f->count);
	build_send(b, src, ch->at, dst, to, f->count, b->shape->vias[0]);
	ch->at = to;
	if (ch->own[d - 1] == 0)
		return;
	in[0] = to;
	in[1] = trees->at[ch->own[d - 1] - 1].result;
	ch->at = d == 1 ? f->out : to;
	build_reduce(b, dst, in, 2, ch->at, f->count);
}

static void
fold_ring(struct build *b, struct folds *list)
{
	struct chain *chains = xcalloc(list->count + 1, sizeof(*chains));
	struct folds trees = { 0 };
	uint32_t farthest = 0;

	for (size_t i = 0; i < list->count; i++) {
		chains[i].whole = &list->at[i];
		chain_start(b, &chains[i], &trees);
		if (chains[i].depth > farthest)
			farthest = chains[i].depth;
	}
	fold_tree(b, &trees);
	for (uint32_t d = farthest; d > 0; d--) {
		for (size_t i = 0; i < list->count; i++)
			if (chains[i].depth >= d)
				chain_hop(b, &chains[i], &trees, d);
		build_stage_end(b);
	}
	for (size_t i = 0; i < list->count; i++)
		free(chains[i].own);
	free(chains);
	free(trees.at);
}

/* Cut a fold over the ranks of its root's group; what ends up elsewhere than
 * at the root is merged by casts. */
static void
stripe_one(struct build *b, const struct fold *f, struct folds *to,
    struct casts *merges)
{
	uint32_t s = b->shape->stripe, first = f->root / s * s;

	for (uint32_t t = 0; t < s; t++) {
		uint64_t lo = plan_cut(f->count, s, t);
		struct fold part = *f;
		struct cast back = { .leaves = &f->root,
			.leaves_count = 1,
			.to = f->out };

		part.count = plan_cut(f->count, s, t + 1u) - lo;
		if (part.count == 0)
			return;
		part.from.off += lo * b->element;
		part.out.off += lo * b->element;
		part.root = first + t;
		if (part.root != f->root) {
			part.out = build_temp(b, part.root, part.count);
			back.to.off += lo * b->element;
			back.from = part.out;
			back.holder = part.root;
			back.count = part.count;
			casts_add(merges, back);
		}
		folds_add(to, part);
	}
}

/* list must live until the merges are done: they point to its roots. */
static void
fold_stripe(struct build *b, const struct folds *list, struct folds *to,
    struct casts *merges)
{
	uint32_t s = b->shape->stripe;

	for (size_t i = 0; i < list->count; i++) {
		const struct fold *f = &list->at[i];
		uint32_t first = f->root / s * s;
		uint32_t lo = leaves_find(f->leaves, f->inputs_count, first);
		uint32_t hi = leaves_find(f->leaves, f->inputs_count,
		    first + s);

		if (s == 1 || hi - lo == f->inputs_count)
			folds_add(to, *f);
		else
			stripe_one(b, f, to, merges);
	}
}

void
fold_all(struct build *b, struct folds *list)
{
	struct folds parts = { 0 };
	struct casts merges = { 0 };

	if (list->count == 0)
		return;
	fold_stripe(b, list, &parts, &merges);
	if (b->shape->ring > 1)
		fold_ring(b, &parts);
	else
		fold_tree(b, &parts);
	if (merges.count > 0)
		cast_tree(b, &merges);
	free(parts.at);
	free(merges.at);
}
