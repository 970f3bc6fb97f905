/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compose_tree.c - the rows of an epoch in one channel: multicasts and
 * reductions over stripes, round the ring, and down or up the tree. Inputs are
 * combined in ascending order of rank; a ring adds (received, own).
 */
#include <stdlib.h>

#include "common/xalloc.h"
#include "probes/collective/compose_tree.h"
#include "probes/plan/order.h"

/* A place of a rank. */
struct spot {
	uint32_t rank;
	struct plan_place at;
};

/* Bring what lies at from to to of every leaf. */
struct cast {
	const uint32_t *leaves; /* ascending */
	uint32_t leaves_count;
	struct spot from;
	struct plan_place to;
	uint64_t count; /* elements */
	uint8_t self;   /* the holder, if a leaf, has not got its own yet */
};

struct casts {
	struct cast *at;
	size_t count;
};

/* Reduce the inputs into out. */
struct fold {
	const uint32_t *leaves; /* of the first level: all have it at from */
	struct plan_place from;
	struct spot *inputs; /* of later levels; NULL before */
	uint32_t inputs_count;
	struct spot out;
	uint64_t count;
	uint8_t has_out; /* 0: out is a temporary, made when needed */
	uint8_t alias;   /* what comes of it may stay where it is */
	uint8_t lone;    /* a relay's own data, which it adds in place */
	struct plan_place result; /* where it is in the end */
};

struct folds {
	struct fold *at;
	size_t count;
};

static void
compose_tree_casts_add(struct casts *list, struct cast c)
{
	list->at = xmore(list->at, list->count, sizeof(*list->at));
	list->at[list->count++] = c;
}

static void
compose_tree_folds_add(struct folds *list, struct fold f)
{
	list->at = xmore(list->at, list->count, sizeof(*list->at));
	list->at[list->count++] = f;
}

