/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compose.c - what is composed and how it is factorised: the options, the
 * primitives as they are registered, and the pieces that a channel gets.
 */
#include "probes/collective/compose.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "common/xalloc.h"
#include "probes/collective/compose_part.h"
#include "probes/collective/tune.h"
#include "probes/pattern/builders.h"

enum prim_kind { MULTICAST, REDUCTION, FENCE };

struct prim {
	enum prim_kind kind;
	uint32_t root;
	uint32_t *leaves;
	uint32_t leaves_count;
	struct plan_place from, to;
	uint64_t count;
	uint8_t copy; /* lean: the root copies for itself */
};

struct compose {
	struct plan *p;
	struct compose_shape shape;
	struct prim *prims;
	size_t prims_count, prims_cap;
	uint32_t fences;
	uint16_t temp;
};

struct compose *
compose_new(struct plan *p, const struct compose_shape *shape)
{
	struct compose *c = xcalloc(1, sizeof(*c));
	uint64_t product = 1;

	for (uint32_t i = 0; i < shape->levels; i++)
		product *= shape->factors[i];
	assert(product == p->ranks);
	assert(p->ranks % shape->stripe == 0 && p->ranks % shape->ring == 0);
	assert(shape->depth >= 1);
	c->p = p;
	c->shape = *shape;
	c->temp = plan_buf_add(p, "temp", PLAN_TEMP);
	return c;
}

void
compose_free(struct compose *c)
{
	if (c == NULL)
		return;
	for (size_t i = 0; i < c->prims_count; i++)
		free(c->prims[i].leaves);
	free(c->prims);
	free(c);
}

static struct prim *
prim_add(struct compose *c, enum prim_kind kind, const uint32_t *leaves,
    uint32_t leaves_count)
{
	struct prim *pr;

	if (c->prims_count == c->prims_cap) {
		c->prims_cap = c->prims_cap * 2 + 64;
		c->prims = xreallocarray(c->prims, c->prims_cap,
		    sizeof(*c->prims));
	}
	pr = &c->prims[c->prims_count++];
	memset(pr, 0, sizeof(*pr));
	pr->kind = kind;
	pr->leaves = xcalloc(leaves_count + 1u, sizeof(*pr->leaves));
	pr->leaves_count = leaves_count;
	for (uint32_t i = 0; i < leaves_count; i++) {
		assert(leaves[i] < c->p->ranks);
		assert(i == 0 || leaves[i] > leaves[i - 1]);
		pr->leaves[i] = leaves[i];
	}
	return pr;
}

void
compose_multicast(struct compose *c, uint32_t root, struct plan_place from,
    struct plan_place to, uint64_t count, const uint32_t *leaves,
    uint32_t leaves_count)
{
	struct prim *pr = prim_add(c, MULTICAST, leaves, leaves_count);
	uint32_t at = leaves_find(pr->leaves, leaves_count, root);
	int in_place = from.buf == to.buf && from.off == to.off;

	pr->root = root;
	pr->from = from;
	pr->to = to;
	pr->count = count;
	if (!leaves_have(pr->leaves, leaves_count, root) ||
	    (!c->shape.lean && !in_place))
		return;
	/* the root needs nothing from anyone */
	memmove(pr->leaves + at, pr->leaves + at + 1,
	    (leaves_count - at - 1) * sizeof(*pr->leaves));
	pr->leaves_count--;
	pr->copy = !in_place;
}

void
compose_reduction(struct compose *c, const uint32_t *leaves,
    uint32_t leaves_count, struct plan_place from, uint32_t root,
    struct plan_place to, uint64_t count)
{
	struct prim *pr = prim_add(c, REDUCTION, leaves, leaves_count);

	assert(leaves_count >= 1);
	pr->root = root;
	pr->from = from;
	pr->to = to;
	pr->count = count;
}

void
compose_fence(struct compose *c)
{
	prim_add(c, FENCE, NULL, 0);
	c->fences++;
}

uint32_t
leaves_find(const uint32_t *leaves, uint32_t count, uint32_t rank)
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

int
leaves_have(const uint32_t *leaves, uint32_t count, uint32_t rank)
{
	uint32_t at = leaves_find(leaves, count, rank);

	return at < count && leaves[at] == rank;
}

void
casts_add(struct casts *list, struct cast c)
{
	if (list->count == list->cap) {
		list->cap = list->cap * 2 + 64;
		list->at = xreallocarray(list->at, list->cap,
		    sizeof(*list->at));
	}
	list->at[list->count++] = c;
}

void
folds_add(struct folds *list, struct fold f)
{
	if (list->count == list->cap) {
		list->cap = list->cap * 2 + 64;
		list->at = xreallocarray(list->at, list->cap,
		    sizeof(*list->at));
	}
	list->at[list->count++] = f;
}

void
build_stage_end(struct build *b)
{
	b->stage += b->busy != 0;
	b->busy = 0;
}

struct plan_place
build_temp(struct build *b, uint32_t rank, uint64_t count)
{
	uint64_t off = b->p->bufs[b->temp].bytes[rank];

	plan_buf_need(b->p, b->temp, rank, off + count * b->element);
	return (struct plan_place){ off, b->temp };
}

