/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compose.c - the options of a composition, its primitives and factors, and the
 * pieces of each channel.
 */
#include "probes/collective/compose.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "common/xalloc.h"
#include "probes/collective/compose_tree.h"
#include "probes/collective/hierarchy.h"
#include "probes/pattern/builders.h"
#include "probes/plan/order.h"

struct compose {
	struct plan *p;
	struct compose_shape shape;
	struct prim *prims;
	size_t prims_count;
	int fences, reduces;
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

void
compose_add(struct compose *c, const struct compose_prim *prim)
{
	int in_place = prim->from.buf == prim->to.buf &&
	    prim->from.off == prim->to.off;
	struct prim *pr;

	assert(prim->kind != COMPOSE_REDUCTION || prim->leaves_count >= 1);
	c->fences |= prim->kind == COMPOSE_FENCE;
	c->reduces |= prim->kind == COMPOSE_REDUCTION;
	c->prims = xmore(c->prims, c->prims_count, sizeof(*c->prims));
	pr = &c->prims[c->prims_count++];
	*pr = (struct prim){ .is = *prim,
		.leaves = xcalloc(prim->leaves_count + 1u,
		    sizeof(*pr->leaves)) };
	pr->is.leaves = pr->leaves;
	pr->is.leaves_count = 0;
	for (uint32_t i = 0; i < prim->leaves_count; i++) {
		uint32_t leaf = prim->leaves[i];

		assert(leaf < c->p->ranks);
		assert(i == 0 || leaf > prim->leaves[i - 1]);
		/* the root of a multicast needs nothing from anyone */
		if (prim->kind == COMPOSE_MULTICAST && leaf == prim->root &&
		    (c->shape.lean || in_place))
			pr->copy = !in_place;
		else
			pr->leaves[pr->is.leaves_count++] = leaf;
	}
}

/* All primitives are equally long and each range starts within blocks of that
 * length where all others of its buffer do: then each channel has bytes of its
 * own in every buffer, in all epochs. */
static int
compose_aligned(const struct compose *c)
{
	/* by buffer, + 1 */
	uint64_t *starts = xcalloc(c->p->bufs_count + 1u, sizeof(*starts));
	uint64_t count = 0;
	int good = 1;

	for (size_t i = 0; good && i < c->prims_count; i++) {
		const struct compose_prim *pr = &c->prims[i].is;
		uint64_t block = pr->count * plan_types[c->shape.type].bytes;
		const struct plan_place *ends[] = { &pr->from, &pr->to };

		if (pr->kind == COMPOSE_FENCE || pr->count == 0)
			continue;
		good = count == 0 || count == pr->count;
		count = pr->count;
		for (size_t k = 0; k < ARRAY_LEN(ends); k++) {
			uint64_t *start = &starts[ends[k]->buf];
			uint64_t at = ends[k]->off % block + 1;

			good &= *start == 0 || *start == at;
			*start = at;
		}
	}
	free(starts);
	return good;
}

/* Without fences, or without channels that share bytes, stages alone keep
 * everything in order; else what overlaps is found. */
void
compose_build(struct compose *c)
{
	struct build b = { .shape = &c->shape,
		.p = c->p,
		.element = plan_types[c->shape.type].bytes,
		.ring_step = 1,
		.temp = c->temp };
	uint32_t *stages = xcalloc(c->shape.depth, sizeof(*stages));
	uint32_t size = 1;
	size_t lo = 0, hi;

	/* Reductions go round a ring towards lower nodes. Multicasts of other
	 * channels that go the other way meanwhile meet them at every node,
	 * where two senders share the link in: queues overflow. Lean ones go
	 * with them. */
	if (c->shape.lean && c->reduces)
		b.ring_step = c->shape.ring - 1;
	for (uint32_t i = c->shape.levels; i-- > 0;) {
		size *= c->shape.factors[i];
		b.sizes[i] = size;
	}
	if (c->fences && c->shape.depth > 1 && !compose_aligned(c))
		b.order = order_new(c->p);
	for (; lo < c->prims_count; lo = hi + 1) {
		for (hi = lo; hi < c->prims_count; hi++)
			if (c->prims[hi].is.kind == COMPOSE_FENCE)
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

/* "2,2,3": the product must be the number of ranks, or defines it if it is not
 * given. */
static int
compose_hierarchy(const struct conf *c, const char *section,
    struct compose_shape *ret, struct err *err)
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
		    "flat, auto, or up to %d factors separated by commas whose "
		    "product is the number of ranks%s%.0u",
		    COMPOSE_LEVELS_MAX, ret->ranks > 0 ? ", " : "", ret->ranks);
	return 0;
}

/* "1, 2, 3, 4, 6 or 12": what divides n. */
static int
compose_refuse_divisor(const struct conf *c, const char *section,
    const char *key, uint32_t n, struct err *err)
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
		    "0 or %u, the number of ranks", site->ranks);
	if (at.ranks == 0)
		at.ranks = site->ranks;
	ret->ranks = at.ranks;
	if (strcmp(text, "auto") == 0) {
		rc = hierarchy_auto(c, section, &at, ret, err);
	} else if (strcmp(text, "flat") == 0) {
		if (ret->ranks == 0)
			ret->ranks = 2;
		ret->levels = 1;
		ret->factors[0] = ret->ranks;
	} else {
		rc = compose_hierarchy(c, section, ret, err);
	}
	if (rc == 0)
		rc = pattern_vias(c, section, ret->levels, ret->vias, err);
	if (rc < 0)
		return rc;
	ret->stripe = (uint32_t)conf_int(c, section, "stripe");
	ret->ring = (uint32_t)conf_int(c, section, "ring");
	ret->depth = (uint32_t)conf_int(c, section, "depth");
	ret->lean = conf_bool(c, section, "lean");
	ret->type = (enum plan_type)STR_FIND(plan_types,
	    conf_string(c, section, "type"));
	ret->op = (enum plan_op)STR_FIND(plan_ops,
	    conf_string(c, section, "op"));
	if (ret->ranks % ret->stripe != 0)
		return compose_refuse_divisor(c, section, "stripe", ret->ranks,
		    err);
	if (ret->ranks % ret->ring != 0)
		return compose_refuse_divisor(c, section, "ring", ret->ranks,
		    err);
	return 0;
}