/* Where rank is, or would be, in ascending leaves. */
static uint32_t
compose_tree_leaves_find(const uint32_t *leaves, uint32_t count, uint32_t rank)
{
	uint32_t lo = 0, hi = count;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (leaves[mid] < rank)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static int
compose_tree_leaves_have(const uint32_t *leaves, uint32_t count, uint32_t rank)
{
	uint32_t at = compose_tree_leaves_find(leaves, count, rank);

	return at < count && leaves[at] == rank;
}

/* ---- rows ---- */

static void
compose_tree_stage_end(struct build *b)
{
	b->stage += b->busy != 0;
	b->busy = 0;
}

static struct plan_place
compose_tree_temp_make(struct build *b, uint32_t rank, uint64_t count)
{
	uint64_t off = b->p->bufs[b->temp].bytes[rank];

	plan_buf_need(b->p, b->temp, rank, off + count * b->element);
	return (struct plan_place){ off, b->temp };
}

static void
compose_tree_send(struct build *b, struct spot from, struct spot to,
    uint64_t count, uint8_t via)
{
	struct plan_transfer t = { .src = from.rank,
		.dst = to.rank,
		.from = from.at.buf,
		.from_off = from.at.off,
		.to = to.at.buf,
		.to_off = to.at.off,
		.bytes = count * b->element,
		.step = b->channel + b->stage,
		.channel = (uint16_t)b->channel,
		.via = via };

	if (b->order != NULL)
		order_transfer(b->order, &t);
	plan_transfer_add(b->p, &t);
	b->busy = 1;
}

/* One input is copied, several are reduced. */
static void
compose_tree_local(struct build *b, const struct plan_place *in,
    uint32_t inputs, struct spot to, uint64_t count)
{
	struct plan_local l = { .rank = to.rank,
		.to = to.at.buf,
		.to_off = to.at.off,
		.bytes = count * b->element,
		.step = b->channel + b->stage,
		.channel = (uint16_t)b->channel,
		.op = inputs > 1 ? (uint8_t)b->shape->op : PLAN_COPY,
		.type = (uint8_t)b->shape->type };

	if (b->order != NULL)
		order_local(b->order, &l, in, inputs);
	plan_local_add(b->p, &l, in, inputs);
	b->busy = 1;
}

/* ---- multicasts ---- */

/* Leaves that have not got theirs. */
static uint32_t
compose_tree_remaining(const struct cast *c)
{
	return c->leaves_count -
	    (!c->self &&
		compose_tree_leaves_have(c->leaves, c->leaves_count,
		    c->from.rank));
}

/* Hand a cast on to rank: into its final place if it is a leaf, which it is
 * if within its leaves, else into a temporary one. */
static void
compose_tree_hand_on(struct build *b, struct cast *c, uint32_t rank,
    uint8_t via)
{
	struct spot next = { rank, c->to };

	if (!compose_tree_leaves_have(c->leaves, c->leaves_count, rank))
		next.at = compose_tree_temp_make(b, rank, c->count);
	compose_tree_send(b, c->from, next, c->count, via);
	c->from = next;
	c->self = 0;
}

/* The leaves of a cast within ranks [lo, hi). */
static const uint32_t *
compose_tree_slice(const struct cast *c, uint32_t lo, uint32_t hi,
    uint32_t *ret_count)
{
	uint32_t from = compose_tree_leaves_find(c->leaves, c->leaves_count,
	    lo);

	*ret_count = compose_tree_leaves_find(c->leaves, c->leaves_count, hi) -
	    from;
	return c->leaves + from;
}

/* Cut casts over the ranks of their roots' groups of stripe ranks: those that
 * stay inside first, as they are. */
static void
compose_tree_cast_stripe(struct build *b, const struct casts *list,
    struct casts *to)
{
	uint32_t s = b->shape->stripe, inside;
	uint8_t via = b->shape->vias[b->shape->levels - 1];

	for (size_t i = 0; i < 2 * list->count; i++) {
		const struct cast *c = &list->at[i % list->count];
		uint32_t first = c->from.rank / s * s;
		int near = i < list->count;

		compose_tree_slice(c, first, first + s, &inside);
		if ((inside == c->leaves_count) != near)
			continue;
		if (near)
			compose_tree_casts_add(to, *c);
		for (uint32_t t = 0; !near && t < s; t++) {
			uint64_t lo = plan_cut(c->count, s, t);
			struct cast part = *c;

			part.count = plan_cut(c->count, s, t + 1u) - lo;
			if (part.count == 0)
				break;
			part.from.at.off += lo * b->element;
			part.to.off += lo * b->element;
			if (first + t != c->from.rank)
				compose_tree_hand_on(b, &part, first + t, via);
			if (compose_tree_remaining(&part) > 0)
				compose_tree_casts_add(to, part);
		}
	}
	compose_tree_stage_end(b);
}

/* Round the ring, one hop a stage: what each cast leaves in its holder's node
 * is added to to, where only leaves in the nodes remain. list is used up. */
static void
compose_tree_cast_ring(struct build *b, struct casts *list, struct casts *to)
{
	uint32_t g = b->p->ranks / b->shape->ring;
	uint32_t *left = xcalloc(list->count + 1, sizeof(*left));

	for (size_t i = 0; i < list->count; i++)
		left[i] = list->at[i].leaves_count;
	while (list->count > 0) {
		size_t kept = 0;

		for (size_t i = 0; i < list->count; i++) {
			struct cast c = list->at[i], here = c;
			uint32_t node = c.from.rank / g, count;
			uint32_t next = (node + b->ring_step) % b->shape->ring;
			uint32_t rank = next * g + c.from.rank % g;

			here.leaves = compose_tree_slice(&c, node * g,
			    (node + 1) * g, &here.leaves_count);
			if (compose_tree_remaining(&here) > 0)
				compose_tree_casts_add(to, here);
			left[i] -= here.leaves_count;
			if (left[i] == 0)
				continue;
			compose_tree_slice(&c, next * g, (next + 1) * g,
			    &count);
			compose_tree_hand_on(b, &c, rank, b->shape->vias[0]);
			/* the last leaf of all may just have got its own */
			if (left[i] == count && count == 1 &&
			    compose_tree_leaves_have(c.leaves, c.leaves_count,
				rank))
				continue;
			left[kept] = left[i];
			list->at[kept++] = c;
		}
		list->count = kept;
		compose_tree_stage_end(b);
	}
	free(left);
}

/* Level by level each cast goes to one rank of every other group with leaves,
 * and then to these. list is used up. */
static void
compose_tree_cast_tree(struct build *b, struct casts *list)
{
	const struct compose_shape *shape = b->shape;

	for (uint32_t l = 1; l < shape->levels; l++) {
		uint32_t size = b->sizes[l];
		struct casts to = { 0 };

		for (size_t i = 0; i < list->count; i++) {
			struct cast c = list->at[i], part = c;

			for (; c.leaves_count > 0;
			     c.leaves += part.leaves_count,
			     c.leaves_count -= part.leaves_count) {
				uint32_t group = c.leaves[0] / size;

				part = c;
				part.leaves = compose_tree_slice(&c,
				    group * size, (group + 1) * size,
				    &part.leaves_count);
				if (group != c.from.rank / size)
					compose_tree_hand_on(b, &part,
					    group * size + c.from.rank % size,
					    shape->vias[l - 1]);
				if (compose_tree_remaining(&part) > 0)
					compose_tree_casts_add(&to, part);
			}
		}
		compose_tree_stage_end(b);
		free(list->at);
		*list = to;
	}
	for (size_t i = 0; i < list->count; i++) {
		const struct cast *c = &list->at[i];

		for (uint32_t k = 0; k < c->leaves_count; k++)
			if (c->leaves[k] != c->from.rank || c->self)
				compose_tree_send(b, c->from,
				    (struct spot){ c->leaves[k], c->to },
				    c->count, shape->vias[shape->levels - 1]);
	}
	compose_tree_stage_end(b);
	list->count = 0;
}

/* Stripe, ring and tree of all. list is used up. */
static void
compose_tree_cast_all(struct build *b, struct casts *list)
{
	struct casts to = { 0 };

	if (list->count == 0)
		return;
	if (b->shape->stripe > 1) {
		compose_tree_cast_stripe(b, list, &to);
		free(list->at);
		*list = to;
	}
	if (b->shape->ring > 1) {
		to = (struct casts){ 0 };
		compose_tree_cast_ring(b, list, &to);
		free(list->at);
		*list = to;
	}
	compose_tree_cast_tree(b, list);
}

/* ---- reductions ---- */

static struct spot
compose_tree_input_get(const struct fold *f, uint32_t i)
{
	if (f->inputs != NULL)
		return f->inputs[i];
	return (struct spot){ f->leaves[i], f->from };
}

/* Bring inputs [lo, hi), all of one group, together at combiner. */
static struct plan_place
compose_tree_combine(struct build *b, struct fold *f, uint32_t lo, uint32_t hi,
    uint32_t level)
{
	uint32_t size = b->sizes[level], n = hi - lo;
	struct spot only = compose_tree_input_get(f, lo), to, x;
	struct plan_place *in;

	to.rank = only.rank / size * size + f->out.rank % size;
	if (n == 1 && only.rank == to.rank &&
	    (f->lone || b->shape->lean || level + 1 < b->shape->levels))
		return only.at;
	if (to.rank != f->out.rank) {
		to.at = compose_tree_temp_make(b, to.rank, f->count);
	} else {
		if (!f->has_out)
			f->out.at = compose_tree_temp_make(b, f->out.rank,
			    f->count);
		f->has_out = 1;
		to = f->out;
	}
	if (n == 1) {
		if (only.at.buf != to.at.buf || only.at.off != to.at.off ||
		    only.rank != to.rank) /* else it lies there already */
			compose_tree_send(b, only, to, f->count,
			    b->shape->vias[level]);
		return to.at;
	}
	in = xcalloc(n, sizeof(*in));
	for (uint32_t i = 0; i < n; i++) {
		x = compose_tree_input_get(f, lo + i);
		in[i] = x.at;
		if (x.rank == to.rank)
			continue;
		in[i] = compose_tree_temp_make(b, to.rank, f->count);
		compose_tree_send(b, x, (struct spot){ to.rank, in[i] },
		    f->count, b->shape->vias[level]);
	}
	compose_tree_local(b, in, n, to, f->count);
	free(in);
	return to.at;
}

static void
compose_tree_fold_level(struct build *b, struct fold *f, uint32_t level)
{
	uint32_t size = b->sizes[level], groups = 0;
	struct spot *to = NULL;

	for (uint32_t lo = 0, hi; lo < f->inputs_count; lo = hi) {
		uint32_t group = compose_tree_input_get(f, lo).rank / size;

		for (hi = lo + 1; hi < f->inputs_count; hi++)
			if (compose_tree_input_get(f, hi).rank / size != group)
				break;
		to = xmore(to, groups, sizeof(*to));
		to[groups].at = compose_tree_combine(b, f, lo, hi, level);
		to[groups++].rank = group * size + f->out.rank % size;
	}
	free(f->inputs);
	f->inputs = to;
	f->inputs_count = groups;
}

/* Each fold to one result at its root. */
static void
compose_tree_fold_tree(struct build *b, struct folds *list)
{
	for (uint32_t l = b->shape->levels; l-- > 0;) {
		for (size_t i = 0; i < list->count; i++)
			compose_tree_fold_level(b, &list->at[i], l);
		compose_tree_stage_end(b);
	}
	for (size_t i = 0; i < list->count; i++) {
		struct fold *f = &list->at[i];

		f->result = f->inputs[0].at;
		free(f->inputs);
		f->inputs = NULL;
		if (f->alias ||
		    (f->result.buf == f->out.at.buf &&
			f->result.off == f->out.at.off))
			continue;
		compose_tree_local(b, &f->result, 1, f->out, f->count);
		f->result = f->out.at;
	}
	compose_tree_stage_end(b);
}

/* The nodes of a fold's ring, from the root's own outwards. */
struct chain {
	const struct fold *whole;
	uint32_t depth;       /* of the farthest node with leaves */
	size_t *own;          /* by distance: fold in trees + 1, or 0 */
	struct plan_place at; /* current place of the gathered blocks */
};

static uint32_t
compose_tree_chain_rank(const struct build *b, const struct chain *ch,
    uint32_t distance)
{
	uint32_t g = b->p->ranks / b->shape->ring, root = ch->whole->out.rank;

	return (root / g + distance) % b->shape->ring * g + root % g;
}

/* From distance d to d - 1; the last hop ends in the final place. */
static void
compose_tree_chain_hop(struct build *b, struct chain *ch,
    const struct folds *trees, uint32_t d)
{
	const struct fold *f = ch->whole;
	struct spot from = { compose_tree_chain_rank(b, ch, d), ch->at };
	struct spot to = { compose_tree_chain_rank(b, ch, d - 1), f->out.at };
	struct plan_place in[2];

	if (d == ch->depth)
		from.at = trees->at[ch->own[d] - 1].result;
	if (ch->own[d - 1] != 0 || d > 1)
		to.at = compose_tree_temp_make(b, to.rank, f->count);
	compose_tree_send(b, from, to, f->count, b->shape->vias[0]);
	if (ch->own[d - 1] != 0) {
		in[0] = to.at;
		in[1] = trees->at[ch->own[d - 1] - 1].result;
		if (d == 1)
			to.at = f->out.at;
		compose_tree_local(b, in, 2, to, f->count);
	}
	ch->at = to.at;
}

static void
compose_tree_fold_ring(struct build *b, const struct folds *list)
{
	struct chain *chains = xcalloc(list->count + 1, sizeof(*chains));
	uint32_t g = b->p->ranks / b->shape->ring, farthest = 0;
	struct folds trees = { 0 };

	/* one tree for each node with leaves */
	for (size_t i = 0; i < list->count; i++) {
		const struct fold *f = &list->at[i];
		struct chain *ch = &chains[i];

		ch->whole = f;
		ch->own = xcalloc(b->shape->ring, sizeof(*ch->own));
		for (uint32_t d = 0; d < b->shape->ring; d++) {
			struct fold part = *f;
			uint32_t rank = compose_tree_chain_rank(b, ch, d);
			uint32_t first = rank / g * g;
			uint32_t lo = compose_tree_leaves_find(f->leaves,
			    f->inputs_count, first);

			part.leaves += lo;
			part.inputs_count = compose_tree_leaves_find(f->leaves,
						f->inputs_count, first + g) -
			    lo;
			if (part.inputs_count == 0)
				continue;
			part.out.rank = rank;
			part.has_out = 0;
			part.alias = 1;
			part.lone = d > 0 && part.inputs_count == 1 &&
			    part.leaves[0] == rank;
			ch->depth = d;
			compose_tree_folds_add(&trees, part);
			ch->own[d] = trees.count;
		}
		if (ch->depth > farthest)
			farthest = ch->depth;
		/* no ring for this one: straight to where it belongs */
		if (ch->depth == 0 && ch->own[0] > 0) {
			trees.at[ch->own[0] - 1].has_out = 1;
			trees.at[ch->own[0] - 1].alias = 0;
		}
	}
	compose_tree_fold_tree(b, &trees);
	for (uint32_t d = farthest; d > 0; d--) {
		for (size_t i = 0; i < list->count; i++)
			if (chains[i].depth >= d)
				compose_tree_chain_hop(b, &chains[i], &trees,
				    d);
		compose_tree_stage_end(b);
	}
	for (size_t i = 0; i < list->count; i++)
		free(chains[i].own);
	free(chains);
	free(trees.at);
}

/* Folds are cut over the ranks of their roots' groups of stripe ranks; what
 * ends up elsewhere than at the root is merged by casts. */
static void
compose_tree_fold_all(struct build *b, const struct folds *list)
{
	struct folds parts = { 0 };
	struct casts merges = { 0 };
	uint32_t s = b->shape->stripe;

	if (list->count == 0)
		return;
	for (size_t i = 0; i < list->count; i++) {
		const struct fold *f = &list->at[i];
		uint32_t first = f->out.rank / s * s;
		uint32_t lo = compose_tree_leaves_find(f->leaves,
		    f->inputs_count, first);
		uint32_t hi = compose_tree_leaves_find(f->leaves,
		    f->inputs_count, first + s);

		if (s == 1 || hi - lo == f->inputs_count) {
			compose_tree_folds_add(&parts, *f);
			continue;
		}
		for (uint32_t t = 0; t < s; t++) {
			uint64_t off = plan_cut(f->count, s, t);
			struct fold part = *f;
			struct cast back = { .leaves = &f->out.rank,
				.leaves_count = 1 };

			part.count = plan_cut(f->count, s, t + 1u) - off;
			if (part.count == 0)
				break;
			part.from.off += off * b->element;
			part.out.at.off += off * b->element;
			back.to = part.out.at;
			if (first + t != f->out.rank) {
				part.out.rank = first + t;
				part.out.at = compose_tree_temp_make(b,
				    first + t, part.count);
				back.from = part.out;
				back.count = part.count;
				compose_tree_casts_add(&merges, back);
			}
			compose_tree_folds_add(&parts, part);
		}
	}
	if (b->shape->ring > 1)
		compose_tree_fold_ring(b, &parts);
	else
		compose_tree_fold_tree(b, &parts);
	if (merges.count > 0)
		compose_tree_cast_tree(b, &merges);
	free(parts.at);
	free(merges.at);
}

/* ---- an epoch ---- */

void
build_epoch(struct build *b, const struct prim *prims, size_t count)
{
	struct casts casts = { 0 };
	struct folds folds = { 0 };
	uint32_t start = b->stage, depth = b->shape->depth;
	int copies = 0;

	for (size_t i = 0; i < count; i++) {
		const struct compose_prim *pr = &prims[i].is;
		uint64_t lo = plan_cut(pr->count, depth, b->channel);
		uint64_t n = plan_cut(pr->count, depth, b->channel + 1u) - lo;
		struct plan_place from = pr->from, to = pr->to;

		if (n == 0)
			continue;
		from.off += lo * b->element;
		to.off += lo * b->element;
		if (prims[i].copy) {
			compose_tree_local(b, &from, 1,
			    (struct spot){ pr->root, to }, n);
			copies = 1;
		}
		if (pr->kind == COMPOSE_MULTICAST && pr->leaves_count > 0)
			compose_tree_casts_add(&casts,
			    (struct cast){ .leaves = pr->leaves,
				.leaves_count = pr->leaves_count,
				.from = { pr->root, from },
				.to = to,
				.count = n,
				.self = 1 });
		if (pr->kind == COMPOSE_REDUCTION)
			compose_tree_folds_add(&folds,
			    (struct fold){ .leaves = pr->leaves,
				.inputs_count = pr->leaves_count,
				.from = from,
				.out = { pr->root, to },
				.has_out = 1,
				.count = n });
	}
	b->busy = 0; /* copies share the first stage of the rest */
	compose_tree_cast_all(b, &casts);
	compose_tree_fold_all(b, &folds);
	if (copies && b->stage == start)
		b->stage++;
	free(casts.at);
	free(folds.at);
}