void
build_send(struct build *b, uint32_t src, struct plan_place from, uint32_t dst,
    struct plan_place to, uint64_t count, uint8_t via)
{
	struct plan_transfer t = { .src = src,
		.dst = dst,
		.from = from.buf,
		.from_off = from.off,
		.to = to.buf,
		.to_off = to.off,
		.bytes = count * b->element,
		.step = b->channel + b->stage,
		.channel = (uint16_t)b->channel,
		.via = via };

	if (b->order != NULL)
		order_transfer(b->order, &t);
	plan_transfer_add(b->p, &t);
	b->busy = 1;
}

static void
local_add(struct build *b, struct plan_local *l, const struct plan_place *in,
    uint32_t inputs)
{
	l->step = b->channel + b->stage;
	l->channel = (uint16_t)b->channel;
	l->type = (uint8_t)b->shape->type;
	if (b->order != NULL)
		order_local(b->order, l, in, inputs);
	plan_local_add(b->p, l, in, inputs);
	b->busy = 1;
}

void
build_copy(struct build *b, uint32_t rank, struct plan_place from,
    struct plan_place to, uint64_t count)
{
	struct plan_local l = { .rank = rank,
		.to = to.buf,
		.to_off = to.off,
		.bytes = count * b->element,
		.op = PLAN_COPY };

	local_add(b, &l, &from, 1);
}

void
build_reduce(struct build *b, uint32_t rank, const struct plan_place *in,
    uint32_t inputs, struct plan_place to, uint64_t count)
{
	struct plan_local l = { .rank = rank,
		.to = to.buf,
		.to_off = to.off,
		.bytes = count * b->element,
		.op = (uint8_t)b->shape->op };

	local_add(b, &l, in, inputs);
}

/* The part of a primitive that belongs to the channel. */
static uint64_t
piece(const struct build *b, const struct prim *pr, struct plan_place *from,
    struct plan_place *to)
{
	uint32_t depth = b->shape->depth;
	uint64_t lo = plan_cut(pr->count, depth, b->channel);
	uint64_t hi = plan_cut(pr->count, depth, b->channel + 1u);

	*from = pr->from;
	*to = pr->to;
	from->off += lo * b->element;
	to->off += lo * b->element;
	return hi - lo;
}

/* Primitives [lo, hi), which no fence parts, in one channel. */
static void
build_epoch(struct build *b, const struct prim *prims, size_t count)
{
	struct casts casts = { 0 };
	struct folds folds = { 0 };
	uint32_t start = b->stage;
	int copies = 0;

	for (size_t i = 0; i < count; i++) {
		const struct prim *pr = &prims[i];
		struct plan_place from, to;
		uint64_t n = piece(b, pr, &from, &to);

		if (n == 0)
			continue;
		if (pr->copy) {
			build_copy(b, pr->root, from, to, n);
			copies = 1;
		}
		if (pr->kind == MULTICAST && pr->leaves_count > 0)
			casts_add(&casts,
			    (struct cast){ pr->leaves, pr->leaves_count,
				pr->root, from, to, n, 1 });
		if (pr->kind == REDUCTION)
			folds_add(&folds,
			    (struct fold){ .leaves = pr->leaves,
				.inputs_count = pr->leaves_count,
				.from = from,
				.root = pr->root,
				.out = to,
				.has_out = 1,
				.count = n });
	}
	b->busy = 0; /* copies share the first stage of the rest */
	cast_all(b, &casts);
	fold_all(b, &folds);
	if (copies && b->stage == start)
		b->stage++;
	free(casts.at);
	free(folds.at);
}

/* Where a range starts within blocks of so many bytes, and that all others of
 * its buffer start there: starts[buf] is that + 1, 0 before the first. */
static int
starts_alike(uint64_t *starts, struct plan_place at, uint64_t block)
{
	if (starts[at.buf] == 0)
		starts[at.buf] = at.off % block + 1;
	return starts[at.buf] == at.off % block + 1;
}

/* All primitives are equally long and lie in blocks of that length: then each
 * channel has bytes of its own in every buffer, in all epochs. */
static int
aligned(const struct compose *c)
{
	uint64_t *starts = xcalloc(c->p->bufs_count + 1u, sizeof(*starts));
	uint64_t count = 0;
	int good = 1;

	for (size_t i = 0; good && i < c->prims_count; i++) {
		const struct prim *pr = &c->prims[i];
		uint64_t block = pr->count * plan_types[c->shape.type].bytes;

		if (pr->kind == FENCE || pr->count == 0)
			continue;
		good = (count == 0 || count == pr->count) &&
		    starts_alike(starts, pr->from, block) &&
		    starts_alike(starts, pr->to, block);
		count = pr->count;
	}
	free(starts);
	return good;
}

/* Reductions go round a ring towards lower nodes. Multicasts of other channels
 * that go the other way meanwhile meet them at every node, where two senders
 * share the link in: queues overflow. Lean ones go with them. */
static int
goes_back(const struct compose *c)
{
	int reduces = 0;

	for (size_t i = 0; i < c->prims_count; i++)
		reduces |= c->prims[i].kind == REDUCTION;
	return c->shape.lean && reduces;
}

/* Without fences, or without channels that share bytes, stages alone keep
 * everything in order; else what overlaps is found. */
void
compose_build(struct compose *c)
{
	struct build b = { .shape = &c->shape,
		.p = c->p,
		.element = plan_types[c->shape.type].bytes,
		.ring_step = goes_back(c) ? c->shape.ring - 1 : 1,
		.temp = c->temp };
	uint32_t *stages = xcalloc(c->shape.depth, sizeof(*stages));
	uint32_t size = 1;
	size_t lo = 0, hi;

	for (uint32_t i = c->shape.levels; i-- > 0;) {
		size *= c->shape.factors[i];
		b.sizes[i] = size;
	}
	if (c->fences > 0 && c->shape.depth > 1 && !aligned(c))
		b.order = order_new(c->p);
	for (; lo < c->prims_count; lo = hi + 1) {
		for (hi = lo; hi < c->prims_count; hi++)
			if (c->prims[hi].kind == FENCE)
				break;
		for (b.channel = 0; b.channel < c->shape.depth; b.channel++) {
			b.stage = stages[b.channel];
			build_epoch(&b, c->prims + lo, hi - lo);
			stages[b.channel] = b.stage;
		}
	}
	order_free(b.order);
	free(stages);
}

/* ---- options ---- */

/* "2,2,3": the product must be the number of ranks, or gives it when nobody
 * else did. */
static int
hierarchy(const struct conf *c, const char *section, struct compose_shape *ret,
    struct err *err)
{
	size_t count = 0;
	char **words = str_list_parse(conf_string(c, section, "hierarchy"),
	    &count);
	uint64_t product = words != NULL && count > 0 &&
	    count <= COMPOSE_LEVELS_MAX;
	int64_t x;

	for (uint32_t i = 0; product > 0 && i < count; i++) {
		int rc = str_to_int(words[i], 1, PLAN_RANKS_MAX, &x);

		product = rc < 0 ? 0 : product * (uint64_t)x;
		if (product == 0 || product > PLAN_RANKS_MAX)
			product = 0;
		else
			ret->factors[i] = (uint32_t)x;
	}
	ret->levels = (uint32_t)count;
	str_list_free(words);
	if (ret->ranks == 0)
		ret->ranks = (uint32_t)product;
	if (product == 0 || product != ret->ranks)
		return pattern_refuse(c, section, "hierarchy", err,
		    "flat, auto, or up to %d factors with commas whose product "
		    "is "
		    "the number of ranks%s%.0u",
		    COMPOSE_LEVELS_MAX, ret->ranks > 0 ? ", " : "", ret->ranks);
	return 0;
}

/* "1, 2, 3, 4, 6 or 12": what divides n. */
static int
refuse_divisor(const struct conf *c, const char *section, const char *key,
    uint32_t n, struct err *err)
{
	char text[200] = "";
	size_t len = 0;

	for (uint32_t d = 1; d <= n && len < sizeof(text) - 12; d++)
		if (n % d == 0)
			len += (size_t)snprintf(text + len, sizeof(text) - len,
			    " %u", d);
	return pattern_refuse(c, section, key, err,
	    "a divisor of %u, the ranks:%s", n, text);
}

int
compose_options(const struct conf *c, const char *section,
    const struct pattern_site *site, struct compose_shape *ret, struct err *err)
{
	const char *text = conf_string(c, section, "hierarchy");
	struct pattern_site at = *site;
	int rc = 0;

	at.ranks = (uint32_t)conf_int(c, section, "ranks");
	if (at.ranks != 0 && site->ranks != 0 && at.ranks != site->ranks)
		return pattern_refuse(c, section, "ranks", err,
		    "0 or %u, as many as there are", site->ranks);
	if (at.ranks == 0)
		at.ranks = site->ranks;
	ret->ranks = at.ranks;
	if (strcmp(text, "auto") == 0) {
		rc = tune_auto(c, section, &at, ret, err);
	} else if (strcmp(text, "flat") == 0) {
		if (ret->ranks == 0)
			ret->ranks = 2;
		ret->levels = 1;
		ret->factors[0] = ret->ranks;
	} else {
		rc = hierarchy(c, section, ret, err);
	}
	if (rc == 0)
		rc = pattern_vias(c, section, ret->levels, ret->vias, err);
	if (rc < 0)
		return rc;
	ret->stripe = (uint32_t)conf_int(c, section, "stripe");
	ret->ring = (uint32_t)conf_int(c, section, "ring");
	ret->depth = (uint32_t)conf_int(c, section, "depth");
	ret->lean = conf_bool(c, section, "lean");
	ret->type = (enum plan_type)plan_type_find(
	    conf_string(c, section, "type"));
	ret->op = (enum plan_op)plan_op_find(conf_string(c, section, "op"));
	if (ret->ranks % ret->stripe != 0)
		return refuse_divisor(c, section, "stripe", ret->ranks, err);
	if (ret->ranks % ret->ring != 0)
		return refuse_divisor(c, section, "ring", ret->ranks, err);
	return 0;
}
